"""An exam in a workspace: kept by the judge's stamp, never asked twice, traceable to calls."""

from __future__ import annotations

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.evaluation.exam import enter_exam, plan_exam, read_exam, run_exam
from cuecard.core.evaluation.judging import judge_run, lexical_judge
from cuecard.core.evaluation.plans import settings_of
from cuecard.core.evaluation.runs import RunPlan, create_run, resume_run, settle_runs
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunState
from cuecard.store.workspace import Workspace
from exam_tasks import exam_task
from judge_scripts import config as judge_config
from judge_scripts import good, model_judge
from openai_server import OpenAIServer


def put(workspace: Workspace, *families: str) -> list[str]:
    tasks = [exam_task(family, "en", 1) for family in families]
    for task in tasks:
        workspace.tasks.save(task, author="Ana")
    return [task.id for task in tasks]


async def test_an_exam_is_kept_and_gone_on_with(workspace: Workspace) -> None:
    first, second = put(workspace, "graph", "facts")
    judge, hub = LexicalJudge(), ModelHub(EMBEDDED)
    plan = plan_exam(workspace, judge, [first], config=EMBEDDED)
    assert (plan.run, plan.calls, plan.left) == (None, 0, plan.inputs)
    run, failures = await run_exam(workspace, plan, judge, hub, config=EMBEDDED, by="Ana")
    assert (failures, run.state, run.kind) == ((), RunState.DONE, "probe")
    assert run.trials == run.finished == plan.inputs
    again = plan_exam(workspace, judge, [first, second], config=EMBEDDED)
    assert again.run is not None
    assert again.run.id == run.id
    assert 0 < again.left == again.inputs - plan.inputs
    await run_exam(workspace, again, judge, hub, config=EMBEDDED, by="Ana")
    exam = read_exam(workspace, run.id)
    assert exam.tasks == (first, second)
    assert not [each for each in exam.answers if each.open]
    assert read_exam(workspace, run.id, [second]).tasks == (second,)
    for each in exam.answers:
        (record,) = workspace.verdicts.of_trial(each.trial_id)
        assert record.judgement == each.judgement
    # Another judge, another seed: another exam. No other judge judges its trials.
    other = plan_exam(workspace, LexicalJudge("lexical:noisy"), [first], config=EMBEDDED)
    assert other.run is None
    assert plan_exam(workspace, judge, [first], config=EMBEDDED, seed=1).run is None
    assert plan_exam(workspace, judge, [first], config=EMBEDDED, again=True).run is None
    assert await judge_run(workspace, run.id, LexicalJudge("lexical:noisy")) == ()
    assert {r.judgement.judge.name for r in workspace.verdicts.of_run(run.id)} == {"lexical"}


async def test_an_exam_of_which_inputs_are_left_is_not_done(workspace: Workspace) -> None:
    first, second = put(workspace, "graph", "facts")
    judge, hub = LexicalJudge(), ModelHub(EMBEDDED)
    both = plan_exam(workspace, judge, [first, second], config=EMBEDDED)
    entered = enter_exam(workspace, both, EMBEDDED, "Ana")
    one = plan_exam(workspace, judge, [first], config=EMBEDDED)
    run, _failures = await run_exam(workspace, one, judge, hub, config=EMBEDDED, by="Ana")
    assert entered.run is not None
    assert (run.id, run.state) == (entered.run.id, RunState.PAUSED)
    both = plan_exam(workspace, judge, [first, second], config=EMBEDDED)
    run, _failures = await run_exam(workspace, both, judge, hub, config=EMBEDDED, by="Ana")
    assert run.state is RunState.DONE


async def test_a_model_is_asked_once_and_not_more_than_said(workspace: Workspace) -> None:
    ids = put(workspace, "graph", "table", "checkpoints", "facts")
    async with OpenAIServer(good) as server:
        config = judge_config(server.url)
        judge, hub = model_judge(server.url)
        plan = plan_exam(workspace, judge, ids, config=config)
        assert plan.setting.judge == judge.ref
        control = RunControl()

        def stop(done: int, _every: int) -> None:
            if done == 12:
                control.drain()

        run, failures = await run_exam(
            workspace, plan, judge, hub, config=config, by="Ana", control=control, on_progress=stop
        )
        assert failures
        assert all(failure.halted for failure in failures)
        assert run.state is RunState.PAUSED
        await hub.close()
        judge, hub = model_judge(server.url)
        rest = plan_exam(workspace, judge, ids, config=config)
        assert 0 < rest.left < plan.left
        assert rest.calls < plan.calls
        run, failures = await run_exam(workspace, rest, judge, hub, config=config, by="Ana")
        assert failures == ()
        asked = len(server.requests)
        assert asked <= plan.calls
        assert plan_exam(workspace, judge, ids, config=config).left == 0
        exam = read_exam(workspace, run.id)
        assert exam.calls == asked
        await hub.close()
    assert settings_of(run).roster


async def test_what_is_no_exam(workspace: Workspace) -> None:
    (task,) = put(workspace, "facts")
    run = create_run(workspace, RunPlan(tasks=(task,)), by="Ana")
    with pytest.raises(NotFound):
        read_exam(workspace, run.id)
    assert lexical_judge().ref.name == "lexical"


async def test_an_exam_that_stopped_stays_paused_for_its_judge_alone(workspace: Workspace) -> None:
    (task,) = put(workspace, "facts")
    judge = LexicalJudge()
    plan = enter_exam(
        workspace, plan_exam(workspace, judge, [task], config=EMBEDDED), EMBEDDED, "A"
    )
    assert plan.run is not None
    run = plan.run.id
    workspace.runs.set_state(run, RunState.PAUSED, "the budget is spent")
    # Its inputs have ended, but it is no run that wants to be judged by the judges of its grid.
    assert await settle_runs(workspace, by="A") == 0
    with pytest.raises(CuecardError, match=r"`cuecard exam lexical` goes on with it"):
        await resume_run(workspace, run, by="A")
    assert workspace.runs.get(run).state is RunState.PAUSED
    found, failures = await run_exam(workspace, plan, config=EMBEDDED, by="A")
    assert (found.id, found.state, failures) == (run, RunState.DONE, ())
