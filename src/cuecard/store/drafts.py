"""Unsaved edits, one per person and task."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue
from sqlmodel import col, select

from cuecard.store.codec import from_json, pack, to_json, unpack
from cuecard.store.engine import Database
from cuecard.store.people import ensure_person
from cuecard.store.records import Draft
from cuecard.store.tables import DraftRow


class Drafts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, task_id: str, person: str, base: int, data: dict[str, JsonValue]) -> Draft:
        """Keep `data` as this person's draft on top of revision `base` (0: a task not saved yet)."""
        body, packed = pack(to_json(data))
        with self._database.write() as session:
            name = ensure_person(session, person).name
            row = session.merge(
                DraftRow(
                    task_id=task_id,
                    person=name,
                    base=base,
                    body=body,
                    packed=packed,
                    updated_at=datetime.now(UTC),
                )
            )
            session.flush()
            return _draft(row)

    def get(self, task_id: str, person: str) -> Draft | None:
        with self._database.read() as session:
            row = session.get(DraftRow, (task_id, person))
            return _draft(row) if row else None

    def discard(self, task_id: str, person: str) -> None:
        """Forget the draft, if there is one."""
        with self._database.write() as session:
            row = session.get(DraftRow, (task_id, person))
            if row is not None:
                session.delete(row)

    def of(self, person: str) -> list[Draft]:
        """All drafts of a person, the last edited first."""
        query = (
            select(DraftRow)
            .where(DraftRow.person == person)
            .order_by(col(DraftRow.updated_at).desc(), DraftRow.task_id)
        )
        with self._database.read() as session:
            return [_draft(row) for row in session.exec(query)]


def _draft(row: DraftRow) -> Draft:
    data = cast(dict[str, JsonValue], from_json(unpack(row.body, row.packed)))
    return Draft(
        task_id=row.task_id,
        person=row.person,
        base=row.base,
        data=data,
        updated_at=row.updated_at,
    )
