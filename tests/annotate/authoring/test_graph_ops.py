from __future__ import annotations

import copy
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import graph_entities as graph_renames
from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from graph_tasks import graph_edit, node, triple

NAMES = ("A", "a", "B", "C", "线", "")
NODES = [node("A", "alpha"), node("C", "gamma", shown="See")]


def heads(edit: TaskEdit) -> list[str]:
    return [t["head"] for t in edit.items(ops.TRIPLES)]


def named(edit: TaskEdit, new: dict[str, str] | None = None) -> set[tuple[str, str, str]]:
    """The distinct triples, with names replaced as `new` says."""
    say = new or {}
    return {
        (say.get(t["head"], t["head"]), say.get(t["relation"], t["relation"]), say.get(t["tail"], t["tail"]))
        for t in edit.items(ops.TRIPLES)
    }  # fmt: skip


def some_edit(rng: random.Random) -> TaskEdit:
    triples = [
        triple(
            rng.choice(NAMES),
            rng.choice("rs"),
            rng.choice(NAMES),
            stage=rng.choice([None, 1, 2]),
            sources=rng.sample(["https://a.org", "https://b.org"], rng.randint(0, 2)),
        )
        for _ in range(rng.randint(1, 8))
    ]
    return graph_edit(triples, NODES)


def do_something(edit: TaskEdit, rng: random.Random) -> None:
    count = len(edit.items(ops.TRIPLES))
    some = rng.sample(range(count), rng.randint(0, count))
    match rng.randrange(10):
        case 0:
            graph_renames.rename_entity(edit, rng.choice(NAMES), rng.choice(NAMES[:-1]))
        case 1:
            graph_renames.merge_entities(edit, rng.sample(NAMES[:-1], 2), rng.choice(NAMES[:-1]))
        case 2:
            graph_renames.rename_relation(edit, rng.choice("rs"), rng.choice("rst"))
        case 3:
            graph_ops.assign_stage(edit, some, rng.choice([None, 1, 3]))
        case 4:
            mode = rng.choice(["replace", "add", "remove"])
            graph_ops.assign_sources(edit, some, ["https://a.org", "https://c.org"], mode)
        case 5:
            graph_ops.delete_triples(edit, some)
        case 6:
            graph_ops.duplicate_triples(edit, some)
        case 7:
            graph_ops.move_triples(edit, some, rng.choice([-2, -1, 1, 2]))
        case 8:
            graph_ops.insert_triples(edit, rng.randint(0, count), [triple("n", "r", "m")])
        case _:
            graph_ops.fill(edit, some, "tail", rng.choice(NAMES))


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 2**32))
def test_each_operation_is_one_step_that_undo_takes_back_exactly(seed: int) -> None:
    rng = random.Random(seed)
    edit = some_edit(rng)
    for _ in range(8):
        before, shared, told = copy.deepcopy(edit.data), edit.data, []
        edit.listener = told.append
        do_something(edit, rng)
        assert shared == before
        assert len(told) == (edit.data != before)
        if edit.data != before:
            after = copy.deepcopy(edit.data)
            edit.undo()
            assert edit.data == before
            edit.redo()
            assert edit.data == after


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 2**32))
def test_renaming_and_merging_lose_no_triple_but_true_duplicates(seed: int) -> None:
    rng = random.Random(seed)
    edit = some_edit(rng)
    kind = rng.choice(["rename", "merge", "relation"])
    old, new = rng.choice(NAMES[:-1]), rng.choice(NAMES[:-1])
    sources = {url for t in edit.items(ops.TRIPLES) for url in t["sources"]}
    count, expected = len(edit.items(ops.TRIPLES)), named(edit, {old: new})
    if kind == "rename":
        done = graph_renames.rename_entity(edit, old, new)
    elif kind == "merge":
        done = graph_renames.merge_entities(edit, [old], new)
    else:
        expected = named(edit, {"r": "s"})
        done = graph_renames.rename_relation(edit, "r", "s")
    assert named(edit) == expected
    assert len(edit.items(ops.TRIPLES)) == count - done.joined
    assert {url for t in edit.items(ops.TRIPLES) for url in t["sources"]} == sources
    ids = [n["id"] for n in edit.items(ops.NODES)]
    assert len(set(ids)) == len(ids)


def test_a_renamed_entity_takes_its_node_along() -> None:
    edit = graph_edit([triple("A", "r", "B"), triple("B", "r", "A")], [node("A", "alpha")])
    assert graph_renames.rename_entity(edit, "A", "Z") == graph_renames.RenameResult(2, 0)
    assert heads(edit) == ["Z", "B"]
    assert edit.items(ops.NODES) == [node("Z", "alpha")]


def test_merged_entities_become_aliases_and_equal_triples_one() -> None:
    edit = graph_edit(
        [
            triple("Milan", "hosted", "Fair", sources=["https://a.org"]),
            triple("Milano", "hosted", "Fair", stage=3, sources=["https://b.org"]),
            triple("MILAN", "in", "Italy"),
        ],
        [node("Turin"), node("Milano", "Mediolanum", shown="Milano (city)"), node("Rome")],
    )
    done = graph_renames.merge_entities(edit, ["Milan", "Milano", "MILAN"], "Milan")
    assert done == graph_renames.RenameResult(2, 1)
    assert edit.items(ops.TRIPLES) == [
        triple("Milan", "hosted", "Fair", stage=3, sources=["https://a.org", "https://b.org"]),
        triple("Milan", "in", "Italy"),
    ]
    assert [n["id"] for n in edit.items(ops.NODES)] == ["Turin", "Milan", "Rome"]
    aliases = edit.items(ops.NODES)[1]["aliases"]
    assert set(aliases) >= {"Milano", "Mediolanum"}
    assert "MILAN" not in aliases


def test_triples_that_differ_in_stage_are_not_joined() -> None:
    edit = graph_edit([triple("A", "r", "B", stage=1), triple("a", "r", "B", stage=2)])
    assert graph_renames.rename_entity(edit, "a", "A") == graph_renames.RenameResult(1, 0)


def test_moving_a_block_stops_at_the_ends() -> None:
    edit = graph_edit([triple(name) for name in "abcde"])
    assert graph_ops.move_triples(edit, [1, 3], -1) == [0, 2]
    assert heads(edit) == list("badce")
    assert graph_ops.move_triples(edit, [0, 2], -1) == [0, 2]
    assert graph_ops.move_triples(edit, [0, 2], 9) == [2, 4]
    assert heads(edit) == list("acbed")


def test_aliases_make_the_entry_of_their_node() -> None:
    edit = graph_edit([triple("A", "r", "B")])
    graph_renames.write_aliases(edit, "A", [])
    assert not edit.can_undo
    graph_renames.write_aliases(edit, "A", ["alpha"])
    graph_renames.write_aliases(edit, "A", ["alpha", "al"])
    assert edit.items(ops.NODES) == [node("A", "alpha", "al")]
    assert graph_renames.node_index(edit, "A") == 0


def test_a_new_triple_has_the_stage_of_the_one_above() -> None:
    assert graph_ops.new_triple(triple("x", stage=4))["stage"] == 4
    assert graph_ops.new_triple(None)["stage"] is None
