"""What of two golds is the same, whatever its place; and what of a judgement still holds."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.judges.lexical import judge_lexically
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.rescoring import GoldChange, carry, changes_in_play, item_changes
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.verdicts import Decision, TableMatch


def task_with(gold: Graph | Table | CheckpointChain | FactWorld, **more: object) -> Task:
    data: dict[str, object] = {"id": "t", "title": "T", "language": "en", "query": "Which?"}
    return Task.model_validate({**data, **more, "gold": gold})


def graph(*lines: str, nodes: tuple[Node, ...] = ()) -> Task:
    triples = tuple(Triple(head=h, relation=r, tail=t) for h, r, t in map(str.split, lines))
    return task_with(Graph(nodes=nodes, triples=triples))


def table(*rows: str, metric: tuple[str, ...] = ("exact_match",)) -> Task:
    columns = (Column(name="City"), Column.model_validate({"name": "Size", "metric": metric}))
    more = (Column(name="Year"),)
    return task_with(
        Table(
            columns=columns + more,
            unique_columns=("City",),
            rows=tuple(tuple(row.split()) for row in rows),
        )
    )


def told(old: Task, new: Task) -> list[str]:
    """`changed triple/1 -> triple/0` for whatever is not the same."""
    return [
        f"{c.fate} {c.old.key if c.old else '-'} -> {c.new.key if c.new else '-'}"
        for c in item_changes(old, new)
        if c.fate is not GoldChange.SAME
    ]


def test_triples_are_the_same_by_what_they_say_and_not_by_place():
    old = graph("a r b", "c r d", "e r f", "a r b")
    assert told(old, graph("e r f", "a r b", "c r d", "a r b")) == []
    # A double that is gone was one of two; a new tail is a change of the nearest; the rest is new.
    assert told(old, graph("e r f", "a r b", "c r X", "y s z")) == [
        "changed triple/1 -> triple/2",
        "added - -> triple/3",
        "removed triple/3 -> -",
    ]
    # Names count, not ids; another alias is another question.
    named = graph("x r b", "c r d", nodes=(Node(id="x", name="a", aliases=("A", "aa")),))
    other = graph("n r b", "c r d", nodes=(Node(id="n", name="a", aliases=("aa", "A")),))
    assert told(named, other) == []
    assert told(named, graph("a r b", "c r d")) == ["changed triple/0 -> triple/0"]


def test_cells_are_the_same_by_row_key_and_column_under_the_same_rules():
    old = table("Paris 1 9", "Rome 2 8")
    assert told(old, table("rome 2 8", "Paris 1 9")) == ["changed cell/1/City -> cell/0/City"]
    assert told(old, table("Paris 1 7", "Bonn 2 8")) == [
        "changed cell/0/Year -> cell/0/Year",
        *(f"added - -> cell/1/{name}" for name in ("City", "Size", "Year")),
        *(f"removed cell/1/{name} -> -" for name in ("City", "Size", "Year")),
    ]
    assert told(old, table("Paris 1 9", "Rome 2 8", metric=("number_near",))) == [
        "changed cell/0/Size -> cell/0/Size",
        "changed cell/1/Size -> cell/1/Size",
    ]


def test_what_the_user_part_and_the_world_play_from_would_have_led_elsewhere():
    fact = Fact(key="price", value="10")
    world = task_with(FactWorld(facts=(fact,), answer="12", derivation="sum"))
    noted = FactWorld(facts=(fact,), answer="13", answer_aliases=("13 euros",))
    assert changes_in_play(world, world.model_copy(update={"gold": noted, "title": "U"})) == ()
    assert told(world, world.model_copy(update={"gold": noted})) == ["changed answer/0 -> answer/0"]
    other = FactWorld(facts=(Fact(key="price", value="11"),), answer="12")
    assert changes_in_play(world, world.model_copy(update={"gold": other})) == (
        "the facts of the world",
    )
    steps = (Checkpoint(question="Which?", target="it"),)
    chain = task_with(CheckpointChain(opening="Q", steps=steps, final_answer="x"))
    renamed = chain.gold.model_copy(update={"final_answer": "y"})
    assert changes_in_play(chain, chain.model_copy(update={"gold": renamed})) == ()
    again = (Checkpoint(question="Which?", target="that"),)
    moved = chain.gold.model_copy(update={"steps": again, "opening": "R"})
    assert changes_in_play(chain, chain.model_copy(update={"gold": moved, "query": "Why?"})) == (
        "the query",
        "the opening question",
        "the checkpoints",
    )


def assert_as_fresh(old: Task, new: Task, prediction: Prediction) -> int:
    """What is carried over and asked in parts equals judging the whole. Returns how many items were asked."""
    before = judge_lexically(old, prediction)
    part = carry(old, new, prediction, before)
    asked = part.asked
    judged = judge_lexically(asked.task, asked.prediction) if asked else None
    stamps = {"revision_hash": content_hash(new), "trial_hash": "h"}
    fresh = judge_lexically(new, prediction).model_copy(update=stamps)
    found = part.composed(before, judged, **stamps)
    assert [v.model_dump() for v in found.verdicts] == [v.model_dump() for v in fresh.verdicts]
    assert found == fresh
    return len(part.open)


NAMES = st.sampled_from(["ant", "bee", "cat", "dog", "eel"])
RELATIONS = st.sampled_from(["born in", "capital of", "part of"])
SAID = st.lists(st.tuples(NAMES, RELATIONS, NAMES), min_size=1, max_size=6)


@given(SAID, SAID, SAID)
@settings(max_examples=examples(30), deadline=None)
def test_a_graph_carried_over_is_judged_as_if_anew(old, new, found):
    def of(lines):
        return task_with(
            Graph(triples=tuple(Triple(head=h, relation=r, tail=t) for h, r, t in lines))
        )

    triples = tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in found)
    # Names that only one revision has are told apart by letters there: keep all of them in both.
    rest = [(name, "is", name) for name in ("ant", "bee", "cat", "dog", "eel")]
    asked = assert_as_fresh(of(old + rest), of(new + rest), TriplesPrediction(triples=triples))
    assert asked <= len(new)


@given(st.randoms(use_true_random=False))
@settings(max_examples=examples(30), deadline=None)
def test_a_table_carried_over_is_judged_as_if_anew(rng: random.Random):
    def rows() -> list[str]:
        cities = rng.sample(["Paris", "Rome", "Bonn", "Oslo", "Riga"], rng.randint(1, 5))
        return [f"{city} {rng.randint(1, 2)} {rng.randint(1, 2)}" for city in cities]

    found = tuple(tuple(row.split()) for row in rows())
    prediction = TablePrediction(
        columns=("Year", "City", "size"),
        rows=tuple((year, city, size) for city, size, year in found),
    )
    assert_as_fresh(table(*rows()), table(*rows()), prediction)


def test_a_corrected_cell_is_asked_alone_and_a_table_of_no_use_not_at_all():
    old, new = table("Paris 1 9", "Rome 2 8"), table("Rome 2 8", "Paris 1 7")
    good = TablePrediction(
        columns=("City", "Size", "Year"), rows=(("Paris", "5", "7"), ("Rome", "2", "8"))
    )
    assert assert_as_fresh(old, new, good) == 1
    part = carry(old, new, good, judge_lexically(old, good))
    assert part.asked is not None
    assert isinstance(part.asked.prediction, TablePrediction)
    # Gold's own words stand wherever nothing is asked.
    assert part.asked.prediction.rows == (("Paris", "1", "7"),)
    assert part.table == TableMatch(usable=True, predicted_rows=2, joined=((0, 1), (1, 0)))
    short = TablePrediction(columns=("City",), rows=(("Paris",),))
    added = table("Paris 1 9", "Rome 2 8", "Bonn 3 3")
    assert assert_as_fresh(old, added, short) == 0
    assert assert_as_fresh(old, added, UnusablePrediction(reason="none")) == 0
    # Other rules for a column: its cells, and no others.
    near = table("Paris 1 9", "Rome 2 8", metric=("number_near",))
    assert assert_as_fresh(old, near, good) == 2
    # Columns that the judge had paired by similarity: nothing says which, so all of it.
    loose = TablePrediction(columns=("City", "Sizes", "Year"), rows=(("Paris", "1", "9"),))
    assert assert_as_fresh(old, new, loose) == 6


def test_what_was_left_open_is_asked_whatever_gold_says():
    old = graph("a r b", "c r d")
    prediction = TriplesPrediction(triples=(PredictedTriple(head="a", relation="r", tail="b"),))
    before = judge_lexically(old, prediction)
    first, second = before.verdicts
    unsure = second.model_copy(update={"decision": Decision.UNJUDGED})
    part = carry(old, old, prediction, before.model_copy(update={"verdicts": (first, unsure)}))
    assert [item.key for item in part.open] == ["triple/1"]
    assert list(part.kept) == ["triple/0"]
    assert len(carry(old, old, prediction, None).open) == 2


def test_answers_are_asked_again_when_their_names_change():
    old = task_with(
        FactWorld(facts=(Fact(key="k", value="v"),), answer="12", answer_aliases=("a", "b"))
    )
    same = old.gold.model_copy(update={"answer_aliases": ("b", "a")})
    answer = AnswerPrediction(answer="twelve")
    assert assert_as_fresh(old, old.model_copy(update={"gold": same}), answer) == 0
    more = old.gold.model_copy(update={"answer_aliases": ("a", "b", "twelve")})
    assert assert_as_fresh(old, old.model_copy(update={"gold": more}), answer) == 1
