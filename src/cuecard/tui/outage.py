"""While the database is away: it is tried again, and a bar on every screen says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.events import Click
from textual.widgets import Static

from cuecard.core.archive import FIRST_PAUSE, LONGEST_PAUSE
from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import _, joined, ngettext
from cuecard.core.text import for_display, one_line
from cuecard.tui.present.keyboard import hint

if TYPE_CHECKING:
    from cuecard.tui.present.journal import Journal, Refused

STAYS = 6.0
"""Seconds that the bar still stands when the database is back."""


class Outage:
    """Notices that the database is away, tries it again, each time after twice as long, and tells of it on all screens."""

    def __init__(
        self,
        app: App[Any],
        journal: Journal,
        try_again: Callable[[], None],
        report: Callable[[CuecardError], None],
    ) -> None:
        """`try_again`, in a thread: deliver what waits in the journal, or raise `CuecardError`, which `report` shows."""
        self._app, self._journal = app, journal
        self._try_again, self._report = try_again, report
        self._back = asyncio.Event()
        self._back.set()
        self._now = asyncio.Event()
        self._since = self._next = datetime.now(UTC)
        self._told = ""
        self.error: DatabaseAway | None = None
        """Why it is away; None while it is not."""

    def tell(self, error: DatabaseAway) -> None:
        """As `noticed`, from any thread."""
        self._app.call_later(self.noticed, error)

    def delivered(self, taken: int, refused: Sequence[Refused]) -> None:
        """So much of what was kept here is in the workspace now. On any thread."""
        self._app.call_later(self._tell_delivered, taken, refused)

    def noticed(self, error: DatabaseAway) -> None:
        """The database is away. On the app's thread."""
        first = self.error is None
        self.error = error
        if first:
            self._since = datetime.now(UTC)
            self._back.clear()
            self._app.run_worker(self._until_back(), group="outage", exclusive=True)
        else:
            self.show()

    async def over(self) -> None:
        """Wait until it is back."""
        await self._back.wait()

    def try_now(self) -> None:
        self._now.set()

    @property
    def words(self) -> str:
        """What the bar says; "" for no bar."""
        error = self.error
        if error is None:
            return self._told
        since, following = (f"{at.astimezone():%H:%M:%S}" for at in (self._since, self._next))
        why = f"▲ {since}  {one_line(f'{error.title}: {error.message}', 200)}"
        kept = _("What you write is kept on this machine.")
        if waits := len(self._journal.waiting):
            kept = ngettext(
                "{n} thing is kept on this machine.", "{n} things are kept on this machine.", waits
            ).format(n=waits)
        again = hint(_("Next try at {time}, {TRY} tries now."), typing=True, time=following)
        return f"{why}\n  {joined((again, kept))}"

    def show(self) -> None:
        """Put the bar on every screen that is open, or take it away."""
        for screen in self._app.screen_stack:
            bar = next(iter(screen.query(OutageBar)), None)
            if bar is None and self.words and screen.is_running:
                bar = OutageBar()
                screen.mount(bar, before=0)
            if bar is not None:
                bar.tell(self.words, back=self.error is None)

    async def _until_back(self) -> None:
        pause = FIRST_PAUSE
        while self.error is not None:
            self._next = datetime.fromtimestamp(time.time() + pause, UTC)
            self.show()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._now.wait(), pause)
            self._now.clear()
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                await asyncio.to_thread(self._try_again)
            except DatabaseAway as error:
                self.error = error
            except CuecardError as error:
                # It answers, but refuses: whoever asks next is told why.
                self.error = None
                self._report(error)
            else:
                self.error = None
                self._told = _("✓ The database is back.")
        self._back.set()
        self.show()
        await asyncio.sleep(STAYS)
        self._told = ""
        self.show()

    def _tell_delivered(self, taken: int, refused: Sequence[Refused]) -> None:
        if taken:
            text = ngettext(
                "{n} thing that was kept on this machine is saved.",
                "{n} things that were kept on this machine are saved.",
                taken,
            )
            self._app.notify(text.format(n=taken), timeout=4, markup=False)
        for each in refused:
            text = _("{reason} It is still in {file}.").format(reason=each.reason, file=each.file)
            title = _("Not taken: {what}").format(what=each.what)
            self._app.notify(
                for_display(text), title=title, severity="warning", timeout=30, markup=False
            )


class OutageBar(Static):
    """Says on a screen that the database is away; a click tries it again."""

    DEFAULT_CSS = """
    OutageBar {
        height: auto; padding: 0 1; background: $warning; color: $background;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    OutageBar:ansi { color: ansi_black; }
    OutageBar.-back { background: $success; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def tell(self, words: str, *, back: bool) -> None:
        self.display = bool(words)
        self.set_class(back, "-back")
        self.update(words)

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.app.run_action("app.try_again")
