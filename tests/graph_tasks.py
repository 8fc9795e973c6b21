"""Graph tasks made up for tests: edits over triples written as short tuples."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import blank_task


def triple(head: str, relation: str = "r", tail: str = "", **more: Any) -> dict[str, Any]:
    made = {
        "head": head,
        "relation": relation,
        "tail": tail,
        "stage": None,
        "sources": [],
        "note": "",
    }
    return {**made, **more}


def graph_edit(
    triples: list[dict[str, Any]], nodes: list[dict[str, Any]] | None = None
) -> TaskEdit:
    data = blank_task("g1", "Graph", "graph", "en")
    data["gold"] |= {"triples": triples, "nodes": nodes or []}
    return TaskEdit(data)


def node(name: str, *aliases: str, shown: str = "") -> dict[str, Any]:
    return {"id": name, "name": shown, "aliases": list(aliases)}
