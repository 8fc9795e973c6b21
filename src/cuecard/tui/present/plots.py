"""The state of the Plots screen: the list of plots, the chosen one, its cursor, and descriptions in words."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.results.plots.builders import AGENTS, plots_of
from cuecard.annotate.results.plots.model import Plot, interval_text, place_text, plot_table
from cuecard.annotate.results.plots.svg import as_svg
from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.annotate.results.words import in_sentence, value_word
from cuecard.core.i18n import _, ngettext
from cuecard.core.tables.table import Table
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line
from cuecard.tui.present.files import Report, report_text
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.labels import FAMILY
from cuecard.tui.present.plot_canvas import START, PlotCursor, glyph, kept, point_at, trials_at
from cuecard.tui.present.trial_summary import rows_with


def point_text(plot: Plot, at: PlotCursor) -> str:
    """The values under the cursor, with their intervals, what they are over, and what is missing of them."""
    at = kept(plot, at)
    if plot.missing:
        return _("Nothing to draw: {reason}").format(reason=plot.missing)
    if plot.kind == "heat":
        return _cell(plot, at)
    point = point_at(plot, at)
    if point is None:
        return ""
    series = plot.series[at.series]
    where = interval_text(point.x, point.x_low, point.x_high, plot.x.scale)
    if plot.x.names:
        where = place_text(plot.x, point.x)
    parts = [f"{glyph(series.mark)} {point.label or series.name}"]
    if plot.kind != "intervals":
        parts.append(f"{plot.x.label} {where}")
    parts.append(f"{plot.y.label} {interval_text(point.y, point.low, point.high, plot.y.scale)}")
    parts.append(_counted(point.n, plot.counted))
    if point.thin:
        parts.append(_("few trials"))
    return " · ".join((*parts, *_without_interval(point.remark)))


def name_at(plot: Plot, at: PlotCursor) -> str:
    """What is under the cursor, without its value: `beta · Triplet F1 0.7–0.8`."""
    at = kept(plot, at)
    if plot.kind == "heat":
        return f"{plot.x.names[at.point]} · {plot.y.names[at.series]}"
    point = point_at(plot, at)
    if point is None:
        return plot.title
    name = point.label or plot.series[at.series].name
    if plot.kind in ("intervals", "scatter"):
        return name
    return f"{name} · {plot.x.label} {place_text(plot.x, point.x)}"


def _cell(plot: Plot, at: PlotCursor) -> str:
    cell = next((c for c in plot.cells if (c.row, c.column) == at), None)
    if cell is None:
        return ""
    scale = plot.shade.scale if plot.shade else "number"
    parts = [
        plot.x.names[cell.column],
        plot.y.names[cell.row],
        interval_text(cell.value, cell.low, cell.high, scale),
        _counted(cell.n, plot.counted),
    ]
    if cell.value is not None:
        return " · ".join((*parts, *_without_interval(cell.reason)))
    return " · ".join((*parts, *((cell.reason,) if cell.reason else ())))


def _without_interval(reason: str) -> tuple[str, ...]:
    return (_("no interval: {reason}").format(reason=reason),) if reason else ()


def _counted(n: int, what: str) -> str:
    return _("n {n} ({what})").format(n=f"{n:,}", what=what)


By = tuple[Dimension, ...]
_BESIDE: tuple[Dimension, ...] = ("run", "setting", "memory", "user", "language", "difficulty")
"""What the trials of an agent may also be told apart by."""


class PlotsView:
    """Plots of a pool. `by`: what makes a series; `as_table`: the numbers are shown instead of the picture."""

    def __init__(self, pool: Pool, by: By = AGENTS) -> None:
        self.pool, self.by = pool, by
        self.every = plots_of(pool, by)
        self.family: Family | None = None
        self.at = 0
        self.as_table = False
        self._places: dict[str, PlotCursor] = {}
        self._tables: dict[str, Table] = {}

    @property
    def anything(self) -> bool:
        return bool(self.every)

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys(plot.family for plot in self.every if plot.family))

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Those of the chosen family, or all."""
        wanted = self.family
        return tuple(p for p in self.every if wanted is None or p.family == wanted)

    @property
    def plot(self) -> Plot:
        """Raises `IndexError` where there is nothing to plot."""
        return self.plots[self.at]

    @property
    def table(self) -> Table:
        """The numbers of the plot that is shown."""
        if self.plot.key not in self._tables:
            self._tables[self.plot.key] = plot_table(self.plot)
        return self._tables[self.plot.key]

    @property
    def place(self) -> PlotCursor:
        """Where the cursor of the plot that is shown was left."""
        return kept(self.plot, self._places.get(self.plot.key, START))

    def put(self, at: PlotCursor) -> None:
        self._places[self.plot.key] = at

    def go(self, number: int) -> None:
        """To another plot; at the ends it stays."""
        self.at = max(0, min(len(self.plots) - 1, number))

    def next_family(self) -> None:
        """The next family, after the last one all; the same kind of plot where it has one."""
        shown = self.plot
        ring: list[Family | None] = [None, *self.families]
        self.family = after(self.family, ring)
        self._find(shown.key)

    @property
    def choices(self) -> tuple[By, ...]:
        """What series can be made of: agents, and each dimension in which their trials differ."""
        more: list[By] = [("agent", each) for each in _BESIDE if len(self.pool.values(each)) > 1]
        return (AGENTS, *more)

    @property
    def next_by(self) -> By:
        return after(self.by, self.choices)

    def keep_place_of(self, other: PlotsView) -> None:
        """Look at what was looked at before it was counted anew."""
        self.family = other.family if other.family in self.families else None
        self.as_table = other.as_table
        if other.anything and self.anything:
            self._find(other.plot.key)

    def trials(self, row: int = 0, column: int = 0) -> tuple[int, ...]:
        """Ids of those behind the cursor of the plot; in its table behind a cell, or its line where that is a name."""
        if not self.as_table:
            return trials_at(self.plot, self.place)
        lines = self.table.lines
        if row >= len(lines):
            return ()
        line = lines[row]
        here = [each for each in line[column : column + 1] if each.trials or each.is_figure]
        found = here or line
        return tuple(dict.fromkeys(id for cell in found for id in cell.trials))

    def rows(self, row: int = 0, column: int = 0) -> tuple[Row, ...]:
        """The trials behind the cursor."""
        return rows_with(self.pool.rows, self.trials(row, column))

    def behind(self, row: int = 0, column: int = 0) -> str:
        """What `rows` are the trials of."""
        if not self.as_table:
            return f"{name_at(self.plot, self.place)} · {self.plot.title}"
        lines = self.table.lines
        return f"{lines[row][0].text} · {self.plot.title}" if row < len(lines) else self.plot.title

    def details(self, row: int = 0, column: int = 0) -> tuple[str, ...]:
        """The value under the cursor in full, then what belongs below the plot."""
        if not self.as_table:
            return (point_text(self.plot, self.place), *self.plot.notes)
        table = self.table
        if row >= len(table.lines) or not 0 < column < len(table.headings):
            return self.plot.notes
        cell = table.lines[row][column]
        parts = (table.lines[row][0].text, table.headings[column], cell.text, cell.remark)
        return (" · ".join(filter(None, parts)), *self.plot.notes)

    @property
    def heading(self) -> str:
        """`3/24 · Triplet F1 against cost · Graph tasks`."""
        return f"{self.at + 1}/{len(self.plots)} · {self.plot.title}"

    def title(self, name: str) -> str:
        """What is plotted of what."""
        parts = [_("Plots"), one_line(name, 90)]
        if self.family:
            parts.append(value_word("family", self.family))
        if len(self.by) > 1:
            dimensions = in_sentence(*self.by)
            parts.append(_("by {dimensions}").format(dimensions=dimensions))
        wanted = self.family
        rows = (row for row in self.pool.rows if wanted is None or row.family == wanted)
        trials = len({row.trial.id for row in rows})
        parts.append(ngettext("{n} trial", "{n} trials", trials).format(n=f"{trials:,}"))
        return " · ".join(parts)

    def names(self) -> Sequence[str]:
        """The plots in a list, with the sign of their family where there are several."""
        signs = {family: FAMILY[family][0] for family in self.families}
        single = self.family is not None or len(signs) == 1
        return [
            f"{'' if single or plot.family is None else signs[plot.family]} {name}".strip()
            for plot in self.plots
            for name in [plot.title.rpartition(" · ")[0]]
        ]

    def file_text(self, suffix: str) -> str:
        """The plot for a file: `.svg` as a picture, `.csv` and `.tex` its numbers, any other as Markdown."""
        if suffix.lower() == ".svg":
            return as_svg(self.plot) + "\n"
        return report_text(Report(self.plot.key, self.plot.title, (self.table,)), suffix)

    def _find(self, key: str) -> None:
        """The plot of this key, else the first one of its kind."""
        kind = key.rpartition("-")[0]
        keys = [plot.key for plot in self.plots]
        alike = [at for at, each in enumerate(keys) if each.rpartition("-")[0] == kind]
        self.at = keys.index(key) if key in keys else next(iter(alike), 0)
