"""Text that came from outside, shown as text."""

from __future__ import annotations

from textual.widgets import Static

from cuecard.core.text import for_display


class PlainText(Static):
    """Shows any string literally: no markup, no escape sequence, no reordering."""

    DEFAULT_CSS = """
    PlainText { height: auto; width: 1fr; }
    """

    def __init__(
        self, text: str = "", *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(for_display(text), markup=False, id=id, classes=classes)

    def load(self, text: str) -> None:
        self.update(for_display(text))
