"""What this person said before in this session, to be walked through with the arrow keys."""

from __future__ import annotations


class InputHistory:
    """As a shell's: the newest first, what is edited on the way stays until something is sent, and the
    unfinished draft stands at the end.
    """

    def __init__(self) -> None:
        self._said: list[str] = []
        self._copies: dict[int, str] = {}
        self._at = 0

    @property
    def browsing(self) -> bool:
        """Whether an earlier message stands in the input."""
        return self._at < len(self._said)

    @property
    def draft(self) -> str:
        """The unfinished message that waits while an earlier one is shown."""
        return self._copies.get(len(self._said), "") if self.browsing else ""

    def said(self, text: str) -> None:
        """Another message is sent: the walk is over. Said twice in a row, it stands once."""
        if not self._said or self._said[-1] != text:
            self._said.append(text)
        self._copies.clear()
        self._at = len(self._said)

    def walk(self, step: int, shown: str) -> str | None:
        """The message `step` places on (-1: older) from what is `shown` now; None at the ends."""
        to = self._at + step
        if not 0 <= to <= len(self._said):
            return None
        self._copies[self._at] = shown
        self._at = to
        return self._copies.get(to, self._said[to] if to < len(self._said) else "")

    def restore(self, draft: str) -> None:
        """Let `draft` wait below the newest message, whose edited copy is shown."""
        if self._said and draft:
            self._copies[len(self._said)] = draft
            self._at = len(self._said) - 1
