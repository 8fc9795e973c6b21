"""Parts of a live session: starting and resuming one, the person's user part, whose turn it is, and the trial's runner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cuecard.core.config import Config
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    Limits,
    Marked,
    ModelReplied,
    Termination,
    UserSpoke,
)
from cuecard.core.engine.messages import Dialogue, Mark, UserReply
from cuecard.core.engine.players import HumanUser, PlayerNames
from cuecard.core.engine.trial import TrialResult, TrialSetup, close_players, play
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.plans import RunSettings, cell_for, player_configs, settings_of
from cuecard.core.evaluation.run_trials import OnEvent, OnStream, TrialSink, take
from cuecard.core.evaluation.wizard_of_oz import absent_agent, is_stopped
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunState, TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.worker_archive import Lease

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


def last_words(effective: Sequence[Event]) -> tuple[Event, UserSpoke] | None:
    """The person's last words and their event; None before they have spoken."""
    for event in reversed(effective):
        if isinstance(event.body, UserSpoke):
            return event, event.body
    return None


def last_reply(effective: Sequence[Event]) -> AgentSpoke | None:
    """The agent's reply to the person's last words, if it has given one."""
    for event in reversed(effective):
        if isinstance(event.body, AgentSpoke):
            return event.body
        if isinstance(event.body, UserSpoke):
            return None
    return None


class Written:
    """What the agent has streamed in its turn so far. The text of each model call is a paragraph, as in the replies of
    agents that write between their tool calls.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._break = False

    @property
    def text(self) -> str:
        return "".join(self._pieces).strip()

    def take(self, piece: str) -> None:
        if self._break and piece.strip():
            self._pieces.append("\n\n")
            self._break = False
        self._pieces.append(piece)

    def follow(self, event: Event) -> None:
        """Forget what was streamed when `event` ends a turn; begin a new paragraph after a model call."""
        match event.body:
            case UserSpoke() | AgentSpoke():
                self.clear()
            case ModelReplied(part="agent", scope=""):
                self._break = bool(self._pieces)
            case _:
                pass

    def clear(self) -> None:
        self._pieces, self._break = [], False


def phase_after(
    effective: Sequence[Event], limits: Limits
) -> Literal["yours", "writing", "concluding"]:
    """Whose turn it is, according to the log."""
    words = last_words(effective)
    if words is None or last_reply(effective) is not None:
        return "yours"
    last = words[1].reply.done or words[1].turn >= limits.max_turns
    return "concluding" if last else "writing"


def marked(mark: Mark, effective: Sequence[Event]) -> Marked:
    """The event body that records a person's mark in the current exchange, after the marks that are there."""
    turn, step = next_turn(effective), 0
    keys = {event.body.key for event in effective}
    while (body := Marked(part="user", turn=turn, step=step, mark=mark)).key in keys:
        step += 1
    return body


def next_turn(effective: Sequence[Event]) -> int:
    """The number of the current exchange, or of the one that the person is to open."""
    words = last_words(effective)
    if words is None:
        return 0
    return words[1].turn + (last_reply(effective) is not None)


PlayPhase = Literal["yours", "writing", "stopped", "concluding", "ended"]


class PlayOutcome(Frozen):
    """How a session ended. `termination` is None if it could not go on and was left open. `problem`: why it could not,
    or why it could not be judged.
    """

    trial_id: int
    termination: Termination | None
    detail: str = ""
    judged: bool = False
    problem: str = ""


OnEnd = Callable[[PlayOutcome], None]
OnPhase = Callable[[PlayPhase], None]


@dataclass(frozen=True)
class SessionListener:
    """The callbacks of a session: for events when they are stored, for pieces of a reply (turn and text) as they are
    written, for changes of the phase, and for the end.
    """

    on_event: OnEvent | None = None
    on_stream: OnStream | None = None
    on_phase: OnPhase | None = None
    on_end: OnEnd | None = None


@dataclass(frozen=True)
class Opened:
    """A trial that a person is going to play. `past`: its whole log; `lease`: the hold on its run."""

    trial: TrialRecord
    task: Task
    limits: Limits
    settings: RunSettings
    past: list[Event] = field(default_factory=list[Event])
    lease: Lease | None = None


async def enter(
    workspace: Archive,
    task_id: str,
    revision: int | None,
    by: str,
    agent: str,
    settings: RunSettings,
    config: Config,
    limits: Limits,
) -> Opened:
    """Create a trial in a run of its own and hold the run. Raises `NotFound`, `ConfigError`."""

    def work() -> Opened:
        played = workspace.tasks.revision(task_id, revision)
        person = HumanUser(workspace.people.add(by).name, _nobody)
        player_names = settings.player_names(agent)
        hub = ModelHub(config)
        cell = cell_for(
            played.task,
            played.number,
            player_names,
            config,
            hub,
            human=person,
            human_agent=absent_agent(agent, played.task),
        )
        _check_names(settings, config, hub)
        configs = player_configs(
            config,
            agents=(agent,),
            users=settings.shadows,
            worlds=(settings.world,),
            judges=settings.judges,
        )
        described = settings.model_copy(update={"roster": configs})
        run = workspace.runs.create(
            name=played.task.title,
            kind="play",
            created_by=by,
            samples=1,
            limits=limits,
            plan=described.model_dump(mode="json"),
        )
        trial = workspace.runs.add_trials(run.id, [cell])[0]
        return Opened(trial, played.task, limits, described)

    opened = await asyncio.to_thread(work)
    return replace(opened, lease=await take(workspace, opened.trial.run_id, by))


