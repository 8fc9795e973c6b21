"""What the agreement screen shows: one table at a time, of one view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison import Case, Comparison, Material, Place, Subject
from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet, View, side_word
from cuecard.annotate.labelling.comparison.words import (
    GROUP_WORDS,
    circumstances,
    figure,
    label_word,
)
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.results.cells import ResultCell
from cuecard.tui.state.agreement_plot import Axis, axis_for, drawn

Shown = Literal["table", "matrix", "groups", "judges", "effect", "plot"]
SHOWN_WORDS: dict[Shown, str] = {
    "table": N_("Table"),
    "matrix": N_("Matrix"),
    "groups": N_("Groups"),
    "judges": N_("Judges"),
    "effect": N_("Effect"),
    "plot": N_("Intervals"),
}
_PLOTTED: tuple[View, ...] = ("table", "groups", "judges")


@dataclass(frozen=True)
class Bar:
    """A line of the plot. `cell` is what the table has for it."""

    what: str
    who: str
    cell: Cell
    statistic: Statistic


@dataclass
class AgreementView:
    """Which view is shown and which of its tables; each view keeps its place. `weighed`: the effect on
    scores was computed.
    """

    material: Material
    comparison: Comparison
    sheets: tuple[Sheet, ...]
    shown: Shown = "table"
    weighed: bool = False
    _at: dict[Shown, int] = field(default_factory=dict["Shown", int])

    def of(self, shown: Shown) -> list[Sheet]:
        """The tables of a view; the plot has those that hold figures."""
        if shown == "plot":
            return [sheet for sheet in self.sheets if sheet.view in _PLOTTED and bars(sheet)]
        return [sheet for sheet in self.sheets if sheet.view == shown]

    def show(self, shown: Shown) -> None:
        """The plot opens on what was looked at as a table."""
        if shown == "plot" and (sheet := self.sheet) in (plots := self.of("plot")):
            self._at["plot"] = plots.index(sheet)
        self.shown = shown

    def step(self, by: int) -> None:
        """To the next table of the view, round and round."""
        if count := len(self.of(self.shown)):
            self._at[self.shown] = (self.index + by) % count

    @property
    def index(self) -> int:
        return min(self._at.get(self.shown, 0), max(0, len(self.of(self.shown)) - 1))

    @property
    def sheet(self) -> Sheet | None:
        sheets = self.of(self.shown)
        return sheets[self.index] if sheets else None

    @property
    def heading(self) -> str:
        """`Table 1/4 · Judges against most people`."""
        sheets, name = self.of(self.shown), _(SHOWN_WORDS[self.shown])
        if self.sheet is None:
            return name
        place = f" {self.index + 1}/{len(sheets)}" if len(sheets) > 1 else ""
        return f"{name}{place} · {one_line(self.sheet.title)}"

    @property
    def next_subject(self) -> Subject | None:
        """What else was labelled, if anything."""
        names: list[Subject] = [subject for subject, _n in self.comparison.subjects]
        if len(names) < 2:
            return None
        at = names.index(self.comparison.subject) if self.comparison.subject in names else -1
        return names[(at + 1) % len(names)]

    def details(self, row: int, column: int) -> list[str]:
        """The figure under the cursor in full, why it is missing, then what to know of the table."""
        sheet = self.sheet
        if sheet is None:
            return [_("There is nothing to show here yet: {why}").format(why=self._why_empty())]
        found = cell_in_full(self.name(row, column), self.cell(row, column))
        return [*found, *sheet.notes, *circumstances(self.comparison)]

    def cell(self, row: int, column: int) -> Cell | None:
        return cell_at(self.sheet, row, column, plotted=self.shown == "plot")

    def name(self, row: int, column: int) -> str:
        return name_at(self.sheet, row, column, plotted=self.shown == "plot")

    def place(self, row: int, column: int) -> Place | None:
        """The items behind the cell; of a line's name, those of its first figure."""
        cell = self.cell(row, column)
        if cell is None or self.sheet is None:
            return None
        if cell.place is None and column == 0 and self.shown != "plot":
            line = self.sheet.lines[row]
            return next((each.place for each in line if each.place), None)
        return cell.place

    def _why_empty(self) -> str:
        match self.shown:
            case "judges":
                return _("it takes two judges or two people on the same items.")
            case "groups":
                return _("the labelled items are all of one kind.")
            case "effect" if not self.weighed:
                return _("it is being computed.")
            case "effect":
                return _("scores need labels on what judges decided.")
            case _:
                return _("no item has labels of two sides.")


