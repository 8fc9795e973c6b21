"""One search over everything: results as one types, by kind, and the place of each opened by Enter."""

import asyncio
import time
from collections.abc import Hashable, Sequence
from typing import NamedTuple, cast

from rich.text import Text
from textual.app import ComposeResult, SystemCommand
from textual.widgets import Input

from cuecard.annotate.search import EACH, Finder, Kind, SearchHit
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display
from cuecard.store.search import words_in
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardApp, CuecardDialog, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.trial_view import PaneName
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.text import ChangingText

_FIRST = 4
"""Places of a kind that are shown beside those of other kinds."""
_RESTS = 0.4
"""Seconds without a key after which judges' reasons are looked for: what of them is shown counts as seen."""
_TYPES = 0.04
"""Seconds without a key after which anything is looked for: who types fast is not kept waiting by what no longer counts."""
_INDEXING = 0.1
"""Seconds of work on the index at once. It waits while somebody types, whose keys it would hold up."""


class _More(NamedTuple):
    """Stands for the other places of a kind."""

    kind: Kind
    others: int


Line = SearchHit | _More


class SearchDialog(CuecardDialog["SearchHit | None"]):
    """Dismissed with what was chosen. The words stay in the field until the app is left."""

    DEFAULT_CSS = """
    SearchDialog #box { width: 96%; height: 94%; padding: 0 1; border: round $primary;
        border-title-color: $primary; background: $surface; }
    SearchDialog #query { border: none; height: 1; background: $panel; margin-bottom: 1; }
    SearchDialog #note { height: auto; color: $muted; }
    """
    BINDINGS = keys(
        Key("search.open", Means.OPEN, "open", N_("Open"), N_("Go there"), priority=True),
        Key("search.down", Means.DOWN, "move(1)", N_("Down"), N_("The next place"), show=False, priority=True),
        Key("search.up", Means.UP, "move(-1)", N_("Up"), N_("The place before"), show=False, priority=True),
        Key("search.page_down", Means.PAGE_DOWN, "move(1, True)", N_("Page down"), N_("One page down"), show=False, priority=True),
        Key("search.page_up", Means.PAGE_UP, "move(-1, True)", N_("Page up"), N_("One page up"), show=False, priority=True),
        Key("search.back", Means.UP_ONE, "back", N_("Back"), N_("To places of every kind; from there, out of the search")),
    )  # fmt: skip

    def __init__(self, finder: Finder, recent: Sequence[SearchHit] = ()) -> None:
        """`recent`: what is offered before anything is asked."""
        super().__init__()
        self._recent = tuple(recent)
        self._finder = finder
        self._words: Sequence[str] = ()
        self._found: list[SearchHit] = []
        self._only: Kind | None = None
        self._busy = self._wanted = False
        self._loading, self._left = True, 0
        self._typed_at = 0.0

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = _("Search")
            told = _("words that must occur, in any order")
            yield LineEditor(self._finder.asked, placeholder=told, id="query", compact=True)
            yield ListView[Line](
                (
                    Column(N_("Kind"), self._kind),
                    Column(N_("Where"), self._where, grow=2, least=14),
                    Column(N_("Found"), self._snippet, grow=3, least=30),
                ),
                self._key,
                filters=False,
                tells=False,
                id="found",
            )
            yield ChangingText(id="note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.prepare()

    @property
    def busy(self) -> bool:
        """Whether something quick is still looked for."""
        return self._busy or self._loading

    @property
    def rows(self) -> Sequence[Line]:
        return self._list.rows

    @property
    def row(self) -> Line | None:
        """What is under the cursor."""
        return self._list.row

    @property
    def _list(self) -> ListView[Line]:
        return cast("ListView[Line]", self.query_one(ListView))

    def _key(self, line: Line) -> Hashable:
        return line

    def _kind(self, line: Line) -> GridCell:
        rows = self.rows
        at = rows.index(line)
        same = at > 0 and rows[at - 1].kind is line.kind
        return GridCell("" if same else line.kind.label, "accent")

    def _where(self, line: Line) -> GridCell:
        if isinstance(line, SearchHit):
            return GridCell(line.title, "strong")
        told = ngettext("{n} more", "{n} more", line.others).format(n=line.others)
        return GridCell(f"… {told}", "muted")

    def _snippet(self, line: Line) -> str | Text:
        if not isinstance(line, SearchHit):
            return ""
        text = Text(line.snippet)
        for start, end in line.marks:
            text.stylize("bold reverse", start, end)
        return text

    @guarded("prepare", background=True)
    async def prepare(self) -> None:
        """Read what is held in memory, then bring the index up to date, piece by piece."""
        await self.services.ask(self._finder.load)
        self._loading = False
        self.search(self.query_one(Input).value)
        while True:
            while (rest := self._typed_at + _RESTS - time.monotonic()) > 0:  # noqa: ASYNC110 - typing goes on
                await asyncio.sleep(rest)
            self._left = await self.services.ask(lambda ws: ws.search.catch_up(_INDEXING))
            self._tell()
            if not self._left or not self.is_attached:
                break
        self.search(self.query_one(Input).value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._finder.asked, self._only = event.value, None
        self._typed_at = time.monotonic()
        self.search(event.value)

    @guarded("search", background=True)
    async def search(self, query: str) -> None:
        words, finder = words_in(query), self._finder
        self._busy = True
        await asyncio.sleep(_TYPES)
        few = await self.services.ask(lambda _ws: finder.few(words))
        self._words = words
        self._show(few)
        said = await self.services.ask(lambda ws: finder.said(ws, words))
        self._busy = False
        self._show([*few, *said])
        if self._wanted and not self._loading:
            self._wanted = False
            self.action_open()
        await asyncio.sleep(_RESTS)
        reasons: list[SearchHit] = []
        before: int | None = None
        while words and before != 0 and len(reasons) < EACH:
            more, before = await self.services.ask(
                lambda ws, at=before: finder.reasons(ws, words, at)
            )
            reasons += more
            if more:
                self._show([*few, *said, *reasons])

    def _show(self, found: list[SearchHit]) -> None:
        if not self.is_attached:
            return
        self._found = found
        lines: list[Line] = [] if self._words else list(self._recent)
        for kind in Kind if self._only is None else (self._only,):
            here = [each for each in found if each.kind is kind]
            room = len(here) if self._only or len(here) <= _FIRST + 1 else _FIRST
            lines += here[:room]
            if len(here) > room:
                lines.append(_More(kind, len(here) - room))
        if lines != self._list.every:
            self._list.load(lines)
        self._tell()

    def _tell(self) -> None:
        parts: list[str] = []
        if self._words and not self._found:
            parts.append(_("Looking…") if self.busy else _("Nothing found."))
        if not self._words:
            told = _(
                "Tasks and their gold, sources, comments, runs, people, commands, and what was said in trials."
            )
            parts.append(told)
        if self._left:
            told = ngettext(
                "{n} event is not in the index yet; the newest are found all the same.",
                "{n} events are not in the index yet; the newest are found all the same.",
                self._left,
            )
            parts.append(told.format(n=f"{self._left:,}"))
        self.query_one("#note", ChangingText).tell(" · ".join(parts))

    def action_move(self, by: int, page: bool = False) -> None:
        grid, last = self._list.grid, len(self._list.rows) - 1
        step = by * max(1, grid.size.height - 2) if page else by
        grid.move_to(max(0, min(grid.cursor_row + step, last)))

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        line = self.row
        if self.busy or words_in(self.query_one(Input).value) != self._words:
            self._wanted = True  # what is under the cursor was found for other words
        elif isinstance(line, _More):
            self._only = line.kind
            self._show(self._found)
        elif line is not None:
            self.dismiss(line)

    def action_back(self) -> None:
        if self._only is None:
            self.dismiss(None)
        else:
            self._only = None
            self._show(self._found)


def search(app: CuecardApp) -> None:
    """Ask, then go there."""
    screen = app.screen
    if app.finder is None or app.finder.person != app.person:
        app.finder = Finder(app.person)
    places = recent(app)
    commands: list[SystemCommand] = list(app.get_system_commands(screen))
    commands = commands[: len(commands) - len(places)]  # places are found as such
    app.finder.commands = [for_display(command.title) for command in commands]

    def chosen(found: SearchHit | None) -> None:
        if found is None:
            return
        if found.kind is Kind.COMMAND:
            app.call_later(commands[found.number].callback)
        else:
            open_found(app, found)

    app.push_screen(SearchDialog(app.finder, places), chosen)


def recent(app: CuecardApp) -> list[SearchHit]:
    """The tasks, runs and trials that this person opened last in this workspace, the last first."""
    try:
        places = [dict(place) for place in app.preferences.places(app.who)]
        return [SearchHit(Kind(place.pop("kind")), **place) for place in places]
    except (TypeError, ValueError, KeyError, AttributeError):
        return []  # of another version


def open_found(app: CuecardApp, found: SearchHit) -> None:
    """Go to the place itself, above the screen from which it was looked for."""
    if found.kind is Kind.PERSON:
        from cuecard.tui.screens.board import BoardScreen

        app.push_screen(BoardScreen(found.place))
    elif found.trial_id:
        from cuecard.tui.screens.trial.screen import TrialScreen

        pane: PaneName | None = None
        if found.kind is not Kind.TRANSCRIPT:
            pane = "notes" if found.kind is Kind.COMMENT else "verdicts"
        app.push_screen(TrialScreen(found.trial_id, pane=pane, seq=found.seq))
    elif found.run_id:
        from cuecard.tui.screens.run.screen import RunScreen

        app.push_screen(RunScreen(found.run_id))
    else:
        from cuecard.tui.screens.task.screen import open_task

        place = "comments" if found.kind is Kind.COMMENT else found.place
        open_task(app, found.task_id, place=place, comment=found.comment)
