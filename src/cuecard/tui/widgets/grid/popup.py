"""A short list laid over the lines of a grid, drawn with them: a widget of changing size would have
the whole screen laid out again at every key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from cuecard.tui.widgets.grid.drawing import aligned

CHOSEN, OTHER = "▸", " "
NOWHERE = Region()
_SPARE = 2  # the sign before a text, and a blank after


@dataclass(frozen=True)
class Popup:
    """`texts` below a cell, or above it; `chosen` is one of them, or -1."""

    texts: Sequence[str]
    region: Region = NOWHERE
    chosen: int = -1

    def at(self, cell: Region, room: Region) -> Popup:
        """The same, by `cell` within `room`. It only grows: a list that jumps is hard to read."""
        widest = max((cell_len(text) for text in self.texts), default=0) + _SPARE
        width = min(max(widest, cell.width + _SPARE, self.region.width), room.width)
        height = len(self.texts)
        below, above = room.bottom - cell.bottom, cell.y - room.y
        y = cell.bottom if below >= height or below >= above else cell.y - height
        x = max(room.x, min(cell.x - 1, room.right - width))
        return replace(self, region=Region(x, y, width, height).intersection(room))

    def over(self, strip: Strip, y: int, plain: Style, chosen: Style) -> Strip:
        """The line `y` of the grid, with this upon it."""
        region, index = self.region, y - self.region.y
        if not 0 <= index < region.height or not region.width:
            return strip
        here = index == self.chosen
        text = aligned(self.texts[index], region.width - _SPARE)
        own = f"{CHOSEN if here else OTHER}{text} "
        segment = Segment(own, chosen if here else plain)
        left, right = strip.crop(0, region.x), strip.crop(region.right, strip.cell_length)
        return Strip.join([left, Strip([segment], region.width), right])
