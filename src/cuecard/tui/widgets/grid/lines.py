"""The lines of a grid as strips, each drawn once per look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from cuecard.core.i18n import _
from cuecard.tui.widgets.grid.columns import PADDING, GridColumn
from cuecard.tui.widgets.grid.drawing import aligned, cell_segments
from cuecard.tui.widgets.grid.layout import Layout
from cuecard.tui.widgets.grid.source import GridSource, ListSource, Tone

if TYPE_CHECKING:
    from cuecard.tui.widgets.grid.view import GridView

BAR, MARK = "▌", "✓"
FRAME = ("▐", "▌")
_KEPT = 1000


class Look(NamedTuple):
    """What a row's strip depends on besides its cells and the layout."""

    cursor: bool
    column: int  # of the cell cursor; -1 for none
    marked: bool
    scroll_x: int


class Lines:
    """Strips of one grid. `marking` and `gutter`: whether each has a cell of its own."""

    def __init__(self, grid: GridView, *, marking: bool, gutter: bool) -> None:
        self._grid = grid
        self._marking = marking
        self._gutter = gutter
        self._source: GridSource = ListSource(())
        self._columns: Sequence[GridColumn] = ()
        self._strips: dict[int, dict[Look, Strip]] = {}
        self._inks: dict[Tone, Style] = {}

    def load(self, source: GridSource, columns: Sequence[GridColumn]) -> None:
        self._source, self._columns = source, columns
        self.clear()

    def clear(self) -> None:
        self._strips.clear()
        self._inks.clear()

    def forget(self, row: int) -> None:
        """The cells of this row are other ones now."""
        self._strips.pop(row, None)

    def head(self, layout: Layout, scroll_x: int) -> Strip:
        base = self._style("head")
        segments = [Segment(" " * self._lead(layout), base)]
        for i, width in layout.widths.items():
            column = self._columns[i]
            label = column.label if column.raw else _(column.label)
            text = aligned(label, width, right=column.right)
            segments.append(Segment(f"{' ' * PADDING}{text}{' ' * PADDING}", base))
        return self._shown(segments, layout, scroll_x, base)

    def row(self, row: int, look: Look, layout: Layout) -> Strip:
        strips = self._strips.get(row)
        if strips is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            strips = self._strips[row] = {}
        strip = strips.get(look)
        if strip is None:
            strip = strips[look] = self._drawn(row, look, layout)
        return strip

    def _drawn(self, row: int, look: Look, layout: Layout) -> Strip:
        by_cell = look.column >= 0
        if look.cursor and not by_cell:
            base = self._style("cursor")
        elif look.marked:
            base = self._style("marked")
        else:
            base = self._style("row") if look.cursor else self._grid.rich_style
        segments = self._lead_segments(row, look, layout, base)
        cells = self._source.cells(row)
        for i, width in layout.widths.items():
            here = by_cell and i == look.column
            style = self._style("cursor") if here else base
            left = right = Segment(" " * PADDING, base)
            if here:
                bar = self._style("bar", partial=True)
                left, right = (Segment(edge, base + bar) for edge in FRAME)
            segments.append(left)
            segments.extend(
                cell_segments(
                    cells[i] if i < len(cells) else "",
                    width,
                    right=self._columns[i].right,
                    base=style,
                    ink=self._ink,
                    styled=self._styled,
                )
            )
            segments.append(right)
        return self._shown(segments, layout, look.scroll_x, base)

    def _lead_segments(self, row: int, look: Look, layout: Layout, base: Style) -> list[Segment]:
        bar = BAR if look.cursor else " "
        segments = [Segment(bar, base + self._style("bar", partial=True))]
        if self._gutter:
            text, tone = self._source.gutter(row)
            segments.append(Segment(aligned(text, 1), base + self._ink(tone)))
        if self._marking:
            mark = MARK if look.marked else " "
            segments.append(Segment(mark, base + self._style("mark", partial=True)))
        if layout.digits:
            number = f"{row + 1:>{layout.digits}}{' ' * PADDING}"
            segments.append(Segment(number, base + self._ink("muted")))
        return segments

    def _lead(self, layout: Layout) -> int:
        digits = layout.digits + PADDING if layout.digits else 0
        return 1 + self._gutter + self._marking + digits

    def _shown(self, segments: list[Segment], layout: Layout, scroll_x: int, base: Style) -> Strip:
        """What of a whole line is in view."""
        line = Strip(segments)
        if layout.scrolls and scroll_x:
            rest = line.crop(layout.pinned + scroll_x, layout.room + scroll_x)
            line = Strip.join([line.crop(0, layout.pinned), rest])
        return line.crop_extend(0, layout.room, base)

    def _style(self, name: str, *, partial: bool = False) -> Style:
        return self._grid.get_component_rich_style(f"grid--{name}", partial=partial)

    def _ink(self, tone: Tone) -> Style:
        style = self._inks.get(tone)
        if style is None:
            style = Style.null() if tone == "plain" else self._style(tone, partial=True)
            self._inks[tone] = style
        return style

    def _styled(self, text: Text) -> list[Segment]:
        return list(text.render(self._grid.app.console))
