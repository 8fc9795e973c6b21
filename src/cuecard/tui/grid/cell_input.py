"""The input line for editing a cell, its completions, and the popup that shows them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from cuecard.core.text import for_display
from cuecard.tui.grid.cells import aligned


def pasted_line(text: str) -> str:
    """Pasted text as one line, without what a terminal could act on."""
    return " ".join(line for line in for_display(text).splitlines() if line)


class CellInput(Input):
    """The input line over a cell. `route` gets every key and paste first, in order."""

    DEFAULT_CSS = """
    CellInput, CellInput:focus {
        layer: over; position: absolute; display: none; height: 1; border: none; padding: 0;
        background: $surface; color: $foreground; background-tint: $foreground 0%;
        text-style: underline;
    }
    """

    # Its place is set from outside: no key in it needs the screen to be laid out again.
    virtual_size = Reactive(Size(0, 0), layout=False)

    def __init__(
        self,
        route: Callable[[events.Key | events.Paste], bool],
        typed: Callable[[str], None],
        left: Callable[[], None],
    ) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._route = route
        self._typed = typed
        self._left = left
        self._silent = False

    def show_text(self, text: str, *, selected: bool = False) -> None:
        """Set the text without posting a message."""
        self._silent = True
        self.value = text
        self._silent = False
        self.cursor_position = len(text)
        if selected:
            self.action_select_all()

    def watch_value(self, value: str) -> None:
        if not self._silent:
            self._typed(value)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return super().check_consume_key(key, character) or key in ("tab", "shift+tab")

    async def on_key(self, event: events.Key) -> None:
        if self._route(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self._route(event):
            event.stop()
            event.prevent_default()
        else:
            event.text = pasted_line(event.text)

    def on_blur(self) -> None:
        # Another window in front is no reason to end an edit.
        if self.app.app_focus:
            self._left()


class HintLine(Widget, can_focus=False):
    """One line below the cells."""

    DEFAULT_CSS = """
    HintLine {
        height: 1; color: $muted;
        &.-warning { color: $warning; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def load(self, text: str, *, warning: bool = False) -> None:
        if (text, warning) != (self.text, self.has_class("-warning")):
            self.text = text
            self.set_class(warning, "-warning")
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        mark = "! " if self.has_class("-warning") else "  "
        text = aligned(f"{self.text}", max(0, width - 2))
        return Strip([Segment(mark + text, self.rich_style)], width)


SHOWN = 6


class Completer(Protocol):
    """Protocol of an object that gives completions for a text."""

    def matching(self, typed: str, limit: int = SHOWN) -> list[str]: ...


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


class Candidates:
    """Completions in order of preference; prepared at first use."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = texts
        self._keys: list[str] | None = None

    def matching(self, typed: str, limit: int = SHOWN) -> list[str]:
        """Those that begin with `typed`, then those with a word that does, then those that hold it.

        Case and width do not matter. A text that is `typed` itself is not among them.
        """
        if self._keys is None:
            self._keys = [_folded(text) for text in self.texts]
        needle = _folded(typed).strip()
        begins: list[str] = []
        words: list[str] = []
        holds: list[str] = []
        for text, key in zip(self.texts, self._keys, strict=True):
            if needle not in key or text == typed:
                continue
            if key.startswith(needle):
                begins.append(text)
                if len(begins) == limit:
                    break
            elif f" {needle}" in key:
                words.append(text)
            else:
                holds.append(text)
        return [*begins, *words, *holds][:limit]


CHOSEN, OTHER = "▸", " "
NOWHERE = Region()
_SPARE = 2  # the sign before a text, and a blank after


@dataclass(frozen=True)
class Popup:
    """A list of texts below or above a cell; `chosen` is the index of the highlighted one, or -1."""

    texts: Sequence[str]
    region: Region = NOWHERE
    chosen: int = -1

    def at(self, cell: Region, room: Region) -> Popup:
        """The same popup, placed by `cell` within `room`. It never shrinks, so that it does not jump while one reads."""
        widest = max((cell_len(text) for text in self.texts), default=0) + _SPARE
        width = min(max(widest, cell.width + _SPARE, self.region.width), room.width)
        height = len(self.texts)
        below, above = room.bottom - cell.bottom, cell.y - room.y
        y = cell.bottom if below >= height or below >= above else cell.y - height
        x = max(room.x, min(cell.x - 1, room.right - width))
        return replace(self, region=Region(x, y, width, height).intersection(room))

    def over(self, strip: Strip, y: int, plain: Style, chosen: Style) -> Strip:
        """Line `y` of the grid with the popup drawn over it."""
        region, index = self.region, y - self.region.y
        if not 0 <= index < region.height or not region.width:
            return strip
        here = index == self.chosen
        text = aligned(self.texts[index], region.width - _SPARE)
        own = f"{CHOSEN if here else OTHER}{text} "
        segment = Segment(own, chosen if here else plain)
        left, right = strip.crop(0, region.x), strip.crop(region.right, strip.cell_length)
        return Strip.join([left, Strip([segment], region.width), right])
