"""The trials behind a figure as rows, and what to know of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cuecard.core.i18n import _, ngettext
from cuecard.core.scoring.labels import COUNTS, HEADLINES, measure_label
from cuecard.core.text import one_line
from cuecard.results.cells import ResultCell
from cuecard.results.errors.cause_sheets import cause_word
from cuecard.results.errors.causes import Cause, cause_of
from cuecard.results.pool import Row
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.labels import player_name
from cuecard.tui.state.sheet_view import SheetView
from cuecard.tui.widgets.grid.source import GridCell


def listed(rows: Iterable[Row], trials: Iterable[int]) -> tuple[Row, ...]:
    """The rows of these trials in their order, each trial once: as the first judge left it."""
    known: dict[int, Row] = {}
    for row in rows:
        known.setdefault(row.trial.id, row)
    return tuple(known[id] for id in dict.fromkeys(trials) if id in known)


def trials_at(view: SheetView[Any], row: int, column: int) -> tuple[int, ...]:
    """Ids of the trials behind a cell; behind its line where the cell is a name or tells of the whole line."""
    cell, sheet = view.cell(row, column), view.sheet
    if cell is None or sheet is None:
        return ()
    if isinstance(cell, ResultCell) and (cell.trials or cell.statistic or cell.value is not None):
        return cell.trials
    if view.plotted:
        return ()
    cells = (each for each in sheet.lines[row] if isinstance(each, ResultCell))
    return tuple(dict.fromkeys(id for each in cells for id in each.trials))


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


def row_cells(row: Row, measure: str | None = None) -> Sequence[str | GridCell]:
    """Task, agent, run, sample, how it ended, score, cause."""
    trial, cause = row.trial, cause_of(row)
    glyph, _colour, label = TERMINATION[trial.termination.value if trial.termination else ""]
    ended = GridCell(f"{glyph} {_(label)}", "bad" if _fell(row) else "plain")
    return (
        trial.title or trial.task_id,
        trial.agent.name,
        row.run.name,
        str(trial.sample + 1),
        ended,
        GridCell(score_word(row, measure), "strong"),
        GridCell(
            cause_word(cause) if cause else "", "muted" if cause is Cause.UNJUDGED else "plain"
        ),
    )


def details(row: Row, measure: str | None = None) -> list[str]:
    """What was played and by whom, the score in full, why it failed, and the raw text of a format failure."""
    trial, figures, cause = row.trial, row.figures, cause_of(row)
    name = measure_of(row, measure)
    what = (
        f"{one_line(trial.title or trial.task_id, 60)} ({trial.task_id})",
        _("revision {n}").format(n=trial.revision),
        _("run {name}").format(name=one_line(row.run.name, 40)),
        _("sample {n}").format(n=trial.sample + 1),
    )
    found = figures.measure(name) if figures else None
    score = f"{measure_label(name)} {score_word(row, measure)}"
    if found is not None and found.value is None:
        score += f" ({one_line(found.reason, 80)})"
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
        lines.append(_("Offline baselines: {names}").format(names=", ".join(baselines)))
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
