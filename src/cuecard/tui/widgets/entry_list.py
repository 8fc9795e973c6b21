"""A list of formatted entries of any length, laid out and drawn as they come into view."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.present.entries import Entry, Piece, Tone
from cuecard.tui.present.entry_layout import EntryLayout
from cuecard.tui.widgets.text import EntryPaint

GUTTER = 2
LOOK_AHEAD = 0.03
"""Seconds after which the next pages are laid out: when the terminal has been given the one in view."""


class OfEntryList(Message):
    """Something that happened in an `EntryList`."""

    def __init__(self, entry_list: EntryList) -> None:
        super().__init__()
        self.entry_list = entry_list

    @property
    def control(self) -> EntryList:
        return self.entry_list


class OfEntry(OfEntryList):
    """Something that happened to one of its entries."""

    def __init__(self, entry_list: EntryList, index: int) -> None:
        super().__init__(entry_list)
        self.index = index


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
        & > .entries--emph { text-style: italic; }
        & > .entries--code { color: $accent; }
        & > .entries--link { color: $primary; text-style: underline; }
        & > .entries--gone { color: $muted; text-style: strike; }
        & > .entries--stage { color: $primary; }
        & > .entries--cursor { background: $cursor-blurred; }
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
        "entries--emph",
        "entries--code",
        "entries--link",
        "entries--gone",
        "entries--cursor",
    }
    BINDINGS = keys(
        Key("entries.open", (Means.OPEN, Means.MARK), "open", N_("Open/fold"), N_("Show or hide what is folded under the cursor")),
        Key("entries.open_all", Means.COMMAND, "open_all", N_("Open all"), N_("Show or hide all that is folded"), show=False, letter="o"),
        Key("entries.up", Means.UP, "walk(-1)", N_("Up"), N_("To the entry before"), show=False),
        Key("entries.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the next entry"), show=False),
        Key("entries.first", (Means.START, Means.FIRST), "jump(0)", N_("First"), N_("To the start"), show=False),
        Key("entries.last", (Means.END, Means.LAST), "jump(-1)", N_("Last"), N_("To the end"), show=False),
    )  # fmt: skip
    ALLOW_SELECT = True
    DEFAULT_CLASSES = "zooms"
    # More lines are no reason to lay out the whole screen again.
    virtual_size = Reactive(Size(0, 0), layout=False)

    class Chosen(OfEntry):
        """Enter was pressed on an entry, or its first line clicked."""

    class CursorMoved(OfEntry):
        """The cursor is on another entry."""

    class Unfolded(OfEntryList):
        """What was folded is shown now, of one entry or of all."""

    def __init__(
        self, *, gap: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """`gap`: an empty line after each entry."""
        super().__init__(id=id, classes=classes)
        self._layout_of = EntryLayout(gap=gap)
        self._cursor = 0
        self._follow = False
        self._at_end = True
        self._settling = False
        self._ahead = False
        self._paint = EntryPaint(self)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._layout_of.entries

    @property
    def opened(self) -> Sequence[int]:
        """The indices of the entries that are not folded, in order."""
        return sorted(self._layout_of.opened)

    @property
    def cursor(self) -> int:
        return self._cursor

    @property
    def lines(self) -> list[str]:
        """Every line as it is drawn, gutter excluded: for copying and for tests."""
        return ["".join(piece.text for piece in line) for line in self._layout_of.lines]

    def load(self, entries: Sequence[Entry], *, follow: bool = False) -> None:
        """Show `entries`; those that did not change are not laid out again. With `follow`, stay at
        the end if the end was in view.
        """
        self._follow = follow
        at_end = follow and self._at_end
        if self.size.width:
            self._fit_width()
        self._layout_of.load(entries)
        last = max(len(entries) - 1, 0)
        self._cursor = last if at_end else min(self._cursor, last)
        self._settle(at_end=at_end)

    def on_resize(self, event: events.Resize) -> None:
        # Whether the end was in view before the view became another one.
        stay = self._follow and self._at_end
        self._fit_width()
        self._settle(at_end=stay)

    def _fit_width(self) -> None:
        """Lay out at the width that there is now, which may not have been told yet."""
        if self._width != self._layout_of.width:
            top = self._layout_of.resize(self._width, int(self.scroll_y))
            self._resize_content()
            self.scroll_to(y=top, animate=False, immediate=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._settling:
            self._at_end = self.is_vertical_scroll_end
            self._settle(at_end=self._at_end and self._follow)

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # which a second time selects all text
        line = int(self.scroll_y) + event.y
        index = self._layout_of.entry_at(line)
        if index is None:
            return
        at_head = line == self._layout_of.start_of(index)
        self.move_to(index)
        if event.chain == (1 if at_head else 2):
            self.toggle(index)
        if event.chain == 2:
            self.post_message(self.Chosen(self, index))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._paint.forget_styles()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(" " * GUTTER + line for line in self.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._paint.begin(self.scrollable_content_region.width)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        return self._strip(int(self.scroll_y) + y)

    def action_open(self) -> None:
        if self.entries:
            self.toggle(self._cursor)
            self.post_message(self.Chosen(self, self._cursor))

    def action_open_all(self) -> None:
        foldable = {index for index, entry in enumerate(self.entries) if entry.fold}
        opened = set[int]() if self._layout_of.opened >= foldable else foldable
        self._layout_of.open_only(opened)
        self._settle()
        self.move_to(self._cursor)
        if opened:
            self.post_message(self.Unfolded(self))

    def action_walk(self, step: int) -> None:
        """To the next entry; one that is taller than the view is scrolled through first."""
        if not self._layout_of.ready:
            return
        top, bottom = int(self.scroll_y), int(self.scroll_y) + self.size.height
        start, end = self._span(self._cursor)
        if step > 0 and end > bottom and start < bottom:
            self.scroll_relative(y=1, animate=False, immediate=True)
        elif step < 0 and start < top < end:
            self.scroll_relative(y=-1, animate=False, immediate=True)
        else:
            self.move_to(self._cursor + step)

    def action_jump(self, index: int) -> None:
        self.move_to(len(self.entries) - 1 if index < 0 else index)
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
        self._put_cursor(self._layout_of.entry_at(middle) or self._cursor)
        self.refresh()

    @property
    def _width(self) -> int:
        return max(self.scrollable_content_region.width - GUTTER, 2)

    def _settle(self, *, at_end: bool = False) -> None:
        """Lay out what is in view, and pages around it when it is drawn; keep in view what is: at the end the
        end.
        """
        if not self.size.width or self._settling:
            return
        self._settling = True
        try:
            page = max(self.size.height, 1)
            if at_end:
                self._layout_of.settle(self._layout_of.height - 2 * page, self._layout_of.height)
                self._resize_content()
                self.scroll_end(animate=False, immediate=True)
                self._at_end = True
            else:
                top = int(self.scroll_y)
                self._lay_out(top, top + page)
                if not self._ahead:
                    self._ahead = True
                    self.set_timer(LOOK_AHEAD, self._look_ahead)
        finally:
            self._settling = False
        self.refresh()

    def _strip(self, number: int) -> Strip:
        layout = self._layout_of
        index = layout.entry_at(number)
        if index is None:
            return self._paint.blank()
        under_cursor = self.has_focus and index == self._cursor
        mark = self.gutter_mark(index, number - layout.start_of(index))
        selection = self.text_selection
        return self._paint.strip(
            number,
            layout.line(number),
            self._gutter(index, mark, under_cursor=under_cursor),
            cursor=under_cursor and number == layout.start_of(index),
            selected=selection.get_span(number) if selection else None,
        )

    def _look_ahead(self) -> None:
        """Lay out the next pages and draw one. Nothing that is in view changes, so that no frame is."""
        self._ahead = False
        top, page = int(self.scroll_y), max(self.size.height, 1)
        self._layout_of.settle(top + page, top + 3 * page)
        for number in range(top + page, top + 2 * page):
            self._strip(number)
        if top + 4 * page >= self._layout_of.height:
            self._resize_content()

    def _lay_out(self, first: int, end: int) -> None:
        """The lines between; what is in view stays where it is."""
        grown = self._layout_of.settle(first, end, int(self.scroll_y))
        self._resize_content()
        if grown:
            self.scroll_relative(y=grown, animate=False, immediate=True)

    def _resize_content(self) -> None:
        size = Size(self.scrollable_content_region.width, self._layout_of.height)
        if size == self.virtual_size:
            return
        self.virtual_size = size
        self._scroll_update(size)
        if self.styles.is_auto_height:
            self.refresh(layout=True)

    def _span(self, index: int) -> tuple[int, int]:
        """The lines from which and up to which an entry goes."""
        return self._layout_of.start_of(index), self._layout_of.start_of(index + 1)

    def toggle(self, index: int) -> None:
        """Open or fold one entry."""
        if not self.entries[index].fold:
            return
        self._layout_of.toggle(index)
        self._settle()
        if index in self._layout_of.opened:
            self.post_message(self.Unfolded(self))

    def move_to(self, index: int) -> None:
        """Put the cursor on an entry and scroll it into view."""
        if not self._layout_of.ready:
            return
        self._put_cursor(max(0, min(index, len(self.entries) - 1)))
        top, height = int(self.scroll_y), self.size.height
        start, _end = self._span(self._cursor)
        self._layout_of.settle(start, start + height)
        self._resize_content()
        start, end = self._span(self._cursor)
        if start < top or end - start > height:
            self.scroll_to(y=start, animate=False, immediate=True)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False, immediate=True)

    def _put_cursor(self, index: int) -> None:
        if index != self._cursor:
            self._cursor = index
            self.refresh()
            self.post_message(self.CursorMoved(self, index))

    def _gutter(self, index: int, mark: str, *, under_cursor: bool) -> Piece:
        tone = self.gutter_tone(self.entries[index])
        bar = "▌" if under_cursor else "▏" if tone else " "
        return Piece(f"{bar}{mark or ' '}", tone or "muted")

    def gutter_mark(self, index: int, line: int) -> str:
        """What stands before a line of an entry, counted from its head: one cell, "" for nothing."""
        return ""

    def gutter_tone(self, entry: Entry) -> Tone | None:
        """The tone of the bar left of an entry; None for no bar."""
        return None
