"""Between the engine's thread, where a session lives, and the screen's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

from cuecard.core.errors import NotAllowed
from cuecard.core.events import Event
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import PlayerRef, UserReply
from cuecard.core.seats import Seating
from cuecard.core.tasks import Task
from cuecard.lab.listener import Listening
from cuecard.lab.play import PlayOutcome, PlayPhase, PlaySession
from cuecard.lab.players import cell_for
from cuecard.lab.wizard_seat import absent_agent
from cuecard.tui.screens.play.stream import Gathering
from cuecard.tui.state.play_start import Start

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


@dataclass
class PhaseChanged(Message):
    """It is somebody else's turn."""

    phase: PlayPhase


@dataclass(frozen=True)
class Wanted:
    """What to play: a task's revision with these players, or the open trial `trial_id`."""

    task_id: str = ""
    revision: int | None = None
    start: Start | None = None
    trial_id: int | None = None


@dataclass(frozen=True)
class Ground:
    """What the screen shows before anything is said in it. `number`: the revision; `past`: the whole
    log, what was taken back included.
    """

    task: Task
    number: int
    agent: PlayerRef
    start: Start = field(default_factory=Start)
    past: tuple[Event, ...] = ()
    trial_id: int | None = None


def prepare(workspace: Workspace, wanted: Wanted, config: Config) -> Ground:
    """Look up what is wanted; nothing is begun. Raises `NotFound`, and `ConfigError` for an agent
    that cannot be made.
    """
    if wanted.trial_id is not None:
        trial = workspace.runs.trial(wanted.trial_id)
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        return Ground(task, trial.revision, trial.agent, trial_id=trial.id)
    revision = workspace.tasks.revision(wanted.task_id, wanted.revision)
    start = wanted.start or Start()
    seating = Seating(agent=start.agent, world=start.world)
    cell = cell_for(
        revision.task,
        revision.number,
        seating,
        config,
        ModelHub(config),
        human_agent=absent_agent(start.agent, revision.task),
    )
    return Ground(revision.task, revision.number, cell.agent, start)


class SessionLink:
    """Runs one session on the engine and posts what it tells: `Happened`, `Streamed`, `PhaseChanged` and
    `Ended`, in order. What is streamed is gathered, so that a fast model does not flood the screen with messages.

    A new session begins with the first words: who only looks in leaves nothing behind.
    """

    def __init__(
        self,
        engine: Engine,
        workspace: Workspace,
        config: Config,
        person: str,
        post: Callable[[Message], Any],
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._config = config
        self._person = person
        self._post = post
        self._session: PlaySession | None = None
        self._gathering = Gathering(post)

    @property
    def trial_id(self) -> int | None:
        return self._session.trial.id if self._session else None

    @property
    def judge(self) -> str:
        """Who judges the session, by name."""
        judges = self._session.settings.judges if self._session else ()
        return judges[-1] if judges else "lexical"

    @property
    def listening(self) -> Listening | None:
        """How many simulators listen and have answered; None before the session has begun."""
        return self._session.listening if self._session else None

    async def resume(self, trial_id: int) -> tuple[Event, ...]:
        """Go on with an open trial and return its whole log. Raises what the session raises."""
        return await self._engine.perform(self._resume(trial_id))

    async def submit(self, ground: Ground, reply: UserReply) -> None:
        """Say `reply`, first of all beginning the session; returns when it is on the disk."""
        await self._engine.perform(self._submit(ground, reply))

    async def interrupt(self) -> None:
        await self._engine.perform(self._going().interrupt())

    async def retry(self, reason: str = "") -> None:
        await self._engine.perform(self._going().retry(reason))

    async def undo(self) -> UserReply:
        return await self._engine.perform(self._going().undo())

    async def note(self, about: Literal["agent", "task", "other"], text: str) -> None:
        await self._engine.perform(self._going().note(about, text))

    def close(self) -> None:
        """Leave the session open, to be resumed. Does not wait."""
        if self._session:
            self._engine.submit(self._session.close())

    def _going(self) -> PlaySession:
        if self._session is None:
            raise NotAllowed(_("The session has not begun"), _("It begins with your first words."))
        return self._session

    async def _resume(self, trial_id: int) -> tuple[Event, ...]:
        self._session = await PlaySession.resume(
            self._workspace,
            trial_id,
            by=self._person,
            config=self._config,
            on_event=self._told,
            on_stream=self._gathering.add,
            on_phase=self._changed,
            on_end=self._ended,
        )
        self._changed(self._session.phase)
        return tuple(await asyncio.to_thread(self._workspace.runs.log, trial_id))

    async def _submit(self, ground: Ground, reply: UserReply) -> None:
        if self._session is None:
            start = ground.start
            self._session = await PlaySession.start(
                self._workspace,
                ground.task.id,
                revision=ground.number,
                by=self._person,
                agent=start.agent,
                world=start.world,
                judge=start.judge,
                shadows=start.shadows,
                config=self._config,
                on_event=self._told,
                on_stream=self._gathering.add,
                on_phase=self._changed,
                on_end=self._ended,
            )
        await self._session.wait_turn()
        await self._session.submit(reply)

    def _told(self, event: Event) -> None:
        self._gathering.flush()
        self._post(Happened(event))

    def _changed(self, phase: PlayPhase) -> None:
        self._gathering.flush()
        self._post(PhaseChanged(phase))

    def _ended(self, outcome: PlayOutcome) -> None:
        self._post(Ended(outcome))
