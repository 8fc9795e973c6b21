"""Reviews that are still being written: nobody but their reviewer ever sees them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue
from sqlmodel import col, select

from cuecard.store.codec import from_json, to_json
from cuecard.store.engine import Database
from cuecard.store.people import ensure_person
from cuecard.store.tables import ReviewFormRow


class ReviewForms:
    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, task_id: str, revision: int, reviewer: str, data: dict[str, JsonValue]) -> None:
        """Keep what the reviewer has filled in so far."""
        with self._database.write() as session:
            session.merge(
                ReviewFormRow(
                    task_id=task_id,
                    revision=revision,
                    reviewer=ensure_person(session, reviewer).name,
                    body=to_json(data).decode(),
                    updated_at=datetime.now(UTC),
                )
            )

    def get(self, task_id: str, revision: int, reviewer: str) -> dict[str, JsonValue]:
        """What was kept; empty if nothing was."""
        with self._database.read() as session:
            row = session.get(ReviewFormRow, (task_id, revision, reviewer))
            return cast(dict[str, JsonValue], from_json(row.body)) if row else {}

    def of(self, reviewer: str) -> list[tuple[str, int]]:
        """(task, revision) of a person's unfinished reviews, the last touched first."""
        query = (
            select(ReviewFormRow.task_id, ReviewFormRow.revision)
            .where(ReviewFormRow.reviewer == reviewer)
            .order_by(col(ReviewFormRow.updated_at).desc())
        )
        with self._database.read() as session:
            return [(task_id, revision) for task_id, revision in session.exec(query)]
