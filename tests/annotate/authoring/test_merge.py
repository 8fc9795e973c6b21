from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.changes import changes_between
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.merge import Difference, Merge, Merging
from cuecard.annotate.authoring.ops import COLUMNS, FACTS, NODES, ROWS, STAGES, STEPS, TRIPLES
from cuecard.annotate.authoring.task_data import (
    Path,
    blank_column,
    blank_fact,
    blank_node,
    blank_stage,
    blank_step,
    blank_triple,
)
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task

SAMPLES = File(__file__).parents[3] / "sample_tasks"
Data = dict[str, Any]
IDS = ("espresso", "table-us-states", "checkpoints-highest-mountain", "facts-night-train")
LISTS: dict[str, tuple[tuple[Path, Callable[[], Any]], ...]] = {
    "graph": ((TRIPLES, blank_triple), (STAGES, blank_stage), (NODES, blank_node)),
    "table": ((ROWS, list), (COLUMNS, blank_column)),
    "checkpoints": ((STEPS, blank_step),),
    "facts": ((FACTS, blank_fact),),
}
NAMED = {"nodes": "id", "stages": "title", "columns": "name", "steps": "question", "facts": "key"}


@cache
def sample(task_id: str) -> Task:
    return load_task(SAMPLES / f"{task_id}.yaml")


def small(task_id: str) -> Data:
    """The task with few enough items for people's changes to meet."""
    data = sample(task_id).model_dump(mode="json")
    gold = data["gold"]
    for name in ("triples", "rows", "facts"):
        if name in gold:
            gold[name] = gold[name][:8]
    if data["persona"]:
        data["persona"]["stages"] = data["persona"]["stages"][:4]
        for triple in gold.get("triples", []):
            triple["stage"] = min(triple["stage"] or 1, 4)
    return data


def new_item(kind: Path, make: Callable[[], Any], edit: TaskEdit, word: str) -> Any:
    item = make()
    if kind == TRIPLES:
        stages = len(edit.items(STAGES))
        return {**item, "head": word, "relation": "r", "tail": word, "stage": stages or None}
    if kind == ROWS:
        return [f"{word} {n}" for n in range(len(edit.items(COLUMNS)))]
    return {**item, NAMED[str(kind[-1])]: word}


def edited(data: Data, seed: int, steps: int, who: str) -> Data:
    """What one person makes of the task with the operations of the screens."""
    rng = random.Random(seed)
    edit = TaskEdit(data)
    for step in range(steps):
        kind, make = rng.choice(LISTS[edit.family])
        count = len(edit.items(kind))
        word = f"{who}{seed}-{step}"
        match rng.randrange(6):
            case 0:
                ops.insert_item(edit, kind, rng.randint(0, count), new_item(kind, make, edit, word))
            case 1 if count > 1:
                ops.delete_item(edit, kind, rng.randrange(count))
            case 2 if count > 1:
                ops.move_item(edit, kind, rng.randrange(count), rng.randrange(count))
            case 3 if count and kind == COLUMNS:
                ops.rename_column(edit, rng.randrange(count), word)
            case 3 if count and kind == ROWS:
                cells = len(edit.items(COLUMNS))
                edit.set((*ROWS, rng.randrange(count), rng.randrange(cells)), word)
            case 3 if count:
                at = (*kind, rng.randrange(count))
                texts = [k for k, v in edit.get(at).items() if isinstance(v, str) and k != "kind"]
                edit.set((*at, rng.choice(texts)), word)
            case 4:
                edit.set((rng.choice(("title", "notes", "query")),), word)
            case _:
                edit.set(("sub_queries",), [*edit.items(("sub_queries",)), word])
    return edit.data


