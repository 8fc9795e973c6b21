"""Shadows: simulators that are asked what they would have said in a trial whose user somebody else plays."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from cuecard.core.archive import outlast
from cuecard.core.config import Config
from cuecard.core.engine.messages import Dialogue, ModelReply, PlayerRef, UserReply
from cuecard.core.engine.players import build_user
from cuecard.core.engine.step_context import RecordingCalls, StepContext, User
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.sharing import within_limits
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import Shadow
from cuecard.core.tasks.models import Task

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.worker_archive import Claim


class ShadowTurn(NamedTuple):
    """What a simulator would have said. `calls`: its model's replies, at most one; none for a baseline."""

    reply: UserReply
    calls: tuple[ModelReply, ...]
    player: PlayerRef


def state_of(dialogue: Dialogue) -> str:
    """Identifies a point of a trial by the first 16 hex digits of the SHA-256 of all that was said and disclosed up to
    it. At two points with the same state a simulator is asked the same.
    """
    told = [
        (m.role, m.turn, m.text, m.act, m.stage, m.checkpoint, m.status) for m in dialogue.messages
    ]
    canonical = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def shadow_user(name: str, config: Config, task: Task, hub: ModelHub) -> User:
    """The user `name`, made to be asked as a shadow, not to play. Raises `ConfigError`."""
    return build_user(name, config, task, hub, once=True)


async def ask_shadow(user: User, dialogue: Dialogue) -> ShadowTurn:
    """What a user from `shadow_user` says after `dialogue`, which ends with the agent's reply.

    Its model is called once: nothing is asked again, mended or replaced. Faults of its reply are in `flags`; an
    unreadable answer gives no text, no decision and the flag `unusable`. Raises `ModelCallError` and `Halt`.
    """
    context = RecordingCalls()
    # A step context can do more than call models, but simulated users need nothing else of it.
    reply = await user.reply(dialogue, cast(StepContext, context))
    return ShadowTurn(reply, tuple(context.heard), user.ref)


def shadow_of(trial_id: int, dialogue: Dialogue, said: ShadowTurn, *, live: bool) -> Shadow:
    """The record to store of a shadow's turn after `dialogue`. `live`: it was asked during the session."""
    return Shadow(
        trial_id=trial_id,
        turn=dialogue.turn + 1,
        state=state_of(dialogue),
        player=said.player,
        reply=said.reply,
        calls=said.calls,
        live=live,
        at=datetime.now(UTC),
    )


async def keep_shadow(workspace: Archive, shadow: Shadow, claim: Claim | None = None) -> None:
    """Store a shadow's turn, even if the caller is cancelled meanwhile, since its call was paid for. `claim`: a worker's hold on the
    trial. Raises `ClaimLost`.
    """
    keeping = asyncio.ensure_future(outlast(workspace, workspace.shadows.add, shadow, claim))
    try:
        await asyncio.shield(keeping)
    except asyncio.CancelledError:
        await asyncio.wait({keeping})
        raise


_LOG = logging.getLogger(__name__)


class Listening(NamedTuple):
    """How many shadows a session has, and how many of them have answered or failed at the person's latest turn."""

    shadows: int = 0
    answered: int = 0
    failed: int = 0


class Listener:
    """Asks every shadow once at each of the person's turns of a session, and stores the answers. It runs on the
    session's event loop, which never waits for it, and reports only how many have answered.

    Points with the same dialogue (`state_of`) are the same: a turn that is undone and said again, or reached again
    after the session was resumed, is not asked about twice, not even if the first answer is still awaited or failed.
    Failed ones are left to `shadow_trials`.
    """

    def __init__(
        self, workspace: Archive, trial_id: int, task: Task, names: Sequence[str], config: Config
    ) -> None:
        self._workspace = workspace
        self._trial_id = trial_id
        self._task = task
        self._names = tuple(dict.fromkeys(names))
        self._config = config
        self._hub = ModelHub(config)
        self._limits = AsyncExitStack()
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
        """Ask the shadows: it is the person's turn after `dialogue`, which ends with the agent's reply."""
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
        """Called when no more turns follow; answers under way are awaited in the background."""
        if self._names and not self._closed:
            self._spawn(self._finish_pending())

    async def close(self) -> None:
        """Cancel the calls under way. Answers that have come are still stored."""
        self._closed = True
        while self._work:
            for task in self._work:
                task.cancel()
            await asyncio.wait(self._work)
        if self._ready is not None:
            await asyncio.wait({self._ready})
        await self._limits.aclose()
        await self._hub.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _finish_pending(self) -> None:
        if others := self._work - {asyncio.current_task()}:
            await asyncio.wait(others)
        await self._limits.aclose()
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

        ready = await outlast(self._workspace, work)
        sharing = within_limits(self._workspace, self._hub, idles=True)
        await self._limits.enter_async_context(sharing)
        return ready

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
    """The shadows by name, or why one cannot be asked; and at which points which were asked before."""

    users: dict[str, User | CuecardError]
    kept: frozenset[tuple[str, PlayerRef]]
