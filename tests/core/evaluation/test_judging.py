"""Judging what stands in a workspace: nothing is paid for twice, nothing is replaced."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import forked
import judged_trials
from cuecard.annotate.samples import load_samples, run_demo
from cuecard.core.archive import Archive
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.step_context import CallContext, Judge
from cuecard.core.errors import DatabaseAway, ModelPaused, NotAllowed
from cuecard.core.evaluation.judging import (
    hash_of,
    judge_run,
    judge_trial,
    lexical_judge,
    try_judging,
)
from cuecard.core.evaluation.scores import score_run
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Judgement
from cuecard.store.workspace import Workspace
from judge_scripts import good, material_of, model_judge, script
from judged_trials import GOLD, ended_run, graph_task, play_again, triples
from openai_server import OpenAIServer, Reply, Request, error, running

pytestmark = pytest.mark.both_databases

HALF = triples(*GOLD[:3])
ALL = triples(*GOLD)


def decisions(judgement: Judgement) -> str:
    letters = {Decision.YES: "y", Decision.NO: "n", Decision.UNJUDGED: "u"}
    return "".join(letters[v.decision] for v in judgement.verdicts)


async def test_a_judgement_is_stamped_and_kept(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF, ALL])
    async with OpenAIServer(good) as server:
        judge, hub = model_judge(server.url, batch=2)
        assert await judge_run(workspace, run, judge) == ()
        await hub.close()
    records = workspace.verdicts.of_run(run)
    assert [decisions(r.judgement) for r in records] == ["yyynnn", "yyyyyy"]
    assert [r.judgement.trial_hash for r in records] == [hash_of(HALF), hash_of(ALL)]
    for record in records:
        assert record.judgement.judge == judge.ref
        assert record.judgement.prompt_hash
        assert record.judgement.revision_hash == workspace.tasks.revision("makers").hash
    assert len(server.requests) == 6
    scores = score_run(workspace, run, "sage")
    assert [t.scores["triplet_recall"] for t in scores.trials] == [0.5, 1]
    assert sum(used.calls for used in workspace.runs.usage(run)) == 6


class Interrupted:
    """An archive whose database goes away as a judgement is written: before anybody hears that it was."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.verdicts, self.lost = self, 0

    def __getattr__(self, name: str) -> Any:
        there = self._workspace if hasattr(self._workspace, name) else self._workspace.verdicts
        return getattr(there, name)

    def add(self, *given: Any) -> Any:
        record = self._workspace.verdicts.add(*given)
        if self.lost:
            return record
        self.lost = record.id
        raise DatabaseAway("away", "")


async def test_a_judgement_of_which_nobody_heard_that_it_was_written_is_not_written_twice(
    workspace: Workspace,
):
    run = ended_run(workspace, graph_task(), [HALF])
    (trial,) = workspace.runs.trials(run)
    await judge_trial(workspace, trial.id)
    archive = Interrupted(workspace)
    record = await judge_trial(cast(Archive, archive), trial.id)
    found = workspace.verdicts.of_trial(trial.id)
    assert found[0].id == record.id == archive.lost
    assert len(found) == 2  # The one before is another, though it says the same.


async def test_several_judges_on_one_run_and_no_play(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])
    (trial,) = workspace.runs.trials(run)
    before = workspace.runs.log(trial.id)
    async with OpenAIServer(good) as server:
        judge, hub = model_judge(server.url)
        for each in (judge, lexical_judge()):
            await judge_run(workspace, run, each)
            # Judged before, it is not judged again unless asked to.
            await judge_run(workspace, run, each)
        await judge_run(workspace, run, judge, again=True)
        await hub.close()
    found = [r.judgement.judge.name for r in workspace.verdicts.of_trial(trial.id)]
    assert found == ["sage", "lexical", "sage"]
    assert len(server.requests) == 2
    assert workspace.runs.log(trial.id) == before


async def test_what_failed_is_finished_later_and_only_that(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])
    sick = True

    def flaky(request: Request) -> Reply:
        return error(500) if sick and material_of(request)["gold"][0][0] else good(request)

    async with OpenAIServer(flaky) as server:
        judge, hub = model_judge(server.url, batch=2)
        assert await judge_run(workspace, run, judge) == ()
        (record,) = workspace.verdicts.of_run(run)
        assert decisions(record.judgement) == "yyuuuu"
        assert len(server.requests) == 3
        # Nothing has changed: nothing is added.
        await judge_run(workspace, run, judge)
        assert len(workspace.verdicts.of_trial(record.trial_id)) == 1
        assert len(server.requests) == 5
        sick = False
        await judge_run(workspace, run, judge)
        await judge_run(workspace, run, judge)
        await hub.close()
    (newest,) = workspace.verdicts.of_run(run)
    assert decisions(newest.judgement) == "yyynnn"
    assert len(workspace.verdicts.of_trial(record.trial_id)) == 2
    assert len(server.requests) == 7


async def test_items_that_the_model_left_out_are_not_asked_for_at_every_turn(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])

    def forgetful(entries, _request):
        return [entry for entry in entries if entry["index"] != 4]

    async with OpenAIServer(script(forgetful)) as server:
        judge, hub = model_judge(server.url)
        await judge_run(workspace, run, judge)
        await judge_run(workspace, run, judge)
        assert len(server.requests) == 3
        await judge_run(workspace, run, judge, again=True)
        await hub.close()
    assert len(server.requests) == 6
    assert [decisions(r.judgement) for r in workspace.verdicts.of_run(run)] == ["yyynun"]


