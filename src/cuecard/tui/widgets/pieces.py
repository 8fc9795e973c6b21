"""Lines of toned pieces outside a list: the heads of screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.widgets import Static

from cuecard.core.text import one_line
from cuecard.tui.state.transcript import Piece, Tone

_VARIABLE: dict[Tone, str] = {
    "user": "secondary",
    "agent": "primary",
    "muted": "muted",
    "good": "success",
    "bad": "error",
    "stage": "primary",
    "code": "accent",
    "link": "primary",
    "gone": "muted",
}
_MANNER: dict[Tone, str] = {
    "strong": "bold",
    "user": "bold",
    "agent": "bold",
    "emph": "italic",
    "link": "underline",
    "gone": "strike",
}


def as_text(pieces: Sequence[Piece], variables: Mapping[str, str]) -> Text:
    """Pieces as one rich text in the theme's colours."""
    text = Text()
    for piece in pieces:
        text.append(_kept_blanks(piece.text), style_of(piece.tone, variables))
    return text


def style_of(tone: Tone, variables: Mapping[str, str]) -> str:
    """A tone as a rich style in the theme's colours."""
    colour = variables.get(_VARIABLE.get(tone, ""), "")
    return f"{_MANNER.get(tone, '')} {colour if colour[:1] == '#' else ''}".strip()


def _kept_blanks(text: str) -> str:
    """`one_line`, with the blanks that part a piece from its neighbours."""
    flat = one_line(text)
    start, end = text[:1].isspace(), text[-1:].isspace() and bool(flat)
    lead = text[: len(text) - len(text.lstrip(" "))] or " "
    return f"{lead if start else ''}{flat}{' ' if end else ''}"


class Lines(Static):
    """`load` lines of pieces; keeps their colours when the theme changes."""

    DEFAULT_CSS = """
    Lines { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__("", markup=False, id=id, classes=classes)
        self._lines: list[list[Piece]] = []

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw())

    def load(self, lines: Sequence[Sequence[Piece]]) -> None:
        # Drawing lays out the whole screen: not for each key while the same is said.
        if (wanted := [list(line) for line in lines]) != self._lines:
            self._lines = wanted
            self._draw()

    def _draw(self) -> None:
        variables = self.app.theme_variables
        self.update(Text("\n").join(as_text(line, variables) for line in self._lines))
