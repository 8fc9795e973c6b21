"""A long list beside the item that is labelled: type to search it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Input, Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen
from cuecard.tui.state.entries import Entry
from cuecard.tui.state.label_look import Searched
from cuecard.tui.widgets.entry_list import EntryList


class LookScreen(CuecardScreen[None]):
    """Takes a title and entries. What is typed filters them, arrows and pages scroll."""

    DEFAULT_CSS = """
    LookScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    LookScreen Vertical { height: 1fr; padding: 0 1; }
    LookScreen Input { margin: 0 0 1 0; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = keys(
        Key("look.leave", "escape", "dismiss", N_("Back"), N_("Back to the item")),
        Key("look.down", "down", "walk('down')", N_("Down"), N_("One line down"), show=False, priority=True),
        Key("look.up", "up", "walk('up')", N_("Up"), N_("One line up"), show=False, priority=True),
        Key("look.page_down", "pagedown", "walk('page_down')", N_("Page"), N_("A page down"), priority=True),
        Key("look.page_up", "pageup", "walk('page_up')", N_("Page up"), N_("A page up"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self._searched = Searched(entries)

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Vertical():
            yield Input(placeholder=_("type to search"), compact=True)
            found = EntryList(id="found")
            found.can_focus = False
            yield found
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._search("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._search(event.value)

    def action_walk(self, way: str) -> None:
        found = self.query_one(EntryList)
        match way:
            case "down":
                found.scroll_relative(y=1, animate=False, immediate=True)
            case "up":
                found.scroll_relative(y=-1, animate=False, immediate=True)
            case "page_down":
                found.scroll_relative(y=found.size.height - 1, animate=False, immediate=True)
            case _:
                found.scroll_relative(y=1 - found.size.height, animate=False, immediate=True)

    def _search(self, typed: str) -> None:
        found = self._searched.found(typed)
        self.query_one(EntryList).load(found)
        self.query_one(EntryList).scroll_home(animate=False, immediate=True)
        count = _("{n} of {all}").format(n=len(found), all=len(self._searched))
        self.query_one("#title", Static).update(f"{self._title} · {count}")
