"""Each rule on the smallest task that breaks it, and on one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard.annotate.lint import CODES, Severity, lint
from cuecard.core.tasks import Task

SOURCES = [{"url": "https://example.org/a"}]
STAGES = [
    {"title": "One", "cue": {"kind": "start", "text": "start"}, "line": "Who built the Tower?"},
    {"title": "Two", "cue": {"kind": "mentions", "text": "him"}, "line": "And where was he born?"},
]
TRIPLES = [
    {"head": "Tower", "relation": "built by", "tail": "Gustave Eiffel", "stage": 1},
    {"head": "Gustave Eiffel", "relation": "born in", "tail": "Dijon", "stage": 2},
]


def found(gold: dict[str, Any], **fields: Any) -> list[tuple[str, str]]:
    data = {"id": "t", "title": "T", "language": "en", "query": "Which?", "sources": SOURCES}
    return [(f.code, f.place) for f in lint(Task.model_validate({**data, "gold": gold, **fields}))]


def graph(triples: list[dict[str, Any]] = TRIPLES, stages: list[dict[str, Any]] = STAGES):
    persona = {"identity": "A tourist", "initial_query": "Tell me about Paris", "stages": stages}
    return found({"family": "graph", "triples": triples}, persona=persona)


def test_a_clean_graph_has_no_findings():
    assert graph() == []


def test_cues_of_the_start():
    other = [{**STAGES[0], "cue": STAGES[1]["cue"]}, {**STAGES[1], "cue": STAGES[0]["cue"]}]
    assert graph(stages=other) == [
        ("L001", "persona.stages[0].cue.kind"),
        ("L001", "persona.stages[1].cue.kind"),
    ]


def test_duplicate_triples_are_found_whatever_their_spelling():
    double = {**TRIPLES[0], "tail": "gustave  EIFFEL"}
    assert ("L002", "gold.triples[2]") in graph([*TRIPLES, double])


def test_a_stage_without_triples():
    assert graph([TRIPLES[0]]) == [("L005", "persona.stages[1]")]
    unstaged = [{**triple, "stage": None} for triple in TRIPLES]
    assert graph(unstaged) == []


@pytest.mark.parametrize(
    ("stage", "line", "leaks"),
    [
        (0, "Was it Gustave Eiffel who built the Tower?", True),
        (0, "Who built the Tower? I hear he came from Dijon.", True),
        (1, "Where was Gustave Eiffel born?", False),
        (1, "Was he born in Dijon?", True),
        (1, "Is he from Dijonnais country?", False),
    ],
)
def test_lines_that_give_away_what_is_to_be_found(stage: int, line: str, leaks: bool):
    stages = [dict(item) for item in STAGES]
    stages[stage]["line"] = line
    expected = [("L006", f"persona.stages[{stage}].line")] if leaks else []
    assert graph(stages=stages) == expected


def test_a_head_that_the_first_query_names_may_be_said():
    triples = [*TRIPLES, {"head": "Tower", "relation": "stands in", "tail": "Paris", "stage": 2}]
    stages = [{**STAGES[0], "line": "Who built the Tower in Paris?"}, STAGES[1]]
    assert graph(triples, stages) == []


def test_yes_and_no_as_tails():
    triples = [*TRIPLES, {"head": "Tower", "relation": "is tall", "tail": "Yes", "stage": 1}]
    assert graph(triples) == [("L008", "gold.triples[2].tail")]


def test_sources():
    gold = {"family": "graph", "triples": [{**TRIPLES[0], "stage": None}]}
    assert found(gold, sources=[]) == [("L010", "sources")]
    gold["triples"][0]["sources"] = ["https://example.org/b"]
    assert found(gold, sources=[]) == []


def test_keys_of_a_table():
    gold: dict[str, Any] = {
        "family": "table",
        "columns": [{"name": "Name"}, {"name": "Year"}, {"name": "Note"}],
        "unique_columns": ["Name", "Year"],
        "rows": [["a", "1", ""], ["A ", "1", "x"], ["a", "2", ""], ["", "3", ""], ["", "3", ""]],
    }
    assert found(gold) == [
        ("L003", "gold.rows[1]"),
        ("L012", "gold.rows[3]"),
        ("L012", "gold.rows[4]"),
    ]


AMBIGUITY = {
    "type": "entity",
    "logic": "two",
    "candidates": ["Red River", "Blue River"],
    "clue": "the longer one",
}


def chain(step: dict[str, Any], **fields: Any) -> list[tuple[str, str]]:
    gold = {
        "family": "checkpoints",
        "opening": "How long is the river?",
        "steps": [{"question": "Which river?", "target": "Blue River", **step}],
        "final_answer": "900 km",
        "forbidden": fields.pop("forbidden", ["Blue River"]),
    }
    return found(gold, **fields)


def test_chains():
    assert chain({"ambiguity": AMBIGUITY}, difficulty="easy") == []
    assert chain({}) == [("L004", "gold.steps")]
    assert chain({"ambiguity": AMBIGUITY}, difficulty="hard") == [("L004", "difficulty")]
    clue = {"ambiguity": {**AMBIGUITY, "clue": "the Blue River, 900 km"}}
    place = "gold.steps[0].ambiguity.clue"
    assert chain(clue) == [("L009", place), ("L009", place)]
    assert chain(clue, forbidden=[]) == [("L009", place), ("L011", place)]


def test_facts_that_are_the_answer():
    gold = {
        "family": "facts",
        "facts": [{"key": "a", "value": "7"}, {"key": "b", "value": "25", "unit": "days"}],
        "answer": "25 days",
    }
    assert found(gold) == [("L007", "gold.facts[1].value")]


def test_findings_explain_themselves():
    for finding in lint(
        Task.model_validate(
            {
                "id": "t",
                "title": "T",
                "language": "en",
                "query": "Which?",
                "gold": {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "7"},
            }
        )
    ):
        assert finding.code in CODES
        assert finding.reason
        assert finding.hint
        assert finding.severity in Severity
