"""The people of a workspace, and the effort that each put into tasks. Who somebody is on PostgreSQL: roles of the database
mapped to people, and what is hidden from them. On SQLite, and where
no role is mapped, everybody is who they say they are.
"""

from collections import Counter
from collections.abc import Collection, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Column, MetaData, Table, text
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, func, select

from cuecard.core.errors import CuecardError, NotAllowed, NotFound
from cuecard.core.i18n import _, plural
from cuecard.core.records import EffortEntry, EffortKind, EffortTotals, Membership, Person
from cuecard.core.text import for_display
from cuecard.store.engine import Database
from cuecard.store.errors import unknown_role
from cuecard.store.task_tables import EffortRow, PersonRow, RoleEntryRow, Row, insert_new, metadata


def shown(session: Session, row: type[Row], view: str) -> Any:
    """What to select in place of `row`: on PostgreSQL the view that holds of each row what its reader may know."""
    if session.get_bind().dialect.name == "sqlite":
        return row
    return aliased(row, _view(view), adapt_on_names=True)


@cache
def _view(view: str) -> Table:
    like = metadata.tables[view.removesuffix("log")]
    return Table(view, MetaData(), *(Column(c.name, c.type) for c in like.columns))


def check_whole(session: Session, runs: Collection[int | None] = ()) -> None:
    """Raises `NotAllowed` where the session's role must not see verdicts and labels of these runs, or of any if none is
    named: what is counted from the others would be wrong.
    """
    if session.get_bind().dialect.name == "sqlite":
        return
    of_runs = " JOIN trial t ON t.id = w.trial_id WHERE t.run_id = ANY(:runs)" if runs else ""
    query = text(f"SELECT count(*) FROM cuecard_waiting() w{of_runs}")
    given = {"runs": [run for run in runs if run is not None]} if runs else {}
    if hidden := session.connection().execute(query, given).scalar_one():
        raise NotAllowed(
            _("Items of this still wait for your label"),
            plural(
                "{n} item. What is counted from it is shown once you have labelled it.",
                "{n} items. What is counted from them is shown once you have labelled them.",
                hidden,
            ),
            _("Coordinators see it now."),
        )


class OwnRole(NamedTuple):
    """The role that a workspace is open as. `proven`: roles are mapped to people, so names are; `person`: whom it stands
    for, "" for nobody; `coordinator`: it may work as anybody and sees everything; `owner`: it owns the tables.
    """

    role: str = ""
    person: str = ""
    proven: bool = False
    coordinator: bool = True
    owner: bool = True

    @property
    def sentence(self) -> str:
        """Whom the workspace takes its reader for, and whether that is proven."""
        if not self.role:
            return _("In a file everybody is who they say they are (--as NAME): nobody proves it.")
        if not self.proven:
            text = _(
                "All who share the role {role} are who they say they are, and nothing is hidden from SQL: `cuecard people"
                " add NAME --role ROLE` gives a person a role of their own."
            )
        elif not self.person:
            text = _(
                "You are connected as {role}, the owner: nothing is hidden from you, and your name is not proven."
            )
        elif self.coordinator:
            text = _(
                "You are {name}, a coordinator: nothing is hidden from you in SQL, and you may work as others."
            )
        else:
            text = _("You are {name}, which the database's role {role} proves.")
        return text.format(name=self.person, role=self.role)


_OWN_ROLE = text(
    "SELECT session_user::text, coalesce(cuecard_person(), ''), EXISTS (SELECT FROM rolenow WHERE person <> ''),"
    " cuecard_sees_all(), pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'roleentry'::regclass),"
    " 'MEMBER')"
)
_FREE = text(
    "SELECT rolsuper OR rolbypassrls OR has_schema_privilege(rolname, current_schema(), 'CREATE')"
    " OR pg_has_role(rolname, (SELECT relowner FROM pg_class WHERE oid = 'roleentry'::regclass), 'MEMBER')"
    " FROM pg_roles WHERE rolname = :role"
)


def check_owner(database: Database, doing: str) -> None:
    """Raises `NotAllowed` unless the role of this connection owns the workspace's tables, as `doing` needs."""
    if database.is_sqlite:
        return
    from cuecard.store.role_rules import OWNER

    with database.read() as session:
        role, owner, owns = session.connection().execute(text(OWNER)).one()
    if not owns:
        raise NotAllowed(
            _("Only the owner of the workspace may do this"),
            _("{doing}: the database's role {role} does not own the tables.").format(
                doing=doing, role=role
            ),
            _("They belong to {owner}: ask whoever works by that role to do it.").format(
                owner=owner
            ),
        )


