"""The cells of a run's grid, made from what the workspace holds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.config import Config
from cuecard.core.events import Event, Marked, Termination
from cuecard.core.journal import Journal
from cuecard.core.llm.hub import ModelHub
from cuecard.core.marks import NotesKept
from cuecard.core.parts import Judge
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.replaying import RecordedCourse
from cuecard.core.run import Cell
from cuecard.core.tasks import Task
from cuecard.core.trial import TrialResult, TrialSetup
from cuecard.core.worlds.tape import EventTape, Tape
from cuecard.lab.judging import OnCall, Subject, judge_trial
from cuecard.lab.plans import settings_of
from cuecard.lab.players import setup_for
from cuecard.lab.sinks import TrialSink
from cuecard.store.records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

# Ends that have nothing to do with what was said: the trial goes on from there. After the others, the
# same words would lead to the same end: it starts over.
_GOES_ON = (Termination.API_ERROR, Termination.INTERNAL_ERROR, Termination.CANCELLED)


@dataclass(frozen=True)
class _Held:
    """What the workspace holds for one trial."""

    task: Task
    past: list[Event]
    tape: Tape | None
    notes: tuple[str, ...]
    source: RecordedCourse | None


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
        # Cells are prepared on several threads.
        self._lock = threading.Lock()
        self._tasks: dict[tuple[str, int], Task] = {}
        self._replayed: dict[tuple[object, ...], int] | None = None
        self._tapes: dict[str, EventTape] = {}
        self._notes: dict[str, list[tuple[str, ...]]] = {}

    def cell(self, trial: TrialRecord) -> Cell:
        async def begin() -> tuple[TrialSetup, Journal]:
            return await self._begin(trial)

        async def after(result: TrialResult, events: tuple[Event, ...]) -> None:
            self._remember(trial, events)
            if trial.agent.kind == EXAMINER:
                return
            subject = Subject(self._task(trial), result.prediction, events)
            for judge in self._judges:
                await judge_trial(
                    self._workspace, trial.id, judge, on_call=self._on_call, subject=subject
                )

        return Cell(str(trial.id), begin, after)

    async def _begin(self, trial: TrialRecord) -> tuple[TrialSetup, Journal]:
        held = await asyncio.to_thread(self._read, trial)
        # Players are made on the run's loop: clients of models belong to it.
        setup = setup_for(
            trial,
            held.task,
            self._run.limits,
            self._settings.seating(trial.agent.name),
            self._config,
            self._hub,
            tape=held.tape,
            notes=held.notes,
        )
        journal = Journal(TrialSink(self._workspace, trial.id), held.past, source=held.source)
        if trial.termination is not None:
            goes_on = trial.termination in _GOES_ON
            await journal.reopen(keep=goes_on, reason=trial.termination.value)
        return setup, journal

    def _read(self, trial: TrialRecord) -> _Held:
        source = self._source(trial)
        return _Held(
            task=self._task(trial),
            # Only this run writes to the trial: one without events when it was listed has none now.
            past=self._workspace.runs.log(trial.id) if trial.events else [],
            tape=self._tape(trial),
            notes=source.notes if source else self._notes_for(trial),
            source=source,
        )

    def _task(self, trial: TrialRecord) -> Task:
        version = (trial.task_id, trial.revision)
        with self._lock:
            if version not in self._tasks:
                self._tasks[version] = self._workspace.tasks.revision(*version).task
            return self._tasks[version]

    def _tape(self, trial: TrialRecord) -> Tape | None:
        """What the run named by a replay world recorded of this task."""
        world = self._config.world(self._settings.world)
        if world.kind != "replay" or self._settings.replay is not None:
            return None
        task_id = trial.task_id
        with self._lock:
            if task_id not in self._tapes:
                trials = [t for t in self._workspace.runs.trials(world.run) if t.task_id == task_id]
                logs = [self._workspace.runs.events(t.id) for t in trials]
                self._tapes[task_id] = EventTape(logs)
        return self._tapes[task_id].preferring(trial.agent.name, trial.sample)

    def _source(self, trial: TrialRecord) -> RecordedCourse | None:
        """The recorded course of the same trial in the run that is replayed."""
        if self._settings.replay is None:
            return None
        with self._lock:
            if self._replayed is None:
                old_trials = self._workspace.runs.trials(self._settings.replay)
                self._replayed = {_cell_of(old): old.id for old in old_trials}
        old = self._replayed.get(_cell_of(trial))
        return RecordedCourse(self._workspace.runs.events(old) if old is not None else ())

    def _notes_for(self, trial: TrialRecord) -> tuple[str, ...]:
        """What the trial's agent kept in the run's trials that have ended, in the order of their ends."""
        if self._settings.probe is not None:
            return ()
        agent = self._config.agent(trial.agent.name)
        if getattr(agent, "memory", "none") != "lifelong":
            return ()
        name = trial.agent.name
        with self._lock:
            if name not in self._notes:
                ended = [
                    t
                    for t in self._workspace.runs.trials(self._run.id)
                    if t.agent.name == name and t.termination is not None
                ]
                ended.sort(key=lambda t: (t.ended_at or t.created_at, t.id))
                logs = (self._workspace.runs.outline(t.id).events for t in ended)
                self._notes[name] = [_kept(log) for log in logs]
        return tuple(note for notes in self._notes[name] for note in notes)

    def _remember(self, trial: TrialRecord, events: Sequence[Event]) -> None:
        if trial.agent.name in self._notes:
            self._notes[trial.agent.name].append(_kept(events))


def _cell_of(trial: TrialRecord) -> tuple[object, ...]:
    agent = trial.agent.model_dump_json()
    return trial.task_id, trial.revision, agent, trial.sample, trial.seed


def _kept(events: Sequence[Event]) -> tuple[str, ...]:
    marks = (event.body.mark for event in events if isinstance(event.body, Marked))
    return tuple(note for mark in marks if isinstance(mark, NotesKept) for note in mark.notes)
