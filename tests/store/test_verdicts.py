"""Judgements and labels; above all, that a labeller sees no decision before deciding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.label_records import LabelValue, VerdictItem
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict
from cuecard.store.workspace import Sight, Workspace

MakeTrial = Callable[..., TrialRecord]
Judged = Callable[..., Judgement]


def test_a_judgement_comes_back_equal(workspace: Workspace, make_trial: MakeTrial) -> None:
    trial = make_trial()
    judgement = Judgement(
        judge=PlayerRef(name="llm", kind="llm", model="m"),
        revision_hash="a" * 64,
        prompt_hash="b" * 64,
        verdicts=(
            Verdict(
                item=Item(kind=ItemKind.CELL, index=3, column="Année/年"),
                decision=Decision.NO,
                supporting=(0, -1, 999),
                rationale="[/] why\n",
            ),
            Verdict(item=Item(kind=ItemKind.ANSWER), decision=Decision.UNJUDGED),
        ),
        table=TableMatch(usable=True, predicted_rows=4, joined=((0, 1), (2, 0))),
    )
    added = workspace.verdicts.add(trial.id, judgement)
    assert workspace.verdicts.of_trial(trial.id) == [added]
    assert added.judgement == judgement
    empty = workspace.verdicts.add(
        trial.id, Judgement(judge=PlayerRef(name="none", kind="lexical"), verdicts=())
    )
    assert workspace.verdicts.of_trial(trial.id) == [empty, added]


def test_the_newest_judgement_of_each_judge_counts(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    trial, other = make_trial(), make_trial()
    old = workspace.verdicts.add(trial.id, judged("a", decision=Decision.NO))
    b = workspace.verdicts.add(trial.id, judged("b"))
    new = workspace.verdicts.add(trial.id, judged("a"))
    workspace.verdicts.add(other.id, judged("a", 1))
    assert workspace.verdicts.of_trial(trial.id) == [new, b, old]
    assert workspace.verdicts.of_run(trial.run_id) == [new, b]
    assert [r.decision for r in workspace.verdicts.records(trial.run_id)] == [Decision.YES] * 10
    assert len(workspace.verdicts.records()) == 11
    record = workspace.verdicts.records(other.run_id)[0]
    assert (record.task_id, record.judge.name, record.supporting) == ("t", "a", (0,))


def test_marks_are_of_the_newest_judgement_of_each_judge(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", decision=Decision.NO))
    workspace.verdicts.add(trial.id, judged("b"))
    workspace.verdicts.add(trial.id, judged("a", 2))
    odd = [Item(kind=ItemKind.CELL, index=1, column='"a",\n年'), Item(kind=ItemKind.ANSWER)]
    told = zip(odd, (Decision.NO, Decision.UNJUDGED), strict=True)
    verdicts = tuple(Verdict(item=item, decision=decision) for item, decision in told)
    judge = PlayerRef(name="c", kind="llm")
    workspace.verdicts.add(trial.id, Judgement(judge=judge, verdicts=verdicts))
    workspace.verdicts.add(trial.id, Judgement(judge=PlayerRef(name="d", kind="llm"), verdicts=()))
    found = workspace.verdict_pages.marks([trial.run_id])
    assert [(one.trial_id, one.judge) for one in found] == [(trial.id, name) for name in "bacd"]
    assert [one.decisions for one in found[:2]] == ["y" * 5, "yy"]
    assert {*zip(found[2].keys, found[2].decisions, strict=True)} == {
        (odd[0].key, "n"),
        (odd[1].key, "u"),
    }
    assert found[3][2:4] == ((), "")


def test_the_queue_tells_nothing_about_decisions(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 40, Decision.NO))
    before = workspace.verdicts.queue("Ann")
    assert set(VerdictItem.model_fields) == {
        "verdict_id",
        "trial_id",
        "run_id",
        "task_id",
        "revision",
        "item",
    }
    assert len(before) == 40
    assert workspace.verdicts.queue("Ann") == before
    assert workspace.verdicts.queue("Ann", limit=7) == before[:7]
    items = [item.item.index for item in before]
    assert items != sorted(items)
    assert [item.item.index for item in workspace.verdicts.queue("Bob")] != items
    # Judged the other way round, by another: the same questions in the same order.
    workspace.verdicts.add(trial.id, judged("a", 40, Decision.YES))
    workspace.verdicts.add(trial.id, judged("b", 40, Decision.UNJUDGED))
    workspace.verdicts.label(before[0].verdict_id, "Bob", LabelValue.NO)
    assert [item.item.index for item in workspace.verdicts.queue("Ann")] == items


def test_the_queue_is_of_one_run_or_all(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    one, two = make_trial(), make_trial()
    for trial in (one, two):
        workspace.verdicts.add(trial.id, judged("a", 3))
    assert {item.run_id for item in workspace.verdicts.queue("Ann")} == {one.run_id, two.run_id}
    assert {item.trial_id for item in workspace.verdicts.queue("Ann", run_id=two.run_id)} == {
        two.id
    }
    assert workspace.verdicts.queue("Ann", run_id=999) == []


def test_a_verdict_is_revealed_only_to_who_has_labelled_its_item(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    trial = make_trial()
    verdicts.add(trial.id, judged("a", 2, Decision.NO))
    item, other = verdicts.queue("Ann")
    verdicts.label(item.verdict_id, "Bob", LabelValue.NO)
    for verdict_id in (item.verdict_id, other.verdict_id):
        with pytest.raises(NotAllowed):
            verdicts.reveal(verdict_id, "Ann")
    verdicts.label(item.verdict_id, "Ann", LabelValue.YES)
    assert verdicts.reveal(item.verdict_id, "Ann").decision is Decision.NO
    with pytest.raises(NotAllowed):
        verdicts.reveal(other.verdict_id, "Ann")
    assert [left.verdict_id for left in verdicts.queue("Ann")] == [other.verdict_id]
    for call in (
        lambda: verdicts.reveal(999, "Ann"),
        lambda: verdicts.label(999, "Ann", LabelValue.YES),
    ):
        with pytest.raises(NotFound):
            call()


def test_the_newest_label_counts_and_the_history_stays(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    trial = make_trial()
    verdicts.add(trial.id, judged("a", 1))
    [item] = verdicts.queue("Ann")
    verdicts.label(item.verdict_id, "Ann", LabelValue.YES, "sure")
    newest = verdicts.label(item.verdict_id, "Ann", LabelValue.UNSURE, "不确定")
    bobs = verdicts.label(item.verdict_id, "Bob", LabelValue.NO)
    assert verdicts.labels() == [newest, bobs]
    assert verdicts.labels(trial.run_id) == [newest, bobs]
    assert verdicts.labels(999) == []
    assert [label.value for label in verdicts.history(item.verdict_id, "Ann")] == [
        LabelValue.YES,
        LabelValue.UNSURE,
    ]
    assert len(verdicts.history(item.verdict_id, "Bob")) == 1


def test_a_label_is_about_the_item_whoever_judged_it(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    trial = make_trial()
    verdicts.add(trial.id, judged("a", 1, Decision.NO))
    [item] = verdicts.queue("Ann")
    verdicts.label(item.verdict_id, "Ann", LabelValue.YES)
    again = verdicts.add(trial.id, judged("a", 1))
    other = verdicts.add(trial.id, judged("b", 1))
    assert verdicts.queue("Ann") == []
    current = {record.verdict_id for record in verdicts.records(trial.run_id)}
    assert {label.verdict_id for label in verdicts.labels(trial.run_id)} == current
    assert len(current) == 2
    assert {verdicts.reveal(verdict_id, "Ann").judge.name for verdict_id in current} == {"a", "b"}
    assert verdicts.of_run(trial.run_id) == [again, other]


def test_progress_counts_items_not_verdicts(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    one, two = make_trial(), make_trial()
    make_trial()
    for judge in ("b", "a"):
        verdicts.add(one.id, judged(judge, 3))
    verdicts.add(two.id, judged("a", 2))
    for person, value in (("Ann", LabelValue.NO), ("Ann", LabelValue.YES), ("Bob", LabelValue.NO)):
        verdicts.label(verdicts.records(one.run_id)[0].verdict_id, person, value)
    counts = [(p.run_id, p.judges, p.verdicts, p.mine, p.labels) for p in verdicts.progress("Ann")]
    assert counts == [(two.run_id, ("a",), 2, 0, 0), (one.run_id, ("a", "b"), 3, 1, 2)]


def test_all_that_a_person_is_told_is_recorded_once(
    workspace: Workspace, make_trial: MakeTrial
) -> None:
    trials = [make_trial() for _ in range(3)]
    items = [
        Item(kind=ItemKind.CELL, index=index, column=column)
        for index in range(40)
        for column in ("Year", 'Année/年 "x"\\', "half \ud800 and \0")
    ]
    sight = Sight(workspace, "Ann")
    for place, trial in enumerate(trials):
        for item in items[place:]:
            assert sight.may_tell(trial.id, item)
            sight.may_tell(trial.id, item)
    assert sight.shown == 3 * len(items) - 3
    sight.record()
    version = workspace.version()
    sight.record()
    assert workspace.version() == version
    for place, trial in enumerate(trials):
        labels = [
            workspace.verdicts.label_item(trial.id, items[at], "Ann", LabelValue.YES)
            for at in (0, 5)
        ]
        first = "blind" if place else "revealed"
        assert [label.phase for label in labels] == [first, "revealed"]
