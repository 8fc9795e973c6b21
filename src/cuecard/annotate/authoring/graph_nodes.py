"""The entities of a graph as a list: those that have an entry of their own, then the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.likeness import plain

NodeSort = Literal["name", "shown", "aliases", "uses"]

_BARS = re.compile(r"[|｜]")
_MARKS = re.compile(r"[|｜;；]")


@dataclass(frozen=True)
class NodeRow:
    """`listed` is the entry among the nodes, None where only triples name the entity; `uses` in how
    many places they do.
    """

    name: str
    shown: str
    aliases: tuple[str, ...]
    uses: int
    listed: int | None


def node_rows(edit: TaskEdit, index: GraphIndex) -> list[NodeRow]:
    """All entities; `index` follows the edit. 5,000 take a few ms."""
    rows: list[NodeRow] = []
    seen: set[str] = set()
    for position, node in enumerate(edit.items(ops.NODES)):
        name = str(node.get("id", ""))
        aliases = tuple(str(alias) for alias in node.get("aliases", ()))
        uses = index.uses("entity", name)
        rows.append(NodeRow(name, str(node.get("name", "")), aliases, uses, position))
        seen.add(name)
    for name, uses in index.entities.items():
        if name not in seen:
            rows.append(NodeRow(name, "", (), uses, None))
    return rows


def filtered(rows: Sequence[NodeRow], text: str) -> list[NodeRow]:
    """Those that hold every word of the text in a name."""
    words = [word for word in map(plain, text.split()) if word]
    if not words:
        return list(rows)
    return [row for row in rows if _holds(row, words)]


def ordered(
    rows: Sequence[NodeRow], sort: NodeSort | None, *, descending: bool = False
) -> list[NodeRow]:
    """By a column; None leaves the order."""
    match sort:
        case None:
            return list(rows)
        case "uses":
            return sorted(rows, key=lambda row: row.uses, reverse=descending)
        case "aliases":
            return sorted(rows, key=lambda row: len(row.aliases), reverse=descending)
        case "name":
            return sorted(rows, key=lambda row: plain(row.name), reverse=descending)
        case "shown":
            return sorted(rows, key=lambda row: plain(row.shown), reverse=descending)


def joined_aliases(aliases: Sequence[str]) -> str:
    """Aliases as one line to edit."""
    return " | ".join(aliases)


def split_aliases(text: str, before: Sequence[str] = ()) -> list[str]:
    """The aliases in such a line, each once; semicolons separate too unless one of those `before`
    holds one.
    """
    marks = _BARS if any(_MARKS.search(_BARS.sub("", alias)) for alias in before) else _MARKS
    return list(dict.fromkeys(part for part in map(str.strip, marks.split(text)) if part))


def _holds(row: NodeRow, words: Sequence[str]) -> bool:
    text = " ".join(plain(name) for name in (row.name, row.shown, *row.aliases))
    return all(word in text for word in words)