def words(value: Any) -> Counter[str]:
    """Every text in the data."""
    found: Counter[str] = Counter()
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                waiting += fields.values()
            case list() as items:
                waiting += items
            case str() as text:
                found[text] += 1
            case _:
                pass
    return found


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(IDS), st.integers(0, 10**6), st.integers(0, 12))
def test_a_side_that_changed_nothing_gives_way(task_id: str, seed: int, steps: int) -> None:
    base = small(task_id)
    other = edited(base, seed, steps, "m")
    for mine, theirs, expected in ((other, base, other), (base, other, other), (other,) * 3):
        merged = Merging(copy.deepcopy(base), copy.deepcopy(mine), copy.deepcopy(theirs)).merge()
        assert merged.data == expected
        assert not merged.conflicts
        if mine == theirs:
            assert not merged.differences


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(IDS), st.integers(0, 10**6), st.integers(1, 8))
def test_merging_is_alike_from_both_sides_and_loses_nothing_untold(
    task_id: str, seed: int, steps: int
) -> None:
    base = small(task_id)
    mine, theirs = edited(base, seed, steps, "m"), edited(base, seed + 1, steps, "t")
    merged, turned = Merging(base, mine, theirs).merge(), Merging(base, theirs, mine).merge()
    if all(d.base for d in merged.conflicts):
        told = {(d.key, bool(d.mine), bool(d.theirs)) for d in merged.conflicts}
        assert told == {(d.key, bool(d.theirs), bool(d.mine)) for d in turned.conflicts}
    if not merged.conflicts:
        assert words(merged.data) == words(turned.data)
    before, after = words(base), words(merged.data)
    texts = " ".join(d.mine + d.theirs for d in merged.conflicts)
    for side in (mine, theirs):
        for word in words(side) - before:
            assert after[word] or word in texts, word


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(IDS), st.integers(0, 10**6), st.integers(1, 8))
def test_choosing_one_side_everywhere_gives_that_side(task_id: str, seed: int, steps: int) -> None:
    base = small(task_id)
    mine, theirs = edited(base, seed, steps, "m"), edited(base, seed + 1, steps, "t")
    for side, wanted in (("mine", mine), ("theirs", theirs)):
        merged = Merging(base, mine, theirs).merge()
        for _round in range(3):  # what is chosen may uncover what it hid
            merged = Merging(base, mine, theirs).merge(dict.fromkeys(keys_of(merged), side))
        left = [c for c in changes_between(wanted, merged.data) if c.kind != "moved"]
        assert not left


def keys_of(merged: Merge) -> list[str]:
    return [difference.key for difference in merged.differences]


@pytest.fixture
def sides() -> Callable[[str], tuple[Data, TaskEdit, TaskEdit]]:
    def make(task_id: str) -> tuple[Data, TaskEdit, TaskEdit]:
        data = small(task_id)
        return data, TaskEdit(data), TaskEdit(data)

    return make


def only(merged: Merge) -> Difference:
    [clash] = merged.conflicts
    return clash


def test_what_each_changed_alone_is_merged_and_told(sides) -> None:
    base, mine, theirs = sides("espresso")
    mine.set((*TRIPLES, 0, "relation"), "reworded")
    theirs.set((*TRIPLES, 0, "sources"), ["https://e.org/"])
    theirs.set(("title",), "Theirs")
    merged = Merging(base, mine.data, theirs.data).merge()
    assert not merged.conflicts
    assert merged.data["gold"]["triples"][0]["relation"] == "reworded"
    assert merged.data["gold"]["triples"][0]["sources"] == ["https://e.org/"]
    assert merged.data["title"] == "Theirs"
    mine_too = {d.key: "mine" for d in merged.differences if d.whose == "theirs"}
    assert Merging(base, mine.data, theirs.data).merge(mine_too).data == mine.data


