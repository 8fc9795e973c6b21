"""Who works in this workspace. A name is a key: it signs everything, and never changes."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlmodel import Session, select

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.text import for_display
from cuecard.store.engine import Database
from cuecard.store.records import Person
from cuecard.store.tables import PersonRow

MAX_NAME = 80


class People:
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
        with self._database.write() as session:
            row = ensure_person(session, name)
            return Person(name=row.name, created_at=row.created_at)

    def exists(self, name: str) -> bool:
        with self._database.read() as session:
            return session.get(PersonRow, name.strip()) is not None


def ensure_person(session: Session, name: str) -> PersonRow:
    """The row of this name, entered if new: whoever signs something is in the workspace."""
    name = checked_name(name)
    row = session.get(PersonRow, name)
    if row is None:
        row = PersonRow(name=name, created_at=datetime.now(UTC))
        session.add(row)
        session.flush()
    return row


def checked_name(name: str) -> str:
    """The name without blanks around it. Raises `CuecardError` if it cannot sign anything."""
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
