from __future__ import annotations

import pytest

from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.graph_view import GraphFilter, GraphView, parse_filter
from graph_tasks import graph_edit, triple


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", GraphFilter()),
        ("Grand hotel", GraphFilter(("grand", "hotel"))),
        ("stage:3 no:source x", GraphFilter(("x",), stage=3, unsourced=True)),
        ("stage:- problem", GraphFilter(stage=0, problems=True)),
        ("阶段：2 无来源", GraphFilter(stage=2, unsourced=True)),
        ("=Milan Fair", GraphFilter(entity="Milan Fair")),
        ("won =Milan Fair", GraphFilter(("won",), entity="Milan Fair")),
    ],
)
def test_what_is_typed_as_a_filter(text: str, wanted: GraphFilter) -> None:
    assert parse_filter(text) == wanted


def viewed(filter_text: str, triples, **more) -> list[int]:
    view = GraphView()
    view.filter = parse_filter(filter_text)
    view.apply(triples, **more)
    return list(view.rows)


def test_each_filter_finds_its_triples() -> None:
    triples = [
        triple("Milan", "hosted", "Fair", stage=1, sources=["https://a.org/Milan"]),
        triple("Turin", "hosted", "Expo", stage=2, note="near Milan"),
        triple("水运仪象台", "建造者", "苏颂"),
    ]
    assert viewed("milan", triples) == [0, 1]
    assert viewed("HOSTED expo", triples) == [1]
    assert viewed("a.org", triples) == [0]
    assert viewed("苏", triples) == [2]
    assert viewed("stage:2", triples) == [1]
    assert viewed("stage:-", triples) == [2]
    assert viewed("no:source", triples) == [1, 2]
    assert viewed("=Expo", triples) == [1]
    assert viewed("problem", triples, problems={2}) == [2]
    assert viewed("", triples) == [0, 1, 2]


def test_sorting_turns_round_and_ends() -> None:
    triples = [triple("b", stage=2), triple("A", stage=None), triple("c", stage=1)]
    view = GraphView()
    seen = []
    for _ in range(3):
        view.sort_by("head")
        view.apply(triples)
        seen.append(list(view.rows))
    assert seen == [[1, 0, 2], [2, 0, 1], [0, 1, 2]]
    view.sort_by("stage")
    view.apply(triples)
    assert list(view.rows) == [1, 2, 0]
    assert (view.row(2), view.indices({0, 2})) == (1, [0, 1])


def test_a_row_that_is_typed_stays_where_it_is() -> None:
    edit = graph_edit([triple("b"), triple("a"), triple("x"), triple("ab")])
    view = GraphView()
    view.filter = parse_filter("b")
    view.sort_by("head")
    view.apply(edit.items(ops.TRIPLES))
    assert list(view.rows) == [3, 0]
    graph_ops.write_text(edit, 3, "head", "zzz")
    view.follow(edit.items(ops.TRIPLES))
    assert list(view.rows) == [3, 0]
    graph_ops.insert_triples(edit, 1, [triple("")])
    view.follow(edit.items(ops.TRIPLES))
    assert list(view.rows) == [4, 0, 1]
    edit.delete((*ops.TRIPLES, 0))
    view.follow(edit.items(ops.TRIPLES))
    assert list(view.rows) == [3, 0]
    view.apply(edit.items(ops.TRIPLES))
    assert list(view.rows) == []


def test_a_view_of_everything_costs_nothing_per_row() -> None:
    edit = graph_edit([triple("a")])
    view = GraphView()
    view.apply(edit.items(ops.TRIPLES))
    graph_ops.insert_triples(edit, 1, [triple("b"), triple("c")])
    view.follow(edit.items(ops.TRIPLES))
    assert view.rows == range(3)
    assert view.row(3) is None
