"""The line that edits a cell of a grid, and the line below the cells."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from cuecard.core.text import for_display
from cuecard.tui.widgets.grid.drawing import aligned


def pasted_line(text: str) -> str:
    """Pasted text as one line, without what a terminal could act on."""
    return " ".join(line for line in for_display(text).splitlines() if line)


class CellInput(Input):
    """The line that edits a cell. `route` sees every key and paste first, in the order they came."""

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
        """Put `text` in, nobody being told that it was typed."""
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
