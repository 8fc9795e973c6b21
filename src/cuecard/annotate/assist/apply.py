"""Taking accepted items into an edit, as one step for undo. Whatever is accepted, the data fits together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue

from cuecard.annotate.assist.proposal import Proposal, ProposedItem
from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_persona
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.core.tasks import Origin
from cuecard.core.validation import format_place


@dataclass(frozen=True)
class Applied:
    """`places`: where each item that changed something stands now, by the item's id."""

    places: Mapping[str, str]

    @property
    def count(self) -> int:
        return len(self.places)


def apply(edit: TaskEdit, proposal: Proposal, accepted: Collection[str]) -> Applied:
    """Do what the accepted items propose, as one step, and note their origin.

    Entries that are still blank are filled first. A stage or fact of another key never takes a
    number or key that is in use; a list that must not be empty keeps what it has. Items of a
    translation belong into a task of their own: see `translated`.
    """
    items = [item for item in proposal.items if item.id in accepted and item.deed != "name"]
    places: dict[str, str] = {}
    with edit.together(_where(items)):
        before = edit.data
        for item in items:
            if item.deed == "set":
                _set(edit, item, places)
        for place in dict.fromkeys(item.place for item in items if item.deed != "set"):
            _change_list(edit, parse_place(place), [i for i in items if i.place == place], places)
        if edit.data is not before:
            edit.note_origin(origin_of(proposal, len(places)))
    return Applied(places)


def origin_of(proposal: Proposal, count: int) -> Origin:
    """What the history says about `count` items of this proposal."""
    return Origin(
        kind=proposal.kind,
        by=proposal.model,
        items=max(count, 1),
        prompt=proposal.prompt_hash,
        at=datetime.now(UTC),
    )


def standing(edit: TaskEdit, item: ProposedItem) -> JsonValue:
    """What stands now where the item would go; None where it adds something."""
    path = parse_place(item.place)
    if item.deed == "set":
        return cast(JsonValue, edit.get(path))
    if item.deed == "add":
        if path == ops.FACTS:
            index = _fact_at(edit, item.after)
            return None if index is None else cast(JsonValue, edit.items(path)[index])
        return None
    return item.before


def _where(items: Sequence[ProposedItem]) -> Path:
    """The place that undo leads back to: the list or field of the first item, or the whole persona,
    which may come and go with its tabs.
    """
    path = parse_place(items[0].place) if items else ()
    return ops.PERSONA if path[:1] == ops.PERSONA else path


def _set(edit: TaskEdit, item: ProposedItem, places: dict[str, str]) -> None:
    path = parse_place(item.place)
    if path[:1] == ops.PERSONA:
        _have_persona(edit)
    if edit.get(path) != item.after:
        edit.set(path, item.after)
        places[item.id] = item.place


def _have_persona(edit: TaskEdit) -> None:
    if not isinstance(edit.get(ops.PERSONA), dict):
        edit.set(ops.PERSONA, blank_persona())


def _change_list(
    edit: TaskEdit, path: Path, items: Sequence[ProposedItem], places: dict[str, str]
) -> None:
    if path[:1] == ops.PERSONA:
        _have_persona(edit)
    added = [item for item in items if item.deed == "add"]
    removed = [item for item in items if item.deed == "remove"]
    gone = [item for item in removed if item.before in edit.items(path)]
    if added or len(gone) < len(edit.items(path)):
        for item in gone:
            if item.before in edit.items(path):
                ops.delete_item(edit, path, edit.items(path).index(item.before))
                places[item.id] = item.place
    for item in added:
        index = _add(edit, path, item)
        if index is not None:
            places[item.id] = format_place((*path, index))


def _add(edit: TaskEdit, path: Path, item: ProposedItem) -> int | None:
    """Where the item stands now; None where it is already there."""
    value = item.after
    if path == ops.TRIPLES and isinstance(value, dict):
        if any(_same_triple(value, triple) for triple in edit.items(path)):
            return None
        value = {**value, "stage": _stage(edit, value.get("stage"))}
    if path == ops.FACTS and (index := _fact_at(edit, value)) is not None:
        if edit.items(path)[index] == value:
            return None
        edit.set((*path, index), value)
        return index
    entries = edit.items(path)
    index = next((i for i, entry in enumerate(entries) if _is_blank(path, entry)), len(entries))
    if index < len(entries):
        edit.set((*path, index), value)
    else:
        ops.insert_item(edit, path, index, value)
    if path == ops.STAGES:
        _link(edit, item, index + 1)
    return index


def _is_blank(path: Path, entry: object) -> bool:
    """Whether an entry is as it was made, its choices aside."""
    if path == ops.TRIPLES and isinstance(entry, dict):
        entry = {**cast(dict[str, object], entry), "stage": None}
    return not _says(entry)


def _says(value: object) -> bool:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value).items()
        return any(_says(inner) for key, inner in fields if key not in ("kind", "type"))
    if isinstance(value, list):
        return any(map(_says, cast(list[object], value)))
    return bool(value.strip()) if isinstance(value, str) else value is not None


def _stage(edit: TaskEdit, stage: object) -> int | None:
    return stage if isinstance(stage, int) and 1 <= stage <= len(edit.items(ops.STAGES)) else None


def _link(edit: TaskEdit, item: ProposedItem, number: int) -> None:
    """The triples that the stage asks for become its own, unless they answer another one already."""
    wanted = set(item.links)
    if not wanted or edit.family != "graph":
        return
    for index, triple in enumerate(edit.items(ops.TRIPLES)):
        named = (triple.get("head"), triple.get("relation"), triple.get("tail"))
        if named in wanted and triple.get("stage") is None:
            edit.set((*ops.TRIPLES, index, "stage"), number)


def _same_triple(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(
        str(one.get(part, "")).strip() == str(other.get(part, "")).strip()
        for part in ("head", "relation", "tail")
    )


def _fact_at(edit: TaskEdit, fact: object) -> int | None:
    if not isinstance(fact, dict):
        return None
    key = str(cast(dict[str, object], fact).get("key", "")).strip()
    facts = edit.items(ops.FACTS)
    return next((i for i, f in enumerate(facts) if str(f.get("key", "")).strip() == key), None)
