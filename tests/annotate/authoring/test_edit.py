from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, blank_task
from cuecard.core.tasks.models import Task


def small() -> dict[str, Any]:
    data = blank_task("t1", "Title", "graph", "en")
    data["sub_queries"] = ["one", "two", "three"]
    return data


def places(root: Any, here: Path = ()) -> list[Path]:
    """Every place in the data, depth first."""
    found = [here]
    if isinstance(root, dict):
        for key, value in root.items():
            found += places(value, (*here, key))
    elif isinstance(root, list):
        for index, value in enumerate(root):
            found += places(value, (*here, index))
    return found


def edit_at_random(edit: TaskEdit, rng: random.Random) -> None:
    """Any one of the edits that the screens make, anywhere in the data."""
    everywhere = places(edit.data)
    lists = [p for p in everywhere if isinstance(edit.get(p), list)]
    match rng.randrange(6):
        case 0 | 1:
            leaves = [p for p in everywhere if not isinstance(edit.get(p), dict | list)]
            value = rng.choice(["", "x", "线", 1, 2.5, True, None, ["a"], {"k": "v"}])
            edit.set(rng.choice(leaves), value, typing=rng.random() < 0.5)
        case 2:
            path = rng.choice(lists)
            edit.insert(path, rng.randint(0, len(edit.get(path))), {"new": [1, 2]})
        case 3:
            items = [p for p in everywhere if p and isinstance(p[-1], int)]
            if items:
                edit.delete(rng.choice(items))
        case 4:
            path = rng.choice(lists)
            if count := len(edit.get(path)):
                edit.move(path, rng.randrange(count), rng.randrange(count))
        case _:
            if rng.random() < 0.5:
                edit.seal()
            else:
                with edit.together(("title",)):
                    edit.set(("title",), str(rng.random()))
                    edit.set(("notes",), str(rng.random()))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_undo_gives_back_exactly_every_earlier_state(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    edit = TaskEdit(small())
    seen = [copy.deepcopy(edit.data)]
    for _ in range(steps):
        edit_at_random(edit, rng)
        seen.append(copy.deepcopy(edit.data))
    last = copy.deepcopy(edit.data)
    undone = 0
    while edit.undo() is not None:
        undone += 1
        assert edit.data in seen
    assert edit.data == small()
    for _ in range(undone):
        assert edit.redo() is not None
    assert edit.data == last
    assert edit.redo() is None


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32))
def test_data_that_was_handed_out_never_changes(seed: int) -> None:
    rng = random.Random(seed)
    edit = TaskEdit(small())
    handed_out: list[tuple[Any, Any]] = []
    for _ in range(15):
        handed_out.append((edit.data, copy.deepcopy(edit.data)))
        rng.choice([edit_at_random, edit_at_random, lambda e, r: e.undo()])(edit, rng)
    assert all(given == then for given, then in handed_out)


def test_typing_in_one_place_is_one_step_until_sealed() -> None:
    edit = TaskEdit(small())
    for text in ("q", "qu", "que"):
        edit.set(("query",), text, typing=True)
    edit.seal()
    edit.set(("query",), "query", typing=True)
    edit.set(("notes",), "n", typing=True)
    assert edit.undo() == ("notes",)
    assert edit.undo() == ("query",)
    assert edit.get(("query",)) == "que"
    edit.undo()
    assert edit.get(("query",)) == ""
    assert not edit.can_undo


def test_typing_after_undo_does_not_join_an_old_step() -> None:
    edit = TaskEdit(small())
    edit.set(("query",), "a", typing=True)
    edit.seal()
    edit.set(("query",), "ab", typing=True)
    edit.undo()
    edit.set(("query",), "ac", typing=True)
    assert not edit.can_redo
    edit.undo()
    assert edit.get(("query",)) == "a"


def test_several_edits_together_are_one_step_or_none() -> None:
    edit = TaskEdit(small())
    told: list[Path] = []
    edit.listener = told.append
    with edit.together(("gold",)):
        edit.set(("title",), "x")
        edit.set(("notes",), "y")
    assert told == [("gold",)]
    edit.undo()
    assert edit.data == small()

    def half_possible() -> None:
        with edit.together(("gold",)):
            edit.set(("title",), "x")
            edit.delete(("gold", "nowhere"))

    with pytest.raises(LookupError):
        half_possible()
    assert edit.data == small()
    assert not edit.can_undo


def test_it_knows_whether_anything_differs_from_what_is_saved(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 3)
    assert not edit.changed
    edit.set(("gold", "triples", 0, "stage"), 2)
    assert edit.changed
    edit.undo()
    assert not edit.changed
    assert TaskEdit(small()).changed
    edit.set(("title",), "New")
    edit.mark_saved(4, edit.data)
    assert (edit.base, edit.changed) == (4, False)


def test_values_that_only_compare_equal_are_still_changes() -> None:
    edit = TaskEdit(small())
    edit.set(("gold", "triples", 0, "stage"), True)
    assert edit.get(("gold", "triples", 0, "stage")) is True


def test_a_value_that_was_given_may_be_changed_by_its_owner() -> None:
    edit = TaskEdit(small())
    mine = ["a"]
    edit.set(("sub_queries",), mine)
    mine.append("b")
    assert edit.get(("sub_queries",)) == ["a"]


def test_a_place_that_does_not_exist_is_refused_and_nothing_happens() -> None:
    edit = TaskEdit(small())
    for path in (("persona", "stages", 7, "line"), ("gold", "none", "x"), ("title", "x")):
        with pytest.raises(LookupError):
            edit.set(path, "x")
    with pytest.raises(LookupError):
        edit.insert(("sub_queries",), 9, "x")
    assert not edit.can_undo
    assert edit.get(("persona", "stages", 7, "line"), "none") == "none"


def test_every_sample_is_a_task_again(samples: dict[str, Task]) -> None:
    for task in samples.values():
        edit = TaskEdit.of(task, 1)
        assert edit.task() == task
        assert edit.problems() == []


def test_problems_name_place_and_reason() -> None:
    edit = TaskEdit(small())
    found = dict(edit.problems())
    assert {"query", "persona.identity", "gold.triples[0].head", "persona.stages[0].line"} <= set(
        found
    )
    assert found["query"] == "must not be empty"


def test_undoing_a_merge_goes_back_to_what_it_was_based_on(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 1)
    first = edit.saved
    edit.set(("title",), "Mine")
    theirs = {**edit.data, "title": "Old", "notes": "Theirs"}
    edit.rebase({**theirs, "title": "Mine"}, 2, theirs)
    assert (edit.base, edit.saved, edit.changed) == (2, theirs, True)
    edit.undo()
    assert (edit.base, edit.saved, edit.get(("title",))) == (1, first, "Mine")
    edit.redo()
    assert (edit.base, edit.saved, edit.get(("notes",))) == (2, theirs, "Theirs")
    edit.mark_saved(3, edit.data)
    edit.undo()
    assert edit.base == 3
