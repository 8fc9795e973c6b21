"""Handles every key and paste in order, each after the effects of the one before are complete.

Textual hands a key to whatever has the focus when it comes, but a binding, a change of focus or a dialog takes effect
later. Text typed right after such a key would go to the place being left. Here keys are queued and handed on one at a
time, each when the app is idle: the top screen is mounted and laid out, it has no pending messages or callbacks, and no
worker started by a key is running.
"""

# Whether a message is under way is nothing that Textual tells; `test_held_keys` holds it to what is read here.
# pyright: reportPrivateUsage=false

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, cast

from textual import events
from textual._parser import Parser
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.command import CommandPalette
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, get_current_worker  # pyright: ignore[reportUnknownVariableType]

from cuecard.core.i18n import _
from cuecard.core.text import ESCAPES, for_display, one_line

URGENT = frozenset({"escape", "ctrl+q", "ctrl+c"})
_TURNS = 200
"""Turns of the loop after which looking again waits `_PAUSE` seconds, as it does for workers."""
_PAUSE = 0.003
_IDLE = 0.02
_TOLD = 60

_Typed = events.Key | events.Paste | events.MouseDown | events.MouseUp


_BEGINS, _ENDS, _ESCAPE = "\x1b[200~", "\x1b[201~", "\ufdd0"
"""How a terminal brackets a paste, and what stands for an escape character in it: no text holds it."""


class _Pasted:
    """Puts escape characters in pastes out of the way, in what a terminal sends, in pieces that may end anywhere."""

    def __init__(self) -> None:
        self._inside = False
        self._seen = self._held = ""

    def bare(self, data: str) -> str:
        parts: list[str] = []
        while data:
            part, data = self._text(data) if self._inside else self._keys(data)
            parts.append(part)
        return "".join(parts)

    def _keys(self, data: str) -> tuple[str, str]:
        """Up to where a paste begins, and the rest. Of a key nothing is held back: its beginning was handed on already."""
        at = (self._seen + data).find(_BEGINS)
        if at < 0:
            self._seen = (self._seen + data)[1 - len(_BEGINS) :]
            return data, ""
        start = at + len(_BEGINS) - len(self._seen)
        self._inside, self._seen = True, ""
        return data[:start], data[start:]

    def _text(self, data: str) -> tuple[str, str]:
        """Up to where the paste ends, and the rest; what may be the beginning of its end waits for more."""
        text, end, rest = (self._held + data).partition(_ENDS)
        kept = 0 if end else next((n for n in range(5, 0, -1) if text.endswith(_ENDS[:n])), 0)
        text, self._held = text[: len(text) - kept], text[len(text) - kept :]
        self._inside = not end
        return text.replace("\x1b", _ESCAPE) + end, rest


def _feed(self: XTermParser, data: str) -> Iterable[Message]:
    """Textual takes an escape character in a paste for the beginning of a key, and all that follows for keys: a text that
    holds one would act. Here it stays a text, without its escape sequences.
    """
    pasted = cast(_Pasted, vars(self).setdefault("pasted", _Pasted()))
    if data and not (data := pasted.bare(data)):
        return  # nothing would mean that no more comes
    for event in Parser[Message].feed(self, data):
        if isinstance(event, events.Paste):
            text = ESCAPES.sub("", event.text.replace(_ESCAPE, "\x1b"))
            event.text = text.replace("\x1b", "")
        yield event


XTermParser.feed = _feed


