"""The people of a workspace, and what is theirs: drafts (unsaved edits), unfinished reviews, and effort on tasks."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue
from sqlmodel import Session, col, func, select

from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.i18n import _
from cuecard.core.records import (
    ASIDE,
    Draft,
    EffortEntry,
    EffortKind,
    EffortTotals,
    Person,
    ThrownDraft,
)
from cuecard.core.tasks.base import Origin
from cuecard.core.text import for_display
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
from cuecard.store.task_tables import (
    DraftRow,
    EffortRow,
    PersonRow,
    ReviewFormRow,
    RevisionRow,
    ThrownDraftRow,
    insert_new,
    insert_of,
    metadata,
)

MAX_NAME = 80
_HISTORY = f"{ASIDE}history"


class People:
    """The people of the workspace. A person is a name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Person]:
        """Everybody, by name."""
        with self._database.read() as session:
            rows = session.exec(select(PersonRow).order_by(PersonRow.name)).all()
        return [Person(name=row.name, created_at=row.created_at) for row in rows]

    def add(self, name: str) -> Person:
        """The person of this name, entered if new; whoever is known is only looked up. Raises `CuecardError` for an
        unusable name.
        """
        with self._database.read() as session:
            known = session.get(PersonRow, checked_name(name))
            if known is not None:
                return Person(name=known.name, created_at=known.created_at)
        with self._database.append() as session:
            row = ensure_person(session, name)
            return Person(name=row.name, created_at=row.created_at)

    def exists(self, name: str) -> bool:
        with self._database.read() as session:
            return session.get(PersonRow, name.strip()) is not None


def ensure_person(session: Session, name: str) -> PersonRow:
    """The row of the person of this name, inserted if new."""
    name = checked_name(name)
    row = session.get(PersonRow, name)
    if row is None:
        # Somebody else may enter them at this moment.
        connection = session.connection()
        new = {"name": name, "created_at": datetime.now(UTC)}
        connection.execute(insert_new(connection, metadata.tables["person"]), new)
        row = session.get_one(PersonRow, name)
    return row


def of_person(name: str) -> str:
    """What to write about (`Database.write`), where two windows of one person could get in each other's way."""
    return f"person:{name.strip()}"


def checked_name(name: str) -> str:
    """The name without surrounding blanks. Raises `CuecardError` if it is empty or otherwise cannot be used."""
    name = name.strip()
    if not name:
        problem = _("A name must not be empty.")
    elif len(name) > MAX_NAME:
        problem = _("A name must not be longer than {n} characters.").format(n=MAX_NAME)
    elif for_display(name) != name or "\n" in name or any("\ud800" <= c <= "\udfff" for c in name):
        problem = _("A name must not hold control characters.")
    else:
        return name
    raise CuecardError(_("This name cannot be used"), problem, _("Choose another name."))


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


class Effort:
    """The effort log: seconds of editing, and queries and pages that were consulted, by task and person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, task_id: str, person: str, kind: EffortKind, amount: float = 1, text: str = ""
    ) -> None:
        """Add an entry of `amount`: seconds for kind `time`, else a number of queries or pages. The task need not be
        saved yet. Raises `ValueError` unless the amount is above 0.
        """
        if not 0 < amount < float("inf"):
            raise ValueError("an amount of effort must be above 0 and finite")
        with self._database.append() as session:
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
        """The ids of the tasks, saved or not, that a person has entries for."""
        query = select(EffortRow.task_id).where(EffortRow.person == person).distinct()
        with self._database.read() as session:
            return frozenset(session.exec(query))

    def move(self, task_id: str, person: str, to: str) -> None:
        """Count a person's entries for a task under the id `to`, which the task has now."""
        with self._database.write(of_person(person)) as session:
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
            entries.append(EffortEntry.from_fields(row))
    return entries
