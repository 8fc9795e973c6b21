"""Runs: a grid of trials in the workspace, played, judged, and resumed where they stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cuecard.core.config import EMBEDDED, Config
from cuecard.core.errors import CuecardError
from cuecard.core.events import Event, Limits
from cuecard.core.i18n import _
from cuecard.core.journal import Journal
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import Judge
from cuecard.core.run import Cell, RunControl, RunEvent, RunSummary, run_grid
from cuecard.core.seats import Seating
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import TrialResult, TrialSetup
from cuecard.lab.judging import JudgeFailure, judge_run, judge_trial, lexical_judge
from cuecard.lab.players import cell_for, setup_for
from cuecard.lab.sinks import TrialSink
from cuecard.store.records import RunRecord, RunState, TrialCell, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

OnRunEvent = Callable[[RunEvent], None]


class RunPlan(Frozen):
    """A grid: the newest revisions of `tasks` x `agents` (names of the configuration) x `samples`.

    Sample s is played with the seed `seed` + s.
    """

    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    agents: Annotated[tuple[str, ...], Field(min_length=1)] = ("offline",)
    name: str = ""
    samples: Annotated[int, Field(ge=1, le=1000)] = 1
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    limits: Limits = Limits()
    seed: int = 0

    @property
    def title(self) -> str:
        return self.name.strip() or ", ".join(self.agents)


class RunOutcome(Frozen):
    """A run after it was played: its record, what `run_grid` counted, and trials left unjudged."""

    run: RunRecord
    summary: RunSummary
    unjudged: tuple[JudgeFailure, ...]


def create_run(
    workspace: Workspace, plan: RunPlan, *, by: str, config: Config = EMBEDDED
) -> RunRecord:
    """Enter the run with all its trials; nothing is played yet. Blocks for the database.

    Raises `NotFound` for an unknown task, `ConfigError` for an agent that cannot be made.
    """
    cells: list[TrialCell] = []
    hub = ModelHub(config)
    for task_id in dict.fromkeys(plan.tasks):
        revision = workspace.tasks.revision(task_id)
        for agent in dict.fromkeys(plan.agents):
            seating = Seating(agent=agent)
            first = cell_for(revision.task, revision.number, seating, config, hub)
            cells += [
                first.model_copy(update={"sample": sample, "seed": plan.seed + sample})
                for sample in range(plan.samples)
            ]
    run = workspace.runs.create(
        name=plan.title, kind="grid", created_by=by, samples=plan.samples, limits=plan.limits
    )
    workspace.runs.add_trials(run.id, cells)
    return workspace.runs.get(run.id)


async def start_run(
    workspace: Workspace,
    plan: RunPlan,
    *,
    by: str,
    config: Config = EMBEDDED,
    judge: Judge | None = None,
    on_event: OnRunEvent | None = None,
    control: RunControl | None = None,
) -> RunOutcome:
    """`create_run`, then `resume_run`: play the whole grid."""
    run = await asyncio.to_thread(create_run, workspace, plan, by=by, config=config)
    return await resume_run(
        workspace,
        run.id,
        config=config,
        concurrency=plan.concurrency,
        judge=judge,
        on_event=on_event,
        control=control,
    )


async def resume_run(
    workspace: Workspace,
    run_id: int,
    *,
    config: Config = EMBEDDED,
    concurrency: int = 4,
    judge: Judge | None = None,
    on_event: OnRunEvent | None = None,
    control: RunControl | None = None,
) -> RunOutcome:
    """Play the run's open trials, each from its last event, and judge what is not judged.

    Each trial is judged when it ends. Cells in `on_event` are trial ids as text. Cancelled through
    `control`, the run becomes `cancelled` and its open trials stay to be resumed; killed, it stays
    `running`. Raises `NotFound`, and `CuecardError` for a play session: that needs its person.
    """
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    if run.kind != "grid":
        raise CuecardError(_("This is a play session"), run.name, _("Go on playing it in the app."))
    player = _Player(workspace, run, config, judge or lexical_judge())
    trials = await asyncio.to_thread(workspace.runs.trials, run_id)
    cells = [player.cell(trial) for trial in trials if trial.termination is None]
    await asyncio.to_thread(workspace.runs.set_state, run_id, RunState.RUNNING)
    summary = await run_grid(
        cells,
        concurrency=concurrency,
        on_event=on_event or _ignore,
        control=control,
    )
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    unjudged: Sequence[JudgeFailure] = ()
    # Cancelled after the last trial had ended, there is nothing to resume, so it is judged now.
    if not summary.cancelled or run.finished == run.trials:
        unjudged = await judge_run(workspace, run_id, player.judge)
    run = await asyncio.to_thread(_conclude, workspace, run_id)
    await settle_runs(workspace, player.judge)
    return RunOutcome(run=run, summary=summary, unjudged=tuple(unjudged))


async def settle_runs(workspace: Workspace, judge: Judge | None = None) -> None:
    """Judge and close what a killed process left behind: runs and sessions all of whose trials have
    ended. Open trials are not touched.
    """

    def left_behind() -> list[int]:
        running = [run for run in workspace.runs.all() if run.state is RunState.RUNNING]
        return [run.id for run in running if run.trials and run.finished == run.trials]

    for run_id in await asyncio.to_thread(left_behind):
        await judge_run(workspace, run_id, judge)
        await asyncio.to_thread(_conclude, workspace, run_id)


def _conclude(workspace: Workspace, run_id: int) -> RunRecord:
    run = workspace.runs.get(run_id)
    state = RunState.DONE if run.finished == run.trials else RunState.CANCELLED
    workspace.runs.set_state(run_id, state)
    return workspace.runs.get(run_id)


def _ignore(_event: RunEvent) -> None:
    pass


class _Player:
    """Makes the cells of one run."""

    def __init__(self, workspace: Workspace, run: RunRecord, config: Config, judge: Judge) -> None:
        self._workspace = workspace
        self._run = run
        self._config = config
        self._hub = ModelHub(config)
        self._tasks: dict[tuple[str, int], Task] = {}
        self.judge = judge

    def cell(self, trial: TrialRecord) -> Cell:
        async def begin() -> tuple[TrialSetup, Journal]:
            task, past = await asyncio.to_thread(self._load, trial)
            seating = Seating(agent=trial.agent.name)
            setup = setup_for(trial, task, self._run.limits, seating, self._config, self._hub)
            return setup, Journal(TrialSink(self._workspace, trial.id), past)

        async def after(_result: TrialResult, _events: tuple[Event, ...]) -> None:
            await judge_trial(self._workspace, trial.id, self.judge)

        return Cell(str(trial.id), begin, after)

    def _load(self, trial: TrialRecord) -> tuple[Task, list[Event]]:
        version = (trial.task_id, trial.revision)
        if version not in self._tasks:
            self._tasks[version] = self._workspace.tasks.revision(*version).task
        return self._tasks[version], self._workspace.runs.events(trial.id)
