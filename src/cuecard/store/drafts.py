"""Work that is not handed in yet: drafts of tasks (unsaved edits), those that were discarded, and reviews that were begun."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue
from sqlmodel import Session, col, select

from cuecard.core.errors import Conflict, NotFound
from cuecard.core.i18n import _
from cuecard.core.records import ASIDE, Draft, ThrownDraft
from cuecard.core.tasks.base import Origin
from cuecard.store.codec import (
    from_json,
    origins_in,
    origins_text,
    pack,
    to_json,
    to_json_in_pieces,
    unpack,
)
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person, of_person
from cuecard.store.task_tables import (
    DraftRow,
    ReviewFormRow,
    RevisionRow,
    ThrownDraftRow,
    insert_of,
    metadata,
)

_HISTORY = f"{ASIDE}history"


class Drafts:
    """Unsaved edits, one per task and person, and those that were discarded."""

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
        """Keep `data`, a task's content whether valid or not, as this person's draft on top of revision `base` (0: a
        task never saved). `left`: the editor is being closed normally.
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
        history: dict[str, JsonValue] | None = None,
    ) -> None:
        """As `save`, but returns nothing, for the frequent saves while somebody types. `history`: see `history`."""
        now = datetime.now(UTC)
        drafted = _values(base, data, now, origins, left=left)
        steps = _values(base, history, now) if history else None
        with self._database.write(of_person(person)) as session:
            _put(session, task_id, person, drafted)
            if steps:
                _put(session, f"{task_id}{_HISTORY}", person, steps)

    def history(self, task_id: str, person: str) -> Draft | None:
        """What can be undone in a draft, as it was kept: at the moment of the draft that it belongs to, or of none if that
        was discarded since as equal to its revision.
        """
        return self.get(f"{task_id}{_HISTORY}", person)

    def leave(self, task_id: str, person: str) -> None:
        """Record that the editor was closed normally; nothing if there is no draft."""
        with self._database.write(of_person(person)) as session:
            row = session.get(DraftRow, (task_id, person))
            if row is not None and row.left_at is None:
                row.left_at = datetime.now(UTC)
                session.add(row)

    def get(self, task_id: str, person: str) -> Draft | None:
        with self._database.read() as session:
            row = session.get(DraftRow, (task_id, person))
            return _draft(row) if row else None

    def discard(
        self,
        task_id: str,
        person: str,
        *,
        base: int = 0,
        history: dict[str, JsonValue] | None = None,
    ) -> None:
        """Delete a draft whose content is saved elsewhere; nothing if there is none. Its history goes with it, unless it
        is given, as that of revision `base`.
        """
        steps = _values(base, history, datetime.now(UTC)) if history else None
        with self._database.write(of_person(person)) as session:
            _delete(session, task_id, person)
            if steps:
                _put(session, f"{task_id}{_HISTORY}", person, steps)
            else:
                _delete(session, f"{task_id}{_HISTORY}", person)

    def throw_away(self, task_id: str, person: str) -> None:
        """Discard a draft but keep a copy for `thrown` and `recall`; nothing if there is none."""
        with self._database.write(of_person(person)) as session:
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
            _delete(session, f"{task_id}{_HISTORY}", person)

    def thrown(self, person: str, task_id: str | None = None) -> list[ThrownDraft]:
        """This person's discarded drafts, the last first: of one task; or without `task_id`, of tasks that were never
        saved and of which they have no draft now.
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
        """Make a discarded draft this person's draft again. Raises `NotFound`, and `Conflict` if they have another
        draft of the task.
        """
        with self._database.read() as session:
            row = session.get(ThrownDraftRow, thrown_id)
            if row is None:
                raise NotFound(_("There is no such draft"), str(thrown_id))
        with self._database.write(of_person(row.person)) as session:
            if session.get(DraftRow, (row.task_id, row.person)) is not None:
                raise Conflict(
                    _("You have another draft of this task"),
                    row.task_id,
                    _("Open it: its history offers what was thrown away."),
                )
            return _draft(_recalled(session, row))

    def aside(self, person: str, suffix: str) -> list[str]:
        """The ids, ending in `suffix`, under which this person keeps things beside drafts (see `ASIDE`)."""
        query = select(DraftRow.task_id).where(
            DraftRow.person == person, col(DraftRow.task_id).endswith(suffix, autoescape=True)
        )
        with self._database.read() as session:
            return list(session.exec(query))

    def of(self, person: str) -> list[Draft]:
        """All drafts of a person, the last edited first, without what is kept under ids with `ASIDE`."""
        query = (
            select(DraftRow)
            .where(DraftRow.person == person, ~col(DraftRow.task_id).contains(ASIDE))
            .order_by(col(DraftRow.updated_at).desc(), DraftRow.task_id)
        )
        with self._database.read() as session:
            return [_draft(row) for row in session.exec(query)]


def _values(
    base: int,
    data: dict[str, JsonValue],
    now: datetime,
    origins: Sequence[Origin] = (),
    *,
    left: bool = False,
) -> dict[str, object]:
    """The columns of a draft, packed before a transaction begins."""
    body, packed = pack(to_json_in_pieces(data))
    return {
        "base": base,
        "body": body,
        "packed": packed,
        "origins": origins_text(origins),
        "updated_at": now,
        "left_at": now if left else None,
    }


def _put(session: Session, task_id: str, person: str, values: dict[str, object]) -> None:
    """Insert or replace a draft."""
    connection = session.connection()
    name = ensure_person(session, person).name
    statement = insert_of(connection.dialect.name, metadata.tables["draft"]).values(
        task_id=task_id, person=name, **values
    )
    connection.execute(
        statement.on_conflict_do_update(index_elements=["task_id", "person"], set_=values)
    )


def _delete(session: Session, task_id: str, person: str) -> None:
    row = session.get(DraftRow, (task_id, person))
    if row is not None:
        session.delete(row)


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
    return Draft.from_fields(row, data=_data(row), origins=origins_in(row.origins))


def _thrown(row: ThrownDraftRow) -> ThrownDraft:
    assert row.id is not None
    return ThrownDraft.from_fields(row, data=_data(row), origins=origins_in(row.origins))


def _data(row: DraftRow | ThrownDraftRow) -> dict[str, JsonValue]:
    return cast(dict[str, JsonValue], from_json(unpack(row.body, row.packed)))


class ReviewForms:
    """Reviews that were begun and not handed in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, task_id: str, revision: int, reviewer: str, data: dict[str, JsonValue]) -> None:
        """Keep what the reviewer has filled in so far."""
        with self._database.write(of_person(reviewer)) as session:
            connection, keys = session.connection(), ["task_id", "revision", "reviewer"]
            name = ensure_person(session, reviewer).name
            values = {"body": to_json(data).decode(), "updated_at": datetime.now(UTC)}
            statement = insert_of(connection.dialect.name, metadata.tables["reviewform"]).values(
                task_id=task_id, revision=revision, reviewer=name, **values
            )
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=values))

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
