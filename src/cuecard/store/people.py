"""The people of a workspace, and the effort that each put into tasks."""

from collections import Counter
from datetime import UTC, datetime

from sqlmodel import Session, col, func, select

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.records import EffortEntry, EffortKind, EffortTotals, Person
from cuecard.core.text import for_display
from cuecard.store.engine import Database
from cuecard.store.task_tables import EffortRow, PersonRow, insert_new, metadata

MAX_NAME = 80


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
