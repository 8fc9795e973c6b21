"""The grid inside a sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.grid.grid import Grid

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
    """The cells of a sheet: `route` sees keys and pastes first, in the order they came."""

    BINDINGS = keys(
        Key("sheet.edit", "f2,enter", "choose", N_("Edit"), N_("Edit this cell; typing replaces it"), shown_as="⏎"),
    )  # fmt: skip

    def __init__(
        self,
        columns: Sequence[GridColumn],
        route: Callable[[events.Key | events.Paste], bool],
        *,
        marking: bool,
        numbered: bool,
        fixed: int,
    ) -> None:
        super().__init__(
            columns, cursor="cell", marking=marking, numbered=numbered, fixed=fixed, id="cells"
        )
        self._route = route

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
