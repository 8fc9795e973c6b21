"""Rescoring in a workspace: only what changed is asked, nothing is overwritten, and it can be broken off."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.rescored import report_on
from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
from cuecard.core.engine.events import RunState
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.evaluation.judging import judge_run, lexical_judge
from cuecard.core.evaluation.plans import settings_of
from cuecard.core.evaluation.rescoring import (
    RenewedTasks,
    RescoreOutcome,
    pairs_of,
    plan_rescoring,
    renewed_tasks,
    rescore_run,
)
from cuecard.core.evaluation.runs import resume_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.predictions import TablePrediction
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, Judgement
from cuecard.store.workspace import Sight, Workspace
from judge_scripts import good, material_of, model_judge
from judged_trials import GOLD, ended_run, graph_task, triples
from openai_server import OpenAIServer, Reply, Request, error

pytestmark = pytest.mark.both_databases

HALF = triples(*GOLD[:3])
ALL = triples(*GOLD)
# Triple 0 is gone, triple 1 has another year, triple 6 is new; the rest stands elsewhere.
CORRECTED = (
    *GOLD[3:],
    (GOLD[1][0], GOLD[1][1], "1999"),
    GOLD[2],
    ("maker 6", "founded in", "1906"),
)


def decisions(judgement: Judgement) -> str:
    letters = {Decision.YES: "y", Decision.NO: "n", Decision.UNJUDGED: "u"}
    return "".join(letters[v.decision] for v in judgement.verdicts)


def corrected(workspace: Workspace, task: Task) -> None:
    workspace.tasks.save(task, author="bo", message="corrected")


def asked(server: OpenAIServer, since: int) -> list[list[str]]:
    """The gold triples of each request."""
    shown = [material_of(request)["gold"] for request in server.requests[since:]]
    return [[" ".join(triple) for _index, *triple in gold] for gold in shown]


async def rescored(workspace: Workspace, run: int, url: str, **more: bool) -> RescoreOutcome:
    judge, hub = model_judge(url)
    try:
        plan = plan_rescoring(workspace, run, judges=("sage",))
        return await rescore_run(workspace, plan, [judge], by="bo", **more)
    finally:
        await hub.close()


async def judged(workspace: Workspace, server: OpenAIServer, *predictions: object) -> int:
    run = ended_run(workspace, graph_task(), predictions or (HALF, ALL, None))  # pyright: ignore
    judge, hub = model_judge(server.url)
    await judge_run(workspace, run, judge)
    await hub.close()
    return run


async def test_only_what_changed_is_asked_and_both_runs_stay(workspace: Workspace):
    async with OpenAIServer(good) as server:
        run = await judged(workspace, server)
        before = workspace.verdicts.of_run(run)
        corrected(workspace, graph_task(gold=CORRECTED))
        since = len(server.requests)
        outcome = await rescored(workspace, run, server.url)
        new = ["maker 1 founded in 1999", "maker 6 founded in 1906"]
        assert asked(server, since) == [new, new]
        # Again: nothing is asked, no second run comes of it.
        again = await rescored(workspace, run, server.url)
        assert (again.run, len(server.requests)) == (outcome.run, since + 2)
    assert outcome.failed == ()
    assert (outcome.run.kind, outcome.run.state, outcome.run.trials) == ("grid", RunState.DONE, 2)
    assert settings_of(outcome.run).rescored == workspace.runs.get(run).uid
    assert workspace.verdicts.of_run(run) == before
    found = workspace.verdicts.of_run(outcome.run.id)
    assert [decisions(r.judgement) for r in before] == ["yyynnn", "yyyyyy"]
    assert [decisions(r.judgement) for r in found] == ["nnnnyn", "yyynyn"]
    one, other = before[1].judgement, found[1].judgement
    assert (other.judge, other.prompt_hash, other.trial_hash) == (
        one.judge, one.prompt_hash, one.trial_hash,
    )  # fmt: skip
    assert other.revision_hash == workspace.tasks.revision("makers", 2).hash != one.revision_hash
    assert [v.rationale for v in other.verdicts[:3]] == [v.rationale for v in one.verdicts[3:]]
    assert [v.supporting for v in other.verdicts] == [(3,), (4,), (5,), (), (2,), ()]
    # The effective log is the old one, on the new revision.
    plan = plan_rescoring(workspace, run, judges=("sage",))
    for old, new_trial in pairs_of(workspace, plan, outcome.run.id):
        assert new_trial.revision == 2
        assert [e.body for e in workspace.runs.events(new_trial.id)] == [
            e.body for e in workspace.runs.events(old.id)
        ]
    scores = [
        t.scores["triplet_recall"] for t in score_run(workspace, outcome.run.id, "sage").trials
    ]
    assert scores == pytest.approx([1 / 6, 4 / 6])
    report = report_on(workspace, plan, outcome.run)
    (judge,) = report.judges
    assert (judge.kept, judge.asked, judge.removed, judge.calls, judge.saved) == (8, 4, 2, 2, 0)
    recall = next(m for m in judge.measures if (m.name, m.taken) == ("triplet_recall", "avg"))
    assert (recall.old.value, recall.new.value) == (0.75, pytest.approx(5 / 12))
    assert recall.difference.value == pytest.approx(5 / 12 - 0.75)
    assert [(i.fate.value, i.was, i.now, i.asked) for i in judge.items if i.sample == 0] == [
        ("changed", "yes", "no", True),
        ("added", None, "no", True),
        ("removed", "yes", None, False),
    ]
    assert report.open == 1
    texts = [
        c.text
        for s in (*figure_tables(report), *item_tables(report))
        for line in s.lines
        for c in line
    ]
    assert {"1 → 2", "maker 1 | founded in | 1999", "judged again", "dropped"} <= set(texts)


async def test_what_failed_is_gone_on_with_and_paid_for_once(workspace: Workspace):
    sick = True

    def flaky(request: Request) -> Reply:
        ill = sick and len(material_of(request)["predicted"]) == 3
        return error(500) if ill and material_of(request)["gold"][0][3] == "1999" else good(request)

    async with OpenAIServer(flaky) as server:
        run = await judged(workspace, server)
        corrected(workspace, graph_task(gold=CORRECTED))
        outcome = await rescored(workspace, run, server.url)
        assert [f.trial_id for f in outcome.failed] == [workspace.runs.trials(outcome.run.id)[0].id]
        assert outcome.run.state is RunState.OPEN
        sick, since = False, len(server.requests)
        again = await rescored(workspace, run, server.url)
        assert (again.run.id, again.failed) == (outcome.run.id, ())
        assert len(server.requests) == since + 1
    found = workspace.verdicts.of_run(outcome.run.id)
    assert [decisions(r.judgement) for r in found] == ["nnnnyn", "yyynyn"]


async def test_a_copy_that_was_broken_off_is_finished_and_never_played(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])
    await judge_run(workspace, run)
    corrected(workspace, graph_task(gold=CORRECTED))
    plan = plan_rescoring(workspace, run)
    outcome = await rescore_run(workspace, plan, [lexical_judge()], by="bo")
    # As if it had been killed before the effective log was there.
    (made,) = workspace.runs.trials(outcome.run.id)
    cut = workspace.runs.create(
        name="cut", kind="grid", created_by="bo", samples=1, limits=outcome.run.limits,
        plan=outcome.run.plan,
    )  # fmt: skip
    fields = {name: getattr(made, name) for name in ("task_id", "revision", "sample", "seed")}
    workspace.runs.add_trials(
        cut.id, [TrialCell(agent=made.agent, user=made.user, world=made.world, **fields)]
    )[0]
    with pytest.raises(Exception, match="Rescoring was interrupted"):
        await resume_run(workspace, cut.id)
    again = await rescore_run(workspace, plan, [lexical_judge()], by="bo")
    assert (again.run.id, again.run.state, again.run.finished) == (cut.id, RunState.DONE, 1)


async def test_what_would_have_been_another_course_is_left_out(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [HALF])
    await judge_run(workspace, run)
    with pytest.raises(NotAllowed, match="No gold has changed"):
        await rescore_run(workspace, plan_rescoring(workspace, run), [lexical_judge()], by="bo")
    asked_otherwise = graph_task(gold=CORRECTED).model_copy(update={"query": "Who?"})
    corrected(workspace, asked_otherwise)
    plan = plan_rescoring(workspace, run)
    assert [(one.task_id, one.changed, one.trials) for one in plan.left] == [
        ("makers", ("the query",), 1)
    ]
    assert plan.trials == ()
    corrected(workspace, graph_task(gold=CORRECTED))
    assert plan_rescoring(workspace, run).left == ()
    assert plan_rescoring(workspace, run, targets={"makers": 2}).trials == ()
    with pytest.raises(NotFound):
        plan_rescoring(workspace, run, targets={"makers": 9})
    with pytest.raises(NotFound, match="no such task"):
        plan_rescoring(workspace, run, targets={"others": 1})
    with pytest.raises(NotAllowed, match="judged by sage"):
        plan_rescoring(workspace, run, judges=("sage",))


async def test_only_what_changes_scores_counts_and_two_rescorings_have_two_names(
    workspace: Workspace,
):
    run = ended_run(workspace, graph_task(), [HALF])
    await judge_run(workspace, run)

    def renewed() -> RenewedTasks:
        newest = {"makers": workspace.tasks.revision("makers").number}
        return renewed_tasks(workspace, {"makers": 1}, newest)

    corrected(workspace, graph_task().model_copy(update={"title": "Makers of machines"}))
    assert renewed() == RenewedTasks()
    with pytest.raises(NotAllowed, match="No gold has changed"):
        await rescore_run(workspace, plan_rescoring(workspace, run), [lexical_judge()], by="bo")
    names: list[str] = []
    for gold in (CORRECTED, CORRECTED[1:], CORRECTED[2:]):
        corrected(workspace, graph_task(gold=gold))
        assert renewed() == RenewedTasks(gold=1)
        plan = plan_rescoring(workspace, run)
        names.append((await rescore_run(workspace, plan, [lexical_judge()], by="bo")).run.name)
    name = workspace.runs.get(run).name
    assert names == [f"{name}, rescored{end}" for end in ("", " (2)", " (3)")]
    corrected(workspace, graph_task(gold=CORRECTED).model_copy(update={"query": "Who?"}))
    assert renewed() == RenewedTasks(played=1)


async def test_verdicts_of_two_judges_are_never_put_together(workspace: Workspace):
    async with OpenAIServer(good) as server:
        run = await judged(workspace, server, HALF)
        corrected(workspace, graph_task(gold=CORRECTED))
        other, hub = model_judge(server.url, batch=2)
        plan = plan_rescoring(workspace, run, judges=("sage",))
        with pytest.raises(NotAllowed, match="not what it was"):
            await rescore_run(workspace, plan, [other], by="bo")
        since = len(server.requests)
        outcome = await rescore_run(workspace, plan, [other], by="bo", anew=True)
        await hub.close()
        assert len(server.requests) == since + 3
    (found,) = workspace.verdicts.of_run(outcome.run.id)
    assert decisions(found.judgement) == "nnnnyn"
    assert found.judgement.judge == other.ref


async def test_of_a_table_only_the_corrected_cell_and_the_new_row_are_asked(workspace: Workspace):
    columns = (
        Column(name="City"),
        *(Column.model_validate({"name": n, "metric": ["llm_judge"]}) for n in ("Mayor", "River")),
    )

    def of(*rows: tuple[str, str, str]) -> Task:
        gold = Table(columns=columns, unique_columns=("City",), rows=rows)
        return Task(id="cities", title="C", language="en", query="Which?", gold=gold)

    old = of(("Bonn", "Ann", "Rhine"), ("Rome", "Bo", "Tiber"))
    handed = TablePrediction(
        columns=("City", "Mayor", "River"),
        rows=(("Oslo City", "Di", "Aker"), ("Bonn", "Anne", "the Rhine"), ("Rome", "Ed", "Tevere")),
    )
    async with OpenAIServer(good) as server:
        run = ended_run(workspace, old, [handed])
        judge, hub = model_judge(server.url)
        await judge_run(workspace, run, judge)
        new = of(("Oslo", "Di", "Akerselva"), ("Rome", "Bo", "Tiber"), ("Bonn", "Anna", "Rhine"))
        corrected(workspace, new)
        since = len(server.requests)
        plan = plan_rescoring(workspace, run, judges=("sage",))
        outcome = await rescore_run(workspace, plan, [judge], by="bo")
        await hub.close()
        shown = [material_of(request) for request in server.requests[since:]]
    keys = [m["gold"] for m in shown if "key_columns" in m]
    cells = sorted((m["column"], c[1:]) for m in shown if "cells" in m for c in m["cells"])
    assert keys == [[[1, "Oslo"]]]
    assert cells == [("Mayor", ["Anne", "Anna"]), ("River", ["Aker", "Akerselva"])]
    (found,) = workspace.verdicts.of_run(outcome.run.id)
    assert decisions(found.judgement) == "yynynnynn"
    assert found.judgement.table is not None
    assert found.judgement.table.joined == ((0, 0), (1, 2), (2, 1))
    assert [v.supporting for v in found.judgement.verdicts] == [(0,)] * 3 + [(2,)] * 3 + [(1,)] * 3


async def test_who_is_to_label_a_trial_sees_no_verdicts_on_its_copies(workspace: Workspace):
    async with OpenAIServer(good) as server:
        run = await judged(workspace, server)
        corrected(workspace, graph_task(gold=CORRECTED))
        copy = (await rescored(workspace, run, server.url)).run.id
    workspace.people.add("Ana")
    drawn, item = workspace.runs.trials(run)[0], Item.of_key("triple/2")
    workspace.label_sets.create(
        name="s", created_by="Ana", items=[SetItem(trial_id=drawn.id, item=item, people=("Ana",))]
    )
    same, other, *_ = workspace.runs.trials(copy)
    sight = Sight(workspace, "Ana")
    assert not sight.may_tell(drawn.id, item)
    assert not sight.may_tell(same.id, item)
    assert not sight.may_open(same.id)
    assert sight.may_open(other.id)
    assert sight.may_tell(same.id, Item.of_key("triple/3"))
    assert sight.may_tell(other.id, item)
    original = workspace.runs.get(run)
    replay = workspace.runs.create(
        name="replayed",
        kind="grid",
        created_by="ann",
        samples=original.samples,
        limits=original.limits,
        plan={**original.plan, "replay": run},
        cells=[TrialCell.from_fields(trial) for trial in workspace.runs.trials(run)],
    )
    assert not Sight(workspace, "Ana").may_tell(workspace.runs.trials(replay.id)[0].id, item)
    workspace.verdicts.label_item(drawn.id, item, "Ana", LabelValue.YES)
    assert Sight(workspace, "Ana").may_tell(same.id, item)
