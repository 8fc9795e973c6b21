"""Labelling: blind until labelled, then compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.samples import load_samples
from cuecard.annotate.waiting import pending_for
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.label_records import LabelValue
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import ItemKind
from cuecard.store.workspace import Workspace


def small_tasks() -> list[Task]:
    """Some cells, triples and an answer, few enough to label all of them."""
    tasks: list[Task] = []
    for task in load_samples():
        gold = task.gold
        if task.id == "table-solar-terms-zh" and isinstance(gold, Table):
            gold = gold.model_copy(update={"rows": gold.rows[:5]})
        elif task.id == "graph-astronomy-zh" and isinstance(gold, Graph):
            gold = gold.model_copy(update={"triples": gold.triples[:18]})
        elif task.id != "facts-night-train":
            continue
        tasks.append(task.model_copy(update={"gold": gold}))
    return tasks


@pytest.fixture
async def judged(tmp_path: Path):
    with Workspace.open(tmp_path / "w.db") as workspace:
        saved = [workspace.tasks.save(task, author="ann") for task in small_tasks()]
        plan = RunPlan(tasks=tuple(revision.task_id for revision in saved))
        outcome = await start_run(workspace, plan, by="ann")
        yield workspace, outcome.run.id


async def test_a_labeller_sees_evidence_but_no_verdict(judged):
    workspace, run_id = judged
    session = LabelSession(workspace, "bob", run_id)
    kinds: set[ItemKind] = set()
    hidden = ("decision", "rationale", "judge", "supporting")
    seen = 0
    while (view := session.current) is not None:
        dumped = view.model_dump_json()
        assert not any(f'"{word}"' in dumped for word in hidden)
        kinds.add(view.gold.item.kind)
        assert view.gold.text
        assert view.closest
        if view.gold.item.kind is ItemKind.CELL:
            assert view.closest[0].cell
        with pytest.raises(NotAllowed):
            session.reveal()
        seen += 1
        session.next()
    assert seen == session.total
    assert session.labelled == 0
    assert kinds == {ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ANSWER}


async def test_the_closest_items_are_the_likely_ones(judged):
    workspace, run_id = judged
    session = LabelSession(workspace, "bob", run_id)
    for _step in range(20):
        view = session.current
        assert view is not None
        session.label(LabelValue.YES)
        shown = session.reveal()
        if shown.decision == "yes" and shown.supporting:
            # Everything the agent found was right here, so the judge's support looks alike too.
            assert set(shown.supporting) & set(view.closest)
        assert set(view.closest) <= set(session.all_predicted())
        session.next()


async def test_label_go_back_and_label_again(judged):
    workspace, run_id = judged
    total = pending_for(workspace, "bob").verdicts
    session = LabelSession(workspace, "bob", run_id)
    first = session.current
    assert first is not None
    session.label(LabelValue.YES)
    shown = session.reveal()
    assert shown.judge.name == "lexical"
    assert shown.agrees == (shown.decision == "yes")
    second = session.next()
    assert second is not None
    assert second.verdict_id != first.verdict_id
    again = session.back()
    assert again is not None
    assert again.verdict_id == first.verdict_id
    assert again.mine is not None
    session.label(LabelValue.UNSURE, "hard to say")
    assert session.reveal().agrees is None
    assert session.labelled == 1
    # What is decided in view of the verdict is kept apart from what was decided blind.
    (blind,) = workspace.verdicts.labels(run_id)
    (after,) = workspace.verdicts.labels(run_id, phase="revealed")
    assert (blind.value, blind.comment) == (LabelValue.YES, "")
    assert (after.value, after.comment) == (LabelValue.UNSURE, "hard to say")
    assert pending_for(workspace, "bob").verdicts == total - 1
    # Another session goes on where this one was, another person begins anew.
    assert LabelSession(workspace, "bob", run_id).current == session.next()
    assert pending_for(workspace, "cho").verdicts == total


async def test_a_session_that_is_through(judged):
    workspace, _run_id = judged
    session = LabelSession(workspace, "bob")
    while session.current is not None:
        session.label(LabelValue.NO)
        session.next()
    assert session.position == session.total == session.labelled > 18
    assert pending_for(workspace, "bob").verdicts == 0
    with pytest.raises(NotAllowed, match="Nothing to label"):
        session.label(LabelValue.YES)
    assert session.next() is None
    assert session.back() is not None
