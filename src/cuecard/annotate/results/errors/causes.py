"""Why trials failed: one cause each, failures clustered, and tables of both."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from cuecard.annotate.families.registry import ANNOTATE, Cause
from cuecard.annotate.results.errors.groups import By, Group, by_family, groups_of, title, unread
from cuecard.annotate.results.errors.rates import (
    Rate,
    across,
    counted,
    flagged,
    number,
    share_with_count,
)
from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.core.engine.events import Termination
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _, pgettext
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.measures import measure_label
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.tables.table import Cell, Shown, Table, cell
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.text import one_line

Bars = Mapping[Family, tuple[str, float]]

BARS: Bars = CORE.each(lambda family: family.bar)
"""For each family, its measure and the threshold below which a trial has failed."""
LAST_CALLS = 3
"""After so many calls without a new fact, a search counts as exhausted."""


MACHINERY: Mapping[Termination, Cause] = {
    end: Cause(end.value) for end in Termination if end.is_failure
}


def failed(row: Row) -> bool | None:
    """See `fell_short`."""
    return fell_short(row.trial, row.measure)


def fell_short(trial: TrialRecord, measure: Callable[[str], float | None]) -> bool | None:
    """Whether the trial failed: by an error of the machinery, or because its family's measure is below the threshold.
    None: unknown, because it has not ended or its measure has no value. `measure`: its value by name.
    """
    end = trial.termination
    if end is None:
        return None
    name, least = BARS[trial.family]
    value = measure(name)
    if end.is_failure and (value is None or value < least):
        return True
    return None if value is None else value < least


def cause_of(row: Row) -> Cause | None:
    """The one cause of a failed trial; None where it has not ended or has not failed.

    In this order: the machinery failed; what was handed in could not be read, or nothing was handed in; it ran
    out of turns; then what its family's figures say (`cause_by_table`, `cause_by_steps`, `cause_by_facts`, `cause_by_graph`). A trial
    whose measure has no value is `UNJUDGED`.
    """
    end = row.trial.termination
    short = failed(row)
    if end is None or short is False:
        return None
    if short and end in MACHINERY:
        return MACHINERY[end]
    figures = row.figures
    if figures is None or short is None:
        return Cause.UNJUDGED
    if unread(row.family, figures):
        return Cause.FORMAT_FAILURE
    if figures.handed_in == "nothing":
        return Cause.NOTHING_HANDED_IN
    if end is Termination.MAX_TURNS:
        return Cause.OUT_OF_TURNS
    return ANNOTATE[row.family].cause(figures)


def cause_by_table(figures: TrialFigures) -> Cause:
    """Columns that do not map; else whichever costs most cells: rows of the gold that are missing, wrong cells,
    or rows too many. Of equals the first.
    """
    table = figures.table
    if table is None or table.usable is False:
        return Cause.COLUMNS_UNMAPPED
    width = max(1, len(table.columns))
    lost = {
        Cause.MISSING_ROWS: (table.gold_rows - table.joined) * width,
        Cause.WRONG_CELLS: sum(tally.no for tally in table.columns.values()),
        Cause.TOO_MUCH: (table.predicted_rows - table.joined) * width,
    }
    return max(lost, key=lambda cause: lost[cause]) if any(lost.values()) else Cause.WRONG_CELLS


def cause_by_steps(figures: TrialFigures) -> Cause:
    """What happened at the first reached checkpoint that was not advanced: an ambiguity about which nothing was
    asked was guessed, one about which no ask was right was asked about wrongly, else the answer was never found.
    With all reached ones advanced it stopped early, or, with all checkpoints advanced, answered wrongly.
    """
    stuck = next((s.record for s in figures.steps or () if not s.record.advanced), None)
    if stuck is not None:
        if stuck.ambiguous and not stuck.asks:
            return Cause.GUESSED
        if stuck.ambiguous and not stuck.right_asks:
            return Cause.ASKED_WRONGLY
        return Cause.NEVER_FOUND
    progress = figures.value("cp")
    return Cause.WRONG_ANSWER if progress is None or progress >= 1 else Cause.STOPPED_EARLY


def cause_by_facts(figures: TrialFigures) -> Cause:
    """With every fact found the answer is wrong. Else it was never found if the last `LAST_CALLS` tool calls
    matched no new fact, and stopped early if they did, or if there were fewer.
    """
    facts, coverage = figures.facts, figures.value("fcr")
    if facts is None or coverage is None or coverage >= 1:
        return Cause.WRONG_ANSWER
    last = facts.fresh[-LAST_CALLS:]
    dried = len(last) == LAST_CALLS and not any(last)
    # Calls beyond those that figures keep have long ceased to find anything.
    beyond = (figures.value("tool_calls") or 0) > len(facts.fresh)
    return Cause.NEVER_FOUND if dried or beyond else Cause.STOPPED_EARLY


def cause_by_graph(figures: TrialFigures) -> Cause:
    """Too little if recall is not above precision, else too much that is invalid."""
    recall, precision = figures.value("triplet_recall"), figures.value("triplet_precision")
    return Cause.TOO_LITTLE if (recall or 0) <= (precision or 0) else Cause.TOO_MUCH


EXAMPLES = 3
_DETAIL = 200
_URL = re.compile(r"\w+://[^\s\"'<>)]+")
_ID = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?:\w[\w-]*_[\w-]*|[\w-]{8,})")
"""Identifiers: words with a digit that are long or contain an underscore."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Cluster(Frozen):
    """Trials of one family (and of the same `group`, if asked for) with one cause. `rate`: of their ended trials of
    which it is known whether they failed; of `UNJUDGED` ones, of all ended trials. `examples`: the first trial of each
    of a few tasks, in the pool's order.
    """

    cause: Cause
    family: Family
    group: tuple[tuple[Dimension, str], ...]
    name: str
    rate: Rate
    examples: tuple[int, ...]

    @property
    def count(self) -> int:
        return round(self.rate.count)

    @property
    def trials(self) -> tuple[int, ...]:
        return self.rate.trials


