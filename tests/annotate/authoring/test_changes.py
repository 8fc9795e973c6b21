from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.changes import Change, changes_between
from cuecard.annotate.authoring.diff import excerpt, moved, spans
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import COLUMNS, ROWS, STAGES, TRIPLES
from cuecard.annotate.authoring.task_data import blank_column, blank_stage
from cuecard.core.tasks.models import Task


def told(edit: TaskEdit) -> list[tuple[str, str, str, str]]:
    """Kind, place, before and after of everything that differs from what is saved."""
    assert edit.saved is not None
    found = changes_between(edit.saved, edit.data)
    return [(c.kind, c.place, c.before, c.after) for c in found]


@pytest.fixture
def graph(samples: dict[str, Task]) -> TaskEdit:
    return TaskEdit.of(samples["espresso"], 1)


@pytest.fixture
def table(samples: dict[str, Task]) -> TaskEdit:
    return TaskEdit.of(samples["table-us-states"], 1)


def test_what_says_the_same_has_no_changes(samples: dict[str, Task]) -> None:
    for task in samples.values():
        data = task.model_dump(mode="json")
        assert changes_between(data, copy.deepcopy(data)) == []
        older = copy.deepcopy(data)
        del older["silenced"]
        data["silenced"] = []
        for triple in older["gold"].get("triples", []):
            del triple["note"]
        assert changes_between(older, data) == changes_between(data, older) == []


def test_a_reworded_triple_is_changed_wherever_it_stands(graph: TaskEdit) -> None:
    relation = graph.get((*TRIPLES, 5, "relation"))
    graph.set((*TRIPLES, 5, "relation"), "something else altogether")
    ops.delete_item(graph, TRIPLES, 0)
    graph.set((*TRIPLES, 8, "sources"), [*graph.get((*TRIPLES, 8, "sources")), "https://e.org/"])
    kinds = told(graph)
    assert [(kind, place) for kind, place, *_ in kinds] == [
        ("removed", "gold.triples[0]"),
        ("changed", "gold.triples[4].relation"),
        ("added", "gold.triples[8].sources[1]"),
    ]
    assert kinds[1][2:] == (relation, "something else altogether")


def test_a_stage_put_in_front_changes_no_triple(graph: TaskEdit) -> None:
    ops.insert_item(graph, STAGES, 0, {**blank_stage(), "title": "Hello"})
    assert [(kind, place) for kind, place, *_ in told(graph)] == [("added", "persona.stages[0]")]
    ops.move_item(graph, STAGES, 5, 2)
    assert told(graph)[1:] == [("moved", "persona.stages[2]", "5", "3")]
    graph.set((*TRIPLES, 0, "stage"), 1)
    assert told(graph)[-1][1] == "gold.triples[0].stage"
    assert told(graph)[-1][3] == "1 · Hello"


def test_rows_are_known_by_their_keys_and_cells_by_their_columns(table: TaskEdit) -> None:
    ops.insert_item(table, COLUMNS, 1, {**blank_column(), "name": "New"})
    ops.rename_column(table, 0, "The state")
    ops.move_item(table, ROWS, 3, 0)
    table.set((*ROWS, 7, 2), "XX")
    table.set((*ROWS, 8, 1), "filled")
    found = told(table)
    assert [(kind, place) for kind, place, *_ in found] == [
        ("changed", "gold.columns[0].name"),
        ("added", "gold.columns[1]"),
        ("moved", "gold.rows[0]"),
        ("changed", "gold.rows[7][2]"),
        ("added", "gold.rows[8][1]"),
    ]


def test_steps_facts_nodes_and_sources_are_known_again(samples: dict[str, Task]) -> None:
    chain = TaskEdit.of(samples["checkpoints-highest-mountain"], 1)
    chain.set(("gold", "steps", 1, "target"), "Somebody else")
    chain.set(("gold", "steps", 0, "ambiguity"), None)
    chain.insert(("gold", "forbidden"), 0, "a secret")
    kinds = [(kind, place) for kind, place, *_ in told(chain)]
    assert ("changed", "gold.steps[1].target") in kinds
    assert ("removed", "gold.steps[0].ambiguity") in kinds
    assert ("added", "gold.forbidden[0]") in kinds
    facts = TaskEdit.of(samples["facts-night-train"], 1)
    ops.move_item(facts, ("gold", "facts"), 0, 3)
    facts.set(("gold", "facts", 3, "value"), "7")
    facts.insert(("sources",), 0, {"url": "https://e.org/", "note": "n"})
    kinds = [(kind, place) for kind, place, *_ in told(facts)]
    assert kinds == [
        ("moved", "gold.facts[3]"),
        ("changed", "gold.facts[3].value"),
        ("added", "sources[0]"),
    ]


