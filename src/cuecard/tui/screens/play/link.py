"""The link between a live session on the engine's thread and the screen: calls, events, and streamed text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer

from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import PlayerRef, UserReply
from cuecard.core.engine.players import PlayerNames
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.plans import cell_for
from cuecard.core.evaluation.play_session import PlayOutcome, PlayPhase, PlaySession
from cuecard.core.evaluation.shadows import Listening
from cuecard.core.evaluation.wizard_of_oz import absent_agent
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.tasks.models import Task
from cuecard.tui.present.players import Start

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine


FRAME = 1 / 30
"""Seconds from one frame to the next, at least."""
REST = 2.0
"""After a frame, the screen rests for so many times as long as it took to paint."""

KEY = 0.025
"""Seconds after a key in which only its effect is painted."""
LATE = 0.15
"""Seconds after which a frame is painted even while somebody types."""


@dataclass
class Streamed(Message):
    """More of the agent's reply in `turn`; never in the log."""

    turn: int
    text: str


class TextBatcher:
    """Bundles streamed text on the engine's loop. The first piece of a turn is posted at once, those within a frame
    after it together. Call `flush` before posting anything else, to keep the order.
    """

    def __init__(self, post: Callable[[Message], Any]) -> None:
        self._post = post
        self._turn = -1
        self._pieces: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, turn: int, text: str) -> None:
        if turn != self._turn:
            self.flush()
            self._turn = turn
        self._pieces.append(text)
        if self._timer is None:
            self._frame()

    def flush(self) -> None:
        """Post what there is; the next piece counts as a first one."""
        self._send()
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _frame(self) -> None:
        self._timer = None
        if self._send():
            self._timer = asyncio.get_running_loop().call_later(FRAME, self._frame)

    def _send(self) -> bool:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text:
            self._post(Streamed(self._turn, text))
        return bool(text)


class Frames:
    """Limits how often the screen repaints. A frame is painted at once, or, if the last one is recent or somebody
    types, after a pause, so that keys are handled in between.
    """

    def __init__(self, pump: MessagePump, paint: Callable[[], None]) -> None:
        self._pump, self._paint = pump, paint
        self._free_at = self._asked_at = 0.0
        self._timer: Timer | None = None

    def ask(self) -> None:
        """Have what has changed painted."""
        if self._timer is None:
            self._asked_at = monotonic()
            self._when_free()

    def give_way(self) -> None:
        """A key was pressed: what it changed is painted first, by itself."""
        self._free_at = max(self._free_at, monotonic() + KEY)

    def now(self) -> None:
        """Paint without waiting."""
        if self._timer:
            self._timer.stop()
            self._timer = None
        begun = monotonic()
        self._paint()
        taken = monotonic() - begun
        self._free_at = begun + taken + max(FRAME / 2, REST * taken)

    def _when_free(self) -> None:
        self._timer = None
        at = monotonic()
        wait = min(self._free_at, self._asked_at + LATE) - at
        if wait > 0:
            self._timer = self._pump.set_timer(wait, self._when_free)
        else:
            self.now()


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
    """The state before anything new is said. `number`: the revision; `past`: the whole log, with what was taken back."""

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
    player_names = PlayerNames(agent=start.agent, world=start.world)
    cell = cell_for(
        revision.task,
        revision.number,
        player_names,
        config,
        ModelHub(config),
        human_agent=absent_agent(start.agent, revision.task),
    )
    return Ground(revision.task, revision.number, cell.agent, start)


class SessionLink:
    """Runs one session on the engine and posts `Happened`, `Streamed`, `PhaseChanged` and `Ended`, in order. Streamed
    text is bundled, so that a fast model does not flood the screen with messages.

    A new session is saved with the first message only, so that just looking leaves nothing behind.
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
        self._gathering = TextBatcher(post)

    @property
    def trial_id(self) -> int | None:
        return self._session.trial.id if self._session else None

    @property
    def judge(self) -> str:
        """Who judges the session, by name."""
        judges = self._session.settings.judges if self._session else ()
        return judges[-1] if judges else DEFAULT_JUDGE

    @property
    def listening(self) -> Listening | None:
        """How many simulators listen and have answered; None before the session has begun."""
        return self._session.listening if self._session else None

    async def resume(self, trial_id: int) -> tuple[Event, ...]:
        """Resume an open trial and give its whole log. Raises what the session raises."""
        return await self._engine.perform(self._resume(trial_id))

    async def submit(self, ground: Ground, reply: UserReply) -> None:
        """Send `reply`; the first one begins the session. Returns when it is on the disk."""
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
