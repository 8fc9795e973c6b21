"""Why trials failed, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import N_, _, pgettext
from cuecard.core.scoring.labels import measure_label
from cuecard.core.tasks import Family
from cuecard.results.cells import ResultCell, in_percent
from cuecard.results.errors.causes import BARS, Bars, Cause, failed
from cuecard.results.errors.clusters import Cluster, clusters, details
from cuecard.results.errors.groups import BY, By, Group, by_family, groups_of
from cuecard.results.errors.laying import across, number, text, title
from cuecard.results.errors.rates import Rate, counted, flagged
from cuecard.results.pool import Pool

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


def cause_sheets(pool: Pool, by: By = BY, bars: Bars = BARS) -> tuple[Sheet, ...]:
    """Causes by arm for each family, then what the machinery said where it failed."""
    return tuple(_sheets(pool, by, bars))


def failures(group: Group, bars: Bars = BARS) -> Rate:
    """The share of trials that failed, of those of which it can be said."""
    told = ((row, failed(row, bars)) for row in group.rows)
    known = ((row, short) for row, short in told if short is not None)
    return counted({"": flagged("failed", known, _("no trial is judged"))})[""]


def _sheets(pool: Pool, by: By, bars: Bars) -> Iterator[Sheet]:
    for family, mine in by_family(groups_of(pool, by)):
        found = clusters(pool, mine[0].by, bars, (family,))
        yield _causes(family, mine, found, bars)
    said = details(pool)
    if said:
        lines: list[Line] = [
            (
                text(each.text or "–", each.trials),
                text(cause_word(each.cause)),
                number(len(each.trials), each.trials),
                number(len({t.trial.agent.name for t in pool.rows if t.trial.id in each.trials})),
            )
            for each in said
        ]
        yield Sheet(
            view="results",
            title=_("What failed, in its words"),
            headings=(pgettext("of an error", "Message"), _("Cause"), _("Trials"), _("Agents")),
            lines=tuple(lines),
            notes=(_("Numbers stand as N, ids as ID, addresses as URL."),),
        )


def _causes(family: Family, groups: Sequence[Group], found: Sequence[Cluster], bars: Bars) -> Sheet:
    arms: list[tuple[str, _Arm]] = [
        (
            group.name,
            (group, {each.cause: each.rate for each in found if each.group == group.group}),
        )
        for group in groups
    ]
    present = {each.cause for each in found}
    name, least = bars[family]
    rows: list[tuple[str, Callable[[_Arm], ResultCell]]] = [
        (_("trials"), lambda arm: number(arm[0].ended, [r.trial.id for r in arm[0].rows])),
        (_("failed"), lambda arm: _share(failures(arm[0], bars))),
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


def _row(cause: Cause) -> tuple[str, Callable[[_Arm], ResultCell]]:
    return cause_word(cause), lambda arm: _share(arm[1].get(cause))


def _share(rate: Rate | None) -> ResultCell:
    """`5 · 20.8 [8.3, 37.5]`"""
    if rate is None:
        return number(0)
    if rate.value is None:
        return ResultCell("–", statistic=rate.statistic)
    told = f"{rate.count:,.0f} · {in_percent(rate.statistic)}"
    return ResultCell(told, statistic=rate.statistic, trials=rate.trials)
