"""Trials in short: heading, measures and verdicts of one, and lists of trials as rows."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rich.cells import cell_len

from cuecard.annotate.families.registry import Cause
from cuecard.annotate.results.errors.causes import cause_of, cause_word
from cuecard.annotate.results.pool import Row
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.blame import Blame
from cuecard.core.evaluation.items import VerdictView
from cuecard.core.i18n import N_, _, beside, headed, joined, listed, ngettext
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.measures import COUNTS, HEADLINES, measure_label
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item, Measure
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.entries import Paragraph, Piece, named
from cuecard.tui.present.labels import player_name
from cuecard.tui.present.runs import state_words, trial_state
from cuecard.tui.present.tables import TablesView
from cuecard.tui.present.trial_panes import DECISION, PaneLine, work_entry


@dataclass(frozen=True)
class MeasureRow:
    """A measure as text: what it is called, its value or a dash, its n, and why there is no value."""

    label: str
    value: str
    n: str
    reason: str


def heading(
    trial: TrialRecord,
    task: Task,
    events: int,
    judge: PlayerRef | None,
    room: int = 0,
    playing: Mapping[int, int] | None = None,
) -> list[list[Piece]]:
    """Two lines: what was played, and by whom. `judge`: whose verdicts are shown. In less than `room` cells the
    number of events is left out, if the first line then fits, players stand closer together, and what their mark means on a
    line of its own. `playing`: what is played here now.
    """
    words, tone = state_words(trial, trial_state(trial, playing or {}))
    numbers = [
        _("revision {n}").format(n=trial.revision),
        _("sample {n}").format(n=trial.sample + 1),
        ngettext("{n} event", "{n} events", events).format(n=events),
    ]
    state = Piece(f"  {words}", tone)
    title = one_line(task.title)
    if room and cell_len(title + state.text + "  " + " · ".join(numbers)) > room:
        numbers.pop()
    what = named(title, [state, Piece("  " + " · ".join(numbers), "muted")], room)
    players = [
        (_("agent"), trial.agent),
        (_("user"), trial.user),
        (_("world"), trial.world),
        (_("judge"), judge),
    ]
    who = _who(players, "  ")
    if room and cell_len("".join(p.text for p in who)) > room:
        *who, mark = _who(players, " ")
        left = room - cell_len("".join(p.text for p in who))
        if mark.text.lstrip().startswith("*") and 0 <= left < cell_len(mark.text):
            return [what, who, [replace(mark, text=mark.text.lstrip(" "))]]
        who.append(mark)
    return [what, who]


def _who(players: Iterable[tuple[str, PlayerRef | None]], gap: str) -> list[Piece]:
    """Who played, with `gap` between them."""
    who: list[Piece] = []
    for part, ref in players:
        who.append(Piece((gap if who else "") + part + " ", "muted"))
        who.append(Piece(player_name(ref) + ("*" if ref.baseline else "") if ref else "–"))
    if any(ref.baseline for _part, ref in players if ref):
        who.append(Piece(gap + "*\u00a0" + _("baseline"), "muted"))
    return who


def measure_value(name: str, value: float | None) -> str:
    """A count as a whole number, a share with three decimals, a dash where there is none."""
    if value is None:
        return "–"
    if name in COUNTS:
        return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
    return f"{value:.3f}"


def measure_rows(measures: Iterable[Measure]) -> list[MeasureRow]:
    return [
        MeasureRow(
            label=measure_label(measure.name),
            value=measure_value(measure.name, measure.value),
            n=str(measure.n),
            reason=measure.reason if measure.value is None else "",
        )
        for measure in measures
    ]


Shown = Literal["all", "no", "yes", "unjudged"]
SHOWN: tuple[Shown, ...] = ("all", "no", "yes", "unjudged")
SHOWN_LABEL: dict[Shown, str] = {
    "all": N_("all"),
    "no": N_("only ✗"),
    "yes": N_("only ✓"),
    "unjudged": N_("only ?"),
}

SHORT = 80
"""Characters of context that stand beside a gold item; longer context folds."""


def verdict_lines(
    verdicts: Sequence[VerdictView], shown: Shown = "all", only: Collection[Item] | None = None
) -> list[PaneLine]:
    """The decisions on the gold items, or on those in `only`; evidence and rationale fold."""
    return [
        _verdict_line(view)
        for view in verdicts
        if (shown == "all" or view.verdict.decision.value == shown)
        and (only is None or view.verdict.item in only)
    ]


def _verdict_line(view: VerdictView) -> PaneLine:
    verdict, gold = view.verdict, view.gold
    mark, tone = DECISION[verdict.decision]
    head = [Piece(f"{mark} ", tone), Piece(f"{verdict.item.index + 1}. {one_line(gold.text, 400)}")]
    context = " · ".join(one_line(part) for part in gold.context)
    fold: list[Paragraph] = []
    if len(context) > SHORT:
        fold.append(Paragraph(context, "muted", 4))
    elif context:
        head.append(Piece(f" · {context}", "muted"))
    if gold.also:
        fold += [Paragraph(_("Also accepted: {names}").format(names=listed(gold.also)), indent=4)]
    for item in view.supporting:
        text = item.cell or item.text
        fold.append(Paragraph(f"← {item.index + 1}. {text}", "work", 4))
    missing = [i for i in verdict.supporting if i not in {item.index for item in view.supporting}]
    if missing:
        numbers = listed(str(index + 1) for index in missing)
        fold.append(Paragraph(_("names items that do not exist: {n}").format(n=numbers), "bad", 4))
    if verdict.rationale:
        fold.append(Paragraph(verdict.rationale, "muted", 4))
    if not fold:
        fold.append(Paragraph(_("nothing supports it, and no reason was given"), "muted", 4))
    item = verdict.item
    return PaneLine(work_entry(head, *fold), item=item, place=f"verdict/{item.key}")


def verdict_counts(verdicts: Sequence[VerdictView]) -> str:
    """`✓ 12 · ✗ 3 of 15`, and how many are not judged."""
    n = {d: sum(view.verdict.decision is d for view in verdicts) for d in Decision}
    counts = _("✓ {yes} · ✗ {no} of {n}").format(
        yes=n[Decision.YES], no=n[Decision.NO], n=len(verdicts)
    )
    if n[Decision.UNJUDGED]:
        counts += " · " + _("? {n} not judged").format(n=n[Decision.UNJUDGED])
    return counts


def rows_with(rows: Iterable[Row], trials: Iterable[int]) -> tuple[Row, ...]:
    """The rows of these trials in their order, each trial once: as the first judge left it."""
    known: dict[int, Row] = {}
    for row in rows:
        known.setdefault(row.trial.id, row)
    return tuple(known[id] for id in dict.fromkeys(trials) if id in known)


def trials_at(view: TablesView[Any], row: int, column: int) -> tuple[int, ...]:
    """Ids of the trials behind a cell; behind its line where the cell is a name or tells of the whole line."""
    cell, table = view.cell(row, column), view.table
    if cell is None or table is None:
        return ()
    if cell.trials or cell.is_figure:
        return cell.trials
    if view.plotted:
        return ()
    return tuple(dict.fromkeys(id for each in table.lines[row] for id in each.trials))


def measure_of(row: Row, measure: str | None = None) -> str:
    """`measure` where the trial's family has it, else the family's first headline."""
    if measure and row.figures and row.figures.measure(measure):
        return measure
    return HEADLINES[row.family][0]


def score_word(row: Row, measure: str | None = None) -> str:
    """`0.812`; a dash where there is no value."""
    return number(measure_of(row, measure), row.measure(measure_of(row, measure)))


def number(measure: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.6g}" if measure in COUNTS else f"{value:.3f}"


def ended(row: Row) -> GridCell:
    """How a trial ended, or stands."""
    return GridCell(
        state_words(row.trial, trial_state(row.trial, {}))[0], "bad" if _fell(row) else "plain"
    )


def cause_cell(row: Row) -> GridCell:
    """Why it failed; "" if it did not."""
    cause = cause_of(row)
    tone = "muted" if cause is Cause.UNJUDGED else "plain"
    return GridCell(cause_word(cause) if cause else "", tone)


def details(row: Row, measure: str | None = None) -> list[str]:
    """What was played and by whom, the score in full, why it failed, and the raw text of a format failure."""
    trial, figures, cause = row.trial, row.figures, cause_of(row)
    name = measure_of(row, measure)
    what = (
        beside(one_line(trial.title or trial.task_id, 60), trial.task_id),
        _("revision {n}").format(n=trial.revision),
        _("run {name}").format(name=one_line(row.run.name, 40)),
        _("sample {n}").format(n=trial.sample + 1),
    )
    found = figures.measure(name) if figures else None
    score = f"{measure_label(name)} {score_word(row, measure)}"
    if found is not None and found.value is None:
        score = beside(score, one_line(found.reason, 80))
    judged = _("judge {name}").format(name=row.judged_by)
    if row.judge is None:
        judged = _("not judged by {name}").format(name=row.judged_by)
    told = [_("agent {name}").format(name=player_name(trial.agent)), score]
    told += [cause_word(cause)] if cause else []
    lines = [" · ".join(what), " · ".join((*told, judged))]
    if trial.detail:
        lines.append(one_line(trial.detail, 300))
    if figures and figures.reason and figures.reason != trial.detail:
        lines.append(_("Not readable: {reason}").format(reason=one_line(figures.reason, 200)))
    if figures and figures.raw:
        lines.append(_("It said: {text}").format(text=one_line(figures.raw, 300)))
    if baselines := baselines_of(row):
        lines.append(_("Offline baselines: {names}").format(names=listed(baselines)))
    return lines


def baselines_of(row: Row) -> tuple[str, ...]:
    """The players that are no model, by what they play."""
    trial = row.trial
    parts = (
        (_("agent"), trial.agent),
        (_("user"), trial.user),
        (_("world"), trial.world),
        (_("judge"), row.judge),
    )
    return tuple(f"{part} {one_line(ref.name, 40)}" for part, ref in parts if ref and ref.baseline)


def count_words(rows: Sequence[Row]) -> str:
    """`12 trials on 4 tasks`."""
    trials = ngettext("{n} trial", "{n} trials", len(rows)).format(n=f"{len(rows):,}")
    tasks = len({row.trial.task_id for row in rows})
    on = ngettext("{n} task", "{n} tasks", tasks).format(n=f"{tasks:,}")
    return f"{trials} · {on}"


def has_raw(row: Row) -> bool:
    """Whether text was handed in that could not be read."""
    return bool(row.figures and row.figures.raw)


def _fell(row: Row) -> bool:
    return row.trial.termination is not None and row.trial.termination.is_failure


def blame_lines(said: Iterable[Blame], person: str) -> Iterator[str]:
    """What was said of whose fault a trial is, a line each: `Task, says Ben: gold lacks an alias`."""
    for blame in said:
        by = (
            _("{model} (a proposal)").format(model=one_line(blame.by, 40))
            if blame.proposed
            else _("you")
            if blame.by == person
            else one_line(blame.by, 40)
        )
        line = _("{party}, by {who}").format(party=blame.party.label, who=by)
        told = joined((blame.reason, *(f"“{quote}”" for quote in blame.evidence)))
        yield headed(line, one_line(told, 400)) if told else line
