"""The kinds of records of a bundle, declared: how each is rows of a table, what makes two the same, whose it is, and its
place in a bundle. `store.bundles` and `store.bundle_import` walk these declarations.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel
from sqlmodel import col

from cuecard.core.tasks.base import Frozen
from cuecard.store import bundle_records as shared
from cuecard.store import task_tables, trial_tables
from cuecard.store.codec import dumped, from_json, pack, to_json, unpack
from cuecard.store.play_sessions import simulator_hash

Item = TypeVar("Item")


@dataclass(frozen=True)
class Rows:
    """How records are rows of a table. `identity`: the columns that make two rows the same, the one to find them by
    first; `columns`: the column of each field that has another name there; `json`: fields that are stored as JSON;
    `packed`: the field `body` stands in the columns `body` and `packed`; `more`: columns that follow from the record.
    """

    record: type[Frozen]
    table: Any
    identity: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    json: tuple[str, ...] = ()
    packed: bool = False
    more: Callable[[Any], dict[str, Any]] = lambda _record: {}

    def column(self, name: str) -> Any:
        """The column of a field, for queries."""
        return col(getattr(self.table, self.columns.get(name, name)))

    @property
    def keys(self) -> list[Any]:
        """The columns of `identity`, for queries."""
        return [col(getattr(self.table, name)) for name in self.identity]

    def values(self, record: Frozen, **given: Any) -> dict[str, Any]:
        """A record as values of columns; `given` are those of references, which a record names by uid."""
        found = {column: self._stored(name, getattr(record, name)) for name, column in self._stand}
        if self.packed:
            found["body"], found["packed"] = pack(found["body"].encode())
        return {**found, **self.more(record), **given}

    def record_of(self, row: Any, **given: Any) -> Any:
        """The record of a row; `given` are those of its fields that stand elsewhere."""
        found = {name: getattr(row, column) for name, column in self._stand}
        if self.packed:
            found["body"] = unpack(row.body, row.packed).decode()
        for name in self.json:
            found[name] = from_json(found[name])
        return self.record.model_validate({**found, **given})

    @property
    def _stand(self) -> Iterator[tuple[str, str]]:
        """The fields that have a column, and its name."""
        for name in self.record.model_fields:
            column = self.columns.get(name, name)
            if column in self.table.model_fields:
                yield name, column

    def _stored(self, name: str, value: Any) -> Any:
        if isinstance(value, BaseModel):
            return dumped(value).decode()
        if name in self.json:
            return to_json(value).decode()
        return value.value if isinstance(value, Enum) else value


class Part(NamedTuple):
    """What a trial holds beside its own row: in its field `name`, as rows in this order, counted as `kind`."""

    name: str
    kind: str
    rows: Rows
    order: tuple[str, ...] = ("id",)


@dataclass(frozen=True)
class Kind:
    """A kind of record. `owner`: the field that says whose a record is, as who may speak; `about`: the field with the
    uid of the trial that it is about; `people` and `moments`: the paths of names and times in it; `counted`: the path of
    what it is counted as, by default its name, "" if it travels only for others; `order`: the fields by which records
    are sorted in a bundle; `batch`: so many are imported at once; `since_first`: every version knows it.
    """

    name: str
    rows: Rows
    order: tuple[str, ...] = ()
    owner: str = ""
    about: str = ""
    people: tuple[str, ...] = ()
    moments: tuple[str, ...] = ("at",)
    counted: str | None = None
    batch: int = 200
    since_first: bool = False

    def sorted(self, records: Iterable[Any]) -> list[Any]:
        return sorted(records, key=lambda record: [getattr(record, name) for name in self.order])

    def people_of(self, record: Any) -> Iterator[str]:
        for path in (*self.people, *((self.owner,) if self.owner else ())):
            yield from _found(record, path)

    def moments_of(self, record: Any) -> Iterator[datetime]:
        for path in self.moments:
            yield from _found(record, path)

    def counts_of(self, record: Any) -> Counter[str]:
        """As what a record is counted, and its parts; see `ImportCount`."""
        if self.counted is None:
            found = Counter((self.name,))
        else:
            found = Counter(_found(record, self.counted) if self.counted else ())
        if isinstance(record, shared.SharedTrial):
            found["judgement"] = len(record.judgements)
            found.update({part.kind: len(getattr(record, part.name)) for part in PARTS})
        return found


def _found(record: Any, path: str) -> Iterator[Any]:
    """What stands at a path of fields, of each where there are several."""
    first, _dot, rest = path.partition(".")
    value: Any = getattr(record, first)
    if not rest:
        yield value
    elif isinstance(value, tuple):
        for each in cast(tuple[Any, ...], value):
            yield from _found(each, rest)
    else:
        yield from _found(value, rest)


def _form(form: shared.SharedForm) -> dict[str, str]:
    return {"form": hashlib.sha256(form.questions.encode()).hexdigest()[:16]}


EVENTS = Rows(shared.SharedEvent, trial_tables.EventRow, ("trial_id", "seq"), packed=True)
_CALL = ("judge", "attempt", "key")
_CALLS = Rows(shared.SharedCall, trial_tables.JudgeCallRow, ("trial_id", *_CALL), packed=True)
_SHADOW = ("trial_id", "state", "simulator")
_SHADOWS = Rows(
    shared.SharedShadow,
    trial_tables.ShadowRow,
    _SHADOW,
    json=("player",),
    more=lambda shadow: {"simulator": simulator_hash(shadow.player)},
)
_FORM = ("trial_id", "person", "at")
_FORMS = Rows(shared.SharedForm, trial_tables.SessionFormRow, _FORM, more=_form)
# The uid of a note is one of all trials, and nobody takes back another's.
_NOTES = Rows(shared.SharedNote, trial_tables.TrialNoteRow, ("uid",))
PARTS = (
    Part("events", "event", EVENTS, ("seq",)),
    Part("calls", "judge_call", _CALLS, _CALL),
    Part("shadows", "shadow", _SHADOWS),
    Part("forms", "session_form", _FORMS),
    Part("notes", "trial_note", _NOTES, ("at", "uid")),
)
_ITEM = {"item": "item_key"}
SET_ITEMS = Rows(
    shared.SharedSetItem, trial_tables.SetItemRow, ("set_id", "position"), _ITEM, json=("people",)
)
# What a label says beside was not known to earlier versions, and tells none apart.
_LABEL = ("trial_id", "item_key", "person", "value", "comment", "created_at")
_DECISION = ("trial_id", "item_key", "by", "value", "cause", "comment", "at")
# Entries have no uid: equal ones are counted, and a bundle that holds one twice adds it twice.
_ENTRY = ("task_id", "person", "kind", "amount", "text", "at")

KINDS = (
    Kind(
        "task",
        Rows(shared.SharedContent, task_tables.ContentRow, ("hash",)),
        moments=(),
        counted="",
        batch=20,
        since_first=True,
    ),
    Kind(
        "revision",
        Rows(shared.SharedRevision, task_tables.RevisionRow, ("uid",)),
        people=("signatures.author",),
        moments=("signatures.at",),
        counted="",
        since_first=True,
    ),
    Kind(
        "payload",
        Rows(shared.SharedPayload, trial_tables.PayloadRow, ("hash",)),
        moments=(),
        counted="",
        batch=20,
    ),
    Kind(
        "run",
        Rows(shared.SharedRun, trial_tables.RunRow, ("uid",), json=("limits", "plan")),
        order=("created_at", "uid"),
        people=("created_by",),
        moments=("created_at",),
    ),
    Kind(
        "trial",
        Rows(shared.SharedTrial, trial_tables.TrialRow, ("uid",), json=("agent", "user", "world")),
        people=("forms.person", "notes.person"),
        moments=("events.at", "judgements.at", "shadows.at", "forms.at", "notes.at"),
        batch=1,
    ),
    Kind(
        "contribution",
        Rows(
            shared.SharedContribution,
            task_tables.ContributionRow,
            ("uid",),
            json=("body",),
            packed=True,
        ),
        order=("task_id", "tick", "at", "uid"),
        owner="by",
        counted="body.kind",
        since_first=True,
    ),
    Kind(
        "label",
        Rows(shared.SharedLabel, trial_tables.LabelRow, _LABEL, {**_ITEM, "at": "created_at"}),
        order=("trial", "item", "at", "value", "comment", "phase", "source"),
        owner="person",
        about="trial",
        since_first=True,
    ),
    Kind(
        "effort",
        Rows(shared.SharedEffort, task_tables.EffortRow, _ENTRY),
        order=("task_id", "at", "kind", "amount", "text", "person"),
        owner="person",
        since_first=True,
    ),
    Kind(
        "reveal",
        Rows(
            shared.SharedReveal, trial_tables.RevealRow, ("trial_id", "item_key", "person"), _ITEM
        ),
        order=("trial", "item", "at"),
        owner="person",
        about="trial",
    ),
    Kind(
        "adjudication",
        Rows(shared.SharedAdjudication, trial_tables.AdjudicationRow, _DECISION, _ITEM),
        order=("trial", "item", "at", "value", "cause", "comment"),
        owner="by",
        about="trial",
    ),
    Kind(
        "label_set",
        Rows(
            shared.SharedLabelSet,
            trial_tables.LabelSetRow,
            ("uid",),
            {"by": "created_by", "at": "created_at"},
            json=("plan",),
        ),
        owner="by",
        batch=1,
    ),
    Kind(
        "tag",
        Rows(shared.SharedTag, task_tables.TagRow, ("uid",)),
        order=("at", "uid"),
        owner="person",
    ),
)
"""In the order in which they stand in a bundle, and are imported: whatever a record refers to is of an earlier kind."""
KIND_OF = {kind.rows.record: kind for kind in KINDS}
NAMED = {kind.name: kind for kind in KINDS}


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """So many at a time, in order."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


