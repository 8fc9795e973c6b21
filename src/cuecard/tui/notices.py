"""What the app tells a person: errors of keys and workers, notices above what is typed, why a key does nothing, and that the
database is away.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from rich.text import Text
from textual import work
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.events import Click
from textual.widgets import Static
from textual.worker import Worker

from cuecard.core.errors import PAUSES, CuecardError, DatabaseAway, error_text
from cuecard.core.i18n import _, joined, ngettext
from cuecard.core.secrets import scrub
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import moves, registry
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.preferences import Preferences
from cuecard.tui.present.entries import breaks
from cuecard.tui.present.keyboard import error_lines, hint

if TYPE_CHECKING:
    from cuecard.tui.present.journal import Journal, Refused

P = ParamSpec("P")
NodeT = TypeVar("NodeT", bound="DOMNode")

STAYS = 6.0
"""Seconds that the bar still stands when the database is back."""
_MOVES = frozenset(
    ("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "ctrl+home", "ctrl+end", "shift+up", "shift+down",
     "enter", "escape", "tab", "shift+tab", "space")
)  # fmt: skip
"""Keys that move the cursor; if they have no effect, no message is shown."""


class Notices(HoldsKeys):
    """Mixin of the app that shows errors and notices."""

    outage: Outage
    preferences: Preferences

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try_again":
            return self.outage.error is not None
        return super().check_action(action, parameters)

    def action_try_again(self) -> None:
        self.outage.try_now()

    def _is_busy(self) -> bool:
        # What an earlier key began may wait for the database, and for long.
        return self.outage.error is None and super()._is_busy()

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        done = await super()._check_bindings(key, priority)
        if not done and not priority:
            self._tell_idle(key)
        return done

    def report(self, error: BaseException) -> None:
        """Show an error to the person. An unforeseen one names its type so that it can be reported."""
        if isinstance(error, DatabaseAway):
            self.outage.noticed(error)
            if not error.wrote:
                return  # the bar says it
            body = _("The database is away. Do it again when it is back.")
            title = _("This was not saved")
        elif isinstance(error, CuecardError):
            body = "\n".join(error_lines(error, title=False))
            title = error.title
        else:
            title = _("Something went wrong that should not")
            body = error_text(error)
        self.notify(
            for_display(body)[:1500] or " ",
            title=for_display(title),
            severity="error",
            timeout=12,
            markup=False,
        )

    def _fatal_error(self) -> None:
        """What ends the app is shown without the values of variables, which may be keys."""
        self.bell()
        self._exit_renderables.append(Text(scrub(traceback.format_exc())))
        self._close_messages_no_wait()

    def tell(self, message: str, *, title: str = "") -> None:
        """Show a short notification."""
        self.notify(for_display(message), title=title, timeout=4, markup=False)

    def run_ended(self, name: str) -> None:
        """Tell that a run is over to those who want it, at another window too."""
        if not self.preferences.notice:
            return
        text = for_display(_("Run {run} has ended.").format(run=name))
        self.tell(text)
        self.bell()
        if self.preferences.notice == "terminal" and self._driver is not None:
            plain = one_line(text).replace(";", ",")
            # OSC 9, OSC 777 and the title of the window: terminals know one or the other.
            self._driver.write(
                f"\x1b]9;{plain}\x07\x1b]777;notify;Cuecard;{plain}\x07\x1b]2;✓ {plain}\x07"
            )

    def _tell_idle(self, key: str) -> None:
        """Show that this key does nothing now, and why, if the screen knows."""
        if key in _MOVES:
            return
        for node, bindings in self.screen._modal_binding_chain:  # pyright: ignore[reportPrivateUsage]
            for binding in bindings.key_to_bindings.get(key, ()):
                if binding.id in registry() and not moves(binding):
                    why_not: Callable[[str], str] | None = getattr(node, "why_not", None)
                    why = why_not(binding.action) if why_not else ""
                    shown, label = self.get_key_display(binding), _(binding.description)
                    told = _("{key} ({label}) is not possible here now.")
                    self.tell(why or told.format(key=shown, label=label))
                    return

    def _refresh_notifications(self) -> None:
        self._place_toasts()
        super()._refresh_notifications()

    def on_descendant_focus(self) -> None:
        self._place_toasts()

    def _place_toasts(self) -> None:
        """Above what is typed or read: at the top, or at the bottom while the cursor is up there, or nowhere."""
        if not self._notifications or not self.screen_stack:
            return
        width = max(1, self.size.width - 4)
        lines = sum(
            len(breaks(line, width)) + 1
            for note in self._notifications
            for line in (note.title + "\n" + note.message).strip().split("\n")
        )
        focused, top = self.screen.focused, 0
        if focused is not None:
            row = getattr(focused, "cursor_row", -1) - focused.scroll_offset.y
            typed = getattr(focused, "cursor_screen_offset", None)
            top = typed.y if typed is not None else focused.region.y + max(row + 1, 0)
        self.screen.set_class(top < lines < self.size.height - top - 1, "-toasts-below")


def guarded(
    group: str, *, background: bool = False
) -> Callable[
    [Callable[Concatenate[NodeT, P], Awaitable[None]]],
    Callable[Concatenate[NodeT, P], Worker[None]],
]:
    """Make an async method start a named, exclusive worker whose errors are shown instead of raised.

    Starting it again in the same `group` of the same widget or screen cancels the previous worker. Keys typed meanwhile
    wait until it is done (`HoldsKeys`), unless it is in the `background`: it moves no focus, opens nothing and changes
    nothing that keys act on.
    """

    def decorate(
        method: Callable[Concatenate[NodeT, P], Awaitable[None]],
    ) -> Callable[Concatenate[NodeT, P], Worker[None]]:
        @wraps(method)
        async def bounded(self: NodeT, *args: P.args, **kwargs: P.kwargs) -> None:
            try:
                await method(self, *args, **kwargs)
            except CuecardError as error:
                cast("Notices", self.app).report(error)
            except Exception as error:  # noqa: BLE001 - the boundary of a worker
                self.log.error(error)
                # A screen that was left meanwhile has its widgets no more.
                there = self.is_attached and self.screen in self.app.screen_stack
                if there or not isinstance(error, NoMatches):
                    cast("Notices", self.app).report(error)

        start = cast(
            "Callable[Concatenate[NodeT, P], Worker[None]]",
            work(bounded, exclusive=True, group=group, name=method.__qualname__),
        )

        @wraps(method)
        def started(self: NodeT, *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
            worker = start(self, *args, **kwargs)
            if not background:
                cast("Notices", self.app).keys_wait_for(worker)
            return worker

        return started

    return decorate


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
        why = f"▲ {since}  {one_line(error.title + _(': ') + error.message, 200)}"
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
        pause, longest = PAUSES
        while self.error is not None:
            self._next = datetime.fromtimestamp(time.time() + pause, UTC)
            self.show()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._now.wait(), pause)
            self._now.clear()
            pause = min(2 * pause, longest)
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
