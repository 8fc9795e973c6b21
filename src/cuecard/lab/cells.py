"""The cells of a run's grid, made from what the workspace holds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.config import Config
from cuecard.core.events import Event, Marked, Termination
from cuecard.core.journal import Journal
from cuecard.core.llm.hub import ModelHub
from cuecard.core.marks import NotesKept
from cuecard.core.parts import Judge
from cuecard.core.replaying import RecordedCourse
from cuecard.core.run import Cell
from cuecard.core.seats import Seating
from cuecard.core.tasks import Task
from cuecard.core.trial import TrialResult, TrialSetup
from cuecard.core.worlds.tape import EventTape, Tape
from cuecard.lab.judging import OnCall, judge_trial
from cuecard.lab.plans import settings_of
from cuecard.lab.players import setup_for
from cuecard.lab.sinks import TrialSink
from cuecard.store.records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

# Ends that have nothing to do with what was said: the trial goes on from there. After the others, the
# same words would lead to the same end: it starts over.
_GOES_ON = (Termination.API_ERROR, Termination.INTERNAL_ERROR, Termination.CANCELLED)


class Grid:
    """Makes the cells of one run. Reads what a trial needs when its time has come, and keeps nothing of
    a trial that is over, except notes for a lifelong memory. `on_call` is told of judges' calls.
    """

    def __init__(
        self,
        workspace: Workspace,
        run: RunRecord,
        config: Config,
        hub: ModelHub,
        judges: Sequence[Judge],
        on_call: OnCall | None = None,
    ) -> None:
        self._workspace = workspace
        self._run = run
        self._config = config
        self._hub = hub
        self._judges = judges
        self._on_call = on_call
        self._settings = settings_of(run)
        self._tasks: dict[tuple[str, int], Task] = {}
        self._tapes: dict[str, EventTape] = {}
        self._notes: dict[str, list[tuple[str, ...]]] = {}

    def cell(self, trial: TrialRecord) -> Cell:
        async def begin() -> tuple[TrialSetup, Journal]:
            return await self._begin(trial)

        async def after(_result: TrialResult, events: tuple[Event, ...]) -> None:
            self._remember(trial, events)
            for judge in self._judges:
                await judge_trial(self._workspace, trial.id, judge, on_call=self._on_call)

        return Cell(str(trial.id), begin, after)

    async def _begin(self, trial: TrialRecord) -> tuple[TrialSetup, Journal]:
        task, past = await asyncio.to_thread(self._load, trial)
        source = await asyncio.to_thread(self._source, trial)
        setup = setup_for(
            trial,
            task,
            self._run.limits,
            Seating(agent=trial.agent.name, user=self._settings.user, world=self._settings.world),
            self._config,
            self._hub,
            tape=await asyncio.to_thread(self._tape, trial),
            notes=source.notes if source else await asyncio.to_thread(self._notes_for, trial),
        )
        journal = Journal(TrialSink(self._workspace, trial.id), past, source=source)
        if trial.termination is not None:
            goes_on = trial.termination in _GOES_ON
            await journal.reopen(keep=goes_on, reason=trial.termination.value)
        return setup, journal

    def _load(self, trial: TrialRecord) -> tuple[Task, list[Event]]:
        version = (trial.task_id, trial.revision)
        if version not in self._tasks:
            self._tasks[version] = self._workspace.tasks.revision(*version).task
        return self._tasks[version], self._workspace.runs.log(trial.id)

    def _tape(self, trial: TrialRecord) -> Tape | None:
        """What the run named by a replay world recorded of this task."""
        world = self._config.world(self._settings.world)
        if world.kind != "replay" or self._settings.replay is not None:
            return None
        task_id = trial.task_id
        if task_id not in self._tapes:
            trials = [t for t in self._workspace.runs.trials(world.run) if t.task_id == task_id]
            self._tapes[task_id] = EventTape([self._workspace.runs.events(t.id) for t in trials])
        return self._tapes[task_id].preferring(trial.agent.name, trial.sample)

    def _source(self, trial: TrialRecord) -> RecordedCourse | None:
        """The recorded course of the same trial in the run that is replayed."""
        if self._settings.replay is None:
            return None
        for old in self._workspace.runs.trials(self._settings.replay):
            same = (old.task_id, old.revision, old.agent, old.sample, old.seed)
            if same == (trial.task_id, trial.revision, trial.agent, trial.sample, trial.seed):
                return RecordedCourse(self._workspace.runs.events(old.id))
        return RecordedCourse(())

    def _notes_for(self, trial: TrialRecord) -> tuple[str, ...]:
        """What the trial's agent kept in the run's trials that have ended, in the order of their ends."""
        agent = self._config.agent(trial.agent.name)
        if getattr(agent, "memory", "none") != "lifelong":
            return ()
        name = trial.agent.name
        if name not in self._notes:
            ended = [
                t
                for t in self._workspace.runs.trials(self._run.id)
                if t.agent.name == name and t.termination is not None
            ]
            ended.sort(key=lambda t: (t.ended_at or t.created_at, t.id))
            self._notes[name] = [_kept(self._workspace.runs.events(t.id)) for t in ended]
        return tuple(note for notes in self._notes[name] for note in notes)

    def _remember(self, trial: TrialRecord, events: Sequence[Event]) -> None:
        if trial.agent.name in self._notes:
            self._notes[trial.agent.name].append(_kept(events))


def _kept(events: Sequence[Event]) -> tuple[str, ...]:
    marks = (event.body.mark for event in events if isinstance(event.body, Marked))
    return tuple(note for mark in marks if isinstance(mark, NotesKept) for note in mark.notes)
