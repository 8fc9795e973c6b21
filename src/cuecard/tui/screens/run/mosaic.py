"""The grid of a run's trials, a mark each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual import events
from textual.widgets import Static

from cuecard.store.records import TrialRecord
from cuecard.tui.state.mosaic import mosaic
from cuecard.tui.widgets.pieces import style_of

_TALL = 32
_LINES, _LINES_TALL = 4, 10


class Mosaic(Static):
    """`load` the trials as they stand; takes no room for a single one."""

    DEFAULT_CSS = """
    Mosaic { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._trials: Sequence[TrialRecord] = ()
        self._playing: Mapping[int, int] = {}
        self._drawn: object = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw(anew=True))

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def load(self, trials: Sequence[TrialRecord], playing: Mapping[int, int]) -> None:
        self._trials, self._playing = trials, playing
        self._draw()

    def _draw(self, *, anew: bool = False) -> None:
        width = self.size.width or self.app.size.width - 2
        height = _LINES_TALL if self.app.size.height >= _TALL else _LINES
        lines = mosaic(self._trials, self._playing, width, height)
        if lines == self._drawn and not anew:
            return
        self._drawn = lines
        variables = self.app.theme_variables
        text = Text(no_wrap=True)
        for at, line in enumerate(lines):
            text.append("\n" if at else "")
            for piece in line:
                text.append(piece.text, style_of(piece.tone, variables))
        self.display = bool(lines)
        self.update(text)
