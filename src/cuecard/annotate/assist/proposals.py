"""A model's proposal for a task, item by item: stored until decided on, checked with the linter, applied to an edit."""

from __future__ import annotations

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import JsonValue, ValidationError

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit, as_task, find_problems
from cuecard.annotate.authoring.task_data import Path as TreePath
from cuecard.annotate.authoring.task_data import blank_persona, parse_place
from cuecard.annotate.lint.codes import Finding
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import FileProblems
from cuecard.core.system import keep, kept_path
from cuecard.core.tasks.base import Frozen, Origin, OriginKind
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.validation import format_place

Deed = Literal["set", "add", "remove", "name"]
Link = tuple[str, str, str]


class ProposedItem(Frozen):
    """One thing to accept or reject.

    `deed`: `set` the value at `place`; `add` to, or `remove` from, the list there; in a translation, replace the `name`
    `before` by `after` wherever it occurs. `before` and `after` are JSON as in the task. `evidence`: a quotation from a
    source. `why`: the model's reason. `checked`: reasons against it, from checks and the linter, translated; `remarks`:
    the linter's milder findings. `ticked`: whether its author meant to suggest it. `links`: for a stage, the triples
    (head, relation, tail) that answer it.
    """

    id: str
    label: str
    place: str
    deed: Deed = "set"
    before: JsonValue = None
    after: JsonValue = None
    evidence: str = ""
    why: str = ""
    checked: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    ticked: bool = True
    links: tuple[Link, ...] = ()

    @property
    def suggested(self) -> bool:
        """Whether it is ticked at first: not if it deletes something, or if there is a reason against it."""
        return self.ticked and self.deed != "remove" and not self.checked

    def flagged(self, reasons: Iterable[str]) -> ProposedItem:
        """The item with more `reasons` against it."""
        told = tuple(dict.fromkeys((*self.checked, *reasons)))
        return self if told == self.checked else self.model_copy(update={"checked": told})


class ProposalCost(Frozen):
    """Calls, tokens and cost of a proposal. `cost` is None if the model has no price."""

    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None


class Proposal(Frozen):
    """What a model proposed. `model`: its name in the configuration; `notes`: remarks for people; `raw`: replies that
    could not be parsed; `language`: that of a translation.
    """

    kind: OriginKind
    model: str
    prompt_hash: str = ""
    items: tuple[ProposedItem, ...] = ()
    notes: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    spent: ProposalCost = ProposalCost()
    language: TaskLanguage | None = None
    at: datetime

    def without(self, ids: Iterable[str]) -> Proposal:
        """The proposal without these items."""
        gone = frozenset(ids)
        return self.model_copy(update={"items": tuple(i for i in self.items if i.id not in gone)})


class Pending(Frozen):
    """A proposal that is being decided on. `ticked`: the ids of items to be accepted; `task_id`: the new task's id, for
    a translation.
    """

    proposal: Proposal
    ticked: tuple[str, ...]
    task_id: str = ""


class PendingFile:
    """Keeps a pending proposal in a file; where none can be written, nothing is kept."""

    def __init__(self, url: str, task_id: str, person: str) -> None:
        self._url, self._place = url, (task_id, person)

    def load(self) -> Pending | None:
        """The stored proposal; None if there is none, or none that this version can read."""
        try:
            return Pending.model_validate_json(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError, ValidationError):
            return None

    def save(self, pending: Pending) -> None:
        """Replace the file atomically."""
        with contextlib.suppress(OSError):
            keep(self._path(), pending.model_dump_json())

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return kept_path("proposals", self._url, self._name)

    def _name(self, url: str) -> str:
        place = "\0".join((url, *self._place))
        return f"{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:24]}.json"


@dataclass(frozen=True)
class Applied:
    """What was applied. `places`: the present place of each item that changed something, by the item's id."""

    places: Mapping[str, str]

    @property
    def count(self) -> int:
        return len(self.places)


def apply(edit: TaskEdit, proposal: Proposal, accepted: Collection[str]) -> Applied:
    """Apply the accepted items as one undo step, and record their origin.

    Blank entries are filled before new ones are added. A stage or fact never gets a number or key that is in use, and a
    list that must not be empty keeps what it has. Items of a translation go into a new task instead: see `translated`.
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
    """The record that `count` items of this proposal were accepted, for the task's history."""
    return Origin(
        kind=proposal.kind,
        by=proposal.model,
        items=max(count, 1),
        prompt=proposal.prompt_hash,
        at=datetime.now(UTC),
    )


