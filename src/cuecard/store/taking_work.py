"""Effort that came in parcels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import insert
from sqlmodel import Session, col, select

from cuecard.store.shared import SharedEffort
from cuecard.store.tables import EffortRow

Counts = tuple[int, int]
"""How many were added, and how many were known."""


def take_effort(session: Session, parcels: Iterable[Sequence[SharedEffort]]) -> Counts:
    """Add what is not entered yet. Equal entries are counted: as many are kept as the parcel with the
    most of them has.
    """
    wanted: Counter[SharedEffort] = Counter()
    for entries in parcels:
        wanted |= Counter(entries)
    if not wanted:
        return 0, 0
    people = sorted({entry.person for entry in wanted})
    query = select(EffortRow).where(col(EffortRow.person).in_(people))
    known = Counter(
        SharedEffort.model_validate(
            {
                "task_id": row.task_id,
                "person": row.person,
                "kind": row.kind,
                "amount": row.amount,
                "text": row.text,
                "at": row.at,
            }
        )
        for row in session.exec(query)
    )
    missing = sorted(
        (wanted - known).elements(), key=lambda e: (e.at, e.task_id, e.kind, e.amount, e.text)
    )
    if missing:
        rows = [entry.model_dump() for entry in missing]
        session.connection().execute(insert(EffortRow), rows)
    return len(missing), wanted.total() - len(missing)
