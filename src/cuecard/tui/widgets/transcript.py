"""A trial's dialogue, as a list of entries with a bar for who speaks."""

from __future__ import annotations

import threading

from cuecard.tui.state.entries import Entry, Tone
from cuecard.tui.state.markdown import warm_up
from cuecard.tui.widgets.entry_list import EntryList


class Transcript(EntryList):
    """`load` what `entries_of` makes of a log."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(gap=True, id=id)

    def on_mount(self) -> None:
        threading.Thread(target=warm_up, name="markdown", daemon=True).start()

    def gutter_tone(self, entry: Entry) -> Tone | None:
        if entry.role in ("agent", "writing"):
            return "agent"
        return "user" if entry.role == "user" else None

    def show_turn(self, turn: int) -> None:
        """Put the cursor on what the user said in a turn, or on what comes after."""
        for index, entry in enumerate(self.entries):
            if entry.turn >= turn and entry.role == "user":
                self.move_to(index)
                return

    def open_last_work(self) -> None:
        """Open or fold the newest tool calls, wherever the cursor is."""
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].role == "work":
                self.toggle(index)
                self.move_to(index)
                return
