"""A chain of checkpoints as a ladder: a rung a step, of as many lines as it needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.widgets.entry_list import EntryList


class Ladder(EntryList, inherit_bindings=False):
    """`fill` it with rungs: number, kind of ambiguity, question, target, what is missing."""

    BINDINGS = keys(
        Key("ladder.choose", "enter", "open", N_("Edit"), N_("Into the form of this step")),
        Key("ladder.up", "up", "walk(-1)", N_("Up"), N_("To the step before"), show=False),
        Key("ladder.down", "down", "walk(1)", N_("Down"), N_("To the next step"), show=False),
        Key("ladder.first", "home", "jump(0)", N_("First"), N_("To the first step"), show=False),
        Key("ladder.last", "end", "jump(-1)", N_("Last"), N_("To the last step"), show=False),
    )

    class Moved(Message):
        """The cursor is on another rung."""

        def __init__(self, ladder: Ladder) -> None:
            super().__init__()
            self.ladder = ladder

        @property
        def control(self) -> Ladder:
            return self.ladder

    def __init__(self) -> None:
        super().__init__()
        self._rungs: list[Sequence[str | Text]] = []
        self._chosen = 0

    @property
    def count(self) -> int:
        return len(self._rungs)

    @property
    def cursor_row(self) -> int:
        return self._chosen

    def fill(self, cells: Sequence[Sequence[str | Text]], cursor: int | None = None) -> None:
        """Show these rungs, with the cursor on `cursor` or where it was."""
        self._rungs = list(cells)
        self._chosen = max(0, min(self._chosen if cursor is None else cursor, self.count - 1))
        self._draw()
        super().move_to(self._chosen)

    def update_row(self, index: int, cells: Sequence[str | Text]) -> None:
        """Show one rung as it is now."""
        if 0 <= index < self.count and self._rungs[index] != cells:
            self._rungs[index] = cells
            self._draw()

    def go_to(self, row: int) -> None:
        self.move_to(row)

    def move_to(self, index: int) -> None:
        index = max(0, min(index, self.count - 1))
        if index != self._chosen:
            self._chosen = index
            self._draw()
            self.post_message(self.Moved(self))
        super().move_to(index)

    def on_resize(self, event: events.Resize) -> None:
        # Before there was a size there was nothing to scroll to, and nothing is wrapped yet.
        self.call_after_refresh(super().move_to, self._chosen)

    def gutter_tone(self, entry: Entry) -> Tone | None:
        if any(paragraph.tone == "bad" for paragraph in entry.body):
            return "bad"
        return "stage" if entry.role == "agent" else "muted"

    def _draw(self) -> None:
        self.load([_entry(i, rung, i == self._chosen) for i, rung in enumerate(self._rungs)])


def _entry(index: int, rung: Sequence[str | Text], chosen: bool) -> Entry:
    number, kind, question, target, missing = (str(cell) for cell in rung)
    head = [Piece(f"{'▸' if chosen else ' '}{number} ", "strong")]
    head.append(Piece(f"≠ {kind}", "stage") if kind else Piece("·", "muted"))
    body = [Paragraph(question or _("(no question)"), "plain" if question else "muted", 2)]
    body.append(Paragraph(f"→ {target or '…'}", "strong" if target else "muted", 2))
    if missing:
        body.append(Paragraph(missing, "bad", 2))
    return Entry("agent" if kind else "work", index, tuple(head), tuple(body))
