from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.labelling.adjudication import adjudicate, disputes, majority
from cuecard.core.errors import NotFound
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def test_items_on_which_people_or_people_and_judge_differ(
    workspace: Workspace, run_id: int, trial_id: int, label: Callable[..., None]
) -> None:
    assert disputes(workspace) == ()
    # Of triple 0 all say the same; 1: people differ; 2: the majority is against both judges; 3: two judges
    # differ; 4: nobody is sure; 5: nobody but people differ from quill.
    label("Ann", "yynn~n", seconds=4, comment="why not")
    label("Bob", "ynnn~ ")
    label("Cy", "yyy  ~")
    found = {d.item.index: d for d in disputes(workspace, [run_id])}
    assert {index: d.reasons for index, d in found.items()} == {
        1: ("people",),
        2: ("people", "judge"),
        3: ("judge",),
        5: ("judge",),
    }
    assert list(found) == sorted(found)
    one = found[1]
    assert (one.run_id, one.task_id, one.revision, one.family) == (run_id, "makers", 1, "graph")
    assert [(x.person, x.value.value) for x in one.labels] == [
        ("Ann", "yes"),
        ("Bob", "no"),
        ("Cy", "yes"),
    ]
    assert (one.labels[0].comment, one.labels[0].seconds) == ("why not", 4)
    assert {m.by.name: m.value for m in found[3].machines} == {"quill": "yes", "pen": "no"}
    assert found[5].parties == {"Ann"}
    assert {d.item.index for d in disputes(workspace, include=("people",))} == {1, 2}
    with pytest.raises(NotFound):
        disputes(workspace, [99])


def test_gold_that_is_held_for_wrong_and_what_was_adjudicated(
    workspace: Workspace, run_id: int, trial_id: int, label: Callable[..., None]
) -> None:
    label("Ann", "y")
    label("Bob", "y", gold_wrong=True)
    [found] = disputes(workspace, [run_id])
    assert found.reasons == ("gold",)
    assert disputes(workspace, [run_id], include=("people", "judge")) == ()
    adjudicate(workspace, trial_id, triple(0), "Di", LabelValue.YES, "human_slip")
    [found] = disputes(workspace, [run_id], include=("people", "judge"))
    assert found.decided is not None
    assert (found.reasons, found.decided.cause) == ((), "human_slip")


def test_revealed_labels_are_shown_but_are_no_side(
    workspace: Workspace, trial_id: int, label: Callable[..., None]
) -> None:
    label("Ann", "y")
    workspace.verdicts.note_reveal(trial_id, triple(0), "Ann")
    label("Ann", "n")
    assert disputes(workspace) == ()
    label("Bob", "n")
    [found] = disputes(workspace)
    assert found.reasons == ("people",)
    assert [(x.person, x.phase) for x in found.labels] == [
        ("Ann", "blind"),
        ("Bob", "blind"),
        ("Ann", "revealed"),
    ]


def test_only_the_items_of_a_set(
    workspace: Workspace, trial_id: int, label: Callable[..., None]
) -> None:
    label("Ann", "nn")
    assert len(disputes(workspace)) == 2
    made = workspace.label_sets.create(
        name="s", created_by="Ann", items=[SetItem(trial_id=trial_id, item=triple(1))]
    )
    assert [d.item for d in disputes(workspace, set_id=made.id)] == [triple(1)]


@pytest.mark.parametrize("kind", [ItemKind.PREDICTED, ItemKind.ROW])
def test_what_follows_from_verdicts_is_disputed_too(
    workspace: Workspace, trial_id: int, kind: ItemKind
) -> None:
    item = Item(kind=kind, index=0)
    workspace.verdicts.label_item(trial_id, item, "Ann", LabelValue.NO)
    expected = ("judge",) if kind is ItemKind.PREDICTED else None
    assert [d.reasons for d in disputes(workspace)] == ([expected] if expected else [])


@given(st.lists(st.sampled_from(("yes", "no")), max_size=7))
def test_the_majority_is_of_more_than_half(values: list[str]) -> None:
    most = majority(values)
    for value in ("yes", "no"):
        assert (most == value) == (values.count(value) * 2 > len(values))
