"""Simulators that listen to a live session and say beside it what they would have said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuecard.core.config import Config
from cuecard.core.errors import CuecardError
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import Dialogue, PlayerRef, User
from cuecard.core.tasks import Task
from cuecard.lab.shadows import ask_shadow, keep_shadow, shadow_of, shadow_user, state_of

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_LOG = logging.getLogger(__name__)


class Listening(NamedTuple):
    """How many simulators listen, and how many of them have answered, or failed, at the point of the
    dialogue at which it was last the person's turn.
    """

    shadows: int = 0
    answered: int = 0
    failed: int = 0


class Listener:
    """Asks every shadow once for each point of a session at which it is the person's turn, and keeps what
    it says. Lives on the event loop of the session, which never waits for it; tells nobody more than how
    many have answered.

    A point is named by its dialogue (`state_of`): a turn that is undone and said again, or met again
    after the session was resumed, is asked about no second time, not even where the first answer is
    still under way or has failed. What failed is left for `shadow_trials`.
    """

    def __init__(
        self, workspace: Workspace, trial_id: int, task: Task, names: Sequence[str], config: Config
    ) -> None:
        self._workspace = workspace
        self._trial_id = trial_id
        self._task = task
        self._names = tuple(dict.fromkeys(names))
        self._config = config
        self._hub = ModelHub(config)
        self._ready: asyncio.Task[_Ready] | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._begun: set[str] = set()
        self._state = ""
        self._answered: set[tuple[str, str]] = set()
        self._failed: set[tuple[str, str]] = set()
        self._closed = False

    @property
    def listening(self) -> Listening:
        return Listening(len(self._names), self._count(self._answered), self._count(self._failed))

    def begin(self, dialogue: Dialogue) -> None:
        """It is the person's turn after `dialogue`, which ends with the agent's reply."""
        if self._closed or not self._names or not dialogue.messages:
            return
        self._state = state_of(dialogue)
        if self._state in self._begun:
            return
        self._begun.add(self._state)
        if self._ready is None:
            self._ready = asyncio.create_task(self._prepare())
        for name in self._names:
            self._spawn(self._ask(name, self._state, dialogue, self._ready))

    def finish(self) -> None:
        """Nothing more is going to begin; what is under way is heard out."""
        if self._names and not self._closed:
            self._spawn(self._hear_out())

    async def close(self) -> None:
        """Stop what is under way. An answer that has come is still kept."""
        self._closed = True
        while self._work:
            for task in self._work:
                task.cancel()
            await asyncio.wait(self._work)
        if self._ready is not None:
            await asyncio.wait({self._ready})
        await self._hub.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _hear_out(self) -> None:
        if others := self._work - {asyncio.current_task()}:
            await asyncio.wait(others)
        await self._hub.close()

    async def _prepare(self) -> _Ready:
        def work() -> _Ready:
            kept = self._workspace.shadows.of([self._trial_id])
            users: dict[str, User | CuecardError] = {}
            for name in self._names:
                try:
                    users[name] = shadow_user(name, self._config, self._task, self._hub)
                except CuecardError as error:
                    users[name] = error
            return _Ready(users, frozenset((each.state, each.player) for each in kept))

        return await asyncio.to_thread(work)

    async def _ask(
        self, name: str, state: str, dialogue: Dialogue, ready: asyncio.Task[_Ready]
    ) -> None:
        try:
            users, kept = await asyncio.shield(ready)
            user = users[name]
            if isinstance(user, CuecardError):
                raise user
            if (state, user.ref) not in kept:
                said = await ask_shadow(user, dialogue)
                shadow = shadow_of(self._trial_id, dialogue, said, live=True)
                await keep_shadow(self._workspace, shadow)
            self._answered.add((state, name))
        except Exception as error:  # noqa: BLE001 - the boundary of a shadow: it harms no session
            self._failed.add((state, name))
            if isinstance(error, CuecardError):
                _LOG.warning("%s could not be asked: %s", name, error)
            else:
                _LOG.exception("%s could not be asked", name)

    def _count(self, found: set[tuple[str, str]]) -> int:
        return sum((self._state, name) in found for name in self._names)


class _Ready(NamedTuple):
    """The shadows, or why they cannot be asked, and which were asked at which point in earlier sittings."""

    users: dict[str, User | CuecardError]
    kept: frozenset[tuple[str, PlayerRef]]