def test_a_translation_changes_things_where_they_stand(graph: TaskEdit) -> None:
    triples = [
        {**t, "head": f"头{i}", "relation": f"关系{i}", "tail": f"尾{i}"}
        for i, t in enumerate(graph.items(TRIPLES))
    ]
    graph.set(TRIPLES, triples)
    assert {kind for kind, *_ in told(graph)} == {"changed"}
    assert len(told(graph)) == 3 * len(triples)


def test_a_new_order_of_everything_is_one_change(graph: TaskEdit) -> None:
    triples = graph.items(TRIPLES)
    graph.set(TRIPLES, sorted(triples, key=lambda t: (t["tail"], t["head"], t["relation"])))
    [(kind, place, _before, after)] = told(graph)
    assert (kind, place) == ("moved", "gold.triples")
    assert "elsewhere" in after


@pytest.mark.parametrize("odd", [None, "text", 3, [], {}, [1, None, {"head": 4}], {"family": 1}])
def test_data_that_is_no_task_is_compared_all_the_same(graph: TaskEdit, odd: Any) -> None:
    data = graph.data
    for path in (("gold",), ("gold", "triples"), ("persona",), ("persona", "stages"), ("sources",)):
        edit = TaskEdit(data)
        edit.set(path, odd)
        assert changes_between(data, edit.data)
        assert changes_between(edit.data, data)
    assert changes_between({}, {}) == []


def test_many_triples_all_touched_and_in_another_order_are_compared() -> None:
    rng = random.Random(1)
    triples: list[dict[str, Any]] = [
        {"head": f"Entity {i // 7}", "relation": f"relation {i % 7}", "tail": f"Value {i}"}
        for i in range(1500)
    ]
    other = copy.deepcopy(triples)
    for triple in other:
        triple[rng.choice(["head", "relation", "tail"])] += " x"
    rng.shuffle(other)
    old = {"gold": {"family": "graph", "triples": triples}}
    new = {"gold": {"family": "graph", "triples": other}}
    found = changes_between(old, new)
    assert sum(change.kind == "changed" for change in found) == 1500


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.integers(0, 20), unique=True, max_size=20))
def test_as_few_as_possible_move(order: list[int]) -> None:
    gone = moved(order)
    left = [value for value in order if value not in gone]
    assert left == sorted(left)
    if sorted(order) == order:
        assert not gone
    if len(order) == 2 and order[0] > order[1]:
        assert len(gone) == 1


@settings(max_examples=examples(50), deadline=None)
@given(st.text("ab 汉字\n", max_size=40), st.text("ab 汉字\n", max_size=40))
def test_spans_say_all_of_both_texts(before: str, after: str) -> None:
    old, new = spans(before, after)
    assert "".join(span.text for span in old) == before
    assert "".join(span.text for span in new) == after
    kept = ["".join(s.text for s in side if not s.changed) for side in (old, new)]
    assert "".join(kept[0].split()) == "".join(kept[1].split())


def test_the_changed_words_of_a_long_text_are_found() -> None:
    before = "many words " * 60 + "the old end " + "more words " * 60
    old, new = spans(before, before.replace("old end", "new end"))
    assert [span.text for span in new if span.changed] == ["new"]
    short = excerpt(new, 20)
    assert sum(len(span.text) for span in short) < 60
    assert [span.text for span in short if span.changed] == ["new"]
    assert [span.text for span in old if span.changed] == ["old"]


def test_a_change_names_what_it_is_part_of(graph: TaskEdit) -> None:
    graph.set((*TRIPLES, 0, "tail"), f"{graph.get((*TRIPLES, 0, 'tail'))}!")
    [change] = changes_between(graph.saved or {}, graph.data)
    triple = graph.get((*TRIPLES, 0))
    assert isinstance(change, Change)
    assert change.label == "Triple 1 · Tail"
    assert change.about == f"{triple['head']} · {triple['relation']} · {triple['tail']}"
