"""Screens that read again when anybody changed something, and those of one list: `ListScreen`, and `BlindListScreen` for what
was decided. docs/lists.md has an example.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

from textual.app import ComposeResult
from textual.timer import Timer
from textual.worker import Worker

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.kit.columns import Column, Row
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.widgets.nav import EmptyState, NavBar
from cuecard.tui.widgets.text import ChangingText, HeadLine, Pane, Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_AROUND, _LEAST = 8, 6
"""Lines of title, head and keys around a list, and of a detail at least."""
_PATIENCE = 0.4
"""Seconds after which a screen that shows nothing yet says that it reads."""


LOOK = 1.5
"""Seconds between looks whether anybody changed anything."""
SHARE = 10
"""Reading again may take at most this fraction of the time: one part in ten."""


class LiveScreen(CuecardScreen[None]):
    """`load` reads what the screen shows within `reading`, and is called when the workspace was changed since."""

    LIVE: ClassVar[bool] = True
    """False for what is too dear to be read again unasked."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = ""
        self._busy_reading = False
        self._next_look = 0.0
        self._looks: Timer | None = None

    def load(self) -> Worker[None]:
        raise NotImplementedError

    def on_mount(self) -> None:
        if self.LIVE:
            self._looks = self.set_interval(LOOK, self._look)

    def on_screen_suspend(self) -> None:
        # Behind a dialog it is seen. Behind anything else a tick would have Textual paint the whole screen above.
        if self._looks is not None and not self.app.screen.is_modal:
            self._looks.pause()

    def on_screen_resume(self) -> None:
        if self._looks is not None:
            self._looks.resume()

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None]:
        """Whoever reads stands in it, so that what is saved meanwhile is read at the next look."""
        self._busy_reading, began = True, time.monotonic()
        try:
            if self.LIVE:
                self._seen = await self.services.version()
            yield
        finally:
            self._busy_reading, now = False, time.monotonic()
            self._next_look = now + SHARE * (now - began)

    def _look(self) -> None:
        due = self._seen and time.monotonic() >= self._next_look
        if due and self.is_current and not self._busy_reading:
            self.look()

    @guarded("look", background=True)
    async def look(self) -> None:
        """Read again if anybody changed anything since the last time."""
        try:
            now = await self.services.version()
        except CuecardError:
            return  # Whatever is read next says so.
        if now != self._seen and not self._busy_reading:
            self.cue_app.in_background(self.load())


class ListTitle(HeadLine, ChangingText):
    """The line above a list."""


