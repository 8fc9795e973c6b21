"""Comments stay with their element: whatever moves, whatever is taken out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.task_data import get, parse_place, put, remove
from cuecard.annotate.review.comments import FollowingThrough, PlaceMapping
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.validation import format_place

SAMPLES = Path(__file__).parents[3] / "src" / "cuecard" / "sample_tasks"
TASKS = {path.stem: load_task(path) for path in sorted(SAMPLES.glob("*.yaml"))}
LISTS = {
    "espresso": (("persona", "stages"), ("gold", "triples"), ("sources",)),
    "graph-astronomy-zh": (("persona", "stages"), ("gold", "triples"), ("gold", "nodes")),
    "table-us-states": (("gold", "rows"),),
    "checkpoints-highest-mountain": (("gold", "steps"),),
    "facts-night-train": (("gold", "facts"),),
}


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Every place of a task's data."""
    yield format_place(path)
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from places(value, (*path, index))


@pytest.mark.parametrize("name", TASKS)
def test_nothing_moves_between_equal_tasks(name: str) -> None:
    task = TASKS[name]
    equal = Task.model_validate_json(task.model_dump_json())
    other = task.model_copy(update={"title": "Another title"})
    same, retitled = PlaceMapping.of(task, equal), PlaceMapping.of(task, other)
    for place in places(task.model_dump(mode="json")):
        assert same.follow(place) == place
        assert retitled.follow(place) == place


@settings(max_examples=examples(30), deadline=None)
@given(name=st.sampled_from(sorted(LISTS)), seed=st.integers(0, 2**32), data=st.data())
def test_elements_are_found_wherever_they_went(name: str, seed: int, data: st.DataObject) -> None:
    """A list in another order and without some of its items: each is found again, or gone."""
    task = TASKS[name]
    before = task.model_dump(mode="json")
    where = data.draw(st.sampled_from([p for p in LISTS[name] if get(before, p)]))
    items = get(before, where)
    chance = random.Random(seed)
    order = list(range(len(items)))
    if where[-1] != "stages":  # triples name stages by number: those stay where they are
        chance.shuffle(order)
        order = order[: max(1, len(order) - chance.randint(0, 3))]
    after = put(before, where, [items[index] for index in order])
    told = PlaceMapping(before, after)
    for index, item in enumerate(items):
        there = told.follow(format_place((*where, index)))
        if index in order:
            assert there is not None
            assert get(after, parse_place(there)) == item
        else:
            assert there is None or get(after, parse_place(there)) not in items


def test_a_place_inside_an_element_goes_with_it() -> None:
    task = TASKS["espresso"]
    data = task.model_dump(mode="json")
    triples = data["gold"]["triples"]
    turned = put(data, ("gold", "triples"), [*triples[1:], triples[0]])
    new = Task.model_validate(turned)
    assert (
        PlaceMapping.of(task, new).follow("gold.triples[0].tail")
        == f"gold.triples[{len(triples) - 1}].tail"
    )
    assert PlaceMapping.of(task, new).follow("gold.triples[1]") == "gold.triples[0]"
    assert PlaceMapping.of(task, new).follow("") == ""
    assert PlaceMapping.of(task, new).follow("gold.triples[999]") is None
    assert PlaceMapping.of(task, new).follow("no.such.place") is None


def test_a_rewritten_line_is_followed_and_a_stage_taken_out_is_gone() -> None:
    task = TASKS["espresso"]
    data = task.model_dump(mode="json")
    stages = data["persona"]["stages"]
    triples = [{**triple, "stage": None} for triple in data["gold"]["triples"]]
    changed = put(data, ("gold", "triples"), triples)
    changed = put(changed, ("persona", "stages", 1, "line"), "Something else altogether.")
    new = Task.model_validate(remove(changed, ("persona", "stages", 0)))
    assert PlaceMapping.of(task, new).follow("persona.stages[1].line") == "persona.stages[0].line"
    assert PlaceMapping.of(task, new).follow("persona.stages[0].line") is None
    assert PlaceMapping.of(task, new).follow(f"persona.stages[{len(stages) - 1}].cue.text") == (
        f"persona.stages[{len(stages) - 2}].cue.text"
    )


def test_cells_follow_their_column_and_row() -> None:
    task = TASKS["table-us-states"]
    data = task.model_dump(mode="json")
    gold = data["gold"]
    width = len(gold["columns"])
    turned = {
        **gold,
        "columns": [*gold["columns"][1:], gold["columns"][0]],
        "rows": [[*row[1:], row[0]] for row in reversed(gold["rows"])],
    }
    last = len(gold["rows"]) - 1
    new = Task.model_validate({**data, "gold": turned})
    assert PlaceMapping.of(task, new).follow("gold.rows[0][0]") == f"gold.rows[{last}][{width - 1}]"
    assert PlaceMapping.of(task, new).follow("gold.rows[2][1]") == f"gold.rows[{last - 2}][0]"
    assert (
        PlaceMapping.of(task, new).follow("gold.columns[0].name")
        == f"gold.columns[{width - 1}].name"
    )
    key = gold["unique_columns"]
    spare = next(i for i, column in enumerate(gold["columns"]) if column["name"] not in key)
    fewer = {
        **gold,
        "columns": [c for i, c in enumerate(gold["columns"]) if i != spare],
        "rows": [[cell for i, cell in enumerate(row) if i != spare] for row in gold["rows"]],
    }
    without = Task.model_validate({**data, "gold": fewer})
    assert PlaceMapping.of(task, without).follow(f"gold.rows[0][{spare}]") is None
    assert PlaceMapping.of(task, without).follow(f"gold.columns[{spare}]") is None


def test_what_was_rewritten_little_by_little_is_found_through_the_revisions_between() -> None:
    task = TASKS["facts-night-train"]
    data = task.model_dump(mode="json")
    facts = data["gold"]["facts"]

    def with_first(**fields: str) -> Task:
        return Task.model_validate(put(data, ("gold", "facts", 0), {**facts[0], **fields}))

    middle = with_first(value="nothing of the sort", entity="", attribute="")
    last = with_first(key="zzz", value="nothing of the sort", entity="", attribute="")
    middle, last = (
        Task.model_validate(
            put(t.model_dump(mode="json"), ("gold", "facts"), [*t.gold.facts[1:], t.gold.facts[0]])
        )
        for t in (middle, last)
    )
    assert FollowingThrough(task, middle, tuple).follow("gold.facts[0].value") == (
        f"gold.facts[{len(facts) - 1}].value"
    )
    assert PlaceMapping.of(task, last).follow("gold.facts[0]") is None
    fetched: list[int] = []

    def between() -> list[Task]:
        fetched.append(1)
        return [middle]

    through = FollowingThrough(task, last, between)
    assert through.follow("gold.facts[1]") == "gold.facts[0]"
    assert fetched == []
    through.follow("gold.facts[0]")
    assert through.follow("gold.facts[999]") is None
    assert fetched == [1]


def test_another_family_has_none_of_it() -> None:
    old, new = TASKS["espresso"], TASKS["facts-night-train"]
    assert PlaceMapping.of(old, new).follow("gold.triples[0]") is None
    assert PlaceMapping.of(old, new).follow("persona.stages[0].line") is None
    assert PlaceMapping.of(old, new).follow("query") == "query"
