"""Lines of entries as strips, kept as long as they look the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from cuecard.tui.state.entries import Piece, Tone
from cuecard.tui.state.flowing import Line

if TYPE_CHECKING:
    from textual.widget import Widget

MOST_DRAWN = 1_000
"""Lines of which the strips are kept."""


class EntryPaint:
    """What a widget's lines are drawn with; its component classes `entries--TONE` say how."""

    def __init__(self, widget: Widget) -> None:
        self.width = 0
        self._widget = widget
        self._inks: dict[tuple[Tone, bool], Style] = {}
        self._ground: tuple[Style, int, str] | None = None
        self._drawn: dict[int, tuple[Line, tuple[Piece, bool], Strip]] = {}

    def forget_styles(self) -> None:
        self._inks.clear()

    def begin(self, width: int) -> None:
        """A frame of this width is drawn: what was drawn otherwise is forgotten."""
        self.width = width
        ground = (self._widget.rich_style, width, self._widget.app.theme)
        if ground != self._ground or len(self._drawn) > MOST_DRAWN:
            self._ground = ground
            self._inks.clear()
            self._drawn.clear()

    def blank(self) -> Strip:
        return Strip.blank(self.width, self.ink("plain"))

    def strip(
        self,
        number: int,
        line: Line,
        gutter: Piece,
        *,
        cursor: bool,
        selected: tuple[int, int] | None,
    ) -> Strip:
        """Line `number`; `selected`: from and up to which cell of it, -1 for its end."""
        # A line that is drawn as it was is the same strip, of which Textual keeps what it made.
        drawn = self._drawn.get(number)
        if drawn and drawn[0] is line and drawn[1] == (gutter, cursor) and not selected:
            return drawn[2]
        segments = [Segment(p.text, self.ink(p.tone, cursor=cursor)) for p in (gutter, *line)]
        strip = Strip(segments).crop_extend(0, self.width, self.ink("plain", cursor=cursor))
        if selected:
            return self._with_selection(strip, selected).apply_offsets(0, number)
        strip = strip.apply_offsets(0, number)
        self._drawn[number] = (line, (gutter, cursor), strip)
        return strip

    def ink(self, tone: Tone, *, cursor: bool = False) -> Style:
        """A tone as a style. Kept until styles change: looking it up takes longer than to draw a line."""
        style = self._inks.get((tone, cursor))
        if style is None:
            widget = self._widget
            if tone != "plain":
                style = self.ink("plain", cursor=cursor)
                style += widget.get_component_rich_style(f"entries--{tone}", partial=True)
            elif cursor:
                style = widget.get_component_rich_style("entries--cursor")
            else:
                style = widget.rich_style
            self._inks[tone, cursor] = style
        return style

    def _with_selection(self, strip: Strip, span: tuple[int, int]) -> Strip:
        text = Text.assemble(*((s.text, s.style or "") for s in strip), end="", no_wrap=True)
        start, end = span
        style = self._widget.screen.get_component_rich_style("screen--selection")
        text.stylize(style, start, len(text) if end == -1 else end)
        return Strip(text.render(self._widget.app.console), strip.cell_length)
