"""Between the engine's thread, where a session lives, and the screen's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

from cuecard.core.events import Event
from cuecard.core.parts import UserReply
from cuecard.lab.play import PlayOutcome, PlaySession

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine


@dataclass
class Happened(Message):
    """An event is on the disk."""

    event: Event


@dataclass
class Ended(Message):
    """The session is over: judged, or stopped by a problem."""

    outcome: PlayOutcome


@dataclass(frozen=True)
class Wanted:
    """What to play: a task's revision with an agent, or the open trial `trial_id`."""

    task_id: str = ""
    revision: int | None = None
    agent: str = "offline"
    trial_id: int | None = None


class SessionLink:
    """Runs one session on the engine. What is streamed is gathered and fetched by `streamed`,
    so that a fast model does not flood the screen with messages.
    """

    def __init__(self, engine: Engine, post: Callable[[Message], Any]) -> None:
        self._engine = engine
        self._post = post
        self._session: PlaySession | None = None
        self._lock = threading.Lock()
        self._pieces: list[str] = []

    async def open(
        self, workspace: Workspace, wanted: Wanted, by: str, config: Config
    ) -> PlaySession:
        """Start or resume. Raises what the session raises."""
        self._session = await self._engine.perform(self._open(workspace, wanted, by, config))
        return self._session

    async def submit(self, reply: UserReply) -> None:
        """Say `reply`; returns when it is on the disk."""
        if self._session:
            await self._engine.perform(self._session.submit(reply))

    def close(self) -> None:
        """Leave the session open, to be resumed. Does not wait."""
        if self._session:
            self._engine.submit(self._session.close())

    def streamed(self) -> str:
        """What was written since the last call."""
        with self._lock:
            pieces, self._pieces = self._pieces, []
        return "".join(pieces)

    async def _open(
        self, workspace: Workspace, wanted: Wanted, by: str, config: Config
    ) -> PlaySession:
        def told(event: Event) -> None:
            self._post(Happened(event))

        def ended(outcome: PlayOutcome) -> None:
            self._post(Ended(outcome))

        if wanted.trial_id is not None:
            session = await PlaySession.resume(
                workspace,
                wanted.trial_id,
                by=by,
                config=config,
                on_event=told,
                on_stream=self._gather,
                on_end=ended,
            )
        else:
            session = await PlaySession.start(
                workspace,
                wanted.task_id,
                revision=wanted.revision,
                by=by,
                agent=wanted.agent,
                config=config,
                on_event=told,
                on_stream=self._gather,
                on_end=ended,
            )
        return session

    def _gather(self, _turn: int, text: str) -> None:
        with self._lock:
            self._pieces.append(text)
