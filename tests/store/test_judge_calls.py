from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.engine.messages import ModelReply, Usage
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import Conflict, NotFound
from cuecard.core.records import TrialRecord, UsageRecord
from cuecard.core.verdicts import Judgement
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]


def call(key: str, text: str = "covered") -> RecordedCall:
    reply = ModelReply(text=text, usage=Usage(prompt=100, completion=7, cached=5), cost=0.25)
    return RecordedCall(key=key, model="m", reply=reply, prompt="h")


def test_a_judges_calls_are_kept_by_attempt(workspace: Workspace, make_trial: MakeTrial) -> None:
    trial = make_trial()
    calls = workspace.judge_calls
    assert (calls.of(trial.id, "judge", 0), calls.next_attempt(trial.id, "judge")) == ({}, 0)
    first, second = call("batch/0/model/0"), call("batch/1/model/0", "页" * 5000 + "\0\ud83d")
    for one in (first, second, first, second):
        calls.add(trial.id, "judge", 0, one)
    calls.add(trial.id, "judge", 1, first)
    calls.add(trial.id, "other", 0, first)
    assert calls.of(trial.id, "judge", 0) == {c.key: c.reply for c in (first, second)}
    assert calls.of(trial.id, "judge", 1) == {first.key: first.reply}
    assert calls.next_attempt(trial.id, "judge") == 2
    with pytest.raises(Conflict):
        calls.add(trial.id, "judge", 0, call(first.key, "another reply"))
    with pytest.raises(NotFound):
        calls.add(999, "judge", 0, first)
    usage = Usage(prompt=400, completion=28, cached=20)
    assert workspace.runs.usage(trial.run_id) == [
        UsageRecord(
            trial_id=trial.id,
            payer="judge",
            model="m",
            calls=4,
            usage=usage,
            cost=1.0,
            priced=4,
        )
    ]


def test_a_judgement_keeps_the_hash_of_what_it_judged(
    workspace: Workspace, make_trial: MakeTrial, judged: Callable[..., Judgement]
) -> None:
    trial = make_trial()
    judgement = judged("a").model_copy(update={"trial_hash": "abc"})
    workspace.verdicts.add(trial.id, judgement)
    assert workspace.verdicts.of_trial(trial.id)[0].judgement == judgement