async def take_up(workspace: Archive, trial_id: int, by: str, config: Config) -> Opened:
    """Hold an open trial of `by`, or one that failed, to go on with it where it stopped. Raises `NotFound`,
    `ConfigError`, `NotAllowed`, and `AlreadyPlayed` if it is played in another window.
    """

    def check() -> int:
        trial = workspace.runs.trial(trial_id)
        _check_resumable(trial, by)
        return trial.run_id

    def work() -> Opened:
        trial = workspace.runs.trial(trial_id)
        _check_resumable(trial, by)  # It may have ended before it was held.
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        run = workspace.runs.get(trial.run_id)
        settings = settings_of(run)
        _check_names(settings, config, ModelHub(config))
        return Opened(trial, task, run.limits, settings, workspace.runs.log(trial_id))

    lease = await take(workspace, await asyncio.to_thread(check), by)
    try:
        opened = replace(await asyncio.to_thread(work), lease=lease)
        goes_on = opened.trial.termination is None and not is_stopped(opened.past)
        return opened if goes_on else await _retried(workspace, opened)
    except BaseException:
        workspace.leases.release(lease)
        raise


async def _retried(workspace: Archive, opened: Opened) -> Opened:
    """Begin an attempt in which the agent repeats the turn that failed, or in which it was interrupted; nothing that the
    person said is lost.
    """
    trial, run_id = opened.trial, opened.trial.run_id
    trial_log = TrialLog(TrialSink(workspace, trial.id), opened.past)
    words = last_words(trial_log.events)
    reason = trial.termination.value if trial.termination else ""
    await trial_log.retry(keep=True, reason=reason, back_to=words[0].seq + 1 if words else None)

    def again() -> Opened:
        workspace.runs.set_state(run_id, RunState.RUNNING)
        return replace(
            opened, trial=workspace.runs.trial(trial.id), past=workspace.runs.log(trial.id)
        )

    return await asyncio.to_thread(again)


def player_names_of(opened: Opened) -> PlayerNames:
    return opened.settings.player_names(opened.trial.agent.name)


def _check_names(settings: RunSettings, config: Config, hub: ModelHub) -> None:
    """Raises `ConfigError` for a judge or shadow that does not exist, before the session begins."""
    from cuecard.core.engine.players import build_judge

    for name in settings.judges:
        build_judge(name, config, hub)
    for name in settings.shadows:
        config.user(name)


def _check_resumable(trial: TrialRecord, by: str) -> None:
    title = _("This session cannot be resumed")
    if trial.user.kind != "human":
        raise NotAllowed(title, _("It is no play session."))
    if trial.termination is not None and not trial.termination.is_failure:
        raise NotAllowed(title, _("It has ended."))
    if trial.user.name != by.strip():
        raise NotAllowed(title, _("It is {name}'s.").format(name=trial.user.name))


async def _nobody(_dialogue: Dialogue | None) -> UserReply:
    raise NotAllowed(_("Nobody is playing"))


class PersonInput:
    """Passes the person's words to the trial. The user part calls `ask`, which waits until `say` is called; `on_asked`
    is called with the dialogue (None: nothing has been said yet) when it is the person's turn. `turn`: set while it is.
    """

    def __init__(self, on_asked: Callable[[Dialogue | None], None]) -> None:
        self._on_asked = on_asked
        self._asked: asyncio.Future[UserReply] | None = None
        self._kept: asyncio.Future[None] | None = None
        self.turn = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return self._asked is not None and not self._asked.done()

    async def ask(self, dialogue: Dialogue | None) -> UserReply:
        self._asked = asyncio.get_running_loop().create_future()
        self.turn.set()
        self._on_asked(dialogue)
        try:
            return await self._asked
        finally:
            self._asked = None
            self.turn.clear()

    async def say(self, reply: UserReply, session: asyncio.Task[None]) -> bool:
        """Give the words to `ask`; True when they are stored, False if the session ends before that. Call it only while
        `waiting`.
        """
        assert self._asked is not None
        self._kept = asyncio.get_running_loop().create_future()
        self._asked.set_result(reply)
        await asyncio.wait({self._kept, session}, return_when=asyncio.FIRST_COMPLETED)
        return self._kept.done()

    def kept(self) -> None:
        """Called when the words that were said last are stored."""
        if self._kept is not None and not self._kept.done():
            self._kept.set_result(None)


class TrialRunner:
    """Plays a trial, and can be halted and begun again at any time."""

    def __init__(self, setup: TrialSetup, trial_log: TrialLog) -> None:
        self._setup = setup
        self._trial_log = trial_log
        self._go = asyncio.Event()
        self._playing: asyncio.Task[TrialResult] | None = None
        self._halted: asyncio.Task[TrialResult] | None = None

    def begin(self) -> None:
        """Play, or play on from the record."""
        self._go.set()

    async def halt(self) -> bool:
        """Stop playing; returns when nothing more is recorded. False if the trial had already ended or failed."""
        self._go.clear()
        playing = self._halted = self._playing
        if playing is None:
            return True
        playing.cancel()
        await asyncio.wait({playing})
        return playing.cancelled()

    async def play(self) -> TrialResult:
        """Returns when the trial has ended; raises what `core.engine.trial.play` raises."""
        try:
            while True:
                await self._go.wait()
                self._playing = asyncio.create_task(
                    play(self._setup, self._trial_log, leave_open=True)
                )
                await asyncio.wait({self._playing})
                if self._playing is not self._halted or not self._playing.cancelled():
                    return self._playing.result()
        except asyncio.CancelledError:
            if self._playing is not None and not self._playing.done():
                # Told once: a second time would disturb how it comes to its end.
                if not self._playing.cancelling():
                    self._playing.cancel()
                await asyncio.wait({self._playing})
            raise
        finally:
            await close_players(self._setup)
