"""Graph tasks made up for tests: edits over triples written as short tuples."""

from __future__ import annotations

import random
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


def many_triples(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Triples over about `count` entities of one to three words, a tenth of them Chinese."""
    rng = random.Random(seed)

    def name() -> str:
        if rng.random() < 0.1:
            return "".join(rng.choices("天文历法观象台水运仪浑地动", k=rng.randint(2, 7)))
        return " ".join(
            "".join(rng.choices("abcdefghijklmnop", k=rng.randint(3, 9))).title()
            for _ in range(rng.randint(1, 3))
        )

    names = [name() for _ in range(count)]
    relations = [name().lower() for _ in range(60)]
    return [
        triple(
            rng.choice(names),
            rng.choice(relations),
            rng.choice(names),
            stage=rng.randint(1, 10),
            sources=["https://example.org/a"] if rng.random() < 0.5 else [],
        )
        for _ in range(count)
    ]
