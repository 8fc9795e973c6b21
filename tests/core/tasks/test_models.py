from __future__ import annotations

import pytest
from hypothesis import given, settings
from pydantic import ValidationError

import strategies
from budget import examples
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task, content_hash


def graph_task(**changes: object) -> Task:
    base: dict[str, object] = {
        "id": "t",
        "title": "T",
        "language": "en",
        "query": "full",
        "gold": Graph(triples=(Triple(head="a", relation="r", tail="b"),)),
    }
    return Task.model_validate(base | changes)


PERSONA = Persona(
    identity="me",
    initial_query="vague",
    stages=(Stage(title="s", cue=Cue(kind=CueKind.START, text="now"), line="hi"),),
)


def test_models_are_frozen_and_refuse_unknown_fields() -> None:
    task = graph_task()
    with pytest.raises(ValidationError):
        task.title = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        graph_task(titel="x")


def test_opening_is_what_the_user_says_first() -> None:
    assert graph_task().opening == "full"
    assert graph_task(persona=PERSONA).opening == "vague"
    chain = CheckpointChain.model_validate(
        {"opening": "which?", "steps": [{"question": "q", "target": "t"}], "final_answer": "t"}
    )
    assert graph_task(gold=chain).opening == "which?"
    assert graph_task(gold=chain, persona=PERSONA).opening == "vague"


def test_family_follows_the_gold_and_stages_the_persona() -> None:
    task = graph_task(persona=PERSONA)
    assert task.family == "graph"
    assert task.stages == PERSONA.stages
    assert graph_task().stages == ()


@pytest.mark.parametrize("bad", ["", "a b", "a/b", "../x", "x" * 121, "a\n", "ü:"])
def test_ids_are_safe_as_file_names(bad: str) -> None:
    with pytest.raises(ValidationError):
        graph_task(id=bad)


@pytest.mark.parametrize("good", ["a", "ws_en_001", "中文-1", "a.b"])
def test_ids_may_be_in_any_script(good: str) -> None:
    assert graph_task(id=good).id == good


def test_triples_name_only_stages_that_exist() -> None:
    gold = Graph(triples=(Triple(head="a", relation="r", tail="b", stage=1),))
    assert graph_task(gold=gold, persona=PERSONA).gold == gold
    with pytest.raises(ValidationError, match="the persona has 0 stages, not 1"):
        graph_task(gold=gold)


def test_graph_names_listed_and_implied_nodes() -> None:
    graph = Graph(
        nodes=(Node(id="n1", name="Ada", aliases=("A. L.",)), Node(id="lone")),
        triples=(Triple(head="n1", relation="knows", tail="Babbage"),),
    )
    assert graph.node_ids == ("n1", "lone", "Babbage")
    assert graph.name_of("n1") == "Ada"
    assert graph.name_of("lone") == "lone"
    assert graph.names_of("n1") == ("Ada", "A. L.")
    assert graph.names_of("Babbage") == ("Babbage",)
    assert graph.named(graph.triples[0]) == ("Ada", "knows", "Babbage")
    with pytest.raises(ValidationError, match="listed twice"):
        Graph(nodes=(Node(id="x"), Node(id="x")), triples=graph.triples)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rows": [["1"]]}, r"rows\[0\]: has 1 cell, not 2"),
        ({"unique_columns": ["C"]}, r"unique_columns\[0\]: 'C' is not a column"),
        ({"columns": [{"name": "A"}, {"name": "A"}]}, r"columns\[1\]\.name: 'A' is listed twice"),
        ({"rows": []}, "at least 1"),
        ({"columns": [{"name": "A", "metric": ["magic"]}, {"name": "B"}]}, "metric"),
    ],
)
def test_tables_are_consistent(change: dict[str, object], reason: str) -> None:
    base: dict[str, object] = {
        "columns": [{"name": "A"}, {"name": "B"}],
        "unique_columns": ["B"],
        "rows": [["1", "2"]],
    }
    table = Table.model_validate(base)
    assert table.key_of(table.rows[0]) == ("2",)
    with pytest.raises(ValidationError, match=reason):
        Table.model_validate(base | change)


def test_fact_keys_are_unique() -> None:
    fact = {"key": "k", "value": "v"}
    with pytest.raises(ValidationError, match=r"facts\[1\]\.key: 'k' is listed twice"):
        FactWorld.model_validate({"facts": [fact, fact], "answer": "v"})


def test_urls_are_web_addresses() -> None:
    for bad in ("example.org", "javascript://x", "https://", "https://a b"):
        with pytest.raises(ValidationError):
            Triple(head="a", relation="r", tail="b", sources=(bad,))


@settings(max_examples=examples(15), deadline=None)
@given(strategies.tasks())
def test_the_hash_follows_the_content_alone(task: Task) -> None:
    copy = Task.model_validate_json(task.model_dump_json())
    assert copy == task
    assert content_hash(copy) == content_hash(task)
    assert len(content_hash(task)) == 64
    assert content_hash(task.model_copy(update={"title": task.title + "!"})) != content_hash(task)
