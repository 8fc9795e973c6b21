"""Runs over the workspace: played, judged, cancelled, killed and resumed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import forked
import lab_players
from cuecard.annotate.results.trial_disclosure import stages_seen
from cuecard.annotate.samples import import_samples, load_samples
from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ReactAgentConfig
from cuecard.core.engine.events import (
    Limits,
    ModelReplied,
    RunEvent,
    RunState,
    TrialFinished,
    TurnPlayed,
)
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import CallContext
from cuecard.core.errors import ConfigError, CuecardError, ModelCallError, NotFound
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.judging import judge_run, judge_trial
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import resume_run, settle_runs, start_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.predictions import Prediction
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Judgement
from cuecard.store.workspace import Workspace
from lab_players import bodies
from openai_server import OpenAIServer, Reply, Request, calls, text

pytestmark = pytest.mark.both_databases

ALL = tuple(task.id for task in load_samples())
SOME = ("table-solar-terms-zh", "checkpoints-highest-mountain", "facts-night-train")


async def test_every_sample_task_end_to_end(workspace: Workspace):
    events: list[RunEvent] = []
    outcome = await start_run(workspace, RunPlan(tasks=ALL), by="ann", on_event=events.append)
    assert outcome.run.state is RunState.DONE
    assert outcome.run.finished == outcome.run.trials == len(ALL)
    assert outcome.unjudged == ()
    assert outcome.summary.problems == 0
    finished = [event for event in events if isinstance(event, TrialFinished)]
    assert {int(event.cell) for event in finished} == {
        t.id for t in workspace.runs.trials(outcome.run.id)
    }
    scores = score_run(workspace, outcome.run.id)
    assert [group.family for group in scores.groups] == list(FAMILIES)
    for group in scores.groups:
        assert group.baseline
        assert group.judged == group.trials == 2
        assert all(measure.n >= 0 for measure in group.measures)
    for scored in scores.trials:
        assert scored.trial.termination is not None
        assert not scored.trial.termination.is_failure
        assert scored.judge is not None
        view = trial_view(workspace, scored.trial.id)
        assert tuple(view.measures) == tuple(scored.measures)
        assert len(view.verdicts) == len(
            workspace.verdicts.of_trial(scored.trial.id)[0].judgement.verdicts
        )
        assert all(verdict.gold.text for verdict in view.verdicts)
    chains = next(group for group in scores.groups if group.family == "checkpoints")
    assert sum(profile.count for profile in chains.breakdown.profiles) == 4


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[str]]:
    """The logs of a run that nothing happened to."""

    async def play() -> dict[tuple[str, int], list[str]]:
        with Workspace.open(tmp_path_factory.mktemp("undisturbed") / "w.db") as workspace:
            import_samples(workspace, "ann")
            outcome = await start_run(workspace, RunPlan(tasks=SOME, samples=2), by="ann")
            return logs(workspace, outcome.run.id)

    return asyncio.run(play())


def logs(workspace: Workspace, run_id: int) -> dict[tuple[str, int], list[str]]:
    return {
        (trial.task_id, trial.sample): bodies(workspace.runs.events(trial.id))
        for trial in workspace.runs.trials(run_id)
    }


@pytest.mark.parametrize("turns", [0, 1, 4, 9])
async def test_cancelled_and_resumed(workspace: Workspace, undisturbed, turns: int):
    expected = {key: log for key, log in undisturbed.items() if key[1] == 0}
    control = RunControl()
    seen = 0

    def stop(event: RunEvent) -> None:
        nonlocal seen
        seen += isinstance(event, TurnPlayed)
        if seen >= turns:
            control.cancel()

    plan = RunPlan(tasks=SOME, concurrency=2)
    outcome = await start_run(workspace, plan, by="ann", on_event=stop, control=control)
    assert outcome.run.state is RunState.CANCELLED
    assert outcome.run.finished < outcome.run.trials
    resumed = await resume_run(workspace, outcome.run.id, concurrency=3)
    assert resumed.run.state is RunState.DONE
    assert logs(workspace, outcome.run.id) == expected
    assert len(workspace.verdicts.of_run(outcome.run.id)) == len(SOME)
    # There is nothing left to do, and nothing is done.
    before = workspace.verdicts.of_run(outcome.run.id)
    again = await resume_run(workspace, outcome.run.id)
    assert again.summary.cells == 0
    assert workspace.verdicts.of_run(outcome.run.id) == before


@pytest.mark.parametrize("events", [3, 12])
def test_killed_and_resumed(db: Path, undisturbed, events: int):
    script = Path(lab_players.__file__)
    command = [sys.executable, str(script), "run", str(db), ",".join(SOME), str(events)]
    done = forked.run(command, timeout=60)
    assert done.returncode == -9

    async def go_on() -> None:
        with Workspace.open(db) as workspace:
            (run,) = workspace.runs.all()
            assert run.state is RunState.INTERRUPTED
            assert run.trials == 2 * len(SOME)
            assert run.finished < run.trials
            await resume_run(workspace, run.id)
            assert workspace.runs.get(run.id).state is RunState.DONE
            assert logs(workspace, run.id) == undisturbed
            assert len(workspace.verdicts.of_run(run.id)) >= run.trials

    asyncio.run(go_on())


async def test_what_was_paid_for_is_not_paid_again(workspace: Workspace):
    def script(request: Request) -> Reply:
        if "Final answer" in str(request.last["content"]):
            return text("Final answer: 36 euros")
        if request.last["role"] == "user":
            return calls(("search", {"query": "BN 7 base fare"}))
        return text("Your compensation is 36 euros.")

    async with OpenAIServer(script) as server:
        model = ModelConfig(base_url=server.url, model="scripted", retries=0)
        config = EMBEDDED.model_copy(
            update={"models": {"m": model}, "agents": {"live": ReactAgentConfig(model="m")}}
        )
        control = RunControl()
        plan = RunPlan(tasks=("facts-night-train",), agents=("live",), samples=3, concurrency=2)

        def stop(event: RunEvent) -> None:
            if isinstance(event, TurnPlayed):
                control.cancel()

        outcome = await start_run(
            workspace, plan, by="ann", config=config, on_event=stop, control=control
        )
        assert outcome.run.state is RunState.CANCELLED
        paid = len(server.requests)
        assert paid > 0
        resumed = await resume_run(workspace, outcome.run.id, config=config)
        assert resumed.run.state is RunState.DONE
        recorded = [
            event
            for trial in workspace.runs.trials(outcome.run.id)
            for event in workspace.runs.events(trial.id)
            if isinstance(event.body, ModelReplied)
        ]
        # Every answer that came is in a log once; only what was under way when it stopped is asked anew.
        assert paid < len(server.requests)
        assert len(recorded) <= len(server.requests) <= len(recorded) + 2
        scores = score_run(workspace, outcome.run.id)
        assert [scored.scores["pass_at_1"] for scored in scores.trials] == [1.0, 1.0, 1.0]


async def test_a_failing_model_is_data(workspace: Workspace):
    config = EMBEDDED.model_copy(
        update={
            "models": {"m": ModelConfig(base_url="http://127.0.0.1:9/v1", model="x", retries=0)},
            "agents": {**EMBEDDED.agents, "down": ReactAgentConfig(model="m")},
        }
    )
    plan = RunPlan(tasks=SOME, agents=("down", "offline"))
    outcome = await start_run(workspace, plan, by="ann", config=config)
    assert outcome.run.state is RunState.DONE
    scores = score_run(workspace, outcome.run.id)
    down = [group for group in scores.groups if group.agent == "down"]
    assert [group.failed for group in down] == [1, 1, 1]
    assert [group.judged for group in down] == [1, 1, 1]
    zero = {m.name: m.value for group in down for m in group.measures if m.statistic == "avg"}
    assert zero["success"] == zero["acc"] == zero["pass_at_1"] == 0
    changed = config.model_copy(update={"models": {}})
    with pytest.raises(ConfigError):
        create_run(workspace, RunPlan(tasks=SOME, agents=("down",)), by="ann", config=changed)


async def test_an_agent_of_another_model_does_not_take_over(workspace: Workspace):
    def config(model: str):
        endpoint = ModelConfig(base_url="http://127.0.0.1:9/v1", model=model, retries=0)
        agents = {"live": ReactAgentConfig(model="m")}
        return EMBEDDED.model_copy(update={"models": {"m": endpoint}, "agents": agents})

    plan = RunPlan(tasks=SOME[:1], agents=("live",))
    run = create_run(workspace, plan, by="ann", config=config("one"))
    outcome = await resume_run(workspace, run.id, config=config("two"))
    assert outcome.summary.problems == 1
    assert outcome.run.state is RunState.CANCELLED
    assert outcome.run.finished == 0
    assert workspace.runs.events(workspace.runs.trials(run.id)[0].id) == []


async def test_unknown_things_leave_nothing_behind(workspace: Workspace):
    with pytest.raises(NotFound):
        await start_run(workspace, RunPlan(tasks=("absent",)), by="ann")
    with pytest.raises(ConfigError, match="known agents: offline"):
        await start_run(workspace, RunPlan(tasks=SOME, agents=("absent",)), by="ann")
    with pytest.raises(NotFound):
        await resume_run(workspace, 99)
    assert workspace.runs.all() == []


async def test_a_session_is_not_resumed_as_a_run(workspace: Workspace):
    session = await PlaySession.start(workspace, SOME[0], by="ann")
    await session.wait_turn()
    await session.close()
    with pytest.raises(CuecardError, match="play session"):
        await resume_run(workspace, session.trial.run_id)
    await settle_runs(workspace)
    assert workspace.runs.get(session.trial.run_id).state is RunState.OPEN


async def test_judging_again(workspace: Workspace):
    plan = RunPlan(tasks=SOME[1:2], limits=Limits(max_turns=2))
    outcome = await start_run(workspace, plan, by="ann")
    (trial,) = workspace.runs.trials(outcome.run.id)
    judged: list[int] = []

    def progress(done: int, total: int) -> None:
        assert total == 1
        judged.append(done)

    assert await judge_run(workspace, outcome.run.id, on_progress=progress) == ()
    assert 1 not in judged
    assert await judge_run(workspace, outcome.run.id, again=True, on_progress=progress) == ()
    assert judged[-1] == 1
    await judge_trial(workspace, trial.id)
    assert len(workspace.verdicts.of_trial(trial.id)) == 3
    assert len(workspace.verdicts.of_run(outcome.run.id)) == 1


async def test_an_unjudged_trial_has_no_scores(workspace: Workspace):
    run = create_run(workspace, RunPlan(tasks=SOME[:1]), by="ann")
    scores = score_run(workspace, run.id)
    assert scores.trials == ()
    assert (scores.groups[0].trials, scores.groups[0].ended) == (1, 0)
    view = trial_view(workspace, workspace.runs.trials(run.id)[0].id)
    assert view.judge is None
    assert view.measures == ()
    assert [s.turn for s in stages_seen(view.task.stages, view.events)] == [None] * 5


class StoppingJudge:
    """The lexical judge, in whose first judgement somebody cancels the run."""

    def __init__(self, control: RunControl) -> None:
        self._control = control
        self._inner = LexicalJudge()

    @property
    def ref(self) -> PlayerRef:
        return self._inner.ref

    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        if not self._control.cancelled:
            self._control.cancel()
            await asyncio.sleep(60)
        return await self._inner.judge(task, prediction, context)


async def test_cancelled_while_the_last_trial_is_judged(workspace: Workspace):
    control = RunControl()
    plan = RunPlan(tasks=SOME[2:])
    judge = StoppingJudge(control)
    outcome = await start_run(workspace, plan, by="ann", control=control, judge=judge)
    assert outcome.run.state is RunState.DONE
    assert len(workspace.verdicts.of_run(outcome.run.id)) == 1


class FailingJudge(StoppingJudge):
    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        raise ModelCallError("The judge is away")


async def test_a_failing_judge_leaves_trials_unjudged(workspace: Workspace):
    judge = FailingJudge(RunControl())
    outcome = await start_run(workspace, RunPlan(tasks=SOME[2:]), by="ann", judge=judge)
    (failure,) = outcome.unjudged
    assert "away" in failure.reason
    assert outcome.summary.problems == 1
    assert outcome.run.state is RunState.DONE
    assert score_run(workspace, outcome.run.id).groups[0].judged == 0
    assert await judge_run(workspace, outcome.run.id) == ()
    assert score_run(workspace, outcome.run.id).groups[0].judged == 1


async def test_what_a_killed_process_left_unjudged_is_settled(workspace: Workspace):
    judge = FailingJudge(RunControl())
    outcome = await start_run(workspace, RunPlan(tasks=SOME[2:]), by="ann", judge=judge)
    # Killed between the end of the last trial and its judgement: still marked as running.
    workspace.runs.set_state(outcome.run.id, RunState.RUNNING)
    await settle_runs(workspace)
    assert workspace.runs.get(outcome.run.id).state is RunState.DONE
    assert len(workspace.verdicts.of_run(outcome.run.id)) == 1