class ListScreen(LiveScreen, Generic[Row]):
    """A screen of one list: say its `columns`, `key`, how rows are `read`, and what it says when it is `empty`.

    It reads again when it is come back to, and within two seconds of a change by anybody if it is `LIVE`. Actions of
    `NEED_ROW` are possible where there is one. With `detail` a pane below tells of the row under the cursor.
    """

    PLACE: ClassVar[str] = ""
    """The place of the navigation bar; "" for a screen that has none."""
    MARKING: ClassVar[bool] = False
    TELLS: ClassVar[bool] = True
    PAGED: ClassVar[bool] = False
    NEED_ROW: ClassVar[tuple[str, ...]] = ("open",)
    DEFAULT_CSS = """
    ListScreen {
        #title { height: 1; background: $panel; color: $primary; text-style: bold; padding: 0 1; }
        #note { height: auto; color: $muted; padding: 0 1; }
        #detail { padding: 0 1; border-top: solid $foreground 20%; }
    }
    """
    BINDINGS = keys(
        Key("list.refresh", Means.REFRESH, "reload", N_("Refresh"), N_("Look again"), show=False),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._was_read = False

    def columns(self) -> Sequence[Column[Row]]:
        raise NotImplementedError

    def key(self, row: Row) -> Hashable:
        """By what a row is known again after it was read anew."""
        raise NotImplementedError

    async def read(self) -> Sequence[Row]:
        """All rows, by `self.services.ask`. Raises `CuecardError`."""
        raise NotImplementedError

    def empty(self) -> EmptyState:
        raise NotImplementedError

    def title_words(self) -> str:
        """The line above the list; "" for none."""
        return ""

    def note(self) -> str:
        """What stands below the list; "" for nothing."""
        return ""

    def detail(self, row: Row) -> Sequence[Paragraph]:
        """What is told of the row under the cursor."""
        return ()

    def narrowed_by(self) -> Mapping[str, Any]:
        """What narrows the list beside words, to be kept with a filter: see `saved_filters.ExtraFilter`."""
        return {}

    def narrow(self, by: Mapping[str, Any]) -> None:
        """Narrow the list by this again."""

    def compose(self) -> ComposeResult:
        if self.PLACE:
            yield NavBar(self.PLACE)
        if self._says("title_words"):
            yield ListTitle(id="title", markup=False)
        yield from self.compose_list()
        yield KeyBar()

    def compose_list(self) -> ComposeResult:
        """What stands between title and keys."""
        yield ListView(
            self.columns(),
            self.key,
            marking=self.MARKING,
            tells=self.TELLS,
            paged=self.PAGED,
            id="list",
        )
        if self._says("note"):
            yield ChangingText(id="note", markup=False)
        if self._says("detail"):
            with Pane(id="detail"):
                yield Paragraphs()
        yield self.empty()

    def _says(self, what: str) -> bool:
        """Whether screens of this kind ever have a title, a note or a detail; without, they have no widget for it."""
        return getattr(type(self), what) is not getattr(ListScreen, what)

    def on_resize(self) -> None:
        if self._was_read:
            self.tell()

    def on_mount(self) -> None:
        for widget in self.query("#title, #list, #note, #detail, EmptyState"):
            widget.display = False

    def on_screen_resume(self) -> None:
        if self.PLACE:
            self.query_one(NavBar).load(self.person, self.services.public_url)
        self.load()

    @property
    def view(self) -> ListView[Row]:
        return cast("ListView[Row]", self.query_one(ListView))

    @property
    def row(self) -> Row | None:
        """The one under the cursor."""
        return self.view.row if self.is_mounted else None

    @guarded("list")
    async def load(self, to: Hashable = None) -> None:
        """Read again, with the cursor on the row with the key `to` or where it was."""
        waiting = self.set_timer(_PATIENCE, self._say_reading)
        try:
            async with self.reading():
                self.show(await self.read(), to)
        finally:
            waiting.stop()
            if self.is_mounted and not self._was_read:
                self.query_one(EmptyState).display = False

    def _say_reading(self) -> None:
        """What takes long to be read the first time says so."""
        if not self._was_read:
            empty = self.query_one(EmptyState)
            empty.say(EmptyState(_("Reading…"), ""))
            empty.display = True

    def show(self, rows: Sequence[Row], to: Hashable = None) -> None:
        """List these rows."""
        if not self._was_read or to is not None or rows != self.view.every:
            self.view.load(rows, to)
        self._was_read = True
        self.view.display = bool(rows)
        empty = self.query_one(EmptyState)
        empty.display = not rows
        if not rows:
            empty.say(self.empty())
        self.tell()
        self.refresh_bindings()
        if rows and self.focused is None:
            self.view.focus()

    def tell(self) -> None:
        """Write title, note and detail again."""
        for selector, text in (("#title", self.title_words()), ("#note", self.note())):
            if (line := self.query_one_optional(selector, ChangingText)) is not None:
                line.tell(text)
                line.display = bool(text)
        if (pane := self.query_one_optional("#detail", Pane)) is not None:
            row = self.row
            said = self.detail(row) if row is not None else ()
            pane.display = bool(said)
            if said:
                pane.query_one(Paragraphs).load(said)
                # It takes the room that a short list leaves, half of the screen at most.
                height = self.size.height
                free = min(height - len(self.view.rows) - _AROUND, height // 2)
                if pane is not self.maximized:
                    pane.styles.height = max(height // 5, _LEAST, free)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.row is not None if action in self.NEED_ROW else True

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        if self._was_read:
            self.tell()
            if type(self).check_action is not ListScreen.check_action:
                self.refresh_bindings()  # what is possible may depend on the row

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> object:
        """Enter, or a double click on a row."""

    def read_on(self, screen: Callable[[Sequence[Row], int], RowScreen[Row]]) -> None:
        """Read the row under the cursor on a screen of its own, and those around it; the cursor follows."""
        rows = self.view.rows

        def left(at: int | None) -> None:
            if at is not None:
                self.view.go_to(self.key(rows[at]))

        if self.row is not None:
            self.app.push_screen(screen(rows, self.view.grid.cursor_row), left)

    def action_reload(self) -> None:
        self.load()

    def action_leave(self) -> None:
        self.dismiss()


class RowScreen(CuecardScreen[int], Generic[Row]):
    """Walks through the rows of a list from the one `at`, and answers at which it was left (see `ListScreen.read_on`)."""

    def __init__(self, rows: Sequence[Row], at: int) -> None:
        super().__init__()
        self._rows, self._at = tuple(rows), at

    @property
    def row(self) -> Row:
        return self._rows[self._at]

    @property
    def place(self) -> str:
        return f"{self._at + 1}/{len(self._rows)}"

    def show(self) -> None:
        """Show the row that it is at now."""
        for pane in self.query(".pane"):
            pane.scroll_home(animate=False, immediate=True)
        self.refresh_bindings()

    def on_mount(self) -> None:
        self.show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "step":
            return 0 <= self._at + int(str(parameters[0])) < len(self._rows)
        return True

    def action_step(self, by: int) -> None:
        self._at += by
        self.show()

    def action_leave(self) -> None:
        self.dismiss(self._at)


class BlindListScreen(ListScreen[Row]):
    """A list of what was decided. It shows only what this person decided too, until they ask for all: whoever looks is
    not blind any more.
    """

    LIVE = False
    TELLS = False

    def __init__(self, every: Sequence[Row]) -> None:
        """`every` in the order in which they are listed."""
        super().__init__()
        self.all_rows = tuple(every)
        self._all = False

    @property
    def hidden(self) -> int:
        """How many rows are not shown."""
        return len(self.all_rows) - len(self.view.every)

    def see(self, workspace: Workspace, *, all_: bool) -> Sequence[Row]:
        """Of all rows those that this person may see, or all; saves that they saw them. Runs in a thread."""
        raise NotImplementedError

    def hidden_words(self, n: int) -> str:
        """That so many more are hidden."""
        raise NotImplementedError

    def warning(self, n: int) -> tuple[str, str]:
        """A question and what it means to see so many more."""
        raise NotImplementedError

    async def read(self) -> Sequence[Row]:
        return await self.services.ask(lambda ws: self.see(ws, all_=self._all))

    def note(self) -> str:
        return self.hidden_words(self.hidden) if self.hidden and self.view.every else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "all":
            return self._was_read and not self._all and self.hidden > 0
        return super().check_action(action, parameters)

    def action_all(self) -> None:
        from cuecard.tui.screens.dialogs import ConfirmDialog

        def answered(yes: bool | None) -> None:
            if yes:
                self._all = True
                self.load()

        question, text = self.warning(self.hidden)
        self.app.push_screen(ConfirmDialog(question, text, _("Show all")), answered)