class Roles:
    """Roles of the PostgreSQL server and the people they stand for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mine(self) -> OwnRole:
        """Of this connection. On SQLite there are no roles."""
        if self._database.is_sqlite:
            return OwnRole()
        with self._database.read() as session:
            return OwnRole(*session.connection().execute(_OWN_ROLE).one())

    def person(self, given: str, otherwise: str = "") -> str:
        """Who works here: where roles are mapped whoever the role stands for; a coordinator who works as somebody else,
        `given`, is recorded. Elsewhere `given`, or `otherwise`. Raises `NotAllowed`.
        """
        mine = self.mine()
        if not mine.proven:
            return given or otherwise
        if given.strip() in ("", mine.person):
            if mine.person or mine.owner:
                return mine.person or otherwise
            raise unknown_role(mine.role)
        if not mine.coordinator:
            raise NotAllowed(
                _("You are {name} here").format(name=mine.person or mine.role),
                _("Only coordinators work as somebody else, such as {name}.").format(name=given),
                _("Leave out --as and CUECARD_USER: the database's role says who you are."),
            )
        if not self._database.barred:
            with self._database.write() as session:
                session.add(
                    RoleEntryRow(
                        at=datetime.now(UTC),
                        kind="acted",
                        role=mine.role,
                        person=checked_name(given),
                        by=mine.role,
                    )
                )
        return given

    def check_whole(self, runs: Collection[int] = ()) -> None:
        """Raises `NotAllowed` where figures of these runs, or of all, would lack what this role must not see."""
        with self._database.read() as session:
            check_whole(session, runs)

    def all(self) -> list[Membership]:
        """The roles that stand for somebody."""
        if self._database.is_sqlite:
            return []
        query = text(
            "SELECT role, person, coordinator, at FROM rolenow WHERE person <> '' ORDER BY 2, 1"
        )
        with self._database.read() as session:
            rows = session.connection().execute(query)
            return [Membership.model_validate(row, from_attributes=True) for row in rows]

    def acted(self) -> list[Membership]:
        """Who worked as whom, oldest first."""
        query = select(RoleEntryRow).where(RoleEntryRow.kind == "acted")
        query = query.order_by(col(RoleEntryRow.id))
        with self._database.read() as session:
            return [Membership.from_fields(row) for row in session.exec(query)]

    def add(
        self, name: str, role: str, *, coordinator: bool = False, create: bool = False
    ) -> Membership:
        """From now on `role` stands for the person `name` and has a member's rights, or a coordinator's. `create`: make
        the role if there is none. Raises `NotFound` with what makes it, `NotAllowed`, `CuecardError`.
        """
        from cuecard.store.role_rules import close_schema, execute, make_queue

        with self._changing() as session:
            connection = session.connection()
            make_queue(connection)
            quoted = connection.dialect.identifier_preparer.quote_identifier(role)
            close_schema(connection)
            free = connection.execute(_FREE, {"role": role}).scalar()
            if free is None and not create:
                made = _("`CREATE ROLE {role} LOGIN` in psql, or --create, makes it.")
                raise NotFound(_("The server has no such role"), role, made.format(role=quoted))
            if free is None:
                execute(connection, f"CREATE ROLE {quoted} LOGIN")
            elif free and not coordinator:
                raise NotAllowed(
                    _("Nothing can be hidden from this role"),
                    _(
                        "{role} owns the tables, or may make some, or no policy holds for it."
                    ).format(role=role),
                    _("Give them a role of their own, or make them a coordinator."),
                )
            return self._map(session, role, ensure_person(session, name).name, coordinator)

    def coordinate(self, name: str, coordinator: bool) -> None:
        """Make the roles of a person those of a coordinator, or of a member. Raises `NotFound`, `NotAllowed`."""
        for each in self._of(name):
            self.add(each.person, each.role, coordinator=coordinator)

    def remove(self, name: str) -> None:
        """The roles of a person stand for nobody, and lose their rights. Raises `NotFound`, `NotAllowed`."""
        for each in self._of(name):
            with self._changing() as session:
                self._map(session, each.role, "", coordinator=False)

    def _of(self, name: str) -> list[Membership]:
        if self._database.is_sqlite:
            raise _no_roles()
        found = [each for each in self.all() if each.person == name.strip()]
        if not found:
            raise NotFound(
                _("No role stands for {name}").format(name=name),
                hint=_(
                    "`cuecard people` lists roles; `cuecard people add NAME --role ROLE` adds one."
                ),
            )
        return found

    @contextmanager
    def _changing(self) -> Generator[Session]:
        if self._database.is_sqlite:
            raise _no_roles()
        check_owner(self._database, _("Saying who is who"))
        with self._database.write() as session:
            yield session

    def _map(self, session: Session, role: str, person: str, coordinator: bool) -> Membership:
        from cuecard.store.role_rules import grant

        by = session.connection().execute(text("SELECT session_user::text")).scalar_one()
        now = datetime.now(UTC)
        row = RoleEntryRow(
            at=now, kind="mapped", role=role, person=person, coordinator=coordinator, by=by
        )
        session.add(row)
        session.flush()
        grant(session.connection(), role, nothing=not person)
        return Membership.from_fields(row)


def _no_roles() -> NotAllowed:
    return NotAllowed(
        _("Roles are for PostgreSQL"),
        _("In a file everybody is who they say they are: --as NAME."),
    )


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
