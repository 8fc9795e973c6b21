"""The line at the top: where I am, where I can go, who I am, which workspace."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Click
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line

PLACES: tuple[tuple[str, str], ...] = (
    ("home", N_("Home")),
    ("tasks", N_("Tasks")),
    ("runs", N_("Runs")),
    ("review", N_("Review")),
    ("verdicts", N_("Verdicts")),
    ("settings", N_("Settings")),
)


class Place(Static):
    """One place in the bar; a click goes there as its number does."""

    def __init__(self, mode: str, number: int, label: str, *, here: bool) -> None:
        text = Text.assemble((str(number), "dim"), " ", _(label))
        super().__init__(text, classes="place -here" if here else "place")
        self._mode = mode

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.app.run_action(f"app.go('{self._mode}')")


class NavBar(Horizontal):
    """Places with their number keys on the left, person and workspace on the right."""

    DEFAULT_CSS = """
    NavBar {
        height: 1; dock: top; background: $panel;
        #brand { width: auto; padding: 0 2 0 1; color: $primary; text-style: bold; }
        .place { width: auto; padding: 0 1; color: $foreground 75%; }
        .place.-here { background: $primary; color: $background; text-style: bold; }
        .place:hover { text-style: underline; }
        #who { width: 1fr; text-align: right; padding: 0 1; color: $muted; text-wrap: nowrap;
               text-overflow: ellipsis; }
    }
    """

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        yield Static("▍Cuecard", id="brand")
        for number, (mode, label) in enumerate(PLACES, start=1):
            yield Place(mode, number, label, here=mode == self._here)
        yield Static("", id="who", markup=False)

    def load(self, person: str, url: str) -> None:
        name = PurePosixPath(urlsplit(url).path).name or url
        self.query_one("#who", Static).update(one_line(f"{person} · {name}" if person else name))
