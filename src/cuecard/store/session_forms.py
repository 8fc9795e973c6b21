"""What people said of their sessions. Entries are added, never changed; the newest counts."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from sqlmodel import col, select

from cuecard.core.config_play import FormQuestion
from cuecard.core.events import Termination
from cuecard.store.codec import from_json, to_json
from cuecard.store.engine import Database
from cuecard.store.lookup import trial_row
from cuecard.store.people import ensure_person
from cuecard.store.play_records import SessionForm
from cuecard.store.tables import RunRow, SessionFormRow, TrialRow

_QUESTIONS = TypeAdapter(tuple[FormQuestion, ...], config=ConfigDict(defer_build=True))


class SessionForms:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        trial_id: int,
        person: str,
        questions: Sequence[FormQuestion],
        answers: Mapping[str, int | str],
    ) -> SessionForm:
        """Keep the answers, checked by whoever asked. Raises `NotFound`."""
        asked = to_json([question.model_dump(mode="json") for question in questions])
        with self._database.write() as session:
            trial_row(session, trial_id)
            row = SessionFormRow(
                trial_id=trial_id,
                person=ensure_person(session, person).name,
                form=hashlib.sha256(asked).hexdigest()[:16],
                questions=asked.decode(),
                answers=to_json(dict(answers)).decode(),
                at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _form(row)

    def newest(self, trial_ids: Collection[int] | None = None) -> list[SessionForm]:
        """The newest of each person on each of these trials, on all without `trial_ids`."""
        conditions: list[Any] = []
        if trial_ids is not None:
            conditions.append(col(SessionFormRow.trial_id).in_(trial_ids))
        query = select(SessionFormRow).where(*conditions).order_by(col(SessionFormRow.id))
        with self._database.read() as session:
            newest = {(row.trial_id, row.person): _form(row) for row in session.exec(query)}
        return list(newest.values())

    def missing(self, person: str, since: datetime) -> list[int]:
        """The ids of the sessions that `person` played, which ended as they should at `since` or later,
        and of which they said nothing; the newest first.
        """
        given = select(SessionFormRow.id).where(
            SessionFormRow.trial_id == TrialRow.id, SessionFormRow.person == person
        )
        kept = [end.value for end in Termination if not end.is_failure]
        conditions: list[Any] = [
            RunRow.kind == "play",
            RunRow.created_by == person,
            col(TrialRow.termination).in_(kept),
            col(TrialRow.ended_at) >= since,
            ~given.exists(),
        ]
        query = (
            select(TrialRow.id)
            .join(RunRow)
            .where(*conditions)
            .order_by(col(TrialRow.ended_at).desc(), col(TrialRow.id).desc())
        )
        with self._database.read() as session:
            return [trial_id for trial_id in session.exec(query) if trial_id is not None]


def _form(row: SessionFormRow) -> SessionForm:
    return SessionForm.model_validate(
        {
            "trial_id": row.trial_id,
            "person": row.person,
            "questions": _QUESTIONS.validate_python(from_json(row.questions)),
            "answers": from_json(row.answers),
            "at": row.at,
        }
    )
