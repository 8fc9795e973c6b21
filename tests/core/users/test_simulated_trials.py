"""Whole trials of the sample tasks: the offline agent and a model that plays the user, over HTTP."""

import pytest

from cuecard.core.engine.events import (
    ModelReplied,
    Termination,
    TrialStarted,
    UserSpoke,
    dialogue_of,
)
from cuecard.core.engine.messages import FlagKind
from offline_trials import CHAIN, GRAPH, sample_tasks
from openai_server import error, text
from simulator_bench import honest, play_simulated

BROKEN = ("", "not JSON at all", "{" * 5_000, '{"reply": [1]}', "x" * 2_000)
TASKS = {task.id: task for task in sample_tasks()}


def spoke(events):
    return [e.body.reply for e in events if isinstance(e.body, UserSpoke)]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
async def test_a_sample_task_from_end_to_end(task):
    result, events, server = await play_simulated(task, honest(task))
    said = spoke(events)
    assert [flag for reply in said for flag in reply.flags] == []
    calls = [e.body for e in events if isinstance(e.body, ModelReplied)]
    assert len(calls) == len(server.requests)
    assert all(call.part == "user" and len(call.prompt) == 64 for call in calls)
    started = events[0].body
    assert isinstance(started, TrialStarted)
    kinds = {"checkpoints": "responder"}
    kind = "persona" if task.persona else kinds.get(task.family, "oneshot")
    assert started.user.kind == kind
    if kind == "oneshot":
        assert not server.requests
    else:
        assert (started.user.name, started.user.model) == ("sim", "player")
        assert len(started.user.version) == 12
        assert not started.user.baseline
    if task.persona:
        stages = range(1, len(task.stages) + 1)
        assert dialogue_of(events).stages_disclosed == tuple(stages)
        assert result.termination is Termination.USER_DONE
    else:
        assert result.termination is Termination.ANSWERED


@pytest.mark.parametrize("task", [GRAPH, CHAIN, TASKS["graph-astronomy-zh"]], ids=lambda t: t.id)
@pytest.mark.parametrize("answer", BROKEN, ids=range(len(BROKEN)))
async def test_a_model_that_answers_nonsense_leaves_the_trial_to_the_script(task, answer):
    result, events, _server = await play_simulated(task, lambda _: text(answer), max_turns=30)
    assert result.termination in (
        Termination.USER_DONE,
        Termination.ANSWERED,
        Termination.MAX_TURNS,
    )
    said = spoke(events)
    assert all([f.kind for f in reply.flags] == [FlagKind.UNUSABLE] for reply in said[1:])
    assert all(reply.text for reply in said)


@pytest.mark.parametrize("task", [GRAPH, CHAIN], ids=lambda t: t.id)
async def test_an_endpoint_that_fails_ends_the_trial_as_such(task):
    result, _events, _server = await play_simulated(task, lambda _: error(400))
    assert result.termination is Termination.API_ERROR


@pytest.mark.parametrize("task", [GRAPH, CHAIN], ids=lambda t: t.id)
async def test_a_trial_cut_anywhere_goes_on_without_asking_twice(task):
    script = honest(task)
    result, events, server = await play_simulated(task, script)
    for cut in range(1, len(events)):
        again, resumed, rest = await play_simulated(task, script, past=events[:cut])
        answered = sum(isinstance(e.body, ModelReplied) for e in events[:cut])
        assert len(rest.requests) == len(server.requests) - answered
        assert again == result
        assert [e.body.key for e in resumed] == [e.body.key for e in events]
        assert spoke(resumed) == spoke(events)
