"""What people put into their tasks: time, queries, pages. Entries are added, never changed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from sqlmodel import Session, col, func, select

from cuecard.store.engine import Database
from cuecard.store.people import ensure_person
from cuecard.store.records import EffortEntry, EffortKind, EffortTotals
from cuecard.store.tables import EffortRow


class Effort:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, task_id: str, person: str, kind: EffortKind, amount: float = 1, text: str = ""
    ) -> None:
        """Enter `amount` seconds (`time`) or so many queries or pages; the task need not be saved yet.
        Raises `ValueError` for an amount that is not above 0.
        """
        if not 0 < amount < float("inf"):
            raise ValueError("an amount of effort must be above 0 and finite")
        with self._database.write() as session:
            name = ensure_person(session, person).name
            _enter(session, task_id, name, kind, amount, text, datetime.now(UTC))

    def of(self, task_id: str) -> list[EffortEntry]:
        """Everything entered for the task, oldest first."""
        with self._database.read() as session:
            return _entries(session, task_id)

    def totals(self, task_id: str, person: str | None = None) -> EffortTotals:
        """Sums for the task, over everybody or one person."""
        query = (
            select(EffortRow.kind, func.sum(col(EffortRow.amount)))
            .where(EffortRow.task_id == task_id)
            .group_by(col(EffortRow.kind))
        )
        if person is not None:
            query = query.where(EffortRow.person == person)
        with self._database.read() as session:
            sums: dict[str, float] = {kind: float(amount) for kind, amount in session.exec(query)}
        return EffortTotals(
            seconds=max(sums.get("time", 0), 0),
            queries=round(sums.get("query", 0)),
            pages=round(sums.get("page", 0)),
        )

    def worked_on(self, person: str) -> frozenset[str]:
        """The ids of the tasks that a person put anything into, saved or not."""
        query = select(EffortRow.task_id).where(EffortRow.person == person).distinct()
        with self._database.read() as session:
            return frozenset(session.exec(query))

    def move(self, task_id: str, person: str, to: str) -> None:
        """What a person entered for a task that now has another id counts for that one."""
        with self._database.write() as session:
            for entry in _entries(session, task_id):
                if entry.person == person:
                    values = (person, entry.kind)
                    _enter(session, task_id, *values, -entry.amount, entry.text, entry.at)
                    _enter(session, to, *values, entry.amount, entry.text, entry.at)


def _enter(
    session: Session,
    task_id: str,
    person: str,
    kind: EffortKind,
    amount: float,
    text: str,
    at: datetime,
) -> None:
    session.add(
        EffortRow(task_id=task_id, person=person, kind=kind, amount=amount, text=text, at=at)
    )


def _entries(session: Session, task_id: str) -> list[EffortEntry]:
    query = select(EffortRow).where(EffortRow.task_id == task_id).order_by(col(EffortRow.id))
    rows = session.exec(query).all()
    undone = Counter(
        (row.person, row.kind, -row.amount, row.text) for row in rows if row.amount < 0
    )
    entries: list[EffortEntry] = []
    for row in rows:
        known = (row.person, row.kind, row.amount, row.text)
        if undone[known]:
            undone[known] -= 1
        elif row.amount > 0:
            entries.append(
                EffortEntry.model_validate(
                    {
                        "task_id": row.task_id,
                        "person": row.person,
                        "kind": row.kind,
                        "amount": row.amount,
                        "text": row.text,
                        "at": row.at,
                    }
                )
            )
    return entries
