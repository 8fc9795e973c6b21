from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.diff import alike, list_diff
from cuecard.annotate.authoring.graph_names import GraphIndex, SimilarTriple
from graph_tasks import graph_edit, node, triple


def index_of(triples, nodes=None) -> GraphIndex:
    index = GraphIndex()
    index.refresh(graph_edit(triples, nodes))
    return index


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Keio University", "keio university"),
        ("Ｋｅｉｏ　University", "Keio University"),
        ("Keio University", "Keio Univeristy"),
        ("Keio Univ.", "Keio University"),
        ("São Paulo", "Sao Paulo"),
        ("Grand-Hotel Ligure", "Grand Hotel Ligure"),
        ("水运仪象台", "水運仪象台"),
        ("《大明历》", "大明历"),
    ],
)
def test_names_that_probably_mean_the_same(one: str, other: str) -> None:
    assert alike(one, other)
    assert alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Apollo 11", "Apollo 12"),
        ("1901", "1902"),
        ("张三", "张四"),
        ("Milan", "Turin"),
        ("cat", "car"),
        ("", "x"),
        ("Milan", "Milan Fair"),
    ],
)
def test_names_that_do_not(one: str, other: str) -> None:
    assert not alike(one, other)


def test_what_begins_so_comes_before_what_contains_it_before_what_is_similar() -> None:
    index = index_of(
        [
            triple("Turin", "in", "Italy"),
            triple("Grand Turin Hotel", "in", "Turin"),
            triple("Tourin Road", "in", "Turin"),
            triple("观象台", "位于", "水运仪象台"),
        ],
        [node("Milan", "Milano", "米兰")],
    )
    assert index.candidates("entity", "turin") == ["Turin", "Grand Turin Hotel"]
    assert index.candidates("entity", "torin") == ["Turin"]
    assert index.candidates("entity", "tur") == ["Turin", "Grand Turin Hotel"]
    assert index.candidates("entity", "米") == ["Milan"]
    assert index.candidates("entity", "水运") == ["水运仪象台"]
    assert "水运仪象台" in index.candidates("entity", "象台")
    assert index.candidates("relation", "i") == ["in"]
    assert index.candidates("entity", "")[0] == "Turin"
    assert "Turin" not in index.candidates("entity", "Turin")


def test_a_name_that_is_being_typed_is_not_like_itself() -> None:
    index = index_of([triple("Keio Univ", "in", "Tokyo"), triple("Keio University", "in", "Tokyo")])
    assert index.near("entity", "Keio Univ", besides=0) == ["Keio University"]
    assert index.near("entity", "Keio University", besides=1) == ["Keio Univ"]
    assert index.uses("entity", "Keio Univ", besides=0) == 0
    assert index.uses("entity", "Tokyo", besides=0) == 1
    alone = index_of([triple("Keio Univ", "in", "Tokyo")])
    assert alone.near("entity", "Keio University", besides=0) == []


def test_an_alias_is_near_its_node() -> None:
    index = index_of([triple("Milan", "in", "Italy")], [node("Milan", "Milano")])
    assert index.near("entity", "MILANO") == ["Milan"]


def test_the_same_and_nearly_the_same_triples_are_found() -> None:
    index = index_of(
        [
            triple("Milan", "capital of", "Lombardy"),
            triple("Milan", "hosted", "Fair of 1906"),
            triple("水运仪象台", "建造者", "苏颂"),
        ],
        [node("Milan", "Milano")],
    )
    assert index.like(triple("Milano", "Capital of", "lombardy")) == SimilarTriple(0, "same")
    assert index.like(triple("Milan", "capitol of", "Lombardy")) == SimilarTriple(0, "near")
    assert index.like(triple("Milan", "hosted", "Fair of 1907")) is None
    assert index.like(triple("水运仪象台", "建造者", "苏颂"), besides=2) is None
    assert index.like(triple("水运仪象台", "建造者", "苏頌")) is None
    assert index.like(triple("", "", "")) is None


def test_the_index_follows_any_edit_as_if_made_anew() -> None:
    names = ["A one", "B two", "c", "线", ""]

    @settings(max_examples=examples(30), deadline=None)
    @given(st.integers(0, 2**32))
    def check(seed: int) -> None:
        rng = random.Random(seed)

        def some():
            return triple(rng.choice(names), rng.choice("rs"), rng.choice(names))

        edit = graph_edit([some() for _ in range(6)])
        index = GraphIndex()
        for _ in range(12):
            index.refresh(edit)
            count = len(edit.items(ops.TRIPLES))
            match rng.randrange(5):
                case 0:
                    edit.insert(ops.TRIPLES, rng.randint(0, count), some())
                case 1 if count:
                    edit.delete((*ops.TRIPLES, rng.randrange(count)))
                case 2 if count:
                    edit.set((*ops.TRIPLES, rng.randrange(count), "head"), rng.choice(names))
                case 3:
                    edit.arrange(ops.TRIPLES, rng.sample(edit.items(ops.TRIPLES), count))
                case _:
                    edit.undo()
            index.refresh(edit)
            anew = GraphIndex()
            anew.refresh(edit)
            assert (index.entities, index.relations) == (anew.entities, anew.relations)
            assert [index.repeated(i) for i in range(len(edit.items(ops.TRIPLES)))] == [
                anew.repeated(i) for i in range(len(edit.items(ops.TRIPLES)))
            ]

    check()


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_a_list_diff_leads_from_the_old_list_to_the_new(old: list[int], new: list[int]) -> None:
    diff = list_diff(old, new)
    if diff is None:
        assert old == new
    else:
        start, old_end, new_end = diff
        assert [*old[:start], *new[start:new_end], *old[old_end:]] == new
