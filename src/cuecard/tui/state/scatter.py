"""A scatter plot of few answers against many scores, in counts: it reads without any colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from cuecard.annotate.fidelity.model import Correlation, Point
from cuecard.annotate.labelling.comparison.words import figure, remark
from cuecard.core.i18n import NP_, _, ngettext
from cuecard.core.scoring.labels import measure_label
from cuecard.core.text import one_line
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.grid.source import GridCell

MOST, LEAST = 12, 3
_NAMED = 8


@dataclass(frozen=True)
class Scatter:
    """Rows of answers from the highest to the lowest, columns of scores from the lowest. `edges`: where
    the columns begin, and at last where the scale ends; the last column holds its end.
    """

    answers: tuple[float, ...]
    edges: tuple[float, ...]
    points: tuple[Point, ...]

    @property
    def columns(self) -> int:
        return len(self.edges) - 1

    def at(self, row: int, column: int | None = None) -> tuple[Point, ...]:
        """The sessions in a cell, or in a whole row."""
        if not 0 <= row < len(self.answers):
            return ()
        return tuple(
            point
            for point in self.points
            if point.x == self.answers[row] and column in (None, self.column_of(point.y))
        )

    def column_of(self, score: float) -> int:
        for column in range(self.columns - 1, 0, -1):
            if score >= self.edges[column]:
                return column
        return 0

    def counts(self, row: int) -> list[int]:
        cells = [0] * self.columns
        for point in self.at(row):
            cells[self.column_of(point.y)] += 1
        return cells


def scatter_of(points: Sequence[Point], scale: tuple[int, int] | None, room: int) -> Scatter:
    """Every whole answer of the `scale` (lowest, highest; None: those given) has a row; scores between 0
    and 1 are laid over all of that, others from the lowest to the highest, in at most `room` columns.
    """
    given = {point.x for point in points}
    if scale is not None:
        given |= {float(answer) for answer in range(scale[0], scale[1] + 1)}
    scores = [point.y for point in points]
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - 0.5, high + 0.5
    columns = _columns(low, high, max(LEAST, min(MOST, room)))
    step = (high - low) / columns
    edges = (*(round(low + step * n, 10) for n in range(columns)), high)
    return Scatter(tuple(sorted(given, reverse=True)), edges, tuple(points))


def _columns(low: float, high: float, most: int) -> int:
    """Tenths or fifths where they fit a scale of shares; one for each number of a few whole ones."""
    if (low, high) == (0.0, 1.0):
        return next((n for n in (10, 5, 4) if n <= most), most)
    span = high - low
    if span == floor(span) and low == floor(low) and LEAST <= span <= most:
        return int(span)
    return most


def told(found: Correlation) -> str:
    """What is held against what, over how many sessions."""
    return _("{question} against {measure} · {n} sessions on {tasks} tasks").format(
        question=one_line(found.label, 50),
        measure=measure_label(found.measure),
        n=found.sessions,
        tasks=found.tasks,
    )


def plot_heading(found: Correlation) -> str:
    return _("down: the answer, across: {measure}; in the plane: how many sessions").format(
        measure=measure_label(found.measure)
    )


def plot_columns(scatter: Scatter, width: int) -> list[GridColumn]:
    """The answer, then a column for each stretch of scores, named by where it begins."""
    columns = [GridColumn(NP_("in a form", "Answer"), 6, right=True)]
    for column in range(scatter.columns):
        last = column == scatter.columns - 1
        begins, ends = f"{scatter.edges[column]:.3g}", f"{scatter.edges[-1]:.3g}"
        columns.append(
            GridColumn(f"{begins}–{ends}" if last else begins, width, right=True, raw=True)
        )
    return columns


def plot_cells(scatter: Scatter, row: int) -> list[GridCell]:
    """A number where there are sessions, a dot where there are none."""
    counts = scatter.counts(row)
    cells = [GridCell(str(n), "strong") if n else GridCell("·", "muted") for n in counts]
    return [GridCell(f"{scatter.answers[row]:g}", "accent"), *cells]


def here(points: Sequence[Point]) -> str:
    """How many sessions are meant, and some of them by task and person."""
    names = ", ".join(f"{point.task_id} {point.person}" for point in points[:_NAMED])
    count = ngettext("{n} session", "{n} sessions", len(points)).format(n=len(points))
    return f"{count} · {names}" if names else count


def session_cells(point: Point) -> list[str]:
    return [
        point.task_id,
        point.person,
        str(point.trial_id),
        f"{point.x:g}",
        f"{point.y:.3f}",
    ]


def figure_lines(found: Correlation) -> list[str]:
    """Both correlations over all sessions and within tasks, or why there is none."""
    lines: list[str] = []
    pairs = (
        (_("over all sessions"), found.spearman, found.kendall),
        (_("within tasks"), found.spearman_within, found.kendall_within),
    )
    for where, rho, tau in pairs:
        said = _("{where}: Spearman {rho} · Kendall {tau}").format(
            where=where, rho=figure(rho), tau=figure(tau)
        )
        lines.append(" · ".join(filter(None, (said, remark(rho)))))
    return lines