class HoldsKeys(App[str]):
    """Mixin of the app that queues keys. They wait for workers given to `keys_wait_for`, unless one of those is
    `resting`.
    """

    PATIENCE = 10.0
    """Seconds that keys wait for what an earlier key began; then they are dropped with a notification."""
    IMPATIENCE = (1.0, 3.0)
    """The same if a key of `URGENT` waits: for a worker, and for a screen being made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: deque[tuple[_Typed, Screen[Any] | None]] = deque()
        self._handing_on: asyncio.Task[None] | None = None
        self._errands: dict[Worker[Any], Callable[[], bool] | None] = {}
        self._busy: MessagePump = self
        self._back_at = 0.0
        self._typed_at = 0.0

    def keys_wait_for(self, worker: Worker[Any]) -> None:
        """Keys typed from now on wait until this worker is done."""
        self._errands[worker] = None

    def in_background(self, worker: Worker[Any]) -> None:
        """Keys do not wait for this worker any more."""
        self._errands.pop(worker, None)

    def goes_on(self) -> None:
        """The running worker has done what keys wait for; it continues in the background."""
        self.in_background(cast("Worker[Any]", get_current_worker()))

    async def idle(self, quiet: float) -> None:
        """Come back when no key has come and nothing was under way for so many seconds."""
        since = time.monotonic()
        while True:
            await asyncio.sleep(_IDLE)
            now = time.monotonic()
            if self._held or not self._settled(events.Key("escape", None)):
                since = now
            elif now - max(since, self._typed_at) > quiet:
                return

    @contextmanager
    def resting(self, rests: Callable[[], bool]) -> Generator[None]:
        """Mark that the running worker waits for the person, so keys do not wait for it as long as `rests()` is true."""
        worker = cast("Worker[Any]", get_current_worker())
        awaited = worker in self._errands
        if awaited:
            self._errands[worker] = rests
        try:
            yield
        finally:
            if awaited and worker in self._errands:
                self._errands[worker] = None

    async def push_screen_wait(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, screen: Screen[Any], *, mode: str | None = None
    ) -> Any:
        with self.resting(lambda: screen.is_running):
            return await super().push_screen_wait(screen, mode=mode)

    @contextmanager
    def suspend(self) -> Generator[None]:
        """Keys typed while another program was being started were meant for it, and are dropped."""
        dropped = self._drop()
        with super().suspend():
            try:
                yield
            finally:
                self._back_at = Message().time
        self._tell_dropped(dropped)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, _Typed) and not message.is_forwarded:
            if isinstance(message, events.Key) and message.key.startswith("alt+"):
                # Terminals send Alt and a letter as Esc and the letter; that is a command, never text.
                message.character = None
            return self._hear(message)
        return super().post_message(message)

    def _hear(self, event: _Typed) -> bool:
        if self._closing or self._closed:
            return False
        self._typed_at = time.monotonic()
        if event.time < self._back_at:
            self._held.append((event, None))
            self._tell_dropped(self._drop())
            return False
        mouse = isinstance(event, events.MouseEvent)
        if not self._held and (mouse or self._settled(event)):
            return super().post_message(event)
        self._held.append((event, self.screen if self.screen_stack else None))
        if self._handing_on is None:
            self._handing_on = asyncio.create_task(self._hand_on())
        return True

    async def _hand_on(self) -> None:
        """Hand on what is held, one at a time."""
        try:
            with self._context():
                while self._held:
                    if not await self._settles():
                        self._give_up()
                    if self._held:
                        event, screen = self._held.popleft()
                        # A click is meant for what was seen when it was made.
                        if not isinstance(event, events.MouseDown) or screen is self.screen:
                            super().post_message(event)
        finally:
            self._handing_on = None

    async def _settles(self) -> bool:
        """Wait until the next one may be handed on; False if that takes too long."""
        began, turns = time.monotonic(), 0
        while not self._settled(self._held[0][0]):
            urgent = any(
                isinstance(event, events.Key) and event.key in URGENT for event, _ in self._held
            )
            patience = self.IMPATIENCE[not self._is_busy()] if urgent else self.PATIENCE
            if time.monotonic() - began > patience:
                return False
            turns += 1
            await asyncio.sleep(_PAUSE if turns > _TURNS or self._is_busy() else 0)
        return True

    def _settled(self, event: _Typed) -> bool:
        if not self.screen_stack or not _at_rest(self._busy) or not _at_rest(self):
            return False
        screen = self.screen
        if screen._callbacks or self._is_busy():
            return False
        waiting: list[Widget] = [screen]
        while waiting:
            widget = waiting.pop()
            if not _at_rest(widget):
                self._busy = widget
                return False
            waiting += widget._nodes
        self._busy = self
        focused = screen.focused
        if focused is not None and screen._layout_required and not focused.size:
            return False
        return (isinstance(event, events.Key) and event.is_printable) or not self._searching(screen)

    def _is_busy(self) -> bool:
        for worker, rests in list(self._errands.items()):
            # One that was cancelled before it began never says that it is finished.
            if worker not in self.workers:
                del self._errands[worker]
            elif rests is None or not rests():
                return True
        return False

    def _searching(self, screen: Screen[Any]) -> bool:
        """Whether the command palette has not found yet what can be chosen."""
        group = CommandPalette._GATHER_COMMANDS_GROUP
        return isinstance(screen, CommandPalette) and any(
            worker.group == group for worker in self.workers
        )

    def _give_up(self) -> None:
        """Nothing waits for what is under way any more; what was typed up to a key of `URGENT` is dropped."""
        self._errands.clear()
        self._tell_dropped(self._drop())

    def _drop(self) -> list[str]:
        dropped: list[str] = []
        while self._held:
            event = self._held[0][0]
            if isinstance(event, events.Key) and event.key in URGENT:
                break
            self._held.popleft()
            if isinstance(event, events.Paste):
                dropped.append(event.text)
            elif isinstance(event, events.Key):
                shown = event.character if event.is_printable else f"⟨{event.key}⟩"
                dropped.append(shown or "")
        return dropped

    def _tell_dropped(self, dropped: list[str]) -> None:
        if dropped:
            typed = one_line(for_display("".join(dropped)), _TOLD)
            text = _("Still at work. What you typed meanwhile was not used: {typed}")
            self.notify(text.format(typed=typed), severity="warning", timeout=8, markup=False)


def _at_rest(pump: MessagePump) -> bool:
    """Whether it waits for a message, rather than having one or being in the middle of it."""
    if pump._closed:
        return True
    queue = cast(Any, pump._message_queue)
    return not queue.values and bool(queue.ready_event._waiters)
