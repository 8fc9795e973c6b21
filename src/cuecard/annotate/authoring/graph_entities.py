"""The entities of a graph as a list, and renaming and merging entities and relations throughout, each one step for undo."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.diff import plain
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.task_data import Path, blank_node

NodeSort = Literal["name", "shown", "aliases", "uses"]

_BARS = re.compile(r"[|｜]")
_MARKS = re.compile(r"[|｜;；]")


@dataclass(frozen=True)
class NodeRow:
    """An entity of a graph. `listed`: its index among the task's nodes, None if only triples name it; `uses`: how many
    heads and tails are this entity.
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


Triple = dict[str, Any]


@dataclass(frozen=True)
class RenameResult:
    """What renaming did: `changed` triples have another name; `joined` triples became equal to another one, which got
    their sources, and were removed.
    """

    changed: int
    joined: int


def rename_entity(edit: TaskEdit, old: str, new: str, *, at: Path = ops.TRIPLES) -> RenameResult:
    """Rename an entity in all triples and nodes. If `new` exists already, the two become one with the aliases of both.
    `at`: the path that undo leads back to.
    """
    return _rename_entities(edit, [old], new, at, alias=False)


def merge_entities(
    edit: TaskEdit, names: Sequence[str], into: str, *, at: Path = ops.TRIPLES
) -> RenameResult:
    """Make several entities one: the others' names become aliases of the node `into`."""
    others = [name for name in names if name != into]
    return _rename_entities(edit, others, into, at, alias=True)


def rename_relation(edit: TaskEdit, old: str, new: str) -> RenameResult:
    """Rename a relation in all triples; if `new` exists already, they become one."""
    return merge_relations(edit, [old], new)


def merge_relations(edit: TaskEdit, names: Sequence[str], into: str) -> RenameResult:
    """Make several relations one."""
    gone = {name for name in names if name != into}

    def changed(triple: Triple) -> Triple:
        return {**triple, "relation": into} if triple["relation"] in gone else triple

    with edit.together(ops.TRIPLES):
        return _each(edit, changed)


def write_aliases(edit: TaskEdit, entity: str, aliases: Sequence[str]) -> None:
    """Set the aliases of an entity; it is added to the nodes if needed."""
    _write_node(edit, entity, "aliases", list(aliases))


def write_shown_name(edit: TaskEdit, entity: str, name: str) -> None:
    """Give an entity another name to show than the one that triples use."""
    _write_node(edit, entity, "name", name)


def node_index(edit: TaskEdit, entity: str) -> int | None:
    """Which entry of the nodes is the entity's; None when it has none."""
    return next((i for i, n in enumerate(edit.items(ops.NODES)) if n.get("id") == entity), None)


def _write_node(edit: TaskEdit, entity: str, field: str, value: Any) -> None:
    index = node_index(edit, entity)
    if index is not None:
        edit.set((*ops.NODES, index, field), value, typing=True)
        return
    if not value or not entity:
        return
    index = len(edit.items(ops.NODES))
    with edit.together((*ops.NODES, index, field), typing=True):
        edit.insert(ops.NODES, index, {**blank_node(), "id": entity, field: value})


def _rename_entities(
    edit: TaskEdit, old: Sequence[str], new: str, at: Path, *, alias: bool
) -> RenameResult:
    gone = {name for name in old if name != new}

    def changed(triple: Triple) -> Triple:
        head, tail = triple["head"], triple["tail"]
        if head not in gone and tail not in gone:
            return triple
        ends = {"head": new if head in gone else head, "tail": new if tail in gone else tail}
        return {**triple, **ends}

    if not gone:
        return RenameResult(0, 0)
    with edit.together(at):
        renamed = _each(edit, changed)
        _merge_nodes(edit, gone, new, old if alias else ())
    return renamed


def _merge_nodes(edit: TaskEdit, gone: Collection[str], new: str, aliases: Sequence[str]) -> None:
    """One entry for `new` with the other names of all, where the first of theirs stood."""
    nodes = edit.items(ops.NODES)
    ours = [node for node in nodes if node.get("id") == new or node.get("id") in gone]
    if not ours and not aliases:
        return
    merged: dict[str, Any] = {**blank_node(), **(ours[0] if ours else {}), "id": new}
    kept = next((node for node in ours if node.get("id") == new), merged)
    shown = str(kept.get("name", ""))
    merged["name"] = "" if shown == new or shown in gone else shown
    names: list[str] = list(kept.get("aliases", ())) if kept is not merged else []
    names += aliases
    for node in ours:
        other = str(node.get("name", ""))
        names += [other] if other and node.get("id") != new and other != shown else []
        names += [str(alias) for alias in node.get("aliases", ())]
    own = {plain(new), plain(str(merged["name"]))}
    # A listed name may have differed from what is kept by nothing but case; that is no alias.
    merged["aliases"] = [n for n in dict.fromkeys(names) if n and plain(n) not in own]
    if not ours and not merged["aliases"]:
        return
    position = next((i for i, node in enumerate(nodes) if node in ours), len(nodes))
    rest = [node for node in nodes if node not in ours]
    at = sum(1 for node in nodes[:position] if node not in ours)
    edit.arrange(ops.NODES, [*rest[:at], merged, *rest[at:]])


def _each(edit: TaskEdit, new: Callable[[Triple], Triple]) -> RenameResult:
    """Change triples; one that says afterwards what another says, and did not before, joins it."""
    before = edit.items(ops.TRIPLES)
    after = [new(triple) for triple in before]
    moved = [one is not other for one, other in zip(before, after, strict=True)]
    changed_names = {_names(t) for t, m in zip(after, moved, strict=True) if m}
    first: dict[tuple[Any, ...], int] = {}
    kept: list[Triple] = []
    origins: list[tuple[Any, ...]] = []
    for triple, was in zip(after, before, strict=True):
        names = _names(triple)
        at = first.get(names) if names in changed_names else None
        if at is None or origins[at] == _names(was) or not _may_join(kept[at], triple):
            first.setdefault(names, len(kept))
            kept.append(triple)
            origins.append(_names(was))
        else:
            kept[at] = _joined(kept[at], triple)
    edit.arrange(ops.TRIPLES, kept)
    return RenameResult(sum(moved), len(before) - len(kept))


def _names(triple: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return triple["head"], triple["relation"], triple["tail"]


def _may_join(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two equal triples can become one without losing a second stage or note."""
    stages = {t.get("stage") for t in (one, other)} - {None}
    notes = {t.get("note", "") for t in (one, other)} - {""}
    return len(stages) < 2 and len(notes) < 2


def _joined(one: Triple, other: Mapping[str, Any]) -> Triple:
    sources = [*one.get("sources", ()), *other.get("sources", ())]
    stage = one.get("stage") if one.get("stage") is not None else other.get("stage")
    note = one.get("note", "") or other.get("note", "")
    return {**one, "stage": stage, "sources": list(dict.fromkeys(sources)), "note": note}
