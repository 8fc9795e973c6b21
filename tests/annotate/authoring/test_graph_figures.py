from __future__ import annotations

from cuecard.annotate.authoring.graph_view import TripleIndex, depth, figures
from graph_tasks import node, triple


def out(*arrows: str) -> dict[str, list[str]]:
    edges: dict[str, list[str]] = {}
    for head, tail in arrows:
        edges.setdefault(head, []).append(tail)
        edges.setdefault(tail, [])
    return edges


def test_depth_is_the_longest_of_the_shortest_ways_from_a_root() -> None:
    assert depth({}) == 0
    assert depth(out("ab", "bc", "cd")) == 3
    assert depth(out("ab", "bc", "ac")) == 1
    assert depth(out("ab", "xc", "bc")) == 1
    assert depth(out("ab", "bc", "cb")) == 2
    assert depth(out("ab", "bc", "ca")) == 2
    assert depth(out("aa")) == 0


def test_figures_of_a_small_graph() -> None:
    found = figures(
        [
            triple("a", "r", "b", stage=1, sources=["https://a.org"]),
            triple("b", "s", "c", stage=1),
            triple("x", "r", "y", stage=2),
            triple("z", "r", ""),
        ],
        [node("a"), node("q")],
    )
    assert (found.nodes, found.triples, found.relations, found.depth) == (6, 4, 2, 2)
    assert (found.sourced, found.components, found.incomplete) == (1, 2, 1)
    assert (found.loose, found.unused) == (("x", "y"), ("q",))
    assert (found.stages, found.without_stage) == ({1: 2, 2: 1}, 1)
    assert figures([]).triples == 0


def test_a_neighbourhood_goes_both_ways_and_ends_where_it_was() -> None:
    triples = [
        triple("a", "r", "b"),
        triple("c", "s", "a"),
        triple("b", "t", "a"),
        triple("b", "u", "d"),
    ]
    around = TripleIndex(triples).around("a")
    assert [(b.entity, b.inward, b.relation) for b in around.branches] == [
        ("b", False, "r"),
        ("c", True, "s"),
        ("b", True, "t"),
    ]
    assert [(b.entity, b.again) for b in around.branches[0].branches] == [("a", True), ("d", False)]
    assert around.branches[2].again
    assert TripleIndex(triples).degree("a") == 3


def test_an_entity_with_very_many_triples_shows_some() -> None:
    triples = [triple("hub", "r", f"n{i}") for i in range(500)]
    around = TripleIndex(triples).around("hub", most=40)
    assert (len(around.branches), around.hidden) == (40, 460)
