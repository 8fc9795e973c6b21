"""A trial's dialogue as a list of entries, with a coloured bar for the speaker."""

import threading
from collections.abc import Mapping

from cuecard.tui.present.entries import Entry, Tone, warm_up
from cuecard.tui.widgets.entry_list import EntryList

SPOT = "▸"


class Transcript(EntryList):
    """`load` what `entries_of` makes of a log, `mark` events in the margin, `show_event` one of them."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(gap=True, id=id)
        self._marks: Mapping[int, str] = {}
        self._spot: tuple[int, int] | None = None
        self._spot_event: int | None = None
        self._opened_alone: int | None = None

    def on_mount(self) -> None:
        threading.Thread(target=warm_up, name="markdown", daemon=True).start()

    def gutter_tone(self, entry: Entry) -> Tone | None:
        if entry.role in ("agent", "writing"):
            return "agent"
        return "user" if entry.role == "user" else None

    def gutter_mark(self, index: int, line: int) -> str:
        if (index, line) == self._spot:
            return SPOT
        if line or not self._marks:
            return ""
        events = self.entries[index].events
        return next((self._marks[seq] for seq in events if seq in self._marks), "")

    def mark(self, marks: Mapping[int, str]) -> None:
        """Show these glyphs, one cell wide, beside the entries that tell these events."""
        if marks != self._marks:
            self._marks = dict(marks)
            self.refresh()

    def entry_of(self, seq: int) -> int | None:
        """The entry that tells an event, or the last before it; None where there is none."""
        found = None
        for index, entry in enumerate(self.entries):
            if entry.events and entry.events[0] <= seq:
                found = index
        return found

    def show_turn(self, turn: int) -> None:
        """Put the cursor on what the user said in a turn, or on what comes after."""
        for index, entry in enumerate(self.entries):
            if entry.turn >= turn and entry.role == "user":
                self.move_to(index)
                return

    def show_event(self, seq: int, *, alone: bool = False) -> None:
        """Put the cursor on the entry of an event; of several in one entry, open it at that event. `alone`: an
        entry that was opened so before is folded again.
        """
        index = self.entry_of(seq)
        if index is None or not self._layout_of.ready:
            return
        before = self._opened_alone
        if before is not None and before != index:
            self._opened_alone = None
            if before in self._layout_of.opened:
                self.toggle(before)
        entry = self.entries[index]
        self._spot, self._spot_event = None, seq
        if not entry.starts:
            self._spot = (index, 0)
            self.move_to(index)
            return
        if index not in self._layout_of.opened:
            self.toggle(index)
            self._opened_alone = index if alone else None
        at = max((n for n, one in enumerate(entry.events) if one <= seq), default=0)
        line = self._layout_of.line_in(index, entry.starts[at])
        self._resize_content()
        self._put_cursor(index)
        top = max(0, line - self.size.height // 4)
        self.scroll_to(y=top, animate=False, immediate=True)
        self._spot = (index, line - self._layout_of.start_of(index))
        self.refresh()

    @property
    def spot_event(self) -> int | None:
        """The event that was shown last, as long as the cursor is on its entry."""
        at = self._spot_event
        return at if at is not None and self.entry_of(at) == self.cursor else None

    def show_spot(self) -> None:
        """Show that event again: what stands before it has another height now."""
        if self.spot_event is not None:
            self.show_event(self.spot_event)

    def left_out(self, most: int) -> list[int]:
        """The numbers of events of what is opened that are not read whole yet, about `most` of them."""
        found: list[int] = []
        for index in self.opened:
            found += self.entries[index].left_out
            if len(found) >= most:
                break
        return found

    def page(self, direction: int) -> None:
        """A page down, or up for -1."""
        if direction > 0:
            self.action_page_down()
        else:
            self.action_page_up()

    def open_last_work(self) -> None:
        """Open or fold the newest tool calls, wherever the cursor is."""
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].role == "work":
                self.toggle(index)
                self.move_to(index)
                return