class Detail(Frozen):
    """Errors of the machinery with the same message, numbers and ids masked. `example`: one of the messages."""

    cause: Cause
    text: str
    example: str
    trials: tuple[int, ...]


def clusters(pool: Pool, by: By = (), families: Sequence[Family] = FAMILIES) -> tuple[Cluster, ...]:
    """Every cause that occurs, family by family and group by group, the most frequent first, those that are no
    failure last. `by`: such as `("agent",)` or `("domain",)`; without it, all trials of a family together.
    """
    found: list[Cluster] = []
    for group in groups_of(pool, by, families):
        mine = _of_group(group)
        found += sorted(mine, key=lambda c: (c.cause is Cause.UNJUDGED, -c.count, c.cause.value))
    return tuple(found)


def details(pool: Pool) -> tuple[Detail, ...]:
    """Error messages of the machinery, the most frequent first."""
    found: dict[tuple[Cause, str], list[tuple[int, str]]] = {}
    for row in pool.rows:
        end = row.trial.termination
        if end is not None and end in MACHINERY:
            said = one_line(row.trial.detail, _DETAIL)
            found.setdefault((MACHINERY[end], masked(said)), []).append((row.trial.id, said))
    groups = [
        Detail(
            cause=cause,
            text=text,
            example=said[0][1],
            trials=tuple(dict.fromkeys(trial for trial, _said in said)),
        )
        for (cause, text), said in found.items()
    ]
    return tuple(sorted(groups, key=lambda each: (-len(each.trials), each.cause.value, each.text)))


def masked(text: str) -> str:
    """`text` with addresses as `URL`, ids as `ID` and numbers as `N`, so that the same failure reads the same:
    `request req_8f2 failed after 30.2 s` is `request ID failed after N s`.
    """
    return _NUMBER.sub("N", _ID.sub("ID", _URL.sub("URL", text)))


def _of_group(group: Group) -> list[Cluster]:
    causes = {row.trial.id: cause_of(row) for row in group.rows}
    ended = [row for row in group.rows if row.trial.termination is not None]
    known = [row for row in ended if causes[row.trial.id] is not Cause.UNJUDGED]
    present = dict.fromkeys(cause for cause in causes.values() if cause is not None)
    rates = counted(
        {
            cause: flagged(
                cause.value,
                (
                    (row, causes[row.trial.id] is cause)
                    for row in (ended if cause is Cause.UNJUDGED else known)
                ),
                _("no trial has ended"),
            )
            for cause in present
        }
    )
    return [
        Cluster(
            cause=cause,
            family=group.family,
            group=group.group,
            name=group.name,
            rate=rates[cause],
            examples=_examples(group, causes, cause),
        )
        for cause in present
    ]


