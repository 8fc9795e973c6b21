"""Unsaved edits, one per person and task, and those that were thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue
from sqlmodel import Session, col, select

from cuecard.core.errors import Conflict, NotFound
from cuecard.core.i18n import _
from cuecard.core.tasks import Origin
from cuecard.store.codec import from_json, pack, to_json_in_pieces, unpack
from cuecard.store.engine import Database
from cuecard.store.origins import origins_in, origins_text
from cuecard.store.people import ensure_person
from cuecard.store.records import ASIDE, Draft, ThrownDraft
from cuecard.store.tables import DraftRow, RevisionRow, ThrownDraftRow, metadata
from cuecard.store.upsert import insert_of


class Drafts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(
        self,
        task_id: str,
        person: str,
        base: int,
        data: dict[str, JsonValue],
        *,
        origins: Sequence[Origin] = (),
        left: bool = False,
    ) -> Draft:
        """Keep `data` as this person's draft on top of revision `base` (0: a task not saved yet).
        `left`: the editor is being left in good order.
        """
        self.keep(task_id, person, base, data, origins=origins, left=left)
        with self._database.read() as session:
            return _draft(session.get_one(DraftRow, (task_id, person.strip())))

    def keep(
        self,
        task_id: str,
        person: str,
        base: int,
        data: dict[str, JsonValue],
        *,
        origins: Sequence[Origin] = (),
        left: bool = False,
    ) -> None:
        """As `save`, without reading it again: for what is written while somebody types."""
        body, packed = pack(to_json_in_pieces(data))
        now = datetime.now(UTC)
        values = {
            "base": base,
            "body": body,
            "packed": packed,
            "origins": origins_text(origins),
            "updated_at": now,
            "left_at": now if left else None,
        }
        with self._database.write() as session:
            connection = session.connection()
            name = ensure_person(session, person).name
            statement = insert_of(connection.dialect.name, metadata.tables["draft"]).values(
                task_id=task_id, person=name, **values
            )
            connection.execute(
                statement.on_conflict_do_update(index_elements=["task_id", "person"], set_=values)
            )

    def leave(self, task_id: str, person: str) -> None:
        """Note that the editor was left in good order, if there is a draft."""
        with self._database.write() as session:
            row = session.get(DraftRow, (task_id, person))
            if row is not None and row.left_at is None:
                row.left_at = datetime.now(UTC)
                session.add(row)

    def get(self, task_id: str, person: str) -> Draft | None:
        with self._database.read() as session:
            row = session.get(DraftRow, (task_id, person))
            return _draft(row) if row else None

    def discard(self, task_id: str, person: str) -> None:
        """Forget a draft that says nothing which is not saved elsewhere, if there is one."""
        with self._database.write() as session:
            row = session.get(DraftRow, (task_id, person))
            if row is not None:
                session.delete(row)

    def throw_away(self, task_id: str, person: str) -> None:
        """End the draft, if there is one, but keep what it said; see `thrown`."""
        with self._database.write() as session:
            row = session.get(DraftRow, (task_id, person))
            if row is None:
                return
            session.add(
                ThrownDraftRow(
                    task_id=row.task_id,
                    person=row.person,
                    base=row.base,
                    body=row.body,
                    packed=row.packed,
                    origins=row.origins,
                    updated_at=row.updated_at,
                    thrown_at=datetime.now(UTC),
                )
            )
            session.delete(row)

    def thrown(self, person: str, task_id: str | None = None) -> list[ThrownDraft]:
        """What this person threw away, the last first: of one task, or of all that were never saved
        and of which they have no draft now.
        """
        query = (
            select(ThrownDraftRow)
            .where(ThrownDraftRow.person == person)
            .order_by(col(ThrownDraftRow.id).desc())
        )
        if task_id is not None:
            query = query.where(ThrownDraftRow.task_id == task_id)
        else:
            drafts = select(DraftRow.task_id).where(DraftRow.person == person)
            query = query.where(
                ThrownDraftRow.base == 0,
                col(ThrownDraftRow.task_id).not_in(select(RevisionRow.task_id)),
                col(ThrownDraftRow.task_id).not_in(drafts),
            )
        with self._database.read() as session:
            return [_thrown(row) for row in session.exec(query)]

    def recall(self, thrown_id: int) -> Draft:
        """Make what was thrown away this person's draft again. Raises `NotFound`, and `Conflict` when
        they have another draft of the task.
        """
        with self._database.write() as session:
            row = session.get(ThrownDraftRow, thrown_id)
            if row is None:
                raise NotFound(_("There is no such draft"), str(thrown_id))
            if session.get(DraftRow, (row.task_id, row.person)) is not None:
                raise Conflict(
                    _("You have another draft of this task"),
                    row.task_id,
                    _("Open it: its history offers what was thrown away."),
                )
            return _draft(_recalled(session, row))

    def aside(self, person: str, suffix: str) -> list[str]:
        """The ids under which something of this person is kept `ASIDE` that end so."""
        query = select(DraftRow.task_id).where(
            DraftRow.person == person, col(DraftRow.task_id).endswith(suffix, autoescape=True)
        )
        with self._database.read() as session:
            return list(session.exec(query))

    def of(self, person: str) -> list[Draft]:
        """All edits of a person, the last edited first; not what is kept `ASIDE`."""
        query = (
            select(DraftRow)
            .where(DraftRow.person == person, ~col(DraftRow.task_id).contains(ASIDE))
            .order_by(col(DraftRow.updated_at).desc(), DraftRow.task_id)
        )
        with self._database.read() as session:
            return [_draft(row) for row in session.exec(query)]


def _recalled(session: Session, thrown: ThrownDraftRow) -> DraftRow:
    now = datetime.now(UTC)
    row = DraftRow(
        task_id=thrown.task_id,
        person=thrown.person,
        base=thrown.base,
        body=thrown.body,
        packed=thrown.packed,
        origins=thrown.origins,
        updated_at=now,
        left_at=now,
    )
    session.add(row)
    session.flush()
    return row


def _draft(row: DraftRow) -> Draft:
    return Draft(
        task_id=row.task_id,
        person=row.person,
        base=row.base,
        data=_data(row),
        updated_at=row.updated_at,
        origins=origins_in(row.origins),
        left_at=row.left_at,
    )


def _thrown(row: ThrownDraftRow) -> ThrownDraft:
    assert row.id is not None
    return ThrownDraft(
        id=row.id,
        task_id=row.task_id,
        person=row.person,
        base=row.base,
        data=_data(row),
        updated_at=row.updated_at,
        thrown_at=row.thrown_at,
        origins=origins_in(row.origins),
    )


def _data(row: DraftRow | ThrownDraftRow) -> dict[str, JsonValue]:
    return cast(dict[str, JsonValue], from_json(unpack(row.body, row.packed)))