@dataclass
class Tally:
    """What a bundle holds: how many records of each kind, as what they are counted, and the time of the newest (None:
    of none). `since`: revisions that were saved before count as what others refer to.
    """

    person: str
    since: datetime | None = None
    until: datetime | None = None
    entries: Counter[str] = field(default_factory=Counter[str])
    counts: Counter[str] = field(default_factory=Counter[str])

    def add(self, record: Frozen) -> None:
        kind = KIND_OF[type(record)]
        self.entries[kind.name] += 1
        self.counts.update(kind.counts_of(record))
        moments = list(kind.moments_of(record))
        if isinstance(record, shared.SharedRevision):
            moments = [s.at for s in record.signatures if s.author == self.person]
            self.counts["revision"] += any(not self.since or at >= self.since for at in moments)
        self.until = max([*moments, *([self.until] if self.until else [])], default=None)

    @property
    def own(self) -> dict[str, int]:
        """The counts of what is packed for its own sake; none if there is nothing."""
        whole = bool(self.entries["run"])
        return {k: n for k, n in self.counts.items() if n and not (whole and k == "revision")}


def tally(bundle: shared.Pack, since: datetime | None = None) -> Tally:
    """What a bundle holds, record by record."""
    found = Tally(bundle.person, since)
    for record in bundle.records():
        found.add(record)
    return found