def bars(sheet: Sheet) -> list[Bar]:
    """Every figure of a table that has a value, line by line."""
    return [
        Bar(line[0].text, heading, cell, cell.statistic)
        for line in sheet.lines
        for heading, cell in zip(sheet.headings, line, strict=True)
        if cell.statistic is not None and cell.statistic.value is not None
    ]


def cell_at(sheet: Sheet | None, row: int, column: int, *, plotted: bool) -> Cell | None:
    """The cell under the cursor of a table, or the one that the plot's line draws."""
    if sheet is None:
        return None
    if plotted:
        lines = bars(sheet)
        return lines[row].cell if row < len(lines) else None
    if row >= len(sheet.lines) or not 0 <= column < len(sheet.lines[row]):
        return None
    return sheet.lines[row][column]


def cell_in_full(name: str, cell: Cell | None) -> list[str]:
    """A figure with its interval and n, or the cell's words, and what there is to remark."""
    if cell is None:
        return []
    found: list[str] = []
    if cell.statistic is not None:
        n = _("n {n}").format(n=f"{cell.statistic.n:,}")
        # Figures of results say themselves whether they are shares, counts or money.
        told = cell.text if isinstance(cell, ResultCell) else figure(cell.statistic)
        found.append(f"{name}: {told} · {n}")
    elif name:
        found.append(f"{name}: {cell.text}")
    return [*found, cell.remark] if cell.remark else found


def name_at(sheet: Sheet | None, row: int, column: int, *, plotted: bool) -> str:
    """What that cell is called: its line and its column."""
    if sheet is None:
        return ""
    if plotted:
        lines = bars(sheet)
        return f"{lines[row].what} · {lines[row].who}" if row < len(lines) else ""
    if row >= len(sheet.lines) or column >= len(sheet.headings):
        return ""
    parts = (sheet.lines[row][0].text, sheet.headings[column] if column else "")
    return " · ".join(filter(None, parts))


def plot_of(sheet: Sheet, width: int) -> tuple[Axis, list[tuple[Bar, str]]]:
    """The axis of a table's figures, and each drawn on it."""
    lines = bars(sheet)
    axis = axis_for([bar.statistic for bar in lines], width)
    return axis, [(bar, drawn(bar.statistic, axis)) for bar in lines]


def place_words(found: Comparison, place: Place) -> str:
    """What items a list holds."""
    left, right = side_word(found, place.left), side_word(found, place.right)
    parts = [f"{left} · {right}"]
    if place.row:
        word = label_word(found.subject, place.row)
        parts.append(_("{rater}: {label}").format(rater=left, label=word))
    if place.column:
        word = label_word(found.subject, place.column)
        parts.append(_("{rater}: {label}").format(rater=right, label=word))
    if place.either:
        parts.append(_("{label} by either").format(label=label_word(found.subject, place.either)))
    if place.by:
        parts.append(f"{_(GROUP_WORDS[place.by])}: {place.value or '–'}")
    return one_line(" · ".join(parts))


def said_words(subject: Subject, values: Sequence[tuple[str, str]]) -> str:
    """Who said what, those who agree together: `covered: Ana, Ben · not covered: Cy`."""
    by_label: dict[str, list[str]] = {}
    for who, value in values:
        by_label.setdefault(label_word(subject, value), []).append(who)
    return " · ".join(f"{label}: {', '.join(names)}" for label, names in by_label.items())


def item_words(case: Case) -> str:
    """`triple 18`, `cell 4 Year`: numbered as people count."""
    item = case.item
    return " ".join(filter(None, (item.kind.value, str(item.index + 1), item.column)))
