"""What a second annotator gets of a task: all that is asked, nothing of what the author found.

Field by field: id, language, domain and difficulty say nothing of the answer. The query and what the user
says first are what is asked. Title, sub-queries, identity, titles and lines of stages belong to the brief, but a
line may name what an earlier stage has brought to light, so gold that the query does not name is covered in
them. Left out are cues, what is said while they are not met and behaviour (they name what the agent must
have found), sources, notes, silences and what another format held. Of the gold there remain a table's columns and
key, the question that opens a chain (not its steps: each names the target before it), and the facts of a
closed world: it is made up, so nobody could find them again; what is built there is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuecard.annotate.authoring.blank import blank_step, blank_triple
from cuecard.core.phrases import without_terms
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.users.leaks import Told, bare_number, counts, fold, gold_things

COVER = "[…]"
"""Stands where the author's brief names gold; as long for a short name as for a long one."""


def blank_for(task: Task) -> dict[str, Any]:
    """The data of `task` with an empty gold and nothing that gives the author's away."""
    cover = _Cover(task)
    persona = task.persona
    return {
        "id": task.id,
        "title": cover(task.title),
        "language": task.language,
        "domain": cover(task.domain),
        "difficulty": task.difficulty,
        "query": task.query,
        "sub_queries": [cover(query) for query in task.sub_queries],
        "persona": {
            "name": persona.name,
            "identity": cover(persona.identity),
            "initial_query": persona.initial_query,
            "stages": [
                {
                    "title": cover(stage.title),
                    "cue": {"kind": stage.cue.kind.value, "text": COVER, "terms": []},
                    "line": cover(stage.line),
                    "not_met": "",
                }
                for stage in persona.stages
            ],
            "behaviour": "",
        }
        if persona
        else None,
        "gold": _blank_gold(task, cover),
        "sources": [],
        "notes": "",
        "silenced": [],
        "foreign": None,
    }


def same_brief(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two blanks ask the same, whatever has been built in them."""
    return brief_of(one) == brief_of(other)


def brief_of(data: dict[str, Any]) -> dict[str, Any]:
    """A blank without what is to be built."""
    gold = data["gold"]
    match gold["family"]:
        case "table":
            given = {name: gold[name] for name in ("columns", "unique_columns")}
        case "checkpoints":
            given = {"opening": gold["opening"]}
        case _:
            given = {}
    return {**data, "gold": {"family": gold["family"], **given}}


def is_begun(data: dict[str, Any]) -> bool:
    """Whether anything has been built that is worth keeping."""
    gold = data["gold"]
    match gold["family"]:
        case "graph":
            return bool(gold["nodes"]) or any(
                triple[end] for triple in gold["triples"] for end in ("head", "relation", "tail")
            )
        case "table":
            return any(cell for row in gold["rows"] for cell in row)
        case "checkpoints":
            return bool(gold["final_answer"]) or any(
                step["target"] or step["question"] for step in gold["steps"]
            )
        case _:
            return bool(gold["answer"] or gold["derivation"])


def _blank_gold(task: Task, cover: _Cover) -> dict[str, Any]:
    match task.gold:
        case Graph():
            return {"family": "graph", "nodes": [], "triples": [blank_triple()]}
        case Table() as table:
            columns = [
                {**column.model_dump(mode="json"), "criterion": cover(column.criterion)}
                for column in table.columns
            ]
            keys = list(table.unique_columns)
            rows = [[""] * len(columns)]
            return {"family": "table", "columns": columns, "unique_columns": keys, "rows": rows}
        case CheckpointChain() as chain:
            return {
                "family": "checkpoints",
                "opening": chain.opening,
                "steps": [blank_step()],
                "final_answer": "",
                "final_aliases": [],
                "forbidden": [],
            }
        case FactWorld() as world:
            facts = [fact.model_dump(mode="json") for fact in world.facts]
            return {
                "family": "facts",
                "facts": facts,
                "answer": "",
                "answer_aliases": [],
                "derivation": "",
            }


class _Cover:
    """Covers the names of gold that is not asked for by name."""

    def __init__(self, task: Task) -> None:
        public = Told((task.query, task.opening))
        self._terms = tuple(
            term
            for names in _things(task)
            if not any(public.has(fold(name)) for name in names if counts(name))
            for term in _terms(names)
        )

    def __call__(self, text: str) -> str:
        return without_terms(text, self._terms, COVER) if text else text


def _things(task: Task) -> tuple[tuple[str, ...], ...]:
    gold = task.gold
    match gold:
        case FactWorld():
            return ((gold.answer, *gold.answer_aliases),)
        case CheckpointChain():
            # Candidates name what the search comes across, the right one among them.
            ambiguous = [step.ambiguity for step in gold.steps if step.ambiguity]
            candidates = tuple((name,) for found in ambiguous for name in found.candidates)
            return (*gold_things(gold), *candidates)
        case _:
            return gold_things(gold)


def _terms(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if counts(name):
            yield name
            if number := bare_number(fold(name)):
                yield number
