"""A list of boxes to tick that reads without colour: Textual's draws the same mark in both states."""

from __future__ import annotations

from typing import TypeVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import SelectionList
from textual.widgets.option_list import OptionDoesNotExist

Value = TypeVar("Value")
_INNER = 1


class TickList(SelectionList[Value]):
    """As `SelectionList`; a box that is not ticked is empty."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        try:
            selection = self.get_option_at_index(self.scroll_offset.y + y)
        except OptionDoesNotExist:
            return strip
        if selection.value in self.selected:
            return strip
        segments = list(strip)
        box = segments[_INNER]
        segments[_INNER] = Segment(" " * len(box.text), box.style, box.control)
        return Strip(segments)