@pytest.mark.parametrize("calls", [1, 4])
def test_killed_in_the_middle_no_answered_call_is_made_again(db: Path, calls: int):
    with Workspace.open(db) as workspace:
        run = ended_run(workspace, graph_task(), [HALF, ALL, HALF])
    # Each has a server of its own: what the killed one had sent may be read after its end.
    with running(good) as first, running(good) as server:
        command = [sys.executable, judged_trials.__file__, str(db), str(run)]
        killed = forked.run([*command, first.url, str(calls)], timeout=60)
        assert killed.returncode == -signal.SIGKILL
        with Workspace.open(db) as workspace:
            ids = [trial.id for trial in workspace.runs.trials(run)]
            kept = sum(len(workspace.judge_calls.of(trial, "sage", 0)) for trial in ids)
            assert kept >= calls
            again = forked.run([*command, server.url, "100"], timeout=60)
            assert again.returncode == 0
            assert len(server.requests) == 9 - kept
            found = [decisions(r.judgement) for r in workspace.verdicts.of_run(run)]
            assert found == ["yyynnn", "yyyyyy", "yyynnn"]
            assert all(len(workspace.verdicts.of_trial(trial)) == 1 for trial in ids)


async def test_old_answers_are_none_to_other_questions(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])
    (trial,) = workspace.runs.trials(run)
    async with OpenAIServer(lambda r: error(500) if r.number % 2 else good(r)) as server:
        half, _hub = model_judge(server.url, batch=3)
        await judge_run(workspace, run, half)
        server.script = good
        # Of the batches of three, one is answered; in batches of two that answer fits no question.
        pairs, _hub = model_judge(server.url, batch=2)
        await judge_run(workspace, run, pairs)
        assert len(server.requests) == 2 + 3
        play_again(workspace, trial.id, ALL)
        await judge_run(workspace, run, pairs)
        assert len(server.requests) == 2 + 3 + 3
        await judge_run(workspace, run, pairs)
        assert len(server.requests) == 2 + 3 + 3
    found = [decisions(r.judgement) for r in workspace.verdicts.of_trial(trial.id)]
    assert found[:2] == ["yyyyyy", "yyynnn"]
    assert workspace.verdicts.of_run(run)[0].judgement.trial_hash == hash_of(ALL)


async def test_a_failed_trial_stops_no_other(workspace: Workspace):
    wrong = triples(("FAIL", "is", "here"))
    nothing = UnusablePrediction(reason="prose")
    run = ended_run(workspace, graph_task(), [HALF, wrong, None, nothing, ALL])
    ids = [trial.id for trial in workspace.runs.trials(run)]

    def reply(request: Request) -> Reply:
        failing = material_of(request)["predicted"][0][1] == "FAIL"
        return error(500) if failing else good(request)

    told: list[tuple[int, int]] = []
    async with OpenAIServer(reply) as server:
        judge, hub = model_judge(server.url)
        failures = await judge_run(
            workspace, run, judge, on_progress=lambda *so_far: told.append(so_far)
        )
        failed = await try_judging(workspace, ids[1], judge)
        with pytest.raises(NotAllowed):
            await judge_trial(workspace, ids[2], judge)
        await hub.close()
    assert [(f.trial_id, f.halted) for f in failures] == [(ids[1], False)]
    assert failed is not None
    assert failures[0].reason == failed.reason
    judged = {r.trial_id: decisions(r.judgement) for r in workspace.verdicts.of_run(run)}
    assert judged == {ids[0]: "yyynnn", ids[3]: "nnnnnn", ids[4]: "yyyyyy"}
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


class Tired:
    """A judge whose model is given up on after two trials."""

    ref = PlayerRef(name="tired", kind="model", model="m")

    def __init__(self) -> None:
        self.asked = 0

    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        self.asked += 1
        if self.asked > 2:
            raise ModelPaused("The model keeps failing", "m", "Look after it.")
        return await lexical_judge().judge(task, prediction, context)


async def test_a_halt_leaves_the_rest_unjudged(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF] * 6)
    judge: Judge = Tired()
    failures = await judge_run(workspace, run, judge, concurrency=1)
    assert [f.halted for f in failures] == [True] * 4
    assert {f.reason for f in failures} == {"The model keeps failing: m (Look after it.)"}
    assert isinstance(judge, Tired)
    assert judge.asked == 3
    assert len(workspace.verdicts.of_run(run)) == 2


async def test_a_model_that_keeps_failing_is_given_up_on(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF] * 30)
    async with OpenAIServer(lambda _request: error(503)) as server:
        judge, hub = model_judge(server.url, give_up_after=3)
        failures = await judge_run(workspace, run, judge)
        await hub.close()
    assert len(failures) == 30
    assert failures[-1].halted
    assert len(server.requests) < 20
    assert workspace.verdicts.of_run(run) == []


def test_the_demo(tmp_path):
    report = run_demo()
    assert report.db is None
    assert report.problems == ()
    assert len(report.trials) == len(load_samples())
    assert {group.family for group in report.groups} == set(SHIPPED)
    kept = run_demo(tmp_path / "demo.db")
    assert kept.db == tmp_path / "demo.db"
    assert kept.db.exists()
    values = [scored.scores for scored in report.trials]
    assert [scored.scores for scored in kept.trials] == values