def _examples(group: Group, causes: dict[int, Cause | None], cause: Cause) -> tuple[int, ...]:
    first: dict[str, int] = {}
    for row in group.rows:
        if causes[row.trial.id] is cause:
            first.setdefault(row.trial.task_id, row.trial.id)
    return tuple(first.values())[:EXAMPLES]


CAUSE_WORDS: dict[Cause, str] = {
    Cause.API_ERROR: N_("call failed"),
    Cause.CONTEXT_OVERFLOW: N_("context was full"),
    Cause.ERROR_LOOP: N_("tool errors in a loop"),
    Cause.EMPTY_RESPONSE: N_("empty reply"),
    Cause.CANCELLED: N_("cancelled"),
    Cause.INTERNAL_ERROR: N_("internal error"),
    Cause.UNJUDGED: N_("not judged (no failure)"),
    Cause.FORMAT_FAILURE: N_("could not be read"),
    Cause.NOTHING_HANDED_IN: N_("nothing handed in"),
    Cause.OUT_OF_TURNS: N_("ran out of turns"),
    Cause.COLUMNS_UNMAPPED: N_("columns do not map"),
    Cause.GUESSED: N_("guessed at an ambiguity"),
    Cause.ASKED_WRONGLY: N_("asked about something else"),
    Cause.NEVER_FOUND: N_("never found it"),
    Cause.STOPPED_EARLY: N_("stopped too early"),
    Cause.WRONG_ANSWER: N_("found all, wrong answer"),
    Cause.MISSING_ROWS: N_("rows missing"),
    Cause.WRONG_CELLS: N_("wrong cells"),
    Cause.TOO_LITTLE: N_("too little of the gold"),
    Cause.TOO_MUCH: N_("too much that is invalid"),
}
_Arm = tuple[Group, Mapping[Cause, Rate]]


def cause_word(cause: Cause) -> str:
    return _(CAUSE_WORDS[cause])


def failures(group: Group) -> Rate:
    """The share of failed trials among those of which it is known."""
    told = ((row, failed(row)) for row in group.rows)
    known = ((row, short) for row, short in told if short is not None)
    return counted({"": flagged("failed", known, _("no trial is judged"))})[""]


def cause_tables(pool: Pool) -> Iterator[Table]:
    """Causes by arm for each family, then the machinery's error messages."""
    for family, mine in by_family(groups_of(pool)):
        found = clusters(pool, mine[0].by, (family,))
        yield _causes(family, mine, found)
    said = details(pool)
    if said:
        agents = {row.trial.id: row.trial.agent.name for row in pool.rows}
        lines: list[Sequence[Shown]] = [
            (
                cell(each.text or "–", trials=each.trials),
                cause_word(each.cause),
                number(len(each.trials), each.trials),
                number(len({agents[trial] for trial in each.trials})),
            )
            for each in said
        ]
        yield Table.of(
            title=_("What failed, in its words"),
            headings=(pgettext("of an error", "Message"), _("Cause"), _("Trials"), _("Agents")),
            lines=lines,
            notes=(_("Numbers stand as N, ids as ID, addresses as URL."),),
        )


def _causes(family: Family, groups: Sequence[Group], found: Sequence[Cluster]) -> Table:
    arms: list[tuple[str, _Arm]] = [
        (
            group.name,
            (group, {each.cause: each.rate for each in found if each.group == group.group}),
        )
        for group in groups
    ]
    present = {each.cause for each in found}
    name, least = BARS[family]
    rows: list[tuple[str, Callable[[_Arm], Cell]]] = [
        (_("trials"), lambda arm: number(arm[0].ended, [r.trial.id for r in arm[0].rows])),
        (_("failed"), lambda arm: share_with_count(failures(arm[0]))),
    ]
    # What is no failure stands last.
    shown = [c for c in Cause if c in present and c is not Cause.UNJUDGED]
    shown += [Cause.UNJUDGED] if Cause.UNJUDGED in present else []
    rows += [_row(cause) for cause in shown]
    return across(
        title(family, _("why trials failed")),
        _("Cause"),
        arms,
        rows,
        (
            _("Failed: {measure} below {least}, or ended by a failure.").format(
                measure=measure_label(name), least=f"{least:g}"
            ),
            _(
                "Trials, and percent of those that ended and are judged or failed; one cause each, intervals 95%, by task."
            ),
        ),
    )


def _row(cause: Cause) -> tuple[str, Callable[[_Arm], Cell]]:
    return cause_word(cause), lambda arm: share_with_count(arm[1].get(cause))
