"""What an empty screen says: what it is for, and which key starts it."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import Static


class EmptyState(Static):
    """A heading, a sentence, and keys with what they do."""

    DEFAULT_CSS = """
    EmptyState { width: 1fr; height: auto; padding: 1 3; color: $foreground; }
    """

    def __init__(
        self, title: str, text: str, *keys: tuple[str, str], id: str | None = None
    ) -> None:
        content = Text.assemble((title, "bold"), "\n", text)
        longest = max((cell_len(key) for key, _what in keys), default=0)
        for key, what in keys:
            content.append("\n\n" if (key, what) == keys[0] else "\n")
            content.append(f" {key} ", style="reverse")
            content.append(f"  {' ' * (longest - cell_len(key))}{what}")
        super().__init__(content, id=id)
