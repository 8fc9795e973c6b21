"""A dialogue of any length as lines: wrapped once per width, drawn as they scroll into view.

Text of models and tools reaches the terminal only through `wrap`, which leaves nothing in it
that a terminal would act on, and is never parsed as markup.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.blocks import Line, block_of
from cuecard.tui.state.transcript import Entry, Tone

GUTTER = 2


class Transcript(ScrollView, can_focus=True):
    """`load` entries; the cursor walks over them, Enter opens what is folded."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        & > .transcript--strong { text-style: bold; }
        & > .transcript--user { color: $secondary; text-style: bold; }
        & > .transcript--agent { color: $primary; text-style: bold; }
        & > .transcript--work { color: $foreground 75%; }
        & > .transcript--muted { color: $muted; }
        & > .transcript--good { color: $success; }
        & > .transcript--bad { color: $error; }
        & > .transcript--stage { color: $primary; }
        & > .transcript--cursor { background: $primary 18%; }
    }
    """
    COMPONENT_CLASSES = {
        "transcript--strong",
        "transcript--user",
        "transcript--agent",
        "transcript--work",
        "transcript--muted",
        "transcript--good",
        "transcript--bad",
        "transcript--stage",
        "transcript--cursor",
    }
    BINDINGS = keys(
        Key(
            "transcript.open",
            "enter,space",
            "open",
            N_("Open/fold"),
            N_("Show or hide the tool calls under the cursor"),
        ),
        Key(
            "transcript.open_all",
            "o",
            "open_all",
            N_("Open all"),
            N_("Show or hide all tool calls"),
            show=False,
        ),
        Key("transcript.up", "up,k", "walk(-1)", N_("Up"), N_("To the entry before"), show=False),
        Key(
            "transcript.down", "down,j", "walk(1)", N_("Down"), N_("To the next entry"), show=False
        ),
        Key("transcript.first", "home,g", "jump(0)", N_("First"), N_("To the start"), show=False),
        Key("transcript.last", "end,G", "jump(-1)", N_("Last"), N_("To the end"), show=False),
    )
    ALLOW_SELECT = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._entries: list[Entry] = []
        self._opened: set[int] = set()
        self._blocks: list[list[Line]] = []
        self._starts: list[int] = [0]
        self._wrapped_at = 0
        self._cursor = 0

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def cursor(self) -> int:
        return self._cursor

    @property
    def lines(self) -> list[str]:
        """Every line as it is drawn, gutter excluded: for copying and for tests."""
        return ["".join(piece.text for piece in line) for block in self._blocks for line in block]

    def load(self, entries: Sequence[Entry], *, follow: bool = False) -> None:
        """Show `entries`; those that did not change are not wrapped again. With `follow`, stay at
        the end if the end was in view.
        """
        at_end = self.is_vertical_scroll_end
        kept = 0
        for old, new in zip(self._entries, entries, strict=False):
            if old != new:
                break
            kept += 1
        self._entries = list(entries)
        self._opened = {index for index in self._opened if index < len(entries)}
        self._wrap_from(kept if self._width == self._wrapped_at else 0)
        if follow and at_end:
            self._cursor = max(len(entries) - 1, 0)
            self.scroll_end(animate=False, immediate=True)
        else:
            self._cursor = min(self._cursor, max(len(entries) - 1, 0))

    def show_turn(self, turn: int) -> None:
        """Put the cursor on the first entry of a turn and scroll there."""
        for index, entry in enumerate(self._entries):
            if entry.turn >= turn and entry.role in ("user", "agent"):
                self._move(index)
                return

    def open_last_work(self) -> None:
        """Open or fold the newest tool calls, wherever the cursor is."""
        for index in range(len(self._entries) - 1, -1, -1):
            if self._entries[index].role == "work":
                self._toggle(index)
                self._move(index)
                return

    def on_resize(self, event: events.Resize) -> None:
        if self._width != self._wrapped_at:
            self._wrap_from(0)

    def on_click(self, event: events.Click) -> None:
        index = self._entry_at(int(self.scroll_y) + event.y)
        if index is None:
            return
        self._move(index)
        if self._entries[index].fold and int(self.scroll_y) + event.y == self._starts[index]:
            self._toggle(index)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(" " * GUTTER + line for line in self.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = int(self.scroll_y) + y
        base = self.rich_style
        width = self.scrollable_content_region.width
        index = self._entry_at(number)
        if index is None:
            return Strip.blank(width, base)
        under_cursor = self.has_focus and index == self._cursor
        if under_cursor and number == self._starts[index]:
            base = self.get_component_rich_style("transcript--cursor")
        line = self._blocks[index][number - self._starts[index]]
        text = Text(end="", no_wrap=True)
        text.append(*self._gutter(index, under_cursor))
        for piece in line:
            text.append(piece.text, self._tone(piece.tone))
        self._show_selection(text, number)
        segments = [
            Segment(run, base + style if isinstance(style, Style) else base)
            for run, style, _control in text.render(self.app.console)
            if run
        ]
        strip = Strip(segments).crop_extend(0, width, base)
        return strip.apply_offsets(0, number)

    def action_open(self) -> None:
        if self._entries:
            self._toggle(self._cursor)

    def action_open_all(self) -> None:
        foldable = {index for index, entry in enumerate(self._entries) if entry.fold}
        self._opened = set() if self._opened >= foldable else foldable
        self._wrap_from(0)
        self._move(self._cursor)

    def action_walk(self, step: int) -> None:
        """To the next entry; one that is taller than the view is scrolled through first."""
        if not self._entries:
            return
        top, bottom = int(self.scroll_y), int(self.scroll_y) + self.size.height
        start, end = self._starts[self._cursor], self._starts[self._cursor + 1]
        if step > 0 and end > bottom and start < bottom:
            self.scroll_relative(y=1, animate=False, immediate=True)
        elif step < 0 and start < top < end:
            self.scroll_relative(y=-1, animate=False, immediate=True)
        else:
            self._move(self._cursor + step)

    def action_jump(self, index: int) -> None:
        self._move(len(self._entries) - 1 if index < 0 else index)
        if index < 0:
            self.scroll_end(animate=False, immediate=True)

    def action_page_down(self) -> None:
        self._page(1)

    def action_page_up(self) -> None:
        self._page(-1)

    def _page(self, direction: int) -> None:
        distance = direction * max(self.size.height - 2, 1)
        self.scroll_relative(y=distance, animate=False, immediate=True)
        middle = int(self.scroll_y) + self.size.height // 2
        self._cursor = self._entry_at(middle) or self._cursor
        self.refresh()

    @property
    def _width(self) -> int:
        return max(self.scrollable_content_region.width - GUTTER, 2)

    def _wrap_from(self, first: int) -> None:
        if self.size.width == 0:
            return
        del self._blocks[first:]
        for index in range(first, len(self._entries)):
            opened = index in self._opened
            self._blocks.append(block_of(self._entries[index], opened=opened, width=self._width))
        self._starts = [0, *accumulate(map(len, self._blocks))]
        self._wrapped_at = self._width
        self.virtual_size = Size(self.scrollable_content_region.width, self._starts[-1])
        self.refresh()

    def _entry_at(self, line: int) -> int | None:
        if not 0 <= line < self._starts[-1]:
            return None
        return bisect_right(self._starts, line) - 1

    def _toggle(self, index: int) -> None:
        if not self._entries[index].fold:
            return
        self._opened ^= {index}
        self._wrap_from(index)

    def _move(self, index: int) -> None:
        if not self._blocks:
            return
        self._cursor = max(0, min(index, len(self._blocks) - 1))
        top, height = int(self.scroll_y), self.size.height
        start, end = self._starts[self._cursor], self._starts[self._cursor + 1]
        if start < top or end - start > height:
            self.scroll_to(y=start, animate=False, immediate=True)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False, immediate=True)
        self.refresh()

    def _gutter(self, index: int, under_cursor: bool) -> tuple[str, Style]:
        role = self._entries[index].role
        tone: Tone = "user" if role == "user" else "agent"
        if under_cursor:
            return "▌ ", self._tone(tone)
        if role in ("user", "agent", "writing"):
            return "▏ ", self._tone(tone)
        return "  ", self._tone("muted")

    def _tone(self, tone: Tone) -> Style:
        if tone == "plain":
            return Style.null()
        return self.get_component_rich_style(f"transcript--{tone}", partial=True)

    def _show_selection(self, text: Text, number: int) -> None:
        selection = self.text_selection
        span = selection.get_span(number) if selection else None
        if span is not None:
            start, end = span
            style = self.screen.get_component_rich_style("screen--selection")
            text.stylize(style, start, len(text) if end == -1 else end)
