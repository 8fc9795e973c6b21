"""What a new task, and a new thing in a task, begins as: complete in shape, empty in content."""

from __future__ import annotations

from typing import Any

from cuecard.core.tasks import Family, TaskLanguage


def blank_task(task_id: str, title: str, family: Family, language: TaskLanguage) -> dict[str, Any]:
    """Data of a task with everything still to be written; only a graph task begins with a persona."""
    return {
        "id": task_id,
        "title": title,
        "language": language,
        "domain": "",
        "difficulty": None,
        "query": "",
        "sub_queries": [],
        "persona": blank_persona() if family == "graph" else None,
        "gold": {"family": family, **_blank_gold(family)},
        "sources": [],
        "notes": "",
        "silenced": [],
        "foreign": None,
    }


def _blank_gold(family: Family) -> dict[str, Any]:
    match family:
        case "graph":
            return {"nodes": [], "triples": [{**blank_triple(), "stage": 1}]}
        case "table":
            return {"columns": [blank_column()], "unique_columns": [""], "rows": [[""]]}
        case "checkpoints":
            first = {**blank_step(), "ambiguity": blank_ambiguity("entity")}
            return {
                "opening": "",
                "steps": [first, blank_step()],
                "final_answer": "",
                "final_aliases": [],
                "forbidden": [],
            }
        case "facts":
            return {"facts": [blank_fact()], "answer": "", "answer_aliases": [], "derivation": ""}


def blank_persona() -> dict[str, Any]:
    return {
        "name": "",
        "identity": "",
        "initial_query": "",
        "stages": [blank_stage("start")],
        "behaviour": "",
    }


def blank_stage(kind: str = "mentions") -> dict[str, Any]:
    return {
        "title": "",
        "cue": {"kind": kind, "text": "", "terms": []},
        "line": "",
        "not_met": "",
    }


def blank_source() -> dict[str, Any]:
    return {"url": "", "note": ""}


def blank_node() -> dict[str, Any]:
    return {"id": "", "name": "", "aliases": []}


def blank_triple() -> dict[str, Any]:
    return {"head": "", "relation": "", "tail": "", "stage": None, "sources": [], "note": ""}


def blank_column() -> dict[str, Any]:
    return {"name": "", "preprocess": ["norm_str"], "metric": ["exact_match"], "criterion": ""}


def blank_ambiguity(kind: str) -> dict[str, Any]:
    return {"type": kind, "logic": "", "candidates": [], "clue": "", "terms": []}


def blank_step() -> dict[str, Any]:
    return {"question": "", "target": "", "aliases": [], "ambiguity": None, "sources": []}


def blank_fact() -> dict[str, Any]:
    return {
        "key": "",
        "value": "",
        "kind": "fact",
        "entity": "",
        "attribute": "",
        "unit": "",
        "aliases": [],
        "sources": [],
    }
