"""Tables by section, one of them shown at a time: what screens of figures have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from rich.cells import cell_len

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.sheet_cells import bars, cell_at, cell_in_full, name_at

_FAR = 20

SectionT = TypeVar("SectionT", bound=str)


class SheetView(Generic[SectionT]):
    """Which section is shown and which of its tables; each section keeps its place. `plotted`: the table's
    intervals are drawn.
    """

    section: SectionT
    plotted: bool
    _at: dict[SectionT, int]

    def of(self, section: SectionT) -> Sequence[Sheet]:
        raise NotImplementedError

    @property
    def named(self) -> Mapping[SectionT, tuple[str, str]]:
        """The sections that there are: key and untranslated name."""
        raise NotImplementedError

    @property
    def anything(self) -> bool:
        """Whether there are figures at all."""
        raise NotImplementedError

    def circumstances(self) -> Sequence[str]:
        """What to know of every table, a sentence each."""
        return ()

    def why_empty(self) -> str:
        """Why the section has no table, and how to get data for it."""
        raise NotImplementedError

    def opens(self, row: int, column: int) -> bool:
        """Whether something lies behind the cell."""
        raise NotImplementedError

    def show(self, section: SectionT) -> None:
        self.section, self.plotted = section, False

    def step(self, by: int) -> None:
        """To the next table of the section, round and round."""
        if count := len(self.of(self.section)):
            self._at[self.section] = (self.index + by) % count

    @property
    def index(self) -> int:
        return min(self._at.get(self.section, 0), max(0, len(self.of(self.section)) - 1))

    @property
    def sheet(self) -> Sheet | None:
        sheets = self.of(self.section)
        return sheets[self.index] if sheets else None

    @property
    def drawn(self) -> Sheet | None:
        """The table whose intervals are drawn: the one that is shown, or what of it belongs on one axis."""
        return self.sheet

    @property
    def first_column(self) -> int:
        """Where the cursor stands in a table that has just been opened."""
        return 0 if self.plotted else 1

    @property
    def plottable(self) -> bool:
        return self.drawn is not None and on_one_scale(self.drawn)

    @property
    def heading(self) -> str:
        """`Cues 1/4 · Simulators against people`."""
        sheets, name = self.of(self.section), _(self.named[self.section][1])
        if self.sheet is None:
            return name
        place = f" {self.index + 1}/{len(sheets)}" if len(sheets) > 1 else ""
        return f"{name}{place} · {one_line(self.sheet.title)}"

    @property
    def tabs(self) -> list[Piece]:
        """The sections with their keys; the one that is shown stands in brackets, so that it is told without
        colour.
        """
        pieces: list[Piece] = []
        for section, (key, word) in self.named.items():
            if section == self.section:
                pieces.append(Piece(f"[{key} {_(word)}]", "strong"))
            else:
                pieces.append(Piece(f" {key} {_(word)} ", "muted"))
            pieces.append(Piece(" "))
        return pieces

    @property
    def plot_tab(self) -> list[Piece]:
        """The key that draws intervals, where there are any."""
        if not self.plottable:
            return []
        if self.plotted:
            return [Piece(" "), Piece(f"[i {_('Intervals')}]", "strong")]
        return [Piece(" "), Piece(f" i {_('Intervals')} ", "muted")]

    def tab_lines(self, width: int) -> list[list[Piece]]:
        """The sections on as many lines as they need, none of them broken."""
        lines: list[list[Piece]] = [[]]
        for piece in (*self.tabs, *self.plot_tab):
            taken = sum(cell_len(each.text) for each in lines[-1])
            if taken and taken + cell_len(piece.text.rstrip()) > width:
                lines.append([])
            if lines[-1] or piece.text.strip():
                lines[-1].append(piece)
        return lines

    def cell(self, row: int, column: int) -> Cell | None:
        return cell_at(self._looked_at, row, column, plotted=self.plotted)

    def name_of(self, row: int, column: int) -> str:
        return name_at(self._looked_at, row, column, plotted=self.plotted)

    @property
    def _looked_at(self) -> Sheet | None:
        return self.drawn if self.plotted else self.sheet

    def details(self, row: int, column: int) -> list[str]:
        """The figure under the cursor in full, why it is missing, then what to know of the table."""
        sheet = self.sheet
        if sheet is None:
            return [_("There is nothing to show here yet: {why}").format(why=self.why_empty())]
        found = cell_in_full(self.name_of(row, column), self.cell(row, column))
        return [*found, *sheet.notes, *self.circumstances()]


def on_one_scale(sheet: Sheet) -> bool:
    """Whether there are figures, and an axis can hold them: shares, or numbers not too far from each other."""
    values = [abs(bar.statistic.value or 0) for bar in bars(sheet)]
    if not values or max(values) <= 1:
        return bool(values)
    return max(values) <= _FAR * min((value for value in values if value), default=1)
