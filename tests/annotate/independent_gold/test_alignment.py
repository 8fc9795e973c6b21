"""Two golds side by side: what agrees, whatever the order; what is decided gives the gold."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.independent_gold.comparison import adjudicated, agreement_of, align, pooled
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Level,
    Take,
    best_assignment,
    undecided,
)
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.yaml_io import load_task


def all_of(alignment: Alignment, side: Take) -> dict[str, Take]:
    """All elements decided for one side, as far as possible."""
    settled = ((element.key, element.settled(side)) for element in alignment.elements)
    return {key: take for key, take in settled if take is not None}


NAMES = ("Crab Nebula", "SN 1054", "Zhang Heng", "岁差", "1054", "Messier 1", "London", "M1")
RELATIONS = ("remnant of", "discovered by", "located in", "year", "发现者")
triples = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(RELATIONS), st.sampled_from(NAMES)),
    min_size=1,
    max_size=7,
)
rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(("1", "1.0", "2"))), min_size=1, max_size=5
)


def graph(*said: tuple[str, str, str], aliases: dict[str, list[str]] | None = None) -> Graph:
    return Graph.model_validate(
        {
            "nodes": [{"id": node, "aliases": names} for node, names in (aliases or {}).items()],
            "triples": [{"head": h, "relation": r, "tail": t} for h, r, t in said],
        }
    )


def table(*said: tuple[str, ...], columns: tuple[str, ...] = ("State", "Year")) -> Table:
    return Table.model_validate(
        {
            "columns": [{"name": name} for name in columns],
            "unique_columns": columns[:1],
            "rows": said,
        }
    )


def chain(*targets: str, answer: str = "Oslo") -> CheckpointChain:
    steps = [{"question": f"Question {n}?", "target": name} for n, name in enumerate(targets)]
    return CheckpointChain.model_validate(
        {"opening": "What?", "steps": steps, "final_answer": answer}
    )


def counts(found: Alignment) -> list[tuple[str, int, int, int]]:
    return [(level.name, level.matched, level.author, level.second) for level in found.levels]


def swapped(found: Alignment) -> list[tuple[str, int, int, int]]:
    return [(level.name, level.matched, level.second, level.author) for level in found.levels]


def said_in(gold: Gold) -> list[tuple[str, ...]]:
    match gold:
        case Graph():
            return sorted(gold.named(triple) for triple in gold.triples)
        case Table():
            return sorted(gold.rows)
        case _:
            raise AssertionError


@pytest.mark.parametrize("gold", [name for name in SHIPPED if ANNOTATE[name].independent])
def test_a_gold_agrees_with_itself_and_either_side_of_it_is_the_gold(
    gold: str, sample_dir: Path
) -> None:
    for file in sample_dir.glob("*.yaml"):
        task = load_task(file)
        if task.family != gold:
            continue
        found = align(task.gold, task.gold)
        agreement = agreement_of(found.levels)
        assert {level.f1.value for level in agreement.levels} <= {1.0, None}
        assert not undecided(found, {})
        for side in ("author", "second"):
            made = adjudicated(task.gold, task.gold, found, all_of(found, side))
            assert made == task.gold.model_dump(mode="json")


@settings(max_examples=examples(40), deadline=None)
@given(triples, triples, st.randoms(use_true_random=False))
def test_graphs_agree_alike_from_both_sides_and_in_any_order(
    mine: list[tuple[str, str, str]], theirs: list[tuple[str, str, str]], rng: random.Random
) -> None:
    author, second = graph(*mine, aliases={"SN 1054": ["Crab supernova"]}), graph(*theirs)
    found = align(author, second)
    assert swapped(align(second, author)) == counts(found)
    rng.shuffle(mine)
    rng.shuffle(theirs)
    again = align(graph(*mine, aliases={"SN 1054": ["Crab supernova"]}), graph(*theirs))
    assert counts(again) == counts(found)
    assert sorted(e.key for e in again.elements) == sorted(e.key for e in found.elements)
    for _name, matched, size, other in counts(found):
        assert 0 <= matched <= min(size, other)


@settings(max_examples=examples(40), deadline=None)
@given(triples, triples)
def test_taking_all_of_one_side_gives_that_graph(
    mine: list[tuple[str, str, str]], theirs: list[tuple[str, str, str]]
) -> None:
    author, second = graph(*mine), graph(*theirs)
    found = align(author, second)
    made = adjudicated(author, second, found, all_of(found, "author"))
    assert made == author.model_dump(mode="json")
    other = Graph.model_validate(adjudicated(author, second, found, all_of(found, "second")))
    assert said_in(other) == said_in(second)


@settings(max_examples=examples(40), deadline=None)
@given(rows, rows, st.randoms(use_true_random=False))
def test_tables_agree_alike_from_both_sides_and_in_any_order(
    mine: list[tuple[str, str]], theirs: list[tuple[str, str]], rng: random.Random
) -> None:
    author, second = table(*mine), table(*theirs)
    found = align(author, second)
    assert swapped(align(second, author)) == counts(found)
    made = adjudicated(author, second, found, all_of(found, "author"))
    assert made == author.model_dump(mode="json")
    other = Table.model_validate(adjudicated(author, second, found, all_of(found, "second")))
    assert all(level.matched == level.second for level in align(other, second).levels)
    assert len(other.rows) == len(second.rows)
    rng.shuffle(mine)
    rng.shuffle(theirs)
    assert counts(align(table(*mine), table(*theirs))) == counts(found)


def test_triples_agree_by_alias_by_meaning_and_from_the_other_end() -> None:
    author = graph(
        ("Crab Nebula", "remnant of", "SN 1054"),
        ("Galileo", "discovered", "Europa"),
        ("SN 1054", "seen in", "1054"),
        aliases={"Crab Nebula": ["M1", "Messier 1"]},
    )
    second = graph(
        ("Messier 1", "is the remnant of", "SN 1054"),
        ("Europa", "discovered by", "Galileo"),
        ("SN 1054", "seen in", "4 July 1054"),
        aliases={"Messier 1": ["NGC 1952"], "SN 1054": []},
    )
    found = align(author, second)
    assert [(e.status, e.why) for e in found.elements if e.kind == "triple"] == [
        ("agreed", ""),
        ("agreed", "told from the other end"),
        ("differ", "another tail"),
    ]
    node = next(e for e in found.elements if e.kind == "node")
    assert (node.status, node.takes) == ("differ", ("author", "second", "both"))
    both = Graph.model_validate(adjudicated(author, second, found, all_of(found, "both")))
    assert both.names_of("Crab Nebula") == ("Crab Nebula", "M1", "Messier 1", "NGC 1952")
    theirs = Graph.model_validate(adjudicated(author, second, found, all_of(found, "second")))
    assert theirs.names_of("Crab Nebula") == ("Messier 1", "NGC 1952")
    agreement = agreement_of(found.levels)
    level = agreement.of("triple")
    assert level is not None
    assert level.precision.value == pytest.approx(2 / 3)
    assert (level.precision.n, level.recall.n, level.f1.n) == (3, 3, 6)
    assert agreement.kappa.value is None
    assert "left out" in agreement.kappa.reason


def test_of_many_tails_only_those_that_look_alike_are_one_told_differently() -> None:
    author = graph(*(("Jupiter", "has moon", name) for name in ("Io", "Ganymede", "Europa")))
    second = graph(*(("Jupiter", "has moon", name) for name in ("Callisto", "Ganimed")))
    found = align(author, second)
    assert found.by_status() == {"author": 2, "second": 1, "differ": 1}


def test_both_keeps_the_sources_of_what_agrees_and_both_of_what_differs() -> None:
    author = Graph.model_validate(
        {
            "triples": [
                {"head": "A", "relation": "year", "tail": "1900", "stage": 1, "note": "why",
                 "sources": ["https://a.example"]},
                {"head": "B", "relation": "colour", "tail": "red"},
            ]
        }
    )  # fmt: skip
    second = Graph.model_validate(
        {
            "triples": [
                {"head": "A", "relation": "year", "tail": "1900", "sources": ["https://b.example"]},
                {"head": "B", "relation": "colour", "tail": "blue"},
                {"head": "C", "relation": "colour", "tail": "green"},
            ]
        }
    )
    found = align(author, second)
    assert [e.status for e in found.elements] == ["agreed", "differ", "second"]
    made = adjudicated(author, second, found, all_of(found, "both"))
    assert made["triples"][0]["sources"] == ["https://a.example", "https://b.example"]
    assert [t["tail"] for t in made["triples"]] == ["1900", "red", "blue", "green"]
    taken = adjudicated(author, second, found, all_of(found, "second"))
    assert taken["triples"][0]["note"] == "why"
    assert taken["triples"][0]["stage"] == 1
    nothing = adjudicated(author, second, found, all_of(found, "neither"))
    assert nothing["triples"] == []
    with pytest.raises(ValueError, match="decided"):
        adjudicated(author, second, found, {})


def test_a_node_of_the_second_does_not_become_another_of_the_same_id() -> None:
    author = Graph.model_validate(
        {
            "nodes": [{"id": "n1", "name": "Mercury the planet"}],
            "triples": [{"head": "n1", "relation": "orbits", "tail": "Sun"}],
        }
    )
    second = Graph.model_validate(
        {
            "nodes": [{"id": "n1", "name": "Freddie", "aliases": ["F. M."]}],
            "triples": [{"head": "n1", "relation": "sang in", "tail": "Queen"}],
        }
    )
    found = align(author, second)
    made = Graph.model_validate(adjudicated(author, second, found, all_of(found, "both")))
    assert said_in(made) == [
        ("Freddie", "sang in", "Queen"),
        ("Mercury the planet", "orbits", "Sun"),
    ]
    assert made.names_of(made.triples[1].head) == ("Freddie", "F. M.")


def test_rows_join_by_key_and_cells_are_decided_one_by_one() -> None:
    columns = ("State", "Year", "Capital")
    author = table(
        ("Ohio", "1803", "Columbus"), ("Iowa", "1846", "Des Moines"), ("Utah", "1896", "Provo"),
        columns=columns,
    )  # fmt: skip
    second = table(
        ("Columbus", "ohio", "1804"), ("Juneau", "Alaska", "1959"), ("Salt Lake City", "Utah", "1897"),
        columns=("Capital", "State", "Year"),
    )  # fmt: skip
    second = second.model_copy(update={"unique_columns": ("State",)})
    found = align(author, second)
    assert [(e.kind, e.status, e.column) for e in found.elements] == [
        ("cell", "differ", 1),
        ("row", "author", None),
        ("cell", "differ", 1),
        ("cell", "differ", 2),
        ("row", "second", None),
    ]
    assert counts(found) == [("row", 0, 3, 3), ("key", 2, 3, 3), ("cell", 3, 9, 9)]
    takes = all_of(found, "second")
    takes[found.elements[2].key] = "author"
    made = adjudicated(author, second, found, takes)
    assert made["rows"] == [
        ["Ohio", "1804", "Columbus"],
        ["Alaska", "1959", "Juneau"],
        ["Utah", "1896", "Salt Lake City"],
    ]


def test_checkpoints_pair_by_target_then_by_place_and_the_answer_is_decided() -> None:
    author, second = chain("Paris", "1889", "Eiffel"), chain("Paris", "1890", answer="Bergen")
    found = align(author, second)
    assert [(e.kind, e.status) for e in found.elements] == [
        ("step", "agreed"),
        ("step", "differ"),
        ("step", "author"),
        ("answer", "differ"),
    ]
    assert counts(found) == [("step", 1, 3, 2), ("ambiguity", 0, 0, 0), ("answer", 0, 1, 1)]
    ambiguity = agreement_of(found.levels).of("ambiguity")
    assert ambiguity is not None
    assert (ambiguity.f1.value, ambiguity.f1.reason) == (None, "the independent gold has none")
    made = adjudicated(author, second, found, all_of(found, "second"))
    assert [step["target"] for step in made["steps"]] == ["Paris", "1890"]
    assert made["final_answer"] == "Bergen"
    both = adjudicated(author, second, found, all_of(found, "both"))
    assert (both["final_answer"], both["final_aliases"]) == ("Oslo", ["Bergen"])


def test_facts_that_were_given_say_nothing_of_agreement() -> None:
    world = {"facts": [{"key": "a", "value": "7"}], "answer": "8 euros", "derivation": "7 + 1"}
    author = FactWorld.model_validate(world)
    second = FactWorld.model_validate({**world, "answer": "9", "derivation": "7 + 2"})
    found = align(author, second)
    agreement = agreement_of(found.levels)
    assert [(level.level, level.f1.value) for level in agreement.levels] == [
        ("answer", 0.0),
        ("fact", None),
    ]
    made = adjudicated(author, second, found, all_of(found, "second"))
    assert (made["answer"], made["derivation"]) == ("9", "7 + 2")
    with pytest.raises(ValueError, match="family"):
        align(author, table(("a", "1")))


def test_empty_sides_are_undefined_with_a_reason() -> None:
    agreement = agreement_of((Level("row", 0, 3, 0), Level("cell", 0, 0, 4)))
    row, cell = agreement.levels
    assert (row.precision.value, row.recall.value, row.f1.value) == (None, 0.0, None)
    assert "independent" in row.precision.reason
    assert (cell.precision.value, cell.recall.value) == (0.0, None)
    summed = pooled([(Level("row", 1, 2, 2),), (Level("row", 3, 4, 3),)]).levels[0]
    assert (summed.matched, summed.author, summed.second) == (4, 6, 5)
    assert summed.f1.no_interval
    golds = [(Level("row", n, 4, 4),) for n in (1, 2, 3, 4, 4, 4)]
    row = pooled(golds).levels[0]
    assert row.f1.value == row.precision.value == 18 / 24
    assert row.f1.interval is not None
    assert row.f1.interval[0] < 18 / 24 < row.f1.interval[1]


@settings(max_examples=examples(50), deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 50), max_size=14
    )
)
def test_the_assignment_is_the_best_of_all(edges: dict[tuple[int, int], int]) -> None:
    best = (0, 0)
    for order in itertools.permutations(range(5)):
        weights = [edges[pair] for pair in enumerate(order) if pair in edges]
        best = max(best, (len(weights), sum(weights)))
    found = best_assignment({pair: float(weight) for pair, weight in edges.items()})
    assert len(set(found.values())) == len(found)
    assert (len(found), sum(edges[pair] for pair in found.items())) == best