def test_triples_follow_stages_that_either_side_put_in_or_moved(sides) -> None:
    base, mine, theirs = sides("espresso")
    titles = [base["persona"]["stages"][t["stage"] - 1]["title"] for t in base["gold"]["triples"]]
    ops.insert_item(mine, STAGES, 0, {**blank_stage(), "title": "Mine"})
    ops.move_item(theirs, STAGES, 3, 1)
    ops.insert_item(theirs, STAGES, 4, {**blank_stage(), "title": "Theirs"})
    theirs.insert(TRIPLES, 0, {**blank_triple(), "head": "h", "tail": "t", "stage": 5})
    merged = Merging(base, mine.data, theirs.data).merge()
    assert not merged.conflicts
    stages = [stage["title"] for stage in merged.data["persona"]["stages"]]
    assert stages[0] == "Mine"
    assert stages[-1] == "Theirs"
    triples = merged.data["gold"]["triples"]
    assert [stages[t["stage"] - 1] for t in triples] == ["Theirs", *titles]


def test_a_triple_that_both_reworded_may_become_two(sides) -> None:
    base, mine, theirs = sides("espresso")
    mine.set((*TRIPLES, 2, "tail"), "my tail")
    theirs.set((*TRIPLES, 2, "tail"), "their tail")
    theirs.set((*TRIPLES, 2, "note"), "a note")
    clash = only(Merging(base, mine.data, theirs.data).merge())
    assert clash.sides == ("mine", "theirs", "both")
    assert "my tail" in clash.mine
    assert "their tail" in clash.theirs

    def tails(side: str) -> list[tuple[str, str]]:
        merged = Merging(base, mine.data, theirs.data).merge({clash.key: side})
        assert not merged.undecided
        return [(t["tail"], t["note"]) for t in merged.data["gold"]["triples"][2:4]]

    following = (base["gold"]["triples"][3]["tail"], "")
    assert tails("mine") == [("my tail", "a note"), following]
    assert tails("theirs") == [("their tail", "a note"), following]
    assert tails("both") == [("my tail", "a note"), ("their tail", "a note")]


def test_a_text_that_both_changed_may_keep_both(sides) -> None:
    base, mine, theirs = sides("espresso")
    line = (*STAGES, 1, "line")
    mine.set(line, "My line?")
    theirs.set(line, "Their line?")
    merged = Merging(base, mine.data, theirs.data).merge()
    clash = only(merged)
    assert merged.undecided == {clash.key}
    assert (clash.label, clash.mine, clash.theirs) == ("Stage 2 · Line", "My line?", "Their line?")
    both = Merging(base, mine.data, theirs.data).merge({clash.key: "both"}).data
    assert both["persona"]["stages"][1]["line"] == "My line?\n\nTheir line?"
    mine.set(line, "")
    assert only(Merging(base, mine.data, theirs.data).merge()).sides == ("mine", "theirs")


def test_what_one_took_out_and_the_other_changed_is_kept_until_decided(sides) -> None:
    base, mine, theirs = sides("facts-night-train")
    ops.delete_item(mine, FACTS, 1)
    theirs.set((*FACTS, 1, "value"), "changed")
    merged = Merging(base, mine.data, theirs.data).merge()
    clash = only(merged)
    assert (clash.mine, clash.choice) == ("", "theirs")
    assert "changed" in [fact["value"] for fact in merged.data["gold"]["facts"]]
    assert Merging(base, mine.data, theirs.data).merge({clash.key: "mine"}).data == mine.data


def test_a_stage_that_a_new_triple_needs_is_not_taken_out_untold(sides) -> None:
    base, mine, theirs = sides("espresso")
    ops.delete_item(mine, STAGES, 2)
    theirs.insert(TRIPLES, 0, {**blank_triple(), "head": "h", "tail": "t", "stage": 3})
    merged = Merging(base, mine.data, theirs.data).merge()
    clash = only(merged)
    assert clash.label == "Stage 3"
    assert merged.data["gold"]["triples"][0]["stage"] == 3
    without = Merging(base, mine.data, theirs.data).merge({clash.key: "mine"}).data
    assert without["gold"]["triples"][0]["stage"] is None
    assert len(without["persona"]["stages"]) == 3


