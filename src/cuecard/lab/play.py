"""A person plays the user, live, against any agent: one trial, in a run of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from cuecard.core.config import EMBEDDED, Config
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.events import Event, Limits, Termination, UserSpoke
from cuecard.core.i18n import _
from cuecard.core.journal import Journal
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import Dialogue, Judge, UserReply
from cuecard.core.seats import Seating
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import play
from cuecard.core.users.human import HumanUser
from cuecard.lab.judging import lexical_judge, try_judging
from cuecard.lab.plans import RunSettings, settings_of
from cuecard.lab.players import cell_for, setup_for
from cuecard.lab.sinks import OnEvent, OnStream, TrialSink, tell
from cuecard.store.records import RunRecord, RunState, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class PlayOutcome(Frozen):
    """How a session ended. `termination` is None when it could not go on and is left open;
    `problem` then says why, or why it could not be judged.
    """

    trial_id: int
    termination: Termination | None
    detail: str = ""
    judged: bool = False
    problem: str = ""


OnEnd = Callable[[PlayOutcome], None]


class PlaySession:
    """One trial whose user is a person. Lives on the event loop on which it was started: call its
    coroutines there; the callbacks are called there.

    Whatever happens is in the log before anybody is told of it. A session that is closed, or dies,
    is left open and goes on with `resume` from its last event.
    """

    def __init__(
        self,
        workspace: Workspace,
        trial: TrialRecord,
        task: Task,
        *,
        limits: Limits,
        world: str,
        past: list[Event],
        config: Config,
        judge: Judge | None,
        on_event: OnEvent | None,
        on_stream: OnStream | None,
        on_end: OnEnd | None,
    ) -> None:
        self.trial = trial
        self.task = task
        self.outcome: PlayOutcome | None = None
        self._workspace = workspace
        self._judge = judge or lexical_judge()
        self._on_event = on_event
        self._on_end = on_end
        self._asked: asyncio.Future[UserReply] | None = None
        self._kept: asyncio.Future[None] | None = None
        self._turn = asyncio.Event()
        human = HumanUser(trial.user.name, self._ask)
        self._hub = ModelHub(config)
        seating = Seating(agent=trial.agent.name, world=world)
        self._setup = setup_for(trial, task, limits, seating, config, self._hub, human=human)
        self._sink = TrialSink(workspace, trial.id, self._told, on_stream)
        self._journal = Journal(self._sink, past)
        self._task = asyncio.create_task(self._run(), name=f"play-{trial.id}")

    @classmethod
    async def start(
        cls,
        workspace: Workspace,
        task_id: str,
        *,
        revision: int | None = None,
        by: str,
        agent: str = "offline",
        world: str = "closed",
        config: Config = EMBEDDED,
        limits: Limits | None = None,
        judge: Judge | None = None,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
        on_end: OnEnd | None = None,
    ) -> PlaySession:
        """Begin to play a task's `revision`, by default the newest. Raises `NotFound`, `ConfigError`."""
        chosen = limits or Limits()

        def enter() -> tuple[Task, TrialRecord]:
            played = workspace.tasks.revision(task_id, revision)
            person = HumanUser(workspace.people.add(by).name, _nobody)
            seating = Seating(agent=agent, world=world)
            hub = ModelHub(config)
            cell = cell_for(played.task, played.number, seating, config, hub, human=person)
            run = workspace.runs.create(
                name=played.task.title,
                kind="play",
                created_by=by,
                samples=1,
                limits=chosen,
                plan=RunSettings(world=world).model_dump(mode="json"),
            )
            return played.task, workspace.runs.add_trials(run.id, [cell])[0]

        task, trial = await asyncio.to_thread(enter)
        return cls(
            workspace,
            trial,
            task,
            limits=chosen,
            world=world,
            past=[],
            config=config,
            judge=judge,
            on_event=on_event,
            on_stream=on_stream,
            on_end=on_end,
        )

    @classmethod
    async def resume(
        cls,
        workspace: Workspace,
        trial_id: int,
        *,
        by: str,
        config: Config = EMBEDDED,
        judge: Judge | None = None,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
        on_end: OnEnd | None = None,
    ) -> PlaySession:
        """Go on with a session that was left open. What is already in the log is in `events`, and
        `on_event` is told only of what is new. Raises `NotFound`, `ConfigError`, and `NotAllowed`
        when it has ended or is another person's.
        """

        def load() -> tuple[TrialRecord, Task, RunRecord, list[Event]]:
            trial = workspace.runs.trial(trial_id)
            _check_resumable(trial, by)
            task = workspace.tasks.revision(trial.task_id, trial.revision).task
            return trial, task, workspace.runs.get(trial.run_id), workspace.runs.log(trial_id)

        trial, task, run, past = await asyncio.to_thread(load)
        return cls(
            workspace,
            trial,
            task,
            limits=run.limits,
            world=settings_of(run).world,
            past=past,
            config=config,
            judge=judge,
            on_event=on_event,
            on_stream=on_stream,
            on_end=on_end,
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """The log so far."""
        return tuple(self._journal.events)

    @property
    def waiting(self) -> bool:
        """Whether it is the person's turn to speak."""
        return self._asked is not None and not self._asked.done()

    async def submit(self, reply: UserReply) -> None:
        """Say `reply`; returns when it is on the disk. Raises `NotAllowed` when it is not the
        person's turn, and whatever kept the reply from being saved.
        """
        if not self.waiting or self._asked is None:
            raise NotAllowed(_("It is not your turn"), _("The agent has not answered yet."))
        self._kept = asyncio.get_running_loop().create_future()
        self._asked.set_result(reply)
        await asyncio.wait({self._kept, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self._kept.done():
            raise self._sink.trouble or CuecardError(_("The session has stopped"))

    async def wait_turn(self) -> bool:
        """Wait until it is the person's turn (True) or the session is over (False)."""
        turn = asyncio.ensure_future(self._turn.wait())
        try:
            await asyncio.wait({turn, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            turn.cancel()
        return self.waiting

    async def wait(self) -> PlayOutcome | None:
        """Wait for the end; None if the session was closed before."""
        await asyncio.wait({self._task})
        return self.outcome

    async def close(self) -> None:
        """Stop here. What was said is kept, and the session stays open to be resumed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _ask(self, dialogue: Dialogue | None) -> UserReply:
        self._asked = asyncio.get_running_loop().create_future()
        self._turn.set()
        try:
            return await self._asked
        finally:
            self._asked = None
            self._turn.clear()

    def _told(self, event: Event) -> None:
        if isinstance(event.body, UserSpoke) and self._kept and not self._kept.done():
            self._kept.set_result(None)
        tell(self._on_event, event)

    async def _run(self) -> None:
        try:
            result = await play(self._setup, self._journal)
        except Exception as error:  # noqa: BLE001 - the boundary of a trial: it is left open
            self._end(PlayOutcome(trial_id=self.trial.id, termination=None, problem=_reason(error)))
            return
        finally:
            await self._hub.close()
        failure = await try_judging(self._workspace, self.trial.id, self._judge)
        run_id = self.trial.run_id
        await asyncio.to_thread(self._workspace.runs.set_state, run_id, RunState.DONE)
        self._end(
            PlayOutcome(
                trial_id=self.trial.id,
                termination=result.termination,
                detail=result.detail,
                judged=failure is None,
                problem=failure.reason if failure else "",
            )
        )

    def _end(self, outcome: PlayOutcome) -> None:
        self.outcome = outcome
        tell(self._on_end, outcome)


async def _nobody(_dialogue: Dialogue | None) -> UserReply:
    raise NotAllowed(_("Nobody is playing"))


def _check_resumable(trial: TrialRecord, by: str) -> None:
    title = _("This session cannot be resumed")
    if trial.user.kind != "human":
        raise NotAllowed(title, _("It is no play session."))
    if trial.termination is not None:
        raise NotAllowed(title, _("It has ended."))
    if trial.user.name != by.strip():
        raise NotAllowed(title, _("It is {name}'s.").format(name=trial.user.name))


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, CuecardError) else f"{type(error).__name__}: {error}"
