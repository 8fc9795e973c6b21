"""The pages behind a dialogue, to be searched, read and opened."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Input, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.browser import open_page
from cuecard.tui.state.source_words import detail_of, row_of, source_entry
from cuecard.tui.state.sources import Source, matching
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.pieces import Lines

COLUMNS = (
    GridColumn(N_("State"), 14),
    GridColumn(N_("Title"), 20, grow=3),
    GridColumn(N_("Address"), 16, grow=3),
    GridColumn(N_("Turns"), 8),
)


class SourcesDialog(CuecardDialog[None]):
    """Takes what `sources_of(events)` gives. Typing filters, Enter shows the text that was seen, ^o opens
    the page in the browser.
    """

    DEFAULT_CSS = """
    SourcesDialog { align: center middle; }
    SourcesDialog Input { margin: 0 0 1 0; }
    SourcesDialog ListTable { height: 1fr; }
    SourcesDialog #nothing { height: 1fr; padding: 1 2; color: $muted; }
    SourcesDialog #detail { height: 3; margin: 1 0 0 0; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = keys(
        Key("sources.read", "enter", "read", N_("Read"), N_("The text that was seen"), priority=True),
        Key("sources.browse", "ctrl+o", "browse", N_("Browser"), N_("Open the page in the browser"), shown_as="^o", priority=True),
        Key("sources.down", "down", "walk(1)", N_("Down"), N_("To the next page"), show=False, priority=True),
        Key("sources.up", "up", "walk(-1)", N_("Up"), N_("To the page before"), show=False, priority=True),
        Key("sources.page_down", "pagedown", "walk(10)", N_("Page"), N_("Ten pages on"), show=False, priority=True),
        Key("sources.page_up", "pageup", "walk(-10)", N_("Page up"), N_("Ten pages back"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__()
        self._sources = list(sources)
        self._shown = self._sources

    @property
    def current(self) -> Source | None:
        """The page under the cursor."""
        row = self.query_one(ListTable).cursor_row
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("Sources")
            box.styles.width, box.styles.height = "96%", "92%"
            yield Input(placeholder=_("type to search titles, addresses and queries"), compact=True)
            yield ListTable(COLUMNS)
            yield Static("", id="nothing", markup=False)
            yield Lines(id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(ListTable).can_focus = False
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._shown = matching(self._sources, event.value)
        self._show()

    def on_grid_cursor_moved(self) -> None:
        self._show_detail()

    def on_grid_chosen(self) -> None:
        self.action_read()

    def action_walk(self, by: int) -> None:
        table = self.query_one(ListTable)
        if self._shown:
            table.go_to(max(0, min(table.cursor_row + by, len(self._shown) - 1)))
            self._show_detail()

    def action_read(self) -> None:
        if self.current:
            self.app.push_screen(SourceScreen(self.current))

    @guarded("browser", background=True)
    async def action_browse(self) -> None:
        if self.current:
            self.cue_app.tell(await opened(self.current.url))

    def _show(self) -> None:
        table, nothing = self.query_one(ListTable), self.query_one("#nothing", Static)
        table.fill([row_of(source) for source in self._shown], cursor=0)
        table.display = bool(self._shown)
        nothing.display = not self._shown
        nothing.update(
            _("No page holds all these words.")
            if self._sources
            else _("The agent has searched and visited nothing yet.")
        )
        count = _("{n} of {all}").format(n=len(self._shown), all=len(self._sources))
        self.query_one(".dialog", Vertical).border_subtitle = count
        self._show_detail()

    def _show_detail(self) -> None:
        self.query_one("#detail", Lines).load(detail_of(self.current) if self.current else [])


class SourceScreen(CuecardScreen[None]):
    """All that was seen of one page."""

    DEFAULT_CSS = """
    SourceScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    """
    AUTO_FOCUS = "EntryList"
    BINDINGS = keys(
        Key("source.leave", "escape", "dismiss", N_("Back"), N_("Back to the sources")),
        Key("source.browse", "o,ctrl+o", "browse", N_("Browser"), N_("Open the page in the browser"), shown_as="o", priority=True),
    )  # fmt: skip

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def compose(self) -> ComposeResult:
        title = one_line(self._source.title or self._source.url, 120)
        yield Static(title, id="title", markup=False)
        yield EntryList(gap=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EntryList).load([source_entry(self._source)])

    @guarded("browser", background=True)
    async def action_browse(self) -> None:
        self.cue_app.tell(await opened(self._source.url))


async def opened(url: str) -> str:
    """Open a page in the browser, and say what came of it."""
    if not url:
        return _("This page has no address.")
    if await asyncio.to_thread(open_page, url):
        return _("Opening {url}").format(url=one_line(url, 200))
    text = _("There is no browser to open here. The address is {url}")
    return text.format(url=one_line(url, 200))
