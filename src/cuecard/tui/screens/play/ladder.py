"""The stages or steps below the card; those that are said open to show how."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.play_ladder import Rung
from cuecard.tui.state.wrapping import wrap
from cuecard.tui.widgets.pieces import as_text

FOLD = 2
"""Blanks before what is unfolded."""


class Ladder(Static, can_focus=True):
    """`load` rungs. Reached with Tab; the arrows walk over them, Enter opens and folds."""

    DEFAULT_CSS = """
    Ladder { height: auto; width: 1fr; padding: 1 1 0 1; }
    """
    BINDINGS = keys(
        Key("stages_said.open", "enter,space", "open", N_("Open/fold"), N_("Read what was said at a stage")),
        Key("stages_said.up", "up", "walk(-1)", N_("Up"), N_("To the stage before, or up the card"), show=False),
        Key("stages_said.down", "down", "walk(1)", N_("Down"), N_("To the next stage"), show=False),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._rungs: list[Rung] = []
        self._opened: set[int] = set()
        self._cursor = 0

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw())

    def on_focus(self) -> None:
        self._draw()
        self._reveal()

    def on_blur(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def load(self, rungs: Sequence[Rung]) -> None:
        self.display = bool(rungs)
        if list(rungs) == self._rungs:
            return
        self._rungs = list(rungs)
        self._cursor = min(self._cursor, max(len(rungs) - 1, 0))
        self._opened = {i for i in self._opened if i < len(rungs) and rungs[i].fold}
        self._draw()

    def action_open(self) -> None:
        if not self._rungs:
            return
        if not self._rungs[self._cursor].fold:
            self.notify(_("There is nothing to read here yet."), markup=False)
            return
        self._opened ^= {self._cursor}
        self._draw()
        self.call_after_refresh(self._reveal)

    def action_walk(self, step: int) -> None:
        if self._cursor + step < 0 and isinstance(self.parent, VerticalScroll):
            self.parent.scroll_relative(y=-2, animate=False)
            return
        self._cursor = max(0, min(self._cursor + step, len(self._rungs) - 1))
        self._draw()
        self._reveal()

    def _reveal(self) -> None:
        """Scroll the rung under the cursor, with what it has open, into view."""
        pane = self.parent
        if not isinstance(pane, VerticalScroll) or not self._rungs:
            return
        width = max(self.content_size.width, FOLD + 1)
        before = sum(self._height(index, width) for index in range(self._cursor))
        region = Region(0, self.gutter.top + before, width, self._height(self._cursor, width))
        pane.scroll_to_region(region.translate(self.virtual_region.offset), animate=False)

    def _height(self, index: int, width: int) -> int:
        return len(self._lines(index, width))

    def _lines(self, index: int, width: int) -> list[Text]:
        """A rung is one line, cut at the end; the one under the cursor and those opened stand whole."""
        rung, variables = self._rungs[index], self.app.theme_variables
        here = self.has_focus and index == self._cursor
        mark, title = rung.head[0], rung.head[1]
        room = max(width - FOLD, 2)
        titles = wrap(title.text, room)
        if not here and index not in self._opened and len(titles) > 1:
            titles = [f"{wrap(title.text, room - 1)[0]}…"]
        lines = [as_text((Piece(part, title.tone),), variables) for part in titles]
        if here:
            for line in lines:
                line.stylize("reverse")
        lead = as_text((mark,), variables)
        shown = [Text.assemble(" " * FOLD if at else lead, line) for at, line in enumerate(lines)]
        for piece in rung.fold if index in self._opened else ():
            for part in wrap(piece.text, room):
                line = as_text((Piece(part, piece.tone),), variables)
                shown.append(Text.assemble(" " * FOLD, line))
        return shown

    def _draw(self) -> None:
        width = max(self.content_size.width, FOLD + 2)
        lines = [line for index in range(len(self._rungs)) for line in self._lines(index, width)]
        self.update(Text("\n", no_wrap=True).join(lines))
