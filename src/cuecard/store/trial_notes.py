"""Bookmarks and comments on trials. Entries are added, never changed; taking one back is an entry too."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlmodel import col, select

from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.i18n import _
from cuecard.store.engine import Database
from cuecard.store.lookup import trial_row
from cuecard.store.people import ensure_person
from cuecard.store.result_records import NoteKind, TrialNote
from cuecard.store.tables import TrialNoteRow

_TAKEN_BACK = "taken_back"


class TrialNotes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, trial_id: int, person: str, kind: NoteKind, place: str, text: str = ""
    ) -> TrialNote:
        """Raises `NotFound` for an unknown trial."""
        with self._database.write() as session:
            trial_row(session, trial_id)
            row = TrialNoteRow(
                uid=uuid4().hex,
                trial_id=trial_id,
                person=ensure_person(session, person).name,
                kind=kind,
                place=place,
                text=text,
                at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _note(row)

    def take_back(self, uid: str, person: str) -> None:
        """Raises `NotFound`, and `NotAllowed` for another person's note. Twice is once."""
        with self._database.write() as session:
            row = session.get(TrialNoteRow, uid)
            if row is None:
                raise NotFound(_("Note not found"), _("It is not in this workspace."))
            if row.person != person.strip():
                raise NotAllowed(
                    _("This note is somebody else's"),
                    _("Only {name} can take it back.").format(name=row.person),
                )
            session.add(
                TrialNoteRow(
                    uid=uuid4().hex,
                    trial_id=row.trial_id,
                    person=row.person,
                    kind=_TAKEN_BACK,
                    place=row.place,
                    text="",
                    about=uid,
                    at=datetime.now(UTC),
                )
            )

    def of(self, trial_ids: Collection[int] | None = None) -> list[TrialNote]:
        """Those that stand, oldest first; of all trials without `trial_ids`."""
        conditions: list[Any] = []
        if trial_ids is not None:
            conditions.append(col(TrialNoteRow.trial_id).in_(trial_ids))
        query = (
            select(TrialNoteRow)
            .where(*conditions)
            .order_by(col(TrialNoteRow.at), col(TrialNoteRow.uid))
        )
        with self._database.read() as session:
            rows = session.exec(query).all()
            # A pack may say anything, but nobody takes back what another has noted.
            gone = {(row.about, row.person) for row in rows if row.kind == _TAKEN_BACK}
            standing = [row for row in rows if row.kind != _TAKEN_BACK]
            return [_note(row) for row in standing if (row.uid, row.person) not in gone]


def _note(row: TrialNoteRow) -> TrialNote:
    return TrialNote.model_validate(row.model_dump(exclude={"about"}))
