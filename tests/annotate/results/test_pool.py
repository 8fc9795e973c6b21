"""Figures are counted once, and again when what they were counted from is another."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from cuecard.annotate.labelling.comparison_inputs import Scope
from cuecard.annotate.labelling.comparison_inputs import gather as inputs_of_labels
from cuecard.annotate.labelling.labelling_sets import SamplingPlan, make_set
from cuecard.annotate.labelling.session import VerdictSource
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.score_tables import costs_table
from cuecard.core.config import EMBEDDED
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.exam import plan_exam, run_exam
from cuecard.core.evaluation.scores import judged_trials, score_run, stamp_of
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.llm.hub import ModelHub
from cuecard.core.scoring.trial_score import figures_of
from cuecard.store.workspace import Workspace
from cuecard.tui.present.labels import run_kind
from effect_runs import offline_run
from exam_tasks import exam_task
from result_rows import pool, row


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    with Workspace.open(tmp_path_factory.mktemp("pool") / "w.db") as workspace:
        yield workspace, offline_run(workspace)


def raw(workspace):
    path = workspace.url.removeprefix("sqlite:///")
    return closing(sqlite3.connect(path, isolation_level=None))


def test_what_was_kept_is_what_the_log_says(played):
    workspace, run = played
    kept = workspace.figures.of_run(run, "en")
    assert len(kept) == workspace.runs.get(run).trials
    for one in judged_trials(workspace, run):
        trial = one.trial
        assert kept[one.head.id].stamp == stamp_of(trial.events)
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        (judgement,) = workspace.verdicts.of_trial(trial.id)
        events = workspace.runs.outline(trial.id).events
        assert one.figures == figures_of(task, events, judgement.judgement)


def test_figures_of_another_making_are_counted_anew(played):
    workspace, run = played
    before = score_run(workspace, run)
    stale = [
        each._replace(stamp="0", body="{}") for each in workspace.figures.of_run(run, "en").values()
    ]
    workspace.figures.keep(stale, "en")
    told: list[tuple[int, int]] = []
    assert score_run(workspace, run, on_count=lambda *at: told.append(at)) == before
    assert told[-1] == (len(stale), len(stale))
    assert all(k.stamp != "0" for k in workspace.figures.of_run(run, "en").values())


def test_numbers_are_told_though_they_cannot_be_kept(played):
    workspace, run = played
    before = score_run(workspace, run)
    kept = workspace.figures.of_run(run, "en").values()
    workspace.figures.keep([each._replace(stamp="0") for each in kept], "en")
    refuse = (
        "CREATE TRIGGER full BEFORE INSERT ON trialfigures BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with raw(workspace) as connection:
        connection.execute(refuse)
    assert score_run(workspace, run) == before
    assert {each.stamp for each in workspace.figures.of_run(run, "en").values()} == {"0"}
    with raw(workspace) as connection:
        connection.execute("DROP TRIGGER full")


def test_an_open_trial_is_not_in_the_cost_of_a_trial():
    ended = row("alpha", "t0", {"triplet_f1": 1.0}, cost=0.3)
    begun = row("alpha", "t1", None, termination=None, cost=0.1)
    table = costs_table(pool(ended, begun))
    assert [cell.text for cell in table.lines[0]][-3:] == ["0.4000", "0.4000", "0.3000"]


def test_rows_say_what_a_trial_was(played):
    workspace, run = played
    found = gather(workspace, [run, run])
    assert len(found.runs) == 1
    assert found.families == ("facts", "graph")
    assert found.values("judge") == ("lexical",)
    one = next(row for row in found.rows if row.family == "facts")
    assert one.value("tier") in ("easy", "mid", "hard")
    assert (one.value("agent"), one.value("language"), one.baseline) == ("offline", "en", True)
    assert one.value("run") == workspace.runs.get(run).uid[:8]
    nobody = gather(workspace, [run], ["sage"])
    assert {(each.judge, each.judged_by) for each in nobody.rows} == {(None, "sage")}


async def test_the_exam_of_a_judge_is_among_no_scores_and_labels(tmp_path):
    with Workspace.open(tmp_path / "exam.db") as workspace:
        task = exam_task("graph", "en", 1)
        workspace.tasks.save(task, author="Ana")
        judge, hub = LexicalJudge(), ModelHub(EMBEDDED)
        plan = plan_exam(workspace, judge, [task.id], config=EMBEDDED)
        run, _failures = await run_exam(workspace, plan, judge, hub, config=EMBEDDED, by="Ana")
        assert run.is_exam
        assert run_kind(run) == "exam"
        assert workspace.verdicts.progress("Ana") == []
        for refused in (
            lambda: gather(workspace, [run.id]),
            lambda: score_run(workspace, run.id),
            lambda: inputs_of_labels(workspace, Scope(runs=(run.id,))),
            lambda: make_set(workspace, SamplingPlan(runs=(run.id,), n=5), name="", by="Ana"),
            lambda: VerdictSource(workspace, "Ana", run.id, None),
        ):
            with pytest.raises(NotAllowed, match="exam of a judge"):
                refused()
        assert inputs_of_labels(workspace, Scope()).cases == ()
