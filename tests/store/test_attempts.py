"""Trials that are taken again, through the trial log and the store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.engine.events import (
    Event,
    EventBody,
    Marked,
    ModelReplied,
    Termination,
    TrialEnded,
    TrialRetried,
    UserSpoke,
)
from cuecard.core.engine.messages import ModelReply, Remark, Usage, UserReply
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import Conflict
from cuecard.core.records import TrialRecord
from cuecard.store.workspace import StoreSink, Workspace

MakeTrial = Callable[..., TrialRecord]
FAILED = TrialEnded(termination=Termination.API_ERROR, detail="502")


def spoke(turn: int, text: str = "hi") -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text))


def replied(turn: int, text: str = "yes") -> ModelReplied:
    reply = ModelReply(text=text, usage=Usage(prompt=10, completion=1), cost=0.5)
    return ModelReplied(part="agent", turn=turn, step=0, model="m", reply=reply)


async def failed_trial(workspace: Workspace, trial: int) -> None:
    trial_log = TrialLog(StoreSink(workspace, trial))
    for body in (spoke(0), replied(0), FAILED):
        await trial_log.record(body)


@pytest.mark.parametrize("keep", [True, False])
async def test_a_retried_trial_goes_on_or_starts_over(
    workspace: Workspace, make_trial: MakeTrial, keep: bool
) -> None:
    trial = make_trial().id
    await failed_trial(workspace, trial)
    runs = workspace.runs
    assert runs.trial(trial).termination is Termination.API_ERROR

    trial_log = TrialLog(StoreSink(workspace, trial), runs.log(trial))
    await trial_log.retry(keep=keep, reason="again")
    record = runs.trial(trial)
    assert (record.termination, record.ended_at, record.detail) == (None, None, "")
    assert [t.id for t in runs.open_trials()] == [trial]

    # Both kept and new steps, then another end; all of it also after a restart in the middle.
    await trial_log.record(spoke(0))
    trial_log = TrialLog(StoreSink(workspace, trial), runs.log(trial))
    await trial_log.record(replied(0, "yes" if keep else "no"))
    await trial_log.record(spoke(1))
    await trial_log.record(TrialEnded(termination=Termination.USER_DONE))
    assert runs.trial(trial).termination is Termination.USER_DONE
    assert runs.events(trial) == list(trial_log.events)
    said = [e.body.reply.text for e in runs.events(trial) if isinstance(e.body, ModelReplied)]
    assert said == (["yes"] if keep else ["no"])
    log = runs.log(trial)
    assert [event.take for event in log] == [0] * 3 + [1] * (len(log) - 3)
    [line] = runs.usage(record.run_id)
    # What the first attempt has cost stays spent.
    assert (line.payer, line.model, line.calls) == ("agent", "m", 1 if keep else 2)
    assert line.cost == pytest.approx(0.5 if keep else 1.0)


async def test_retrying_needs_no_new_look_at_the_database(
    workspace: Workspace, make_trial: MakeTrial
) -> None:
    trial = make_trial().id
    trial_log = TrialLog(StoreSink(workspace, trial))
    for _ in range(3):
        await trial_log.record(spoke(0))
        await trial_log.record(FAILED)
        await trial_log.retry(keep=False)
    assert [e.body.type for e in workspace.runs.log(trial)] == [
        "user_spoke",
        "trial_ended",
        "trial_reopened",
    ] * 3
    assert workspace.runs.events(trial) == []
    assert workspace.runs.outline(trial).events == ()


def test_a_key_is_used_once_in_an_attempt(
    workspace: Workspace, make_trial: MakeTrial, at: Callable[[int, EventBody], Event]
) -> None:
    trial = make_trial().id
    retried = at(1, TrialRetried(keep=False)).model_copy(update={"take": 1})
    again = at(2, spoke(0, "again")).model_copy(update={"take": 1})
    twice = at(3, spoke(0, "twice")).model_copy(update={"take": 1})
    workspace.runs.append_events([(trial, e) for e in (at(0, spoke(0)), retried, again)])
    with pytest.raises(Conflict):
        workspace.runs.append_events([(trial, twice)])
    with pytest.raises(Conflict):
        workspace.runs.append_events([(trial, again.model_copy(update={"take": 0}))])
    assert workspace.runs.events(trial) == [again]


async def test_what_is_taken_back_leaves_the_course_and_stays_in_the_log(
    workspace: Workspace, make_trial: MakeTrial
) -> None:
    trial = make_trial().id
    runs = workspace.runs
    trial_log = TrialLog(StoreSink(workspace, trial))
    noted = Marked(part="user", turn=1, step=0, mark=Remark(about="task", text="odd", by="ann"))
    for body in (spoke(0), replied(0), spoke(1), replied(1), noted):
        await trial_log.record(body)
    await trial_log.retry(keep=True, reason="undo", back_to=2)
    assert trial_log.rewound == 1

    expected = [spoke(0), replied(0), noted]
    for told in (trial_log.events, runs.events(trial), runs.outline(trial).events):
        assert [event.body for event in told] == expected
    assert runs.events(trial, after=1)[0].body == noted
    # The same places are free again, also after a restart; a note's is not.
    trial_log = TrialLog(StoreSink(workspace, trial), runs.log(trial))
    assert trial_log.rewound == 1
    assert await trial_log.record(spoke(1, "new")) == spoke(1, "new")
    assert await trial_log.record(noted) == noted
    await trial_log.record(replied(1, "no"))
    await trial_log.retry(keep=True, reason="retry", back_to=7)
    assert [e.body for e in runs.events(trial)] == [*expected, spoke(1, "new")]
    log = runs.log(trial)
    assert [event.seq for event in log] == list(range(9))
    assert [event.take for event in log] == [0] * 5 + [1] * 3 + [2]
    [line] = runs.usage(runs.trial(trial).run_id)
    assert line.calls == 3
