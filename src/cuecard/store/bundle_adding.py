"""Adds what is new of a bundle's records, by their declarations, and counts it: what people said, and all that is simply
rows of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.tasks.base import Frozen
from cuecard.store import bundle_records as shared
from cuecard.store.bundle_kinds import SET_ITEMS, Kind, Rows
from cuecard.store.people import ensure_person
from cuecard.store.task_tables import PersonRow
from cuecard.store.trial_tables import TrialRow, VerdictRow


@dataclass(frozen=True, eq=False)
class Source:
    """One of the bundles that are imported; the same bundle may be given twice."""

    person: str


Given = tuple[Source, Any]
"""A record, and the bundle that it is of."""


class Adding:
    """What an import added to a workspace, and knew already, within one writing session. `several`: more than one bundle
    is imported; what several hold counts once.
    """

    def __init__(self, session: Session, *, several: bool) -> None:
        self.session = session
        self.new_people: set[str] = set()
        self._people = set(session.exec(select(PersonRow.name)))
        self.added: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.left: Counter[tuple[str, str, str]] = Counter()
        self._counted: set[int] | None = set() if several else None
        self._equal: Counter[Frozen] = Counter()
        self._equal_in: tuple[Source, str] | None = None

    def arrived(self) -> tuple[shared.Arrived, ...]:
        kinds = sorted({*+self.added, *+self.known})
        return tuple(
            shared.Arrived(kind=k, added=self.added[k], known=self.known[k]) for k in kinds
        )

    def enter(self, names: Iterable[str]) -> None:
        """Enter those whom nobody here knows."""
        for name in sorted(set(names) - self._people):
            ensure_person(self.session, name)
            self._people.add(name)
            self.new_people.add(name)

    def add(
        self,
        rows: Rows,
        values: Sequence[dict[str, Any]],
        kind: str = "",
        numbers: Sequence[int] | None = None,
    ) -> list[bool]:
        """Insert those that are not there, and give for each whether it was new. They count as of this kind. `numbers`:
        which of several equal ones each is, from 1; by default there is one of each.
        """
        if not values:
            return []
        some = rows.keys[0].in_({each[rows.identity[0]] for each in values})
        equal = Counter[tuple[Any, ...]]()
        known = set[tuple[tuple[Any, ...], int]]()
        for row in self.session.connection().execute(select_columns(*rows.keys).where(some)):
            equal[tuple(row)] += 1
            known.add((tuple(row), equal[tuple(row)]))
        told: list[bool] = []
        fresh: list[dict[str, Any]] = []
        for each, number in zip(values, numbers or [1] * len(values), strict=True):
            identity = tuple(each[name] for name in rows.identity), number
            told.append(identity not in known)
            if told[-1]:
                known.add(identity)
                fresh.append(each)
            if kind:
                self.count(kind, told[-1], identity)
        self.insert(rows.table, fresh)
        return told

    def count(self, kind: str, fresh: bool, identity: Any = None) -> None:
        if self._first_time(kind, identity):
            (self.added if fresh else self.known)[kind] += 1

    def leave(self, kind: Kind, record: Any, trial: str) -> None:
        """Note that a record is left out, because this trial is not here."""
        names = ("uid",) if hasattr(record, "uid") else kind.order
        person = getattr(record, kind.owner)
        if self._first_time(f"no {kind.name}", (person, *(getattr(record, n) for n in names))):
            self.left[person, trial, kind.name] += 1

    def _first_time(self, kind: str, identity: Any) -> bool:
        """Whether it is to be counted: what several bundles hold counts once."""
        if identity is None or self._counted is None:
            return True
        count = len(self._counted)
        self._counted.add(hash((kind, identity)))
        return len(self._counted) > count

    def map(self, *columns: Any, where: Any) -> dict[Any, Any]:
        """The second of two columns by the first."""
        found: Any = self.session.connection().execute(select_columns(*columns).where(where))
        return dict(found.all())

    def insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.session.flush()
            self.session.connection().execute(insert(table), rows)

    def number(self, source: Source, entry: Any) -> int:
        """Which of the equal ones in its bundle it is. They stand side by side, so those of one task are remembered."""
        if self._equal_in != (source, entry.task_id):
            self._equal_in = source, entry.task_id
            self._equal.clear()
        self._equal[entry] += 1
        return self._equal[entry]

    def said(self, kind: Kind, records: Sequence[Any]) -> None:
        """What people said of items of trials; without its trial it is left out. Of two reveals of an item the first that
        comes in stays: that there is one is what counts.
        """
        rows = kind.rows
        trials = self._trials_here({record.trial for record in records})
        values: list[dict[str, Any]] = []
        for record in records:
            if record.trial in trials:
                values.append(rows.values(record, trial_id=trials[record.trial]))
            elif kind.name != "reveal":
                self.leave(kind, record, record.trial)
        if kind.name == "label":
            verdicts = self._verdicts(trials.values())
            for each in values:
                each["verdict_id"] = verdicts.get((each["trial_id"], each["item_key"]))
        self.add(rows, values, kind.name)

    def _trials_here(self, uids: Iterable[str]) -> dict[str, int]:
        return self.map(TrialRow.uid, TrialRow.id, where=col(TrialRow.uid).in_(uids))

    def _verdicts(self, trials: Iterable[int]) -> dict[tuple[int, str], int]:
        """By trial and item, the first verdict on it. A label belongs to the item: there may be none here."""
        query = (
            select(VerdictRow.trial_id, VerdictRow.item_key, func.min(VerdictRow.id))
            .where(col(VerdictRow.trial_id).in_(trials))
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
        )
        return {(trial, item): id or 0 for trial, item, id in self.session.exec(query)}

    def label_set(self, kind: Kind, drawn: shared.SharedLabelSet) -> None:
        """A set is imported whole or not at all, because its sampling probabilities hold for the whole set."""
        rows, trials = kind.rows, self._trials_here({item.trial for item in drawn.items})
        missing = [item.trial for item in drawn.items if item.trial not in trials]
        known = self.session.exec(select(rows.keys[0]).where(rows.keys[0] == drawn.uid)).first()
        if missing and not known:
            self.leave(kind, drawn, missing[0])
        elif self.add(rows, [rows.values(drawn)], "label_set") == [True]:
            set_id = self.id(rows, drawn.uid)
            items = [
                SET_ITEMS.values(item, set_id=set_id, position=n, trial_id=trials[item.trial])
                for n, item in enumerate(drawn.items)
            ]
            self.insert(SET_ITEMS.table, items)

    def id(self, rows: Rows, uid: str) -> int:
        table: Any = rows.table
        return self.session.exec(select(table.id).where(table.uid == uid)).one()
