"""The names of a trial's panes with their keys, in one line; and the moment that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len
from textual.events import Resize
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.tui.state.entries import Piece
from cuecard.tui.widgets.pieces import as_text

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "": ("t", N_("Transcript")),
    "stages": ("s", N_("Stages")),
    "gold": ("g", N_("Gold")),
    "verdicts": ("v", N_("Verdicts")),
    "hits": ("h", N_("Hits")),
    "context": ("c", N_("Context")),
    "notes": ("n", N_("Notes")),
    "measures": ("m", N_("Measures")),
}
"""By pane, "" for the transcript: its key and what it is called."""


class PaneBar(Static):
    """`load` which pane is shown, and what stands at the right: the moment, and in so much room as is left what
    happened then. Names are cut to keys where room is short.
    """

    DEFAULT_CSS = """
    PaneBar { height: 1; width: 1fr; padding: 0 1; background: $panel; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._active = ""
        self._steps = False
        self._moment = self._happened = ""

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw())

    def on_resize(self, event: Resize) -> None:
        self._draw()

    def load(
        self, active: str, moment: str = "", happened: str = "", *, steps: bool = False
    ) -> None:
        """`steps`: the first pane is the ladder of a chain."""
        before = (self._active, self._moment, self._happened, self._steps)
        if (active, moment, happened, steps) != before:
            self._active, self._moment, self._happened = active, moment, happened
            self._steps = steps
            self._draw()

    def _draw(self) -> None:
        room = self.content_size.width
        short = f"▶ {self._moment}" if self._moment else ""
        long = f"{short} · {self._happened}" if self._happened else short
        left, pieces, moment = 1, list[Piece](), short
        for whole, blank, moment in (
            (True, "  ", long),
            (True, " ", short),
            (False, " ", long),
            (False, " ", short),
        ):
            pieces = self._pieces(whole, blank)
            left = room - sum(cell_len(piece.text) for piece in pieces) - cell_len(moment)
            if left >= bool(moment):
                break
        pieces = [*pieces, Piece(" " * max(left, 1)), Piece(moment, "stage")] if moment else pieces
        self.update(as_text(pieces, self.app.theme_variables))

    def _pieces(self, whole: bool, blank: str) -> list[Piece]:
        pieces: list[Piece] = []
        for name, (key, label) in NAMES.items():
            shown = name == self._active
            label = N_("Steps") if name == "stages" and self._steps else label
            pieces.append(Piece(blank if pieces else ""))
            pieces.append(Piece(f"▾{key}" if shown else key, "agent"))
            if whole or shown:
                pieces.append(Piece(f" {_(label)}", "strong" if shown else "muted"))
        return pieces