def standing(edit: TaskEdit, item: ProposedItem) -> JsonValue:
    """The present value at the item's place; None for an item that adds something."""
    path = parse_place(item.place)
    if item.deed == "set":
        return cast(JsonValue, edit.get(path))
    if item.deed == "add":
        if path == ops.FACTS:
            index = _fact_at(edit, item.after)
            return None if index is None else cast(JsonValue, edit.items(path)[index])
        return None
    return item.before


def _where(items: Sequence[ProposedItem]) -> TreePath:
    """The path that undo leads back to: the list or field of the first item, or the whole persona."""
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
    edit: TaskEdit, path: TreePath, items: Sequence[ProposedItem], places: dict[str, str]
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


def _add(edit: TaskEdit, path: TreePath, item: ProposedItem) -> int | None:
    """The place of the added item; None if it is there already."""
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


def _is_blank(path: TreePath, entry: object) -> bool:
    """Whether an entry has only default values."""
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
    """Give the stage the triples that it asks for, unless they belong to another stage."""
    wanted = set(item.links)
    path = ops.staged(edit)
    if not wanted or path is None:
        return
    for index, given in enumerate(edit.items(path)):
        named = (given.get("head"), given.get("relation"), given.get("tail"))
        if named in wanted and given.get("stage") is None:
            edit.set((*path, index, "stage"), number)


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


# What gives something away is a doubt, even where the linter only warns of it.
_GIVES_AWAY = {"L006", "L009", "L011"}
_FILLER = "…"
_WRITTEN = (
    ("title",),
    ("query",),
    ("persona", "identity"),
    ("persona", "initial_query"),
    ("gold", "opening"),
    ("gold", "final_answer"),
    ("gold", "answer"),
)
# Facts must not share a key: each filler is another one.
_ENTRIES: dict[TreePath, tuple[TreePath, ...]] = {
    ("persona", "stages"): (("title",), ("line",), ("cue", "text")),
    ("gold", "triples"): (("head",), ("relation",), ("tail",)),
    ("gold", "steps"): (("question",), ("target",)),
    ("gold", "facts"): (("key",), ("value",)),
}


def with_lint(data: Mapping[str, Any], proposal: Proposal) -> Proposal:
    """The proposal with the linter's findings on its items: errors and leaks become reasons against an item, other
    findings remarks.
    """
    edit = TaskEdit(data)
    applied = apply(edit, proposal, {item.id for item in proposal.items})
    landed = {parse_place(place): id_ for id_, place in applied.places.items()}
    found: dict[str, list[Finding]] = defaultdict(list)
    for problem in _problems(edit.data):
        path = parse_place(problem.place)
        for length in range(len(path), 0, -1):
            if path[:length] in landed:
                found[landed[path[:length]]].append(problem)
                break
    items = tuple(
        item.flagged(p.reason for p in found[item.id] if _is_doubt(p)).model_copy(
            update={"remarks": tuple(p.reason for p in found[item.id] if not _is_doubt(p))}
        )
        for item in proposal.items
    )
    return proposal.model_copy(update={"items": items})


def _is_doubt(problem: Finding) -> bool:
    return problem.severity == "error" or problem.code in _GIVES_AWAY


def _problems(data: dict[str, Any]) -> list[Finding]:
    """The linter's findings, also where other parts of the task are still to be written."""
    filled = _filled(data)
    try:
        as_task(filled)
    except FileProblems:
        return []
    return [problem for problem in find_problems(filled) if problem.code and not problem.silenced]


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    """The data with its blank parts filled in, so that the linter can read it; places stay the same."""
    edit = TaskEdit(data)
    with edit.together(()):
        for path in _WRITTEN:
            if edit.get(path, _FILLER) is None or not str(edit.get(path, _FILLER)).strip():
                edit.set(path, _FILLER)
        for path, fields in _ENTRIES.items():
            for index in range(len(edit.items(path))):
                for field in fields:
                    here = (*path, index, *field)
                    if not str(edit.get(here) or "").strip():
                        edit.set(here, f"{_FILLER}{index}")
    return edit.data
