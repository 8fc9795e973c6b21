"""Labels with their circumstances, sets that were drawn, adjudications, and verdicts by the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement
from cuecard.store.engine import Database
from cuecard.store.labels import OutsideLabel
from cuecard.store.verdict_pages import VerdictFilter, VerdictPages
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]
Judged = Callable[..., Judgement]
TRIPLE = Item(kind=ItemKind.TRIPLE, index=0)


def test_what_is_decided_after_the_verdict_was_seen_is_kept_apart(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    trial = make_trial()
    verdicts.add(trial.id, judged("a", 1, Decision.NO))
    [item] = verdicts.queue("Ann")
    with pytest.raises(NotAllowed):
        verdicts.note_reveal(trial.id, TRIPLE, "Ann")
    blind = verdicts.label(item.verdict_id, "Ann", LabelValue.YES, seconds=2.5, gold_wrong=True)
    assert (blind.phase, blind.seconds, blind.gold_wrong) == ("blind", 2.5, True)
    verdicts.reveal(item.verdict_id, "Ann")
    after = verdicts.label(item.verdict_id, "Ann", LabelValue.NO)
    assert after.phase == "revealed"
    assert verdicts.labels() == [blind]
    assert verdicts.labels(phase="revealed") == [after]
    assert verdicts.history(item.verdict_id, "Ann") == [blind, after]
    assert verdicts.item_labels(phase=None) == [blind, after]
    assert verdicts.label(item.verdict_id, "Bob", LabelValue.NO).phase == "blind"


def test_a_file_tells_of_an_earlier_look_than_is_recorded(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    verdicts = workspace.verdicts
    trial = make_trial()
    verdicts.add(trial.id, judged("a", 1))
    [item] = verdicts.queue("Ann")
    verdicts.label(item.verdict_id, "Ann", LabelValue.YES)
    verdicts.reveal(item.verdict_id, "Ann")
    earlier = OutsideLabel(
        trial_id=trial.id,
        item=TRIPLE,
        person="Ann",
        value=LabelValue.NO,
        phase="revealed",
        at=datetime.now(UTC) - timedelta(days=1),
    )
    assert verdicts.enter([earlier]) == 1
    assert [label.value for label in verdicts.item_labels(phase="revealed")] == [LabelValue.NO]


def test_people_label_what_no_judge_decided(workspace: Workspace, make_trial: MakeTrial) -> None:
    trial = make_trial()
    status = Item(kind=ItemKind.STATUS, index=3)
    label = workspace.verdicts.label_item(
        trial.id, status, "Ann", CheckpointStatus.SEARCH_ONLY, "only looked", source="x.csv"
    )
    assert (label.verdict_id, label.item_key, label.source) == (0, "status/3", "x.csv")
    assert workspace.verdicts.item_labels([trial.id]) == [label]
    assert workspace.verdicts.item_history(trial.id, status, "Ann") == [label]
    assert workspace.verdicts.labels() == []
    with pytest.raises(NotFound):
        workspace.verdicts.label_item(99, status, "Ann", LabelValue.YES)


@given(st.sampled_from(ItemKind), st.integers(0, 10**6), st.text(max_size=20))
def test_an_item_is_found_by_its_key(kind: ItemKind, index: int, column: str) -> None:
    item = Item(kind=kind, index=index, column=column)
    assert Item.of_key(item.key) == item


def test_a_set_serves_each_item_to_as_many_people_as_it_wants(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 6))
    items = [
        SetItem(
            trial_id=trial.id,
            item=Item(kind=ItemKind.TRIPLE, index=index),
            stratum="covered",
            probability=0.25,
            raters=2 if index < 2 else 1,
            people=("Zoë",) if index == 5 else (),
        )
        for index in range(6)
    ]
    made = workspace.label_sets.create(
        name="first", created_by="Ann", items=items, plan={"seed": 1}
    )
    sets = workspace.label_sets
    assert sets.all() == [made] == [sets.get(made.id)]
    assert sets.items(made.id) == items

    def waiting(person: str) -> set[int]:
        return {item.item.index for item in sets.queue(made.id, person)}

    assert waiting("Ann") == waiting("Bob") == {0, 1, 2, 3, 4}
    assert waiting("Zoë") == {0, 1, 2, 3, 4, 5}
    for index in (0, 2):
        item = Item(kind=ItemKind.TRIPLE, index=index)
        workspace.verdicts.label_item(trial.id, item, "Ann", LabelValue.YES, seconds=3)
    assert waiting("Ann") == {1, 3, 4}
    assert waiting("Bob") == {0, 1, 3, 4}
    workspace.verdicts.label_item(trial.id, TRIPLE, "Bob", LabelValue.NO)
    assert waiting("Zoë") == {1, 3, 4, 5}
    progress = sets.progress("Ann")[made.id]
    assert (progress.items, progress.wanted, progress.given) == (6, 8, 3)
    assert (progress.mine, progress.left) == (2, 3)
    assert (progress.seconds, progress.timed) == (6, 2)
    for call in (sets.get, sets.items):
        with pytest.raises(NotFound):
            call(99)


def test_what_was_drawn_and_what_is_labelled_are_told_without_records(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    one, other = make_trial(), make_trial()
    for trial in (one, other):
        workspace.verdicts.add(trial.id, judged("a", 2))
    second = Item(kind=ItemKind.TRIPLE, index=1)
    items = [
        SetItem(trial_id=one.id, item=TRIPLE, stratum="", probability=0.25),
        SetItem(trial_id=one.id, item=second, stratum="", probability=0.5),
    ]
    made = workspace.label_sets.create(name="a set", created_by="Ann", items=items)
    assert workspace.label_sets.chances(made.id) == {
        (one.id, TRIPLE.key): 0.25,
        (one.id, second.key): 0.5,
    }
    with pytest.raises(NotFound):
        workspace.label_sets.chances(made.id + 1)
    runs = {one.run_id, other.run_id}
    assert workspace.verdicts.labelled_trials(runs) == frozenset()
    workspace.verdicts.label_item(other.id, TRIPLE, "Ann", LabelValue.YES)
    assert workspace.verdicts.labelled_trials(runs) == {other.id}
    assert workspace.verdicts.labelled_trials(()) == frozenset()


def test_an_adjudication_is_a_record_of_its_own(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 1))
    label = workspace.verdicts.label_item(trial.id, TRIPLE, "Ann", LabelValue.NO)
    adjudications = workspace.adjudications
    first = adjudications.add(trial.id, TRIPLE, "Cy", LabelValue.YES, "human_slip", "look again")
    second = adjudications.add(trial.id, TRIPLE, "Di", LabelValue.NO, "alias")
    assert adjudications.newest() == adjudications.newest([trial.id]) == [second]
    assert adjudications.history(trial.id, TRIPLE) == [first, second]
    assert adjudications.newest([99]) == []
    assert workspace.verdicts.labels() == [label]
    assert workspace.verdicts.records()[0].decision is Decision.YES


@pytest.mark.parametrize("size", [1, 3, 7, 200])
def test_pages_hold_every_verdict_once_and_no_decision_too_early(
    url: str, shared: tuple[Workspace, int], size: int
) -> None:
    workspace, run_id = shared
    database = Database(make_url(url))
    listed = VerdictPages(database, size)
    for filter, wanted in (
        (VerdictFilter(), 14),
        (VerdictFilter(runs=(run_id,)), 7),
        (VerdictFilter(judges=("none",)), 0),
        (VerdictFilter(mine="labelled"), 1),
        (VerdictFilter(mine="open"), 13),
        (VerdictFilter(gold_wrong=True), 1),
        (VerdictFilter(tasks=("t",)), 14),
    ):
        cut = listed.pages("Ann", filter)
        lines = [line for start in cut.starts for line in listed.page("Ann", filter, start)]
        assert cut.count == wanted == len({line.verdict_id for line in lines}) == len(lines)
        assert all(line.decision is None for line in lines)
    mine = VerdictFilter(mine="labelled")
    [line] = listed.page("Ann", mine, 0)
    workspace.verdicts.reveal(line.verdict_id, "Ann")
    assert [line.decision for line in listed.page("Ann", mine, 0)] == [Decision.YES]
    assert listed.page("Bob", VerdictFilter(), line.verdict_id)[0].decision is None
    database.close()


def test_probes_are_listed_only_where_they_are_named(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged
) -> None:
    probe = workspace.runs.create(
        name="p", kind="probe", created_by="Ann", samples=1, limits=Limits()
    )
    trial = make_trial(probe.id)
    workspace.verdicts.add(trial.id, judged("a", 3))
    listed = workspace.verdict_pages
    assert (listed.pages("Ann", VerdictFilter()).count, listed.page("Ann", VerdictFilter(), 0)) == (
        0,
        [],
    )
    named = VerdictFilter(runs=(trial.run_id,))
    assert listed.pages("Ann", named).count == len(listed.page("Ann", named, 0)) == 3
    (mark,) = listed.marks([trial.run_id])
    assert mark.keys == ("triple/0", "triple/1", "triple/2")


@pytest.fixture
def shared(workspace: Workspace, make_trial: MakeTrial, judged: Judged) -> tuple[Workspace, int]:
    one, two = make_trial(), make_trial()
    for trial in (one, two):
        workspace.verdicts.add(trial.id, judged("a", 7))
    workspace.verdicts.label_item(one.id, TRIPLE, "Ann", LabelValue.NO, gold_wrong=True)
    return workspace, one.run_id
