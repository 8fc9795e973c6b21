"""What stands in the cells of the tabs of triples and nodes, without an app."""

from __future__ import annotations

import pytest

from cuecard.annotate.authoring import ops
from cuecard.tui.screens.task.graph_entities import ALIASES, NAME, NodeRows
from cuecard.tui.screens.task.graph_rows import HEAD, RELATION, STAGE, TAIL, TripleRows, stage_of
from graph_tasks import graph_edit, node, triple


def rows_of(*triples, nodes=()) -> TripleRows:
    rows = TripleRows()
    rows.load(graph_edit(list(triples), list(nodes)))
    return rows


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("", (True, None)),
        ("-", (True, None)),
        ("3", (True, 3)),
        ("12 Milk", (True, 12)),
        ("0", (False, None)),
        ("x", (False, None)),
        ("3x", (False, None)),
    ],
)
def test_what_may_be_typed_as_a_stage(text: str, known: tuple[bool, int | None]) -> None:
    assert stage_of(text) == known


def test_cells_are_typed_and_what_cannot_stand_there_is_not_written() -> None:
    rows = rows_of(triple("a", "r", "b", stage=2))
    assert rows.write(0, STAGE, "soon") is False
    assert rows.text(0, STAGE) == "2"
    assert rows.write(0, STAGE, "1 Opening")
    assert rows.write(0, TAIL, "水")
    assert (rows.text(0, STAGE), rows.text(0, TAIL)) == ("1", "水")
    assert rows.hint(0, STAGE, "9")
    assert rows.hint(0, STAGE, "x")
    assert rows.hint(0, STAGE, "1") == ""
    while rows.edit.undo():
        pass
    assert rows.triples == [triple("a", "r", "b", stage=2)]


def test_a_hint_names_the_triple_and_the_name_that_are_like_it() -> None:
    rows = rows_of(
        triple("Milan", "hosted", "Fair"),
        triple("", "hosted", "Fair"),
        triple("Turin", "in", "Italy"),
    )
    assert "1" in rows.hint(1, HEAD, "milan")
    assert "Turin" in rows.hint(1, HEAD, "Turni")
    assert rows.hint(1, HEAD, "Rome") == ""
    assert rows.hint(0, HEAD, "Milan") == ""
    assert rows.hint(2, RELATION, "in") == ""


def test_the_same_triple_twice_is_marked_until_one_differs() -> None:
    rows = rows_of(triple("a", "r", "b"), triple("A", "r", "b"))
    assert rows.gutter(1).text == "="
    assert rows.said_of(1)
    rows.write(1, HEAD, "c")
    rows.follow()
    assert rows.gutter(0).text == rows.gutter(1).text == ""
    rows.problems = {0: ("error", "no tail")}
    assert (rows.gutter(0).tone, rows.said_of(0)) == ("bad", "no tail")


def test_nodes_keep_their_rows_while_they_are_typed_and_renamed() -> None:
    graph = rows_of(triple("a", "r", "b"), triple("c", "r", "b"), nodes=[node("c"), node("")])
    nodes = NodeRows()
    nodes.load(graph.edit, graph.index)
    assert [row.name for row in nodes.rows] == ["c", "", "a", "b"]
    nodes.write(2, ALIASES, "alpha | al")
    graph.follow()
    nodes.follow(graph.edit, graph.index)
    assert [row.name for row in nodes.rows] == ["c", "", "a", "b"]
    assert nodes.rows[2].aliases == ("alpha", "al")
    nodes.write(2, ALIASES, "alpha")
    assert nodes.follow_entry(graph.edit, 2)
    assert nodes.rows[2].aliases == ("alpha",)
    assert not nodes.follow_entry(graph.edit, 9)
    nodes.write(1, NAME, "new")
    graph.follow()
    nodes.follow(graph.edit, graph.index)
    assert [row.name for row in nodes.rows] == ["c", "new", "a", "b"]
    graph.edit.set((*ops.TRIPLES, 0, "tail"), "z")
    graph.edit.set((*ops.TRIPLES, 1, "tail"), "z")
    graph.follow()
    nodes.follow(graph.edit, graph.index, ("b", "z"))
    assert [row.name for row in nodes.rows] == ["c", "new", "a", "z"]
