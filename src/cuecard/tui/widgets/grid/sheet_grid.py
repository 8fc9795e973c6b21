"""The grid inside a sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual import events
from textual.geometry import Region
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.grid.grid import Grid
from cuecard.tui.widgets.grid.popup import Popup

MOVES: dict[str, Callable[[Grid], None]] = {
    "up": lambda grid: grid.action_walk(-1),
    "down": lambda grid: grid.action_walk(1),
    "left": lambda grid: grid.action_step(-1),
    "right": lambda grid: grid.action_step(1),
    "home": lambda grid: grid.action_edge(-1),
    "end": lambda grid: grid.action_edge(1),
    "pageup": lambda grid: grid.action_page(-1),
    "pagedown": lambda grid: grid.action_page(1),
}


class SheetGrid(Grid):
    """The cells of a sheet: `route` sees keys and pastes first, in the order they came. A list may
    be laid over the lines; `picked` hears of a click on one of its texts.
    """

    DEFAULT_CSS = """
    SheetGrid {
        & > .grid--offers { background: $panel; color: $foreground; }
        & > .grid--offer { background: $primary 45%; color: $foreground; text-style: bold; }
    }
    """
    COMPONENT_CLASSES = {"grid--offers", "grid--offer"}
    BINDINGS = keys(
        Key("sheet.edit", "f2,enter", "choose", N_("Edit"), N_("Edit this cell; typing replaces it"), shown_as="⏎"),
    )  # fmt: skip

    def __init__(
        self,
        columns: Sequence[GridColumn],
        route: Callable[[events.Key | events.Paste], bool],
        picked: Callable[[str], None],
        *,
        marking: bool,
        numbered: bool,
        fixed: int,
    ) -> None:
        super().__init__(
            columns, cursor="cell", marking=marking, numbered=numbered, fixed=fixed, id="cells"
        )
        self._route = route
        self._picked = picked
        self._popup: Popup | None = None

    @property
    def popup(self) -> Popup | None:
        return self._popup

    def pop_up(self, popup: Popup | None, cell: Region | None = None) -> None:
        """Lay a list over the lines by `cell`, or where it says; or nothing."""
        before = self._popup
        if popup and cell:
            view = self._view
            head = self._head
            popup = popup.at(cell, Region(0, head, view.width - 1, view.height - head))
        self._popup = popup
        for shown in (before, popup):
            if shown and shown.region and before != popup:
                self.refresh(shown.region)

    def _strips(self, lines: range) -> Iterator[Strip]:
        popup, strips = self._popup, super()._strips(lines)
        if popup is None:
            yield from strips
            return
        offers = self.get_component_rich_style("grid--offers")
        offer = self.get_component_rich_style("grid--offer")
        for y, strip in zip(lines, strips, strict=True):
            yield popup.over(strip, y, offers, offer)

    def focus_on_click(self) -> bool:
        # The line being edited keeps the focus while a text is picked for it.
        at = self.app.mouse_position - self.region.offset
        return self._popup is None or at not in self._popup.region

    def on_click(self, event: events.Click) -> None:
        popup = self._popup
        if popup and event.offset in popup.region:
            event.prevent_default()
            self._picked(popup.texts[event.y - popup.region.y])

    def check_consume_key(self, key: str, character: str | None) -> bool:
        if key == "space" and self.marking:
            return False
        return character is not None and character.isprintable()

    async def on_key(self, event: events.Key) -> None:
        if self._route(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self._route(event):
            event.stop()