def test_columns_and_rows_of_two_people_fit_together(sides) -> None:
    base, mine, theirs = sides("table-us-states")
    width, height = len(base["gold"]["columns"]), len(base["gold"]["rows"])
    ops.insert_item(mine, COLUMNS, 1, {**blank_column(), "name": "Mine"})
    ops.rename_column(mine, 0, "The state")
    mine.set((*ROWS, 0, 1), "filled")
    theirs.insert(ROWS, height, ["New", *["x"] * (width - 1)])
    ops.delete_item(theirs, COLUMNS, width - 1)
    ops.move_item(theirs, ROWS, 0, 2)
    merged = Merging(base, mine.data, theirs.data).merge()
    assert not merged.conflicts
    gold = merged.data["gold"]
    assert [c["name"] for c in gold["columns"]][:2] == ["The state", "Mine"]
    assert gold["unique_columns"] == ["The state"]
    assert all(len(row) == width for row in gold["rows"])
    assert gold["rows"][2][1] == "filled"
    assert gold["rows"][-1][:3] == ["New", "", "x"]
    assert TaskEdit(merged.data).problems() == []


def test_facts_of_one_key_and_lists_of_names_are_joined(sides) -> None:
    base, mine, theirs = sides("facts-night-train")
    for edit, value, alias in ((mine, "1", "one"), (theirs, "2", "two")):
        edit.insert(FACTS, 0, {**blank_fact(), "key": "new", "value": value, "aliases": [alias]})
        edit.set(("gold", "answer_aliases"), [*edit.items(("gold", "answer_aliases")), alias])
    merged = Merging(base, mine.data, theirs.data).merge()
    assert only(merged).label == "Fact 1 · Value"
    keys = [fact["key"] for fact in merged.data["gold"]["facts"]]
    assert keys.count("new") == 1
    assert set(merged.data["gold"]["facts"][0]["aliases"]) == {"one", "two"}
    assert merged.data["gold"]["answer_aliases"][-2:] == ["two", "one"]


def test_two_orders_of_one_list_are_a_clash(sides) -> None:
    base, mine, theirs = sides("checkpoints-highest-mountain")
    ops.move_item(mine, STEPS, 0, 2)
    ops.move_item(theirs, STEPS, 0, 1)
    merged = Merging(base, mine.data, theirs.data).merge()
    clash = only(merged)
    assert clash.key == "gold/steps/order"
    for side, wanted in (("mine", mine), ("theirs", theirs)):
        assert Merging(base, mine.data, theirs.data).merge({clash.key: side}).data == wanted.data


def test_a_persona_that_one_took_away_and_one_changed(sides) -> None:
    base, mine, theirs = sides("espresso")
    ops.remove_persona(mine)
    theirs.set(("persona", "name"), "Kim")
    merged = Merging(base, mine.data, theirs.data).merge()
    clash = only(merged)
    assert clash.key == "persona"
    for side, wanted in (("mine", mine), ("theirs", theirs)):
        data = Merging(base, mine.data, theirs.data).merge({clash.key: side}).data
        assert data["persona"] == wanted.data["persona"]
    with_persona = Merging(base, mine.data, theirs.data).merge({clash.key: "theirs"}).data
    assert with_persona["gold"]["triples"][0]["stage"] is None


@pytest.mark.parametrize("odd", [None, "text", 3, [], {}, [1, None, {"head": 4}], {"family": 1}])
def test_data_that_is_no_task_is_merged_all_the_same(sides, odd: Any) -> None:
    base, mine, theirs = sides("espresso")
    theirs.set(("title",), "Theirs")
    for path in (("gold",), ("gold", "triples"), ("persona",), ("persona", "stages"), ("sources",)):
        edit = TaskEdit(mine.data)
        edit.set(path, odd)
        merged = Merging(base, edit.data, theirs.data).merge()
        assert merged.data["title"] == "Theirs"
        assert Merging(base, theirs.data, edit.data).merge().data["title"] == "Theirs"
        assert Merging(edit.data, base, theirs.data).merge().data["title"] == "Theirs"
