"""The kinds of records of a bundle, declared: how each is rows of a table, what makes two the same, whose it is, and its
place in a bundle. `store.bundles` and `store.bundle_import` walk these declarations.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel
from sqlmodel import col

from cuecard.core.tasks.base import Frozen
from cuecard.store.bundle_records import (
    Pack,
    SharedAdjudication,
    SharedCall,
    SharedContent,
    SharedContribution,
    SharedEffort,
    SharedEvent,
    SharedForm,
    SharedLabel,
    SharedLabelSet,
    SharedNote,
    SharedPayload,
    SharedReveal,
    SharedRevision,
    SharedRun,
    SharedSetItem,
    SharedShadow,
    SharedTrial,
)
from cuecard.store.codec import dumped, from_json, pack, to_json, unpack
from cuecard.store.play_sessions import simulator_hash
from cuecard.store.task_tables import ContentRow, ContributionRow, EffortRow, RevisionRow
from cuecard.store.trial_tables import (
    AdjudicationRow,
    EventRow,
    JudgeCallRow,
    LabelRow,
    LabelSetRow,
    PayloadRow,
    RevealRow,
    RunRow,
    SessionFormRow,
    SetItemRow,
    ShadowRow,
    TrialNoteRow,
    TrialRow,
)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Rows:
    """How records are rows of a table. `identity`: the columns that make two rows the same, the one to find them by
    first; `columns`: the column of each field that has another name there; `json`: fields that are stored as JSON;
    `packed`: the field `body` stands in the columns `body` and `packed`; `more`: columns that follow from the record.
    """

    table: Any
    record: type[Frozen]
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
        found: dict[str, Any] = {}
        for name in self.record.model_fields:
            column = self.columns.get(name, name)
            if column in self.table.model_fields:
                found[column] = self._stored(name, getattr(record, name))
        if self.packed:
            found["body"], found["packed"] = pack(found["body"].encode())
        return {**found, **self.more(record), **given}

    def record_of(self, row: Any, **given: Any) -> Any:
        """The record of a row; `given` are those of its fields that stand elsewhere."""
        found: dict[str, Any] = {}
        for name in self.record.model_fields:
            column = self.columns.get(name, name)
            if name not in given and column in self.table.model_fields:
                found[name] = getattr(row, column)
        if self.packed:
            found["body"] = unpack(row.body, row.packed).decode()
        for name in self.json:
            found[name] = from_json(found[name])
        return self.record.model_validate({**found, **given})

    def _stored(self, name: str, value: Any) -> Any:
        if isinstance(value, BaseModel):
            return dumped(value).decode()
        if name in self.json:
            return to_json(value).decode()
        return value.value if isinstance(value, Enum) else value


class Part(NamedTuple):
    """What a trial holds beside its own row: in its field `name`, as rows in this order. `kind`: see `Arrived`."""

    name: str
    kind: str
    rows: Rows
    order: tuple[str, ...] = ("id",)


@dataclass(frozen=True)
class Kind:
    """A kind of record. `order`: the key to sort records by in a bundle; `owner`: the field that says whose a record is;
    `people`, `moments` and `counted`: whom it names, when it was made, and as what it is counted; `about`: the field with
    the uid of the trial that it is about; `batch`: so many are imported at once; `since_first`: every version knows it.
    """

    name: str
    record: type[Frozen]
    order: Callable[[Any], Any]
    rows: Rows
    owner: str = ""
    about: str = ""
    batch: int = 200
    since_first: bool = False
    people: Callable[[Any], Iterator[str]] | None = None
    moments: Callable[[Any], Iterator[datetime]] | None = None
    counted: Callable[[Any], Iterator[str]] | None = None

    def people_of(self, record: Any) -> Iterator[str]:
        if self.owner:
            yield getattr(record, self.owner)
        if self.people:
            yield from self.people(record)

    def moments_of(self, record: Any) -> Iterator[datetime]:
        if self.moments:
            yield from self.moments(record)
        elif self.owner:
            yield record.at

    def counted_as(self, record: Any) -> Iterator[str]:
        if self.counted:
            yield from self.counted(record)
        elif self.owner:
            yield self.name


EVENTS = Rows(EventRow, SharedEvent, ("trial_id", "seq"), packed=True)
PARTS = (
    Part("events", "event", EVENTS, ("seq",)),
    Part(
        "calls",
        "judge_call",
        Rows(JudgeCallRow, SharedCall, ("trial_id", "judge", "attempt", "key"), packed=True),
        ("judge", "attempt", "key"),
    ),
    Part(
        "shadows",
        "shadow",
        Rows(
            ShadowRow,
            SharedShadow,
            ("trial_id", "state", "simulator"),
            json=("player",),
            more=lambda shadow: {"simulator": simulator_hash(shadow.player)},
        ),
    ),
    Part(
        "forms",
        "session_form",
        Rows(
            SessionFormRow,
            SharedForm,
            ("trial_id", "person", "at"),
            more=lambda form: {"form": hashlib.sha256(form.questions.encode()).hexdigest()[:16]},
        ),
    ),
    # The uid of a note is one of all trials, and nobody takes back another's.
    Part("notes", "trial_note", Rows(TrialNoteRow, SharedNote, ("uid",)), ("at", "uid")),
)
SET_ITEMS = Rows(
    SetItemRow, SharedSetItem, ("set_id", "position"), {"item": "item_key"}, json=("people",)
)


def _in_trial(trial: SharedTrial) -> Iterator[datetime]:
    yield from (event.at for event in trial.events[-1:])
    for each in (*trial.judgements, *trial.shadows, *trial.forms, *trial.notes):
        yield each.at


def _trial_counts(trial: SharedTrial) -> Iterator[str]:
    yield "trial"
    yield from ("judgement" for _each in trial.judgements)
    for part in PARTS:
        yield from (part.kind for _each in getattr(trial, part.name))


KINDS = (
    Kind(
        "task",
        SharedContent,
        lambda content: content.hash,
        Rows(ContentRow, SharedContent, ("hash",)),
        batch=20,
        since_first=True,
    ),
    # By task, parents first; see `in_order`.
    Kind(
        "revision",
        SharedRevision,
        lambda revision: revision.task_id,
        Rows(RevisionRow, SharedRevision, ("uid",)),
        since_first=True,
        people=lambda revision: (signature.author for signature in revision.signatures),
    ),
    Kind(
        "payload",
        SharedPayload,
        lambda payload: payload.hash,
        Rows(PayloadRow, SharedPayload, ("hash",)),
        batch=20,
    ),
    Kind(
        "run",
        SharedRun,
        lambda run: (run.created_at, run.uid),
        Rows(RunRow, SharedRun, ("uid",), json=("limits", "plan")),
        people=lambda run: iter((run.created_by,)),
        moments=lambda run: iter((run.created_at,)),
        counted=lambda _run: iter(("run",)),
    ),
    Kind(
        "trial",
        SharedTrial,
        lambda trial: (trial.run, trial.position, trial.uid),
        Rows(TrialRow, SharedTrial, ("uid",), json=("agent", "user", "world")),
        batch=1,
        people=lambda trial: (one.person for one in (*trial.forms, *trial.notes)),
        moments=_in_trial,
        counted=_trial_counts,
    ),
    Kind(
        "contribution",
        SharedContribution,
        lambda entry: (entry.task_id, entry.tick, entry.at, entry.uid),
        Rows(ContributionRow, SharedContribution, ("uid",), json=("body",), packed=True),
        owner="by",
        since_first=True,
        counted=lambda entry: iter((entry.body.kind,)),
    ),
    Kind(
        "label",
        SharedLabel,
        lambda x: (x.trial, x.item, x.at, x.value, x.comment, x.phase, x.source),
        # What a label says beside was not known to earlier versions, and tells none apart.
        Rows(
            LabelRow,
            SharedLabel,
            ("trial_id", "item_key", "person", "value", "comment", "created_at"),
            {"item": "item_key", "at": "created_at"},
        ),
        owner="person",
        about="trial",
        since_first=True,
    ),
    # Entries have no uid: equal ones are counted, and a bundle that holds one twice adds it twice.
    Kind(
        "effort",
        SharedEffort,
        lambda x: (x.task_id, x.at, x.kind, x.amount, x.text, x.person),
        Rows(EffortRow, SharedEffort, ("task_id", "person", "kind", "amount", "text", "at")),
        owner="person",
        since_first=True,
    ),
    Kind(
        "reveal",
        SharedReveal,
        lambda x: (x.trial, x.item, x.at),
        Rows(RevealRow, SharedReveal, ("trial_id", "item_key", "person"), {"item": "item_key"}),
        owner="person",
        about="trial",
    ),
    Kind(
        "adjudication",
        SharedAdjudication,
        lambda x: (x.trial, x.item, x.at, x.value, x.cause, x.comment),
        Rows(
            AdjudicationRow,
            SharedAdjudication,
            ("trial_id", "item_key", "by", "value", "cause", "comment", "at"),
            {"item": "item_key"},
        ),
        owner="by",
        about="trial",
    ),
    Kind(
        "label_set",
        SharedLabelSet,
        lambda drawn: (drawn.at, drawn.uid),
        Rows(
            LabelSetRow,
            SharedLabelSet,
            ("uid",),
            {"by": "created_by", "at": "created_at"},
            json=("plan",),
        ),
        owner="by",
        batch=1,
    ),
)
"""In the order in which they stand in a bundle, and are imported: whatever a record refers to is of an earlier kind."""
KIND_OF = {kind.record: kind for kind in KINDS}
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
        self.counts.update(kind.counted_as(record))
        moments = list(kind.moments_of(record))
        if isinstance(record, SharedRevision):
            moments = [s.at for s in record.signatures if s.author == self.person]
            self.counts["revision"] += any(not self.since or at >= self.since for at in moments)
        self.until = max([*moments, *([self.until] if self.until else [])], default=None)

    @property
    def own(self) -> dict[str, int]:
        """The counts of what is packed for its own sake; none if there is nothing."""
        whole = bool(self.entries["run"])
        return {k: n for k, n in self.counts.items() if n and not (whole and k == "revision")}


def tally(pack: Pack, since: datetime | None = None) -> Tally:
    """What a bundle holds, record by record."""
    found = Tally(pack.person, since)
    for record in pack.records():
        found.add(record)
    return found
