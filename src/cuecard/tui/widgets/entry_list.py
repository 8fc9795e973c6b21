"""Entries of any number and length as lines: wrapped once per width, drawn as they scroll into view.

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
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.blocks import Line, block_of
from cuecard.tui.state.transcript import Entry, Tone

GUTTER = 2


class EntryList(ScrollView, can_focus=True):
    """`load` entries; the cursor walks over them, Enter opens what is folded."""

    DEFAULT_CSS = """
    EntryList {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        & > .entries--strong { text-style: bold; }
        & > .entries--user { color: $secondary; text-style: bold; }
        & > .entries--agent { color: $primary; text-style: bold; }
        & > .entries--work { color: $foreground 75%; }
        & > .entries--muted { color: $muted; }
        & > .entries--good { color: $success; }
        & > .entries--bad { color: $error; }
        & > .entries--added { color: $success; text-style: underline; }
        & > .entries--removed { color: $error; text-style: strike; }
        & > .entries--stage { color: $primary; }
        & > .entries--cursor { background: $primary 18%; }
    }
    """
    COMPONENT_CLASSES = {
        "entries--strong",
        "entries--user",
        "entries--agent",
        "entries--work",
        "entries--muted",
        "entries--good",
        "entries--bad",
        "entries--stage",
        "entries--added",
        "entries--removed",
        "entries--cursor",
    }
    BINDINGS = keys(
        Key(
            "entries.open",
            "enter,space",
            "open",
            N_("Open/fold"),
            N_("Show or hide what is folded under the cursor"),
        ),
        Key(
            "entries.open_all",
            "o",
            "open_all",
            N_("Open all"),
            N_("Show or hide all that is folded"),
            show=False,
        ),
        Key("entries.up", "up", "walk(-1)", N_("Up"), N_("To the entry before"), show=False),
        Key("entries.down", "down", "walk(1)", N_("Down"), N_("To the next entry"), show=False),
        Key("entries.first", "home", "jump(0)", N_("First"), N_("To the start"), show=False),
        Key("entries.last", "end", "jump(-1)", N_("Last"), N_("To the end"), show=False),
    )
    ALLOW_SELECT = True

    class Chosen(Message):
        """Enter was pressed on an entry, or its first line clicked."""

        def __init__(self, entry_list: EntryList, index: int) -> None:
            super().__init__()
            self.entry_list = entry_list
            self.index = index

        @property
        def control(self) -> EntryList:
            return self.entry_list

    class CursorMoved(Message):
        """The cursor is on another entry."""

        def __init__(self, entry_list: EntryList, index: int) -> None:
            super().__init__()
            self.entry_list = entry_list
            self.index = index

        @property
        def control(self) -> EntryList:
            return self.entry_list

    class Unfolded(Message):
        """What was folded is shown now, of one entry or of all."""

        def __init__(self, entry_list: EntryList) -> None:
            super().__init__()
            self.entry_list = entry_list

        @property
        def control(self) -> EntryList:
            return self.entry_list

    def __init__(
        self, *, gap: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """`gap`: an empty line after each entry."""
        super().__init__(id=id, classes=classes)
        self._gap = gap
        self._entries: list[Entry] = []
        self._opened: set[int] = set()
        self._blocks: list[list[Line]] = []
        self._starts: list[int] = [0]
        self._wrapped_at = 0
        self._cursor = 0
        self._follow = False
        self._at_end = True

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def opened(self) -> Sequence[int]:
        """The indices of the entries that are not folded, in order."""
        return sorted(self._opened)

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
        self._follow = follow
        kept = 0
        for old, new in zip(self._entries, entries, strict=False):
            if old != new:
                break
            kept += 1
        self._entries = list(entries)
        self._opened = {index for index in self._opened if index < len(entries)}
        self._wrap_from(kept if self._width == self._wrapped_at else 0)
        if follow and self._at_end:
            self._cursor = max(len(entries) - 1, 0)
            self.scroll_end(animate=False, immediate=True)
        else:
            self._cursor = min(self._cursor, max(len(entries) - 1, 0))

    def on_resize(self, event: events.Resize) -> None:
        # Whether the end was in view before the view became another one.
        stay = self._follow and self._at_end
        if self._width != self._wrapped_at:
            self._wrap_from(0)
        if stay:
            self.scroll_end(animate=False, immediate=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._at_end = self.is_vertical_scroll_end

    def on_click(self, event: events.Click) -> None:
        index = self._entry_at(int(self.scroll_y) + event.y)
        if index is None:
            return
        self.move_to(index)
        if int(self.scroll_y) + event.y == self._starts[index]:
            self.action_open()

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
            base = self.get_component_rich_style("entries--cursor")
        line = self._blocks[index][number - self._starts[index]]
        text = Text(end="", no_wrap=True)
        text.append(*self._gutter(index, under_cursor=under_cursor))
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
            self.toggle(self._cursor)
            self.post_message(self.Chosen(self, self._cursor))

    def action_open_all(self) -> None:
        foldable = {index for index, entry in enumerate(self._entries) if entry.fold}
        self._opened = set() if self._opened >= foldable else foldable
        self._wrap_from(0)
        self.move_to(self._cursor)
        if self._opened:
            self.post_message(self.Unfolded(self))

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
            self.move_to(self._cursor + step)

    def action_jump(self, index: int) -> None:
        self.move_to(len(self._entries) - 1 if index < 0 else index)
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
        self._put_cursor(self._entry_at(middle) or self._cursor)
        self.refresh()

    @property
    def _width(self) -> int:
        return max(self.scrollable_content_region.width - GUTTER, 2)

    def _wrap_from(self, first: int) -> None:
        if self.size.width == 0:
            return
        del self._blocks[first:]
        for index in range(first, len(self._entries)):
            entry, opened = self._entries[index], index in self._opened
            block = block_of(entry, opened=opened, width=self._width, gap=self._gap)
            self._blocks.append(block)
        self._starts = [0, *accumulate(map(len, self._blocks))]
        self._wrapped_at = self._width
        self.virtual_size = Size(self.scrollable_content_region.width, self._starts[-1])
        self.refresh()

    def _entry_at(self, line: int) -> int | None:
        if not 0 <= line < self._starts[-1]:
            return None
        return bisect_right(self._starts, line) - 1

    def toggle(self, index: int) -> None:
        """Open or fold one entry."""
        if not self._entries[index].fold:
            return
        self._opened ^= {index}
        self._wrap_from(index)
        if index in self._opened:
            self.post_message(self.Unfolded(self))

    def move_to(self, index: int) -> None:
        """Put the cursor on an entry and scroll it into view."""
        if not self._blocks:
            return
        self._put_cursor(max(0, min(index, len(self._blocks) - 1)))
        top, height = int(self.scroll_y), self.size.height
        start, end = self._starts[self._cursor], self._starts[self._cursor + 1]
        if start < top or end - start > height:
            self.scroll_to(y=start, animate=False, immediate=True)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False, immediate=True)
        self.refresh()

    def _put_cursor(self, index: int) -> None:
        if index != self._cursor:
            self._cursor = index
            self.post_message(self.CursorMoved(self, index))

    def _gutter(self, index: int, *, under_cursor: bool) -> tuple[str, Style]:
        tone = self.gutter_tone(self._entries[index])
        bar = "▌ " if under_cursor else "▏ " if tone else "  "
        return bar, self._tone(tone or "muted")

    def gutter_tone(self, entry: Entry) -> Tone | None:
        """The tone of the bar left of an entry; None for no bar."""
        return None

    def _tone(self, tone: Tone) -> Style:
        if tone == "plain":
            return Style.null()
        return self.get_component_rich_style(f"entries--{tone}", partial=True)

    def _show_selection(self, text: Text, number: int) -> None:
        selection = self.text_selection
        span = selection.get_span(number) if selection else None
        if span is not None:
            start, end = span
            style = self.screen.get_component_rich_style("screen--selection")
            text.stylize(style, start, len(text) if end == -1 else end)
