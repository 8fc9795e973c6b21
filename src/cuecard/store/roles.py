"""Who somebody is on PostgreSQL: roles of the database mapped to people, their rights, and what row-level security hides
from them. On SQLite, and where no role is mapped, everybody is who they say they are.
"""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, MetaData, Table, text
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.i18n import _, plural
from cuecard.core.records import Membership
from cuecard.store.engine import Database
from cuecard.store.people import checked_name, ensure_person
from cuecard.store.task_tables import RoleEntryRow, Row, metadata

_ALL = "(SELECT cuecard_sees_all())"
_ME = "(SELECT cuecard_person())"
_WAITS = "(SELECT w.trial_id, w.item_key FROM cuecard_waiting() w)"
_TRIAL = "trial_id NOT IN (SELECT w.trial_id FROM cuecard_waiting() w)"
_WAITING = "(SELECT t.uid FROM trial t WHERE t.id IN (SELECT w.trial_id FROM cuecard_waiting() w))"
_ITEM = f"(trial_id, item_key) NOT IN {_WAITS}"
_OPEN_REVIEWS = "(SELECT o.task_id, o.revision FROM cuecard_open_reviews() o)"
_SEEN = f"""{_ALL} OR by = {_ME} OR CASE
    WHEN kind IN ('reviewed', 'third_asked') THEN (task_id, revision) IN {_OPEN_REVIEWS}
    WHEN kind IN ('claimed', 'released') THEN about = {_ME}
    WHEN kind = 'gold_built' THEN task_id IN (SELECT cuecard_wrote({_ME}))
        OR (task_id, revision) IN (SELECT b.task_id, b.revision FROM cuecard_built() b)
    WHEN kind = 'answered' THEN about IN (SELECT cuecard_commented())
    WHEN kind = 'qc_decided' THEN task_id NOT IN (SELECT cuecard_blind_tasks())
    ELSE true END"""


class Rule(NamedTuple):
    """What a member, who is no coordinator, may do with a table. `by`: the column that holds in whose name a row is;
    `sees`: the SQL condition of the rows that they see, besides their own; `more`: rights besides reading and adding;
    `checks`: what must hold of a row that they add; `columns`: what they may read, if not all.
    """

    by: str = ""
    sees: str = "true"
    more: str = ""
    checks: str = "true"
    columns: str = ""


_OWN = "false"
RULES: dict[str, Rule] = {
    "adjudication": Rule("by", _ITEM),
    "claim": Rule(more="UPDATE"),
    "content": Rule(),
    "contribution": Rule(
        "by",
        _SEEN,
        checks=f"({_ALL} OR kind NOT IN ('prioritised', 'claimed', 'released') OR about = {_ME})",
    ),
    "allowance": Rule(more="UPDATE, DELETE"),
    "cosign": Rule("author"),
    "draft": Rule("person", _OWN, "UPDATE, DELETE"),
    "effort": Rule("person"),
    "event": Rule(),
    "judgecall": Rule(sees=_TRIAL),
    "judgement": Rule(sees=_TRIAL),
    "label": Rule("person", _ITEM),
    "labelset": Rule("created_by"),
    "passage": Rule(),
    "payload": Rule(),
    "person": Rule(),
    "reveal": Rule("person", _OWN),
    "reviewform": Rule("reviewer", _OWN, "UPDATE, DELETE"),
    "revision": Rule("author"),
    "roleentry": Rule(checks=f"{_ALL} AND kind = 'acted' AND role = session_user::text"),
    "run": Rule("created_by", more="UPDATE (name, state, limits, plan, reason)"),
    "runlease": Rule(more="UPDATE, DELETE"),
    "runorder": Rule("person"),
    "searchmark": Rule(more="UPDATE"),
    "seatmove": Rule("person"),
    "sessionform": Rule("person"),
    "setitem": Rule(columns="set_id, position, trial_id, item_key, raters, people"),
    "shadow": Rule(sees=_TRIAL),
    "standing": Rule(more="UPDATE"),
    "tag": Rule("person", f"kind <> 'trial' OR about NOT IN {_WAITING}"),
    "take": Rule(),
    "task": Rule(more="UPDATE"),
    "throwndraft": Rule("person", _OWN),
    "trial": Rule(more="UPDATE (termination, detail, ended_at)"),
    "trialfigures": Rule(sees=_TRIAL, more="UPDATE"),
    "trialnote": Rule("person", _TRIAL),
    "usage": Rule(more="UPDATE"),
    "verdict": Rule(sees=_ITEM),
    "worker": Rule("person", more="UPDATE, DELETE"),
}
"""By table. What is not here no member may read or write."""
VIEWS = ("contributionlog", "labelledcount", "rolenow", "setitemlog")
"""What members read besides: see roles.sql."""
QUEUE = "cuecard_"
"""What the names of PgQueuer's tables begin with, which stand beside ours; see `store.queue`."""
_QUEUE_TABLES = f"{QUEUE}pgqueuer, {QUEUE}pgqueuer_log, {QUEUE}pgqueuer_statistics"
_QUEUE_THERE = f"SELECT to_regclass('{QUEUE}pgqueuer') IS NOT NULL"
_QUEUE_OPEN = f"coalesce(has_table_privilege('public', to_regclass('{QUEUE}pgqueuer'), 'INSERT'), {{missing}})"
_MAPPED = "SELECT role FROM rolenow JOIN pg_roles ON rolname = role WHERE person <> ''"

_SCHEMA = "SELECT quote_ident(current_schema())"
# Who may make functions there could make some that the owner's functions then call.
_CLOSED = "REVOKE CREATE ON SCHEMA {} FROM PUBLIC"


def install(connection: Connection) -> None:
    """Make, or renew, functions, views and policies, on PostgreSQL. They hide nothing until a role is mapped."""
    if connection.dialect.name == "sqlite":
        return
    schema = _scalar(connection, _SCHEMA)
    script = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    found = set(
        connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        ).scalars()
    )
    statements = [script.replace("{schema}", schema).replace("{seen}", _SEEN)]
    for table, rule in RULES.items():
        if table not in found or rule == Rule(more=rule.more, columns=rule.columns):
            continue
        mine = f"{rule.by} = {_ME}" if rule.by else "true"
        sees = (
            "true"
            if rule.sees == "true"
            else f"{_ALL} OR {(rule.by and mine) or 'false'} OR {rule.sees}"
        )
        policies = [
            f"SELECT USING ({sees})",
            f"INSERT WITH CHECK (({_ALL} OR {mine}) AND {rule.checks})",
        ]
        if rule.more:
            # Which columns of others' rows may change, the rights say.
            theirs = f"({_ALL} OR {mine})" if rule.sees == _OWN else "(true)"
            policies += [f"UPDATE USING {theirs} WITH CHECK {theirs}", f"DELETE USING {theirs}"]
        statements.append(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        for policy in policies:
            name = f"cuecard_{policy.split()[0].lower()}"
            statements.append(f'DROP POLICY IF EXISTS {name} ON "{table}"')
            statements.append(f'CREATE POLICY {name} ON "{table}" FOR {policy}')
    _execute(connection, *statements)
    _make_queue(connection)
    # Rows that came from another server tell of roles that may not be on this one.
    for role in connection.execute(text(_MAPPED)).scalars():
        _grant(connection, role)


def queue_due(connection: Connection) -> bool:
    """Whether this role owns the workspace, and the queue of workers is still to be made or to be closed to strangers."""
    _role, _owner, owns = connection.execute(text(_OWNER)).one()
    missing = str(find_spec("pgqueuer") is not None)
    return owns and _scalar(connection, f"SELECT {_QUEUE_OPEN.format(missing=missing)}") is True


def install_queue(connection: Connection) -> None:
    """Make the tables of the queue of workers, if their package is there and they are not; members alone may use them.
    As the owner of the workspace.
    """
    _make_queue(connection)
    for role in connection.execute(text(_MAPPED)).scalars():
        _grant(connection, role)


def _make_queue(connection: Connection) -> None:
    if not connection.execute(text(_QUEUE_THERE)).scalar_one():
        if find_spec("pgqueuer") is None:
            return
        from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
        from pgqueuer.domain.settings import DBSettings

        made = QueryBuilderEnvironment(DBSettings(prefix=QUEUE))
        _execute(connection, made.build_install_query(create_schema=False))
    # An earlier version let everybody in.
    sequences = f"{QUEUE}pgqueuer_id_seq, {QUEUE}pgqueuer_log_id_seq"
    _execute(
        connection,
        f"REVOKE ALL ON {_QUEUE_TABLES} FROM PUBLIC",
        f"REVOKE ALL ON SEQUENCE {sequences} FROM PUBLIC",
    )


def _grant(connection: Connection, role: str, *, nothing: bool = False) -> None:
    """Give a role the rights of a member, who owns nothing, so that triggers and policies hold; or take all away."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    name, schema = quote(role), _scalar(connection, _SCHEMA)
    statements = [
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {name}",
        f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {name}",
    ]
    if not nothing:
        for table, rule in RULES.items():
            read = f"SELECT ({rule.columns})" if rule.columns else "SELECT"
            rights = ", ".join(filter(None, (read, "INSERT", rule.more)))
            statements.append(f"GRANT {rights} ON {quote(table)} TO {name}")
        statements += [
            f"GRANT SELECT ON alembic_version, {', '.join(VIEWS)} TO {name}",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
            f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        ]
        if connection.execute(text(_QUEUE_THERE)).scalar_one():
            statements.append(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {_QUEUE_TABLES} TO {name}")
    _execute(connection, *statements)


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
    def told(self) -> str:
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
_OWNER = (
    "SELECT session_user::text, relowner::regrole::text, pg_has_role(session_user, relowner, 'MEMBER')"
    " FROM pg_class WHERE oid = 'alembic_version'::regclass"
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
    with database.read() as session:
        role, owner, owns = session.connection().execute(text(_OWNER)).one()
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
            raise NotAllowed(
                _("The workspace does not know you"),
                _("The database's role {role} stands for nobody.").format(role=mine.role),
                _("Ask its owner for `cuecard people add NAME --role {role}`.").format(
                    role=mine.role
                ),
            )
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
        with self._changing() as session:
            connection = session.connection()
            _make_queue(connection)
            quoted = connection.dialect.identifier_preparer.quote_identifier(role)
            _execute(connection, _CLOSED.format(_scalar(connection, _SCHEMA)))
            free = connection.execute(_FREE, {"role": role}).scalar()
            if free is None and not create:
                made = _("`CREATE ROLE {role} LOGIN` in psql, or --create, makes it.")
                raise NotFound(_("The server has no such role"), role, made.format(role=quoted))
            if free is None:
                _execute(connection, f"CREATE ROLE {quoted} LOGIN")
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
        by = _scalar(session.connection(), "SELECT session_user::text")
        now = datetime.now(UTC)
        row = RoleEntryRow(
            at=now, kind="mapped", role=role, person=person, coordinator=coordinator, by=by
        )
        session.add(row)
        session.flush()
        _grant(session.connection(), role, nothing=not person)
        return Membership.from_fields(row)


def _no_roles() -> NotAllowed:
    return NotAllowed(
        _("Roles are for PostgreSQL"),
        _("In a file everybody is who they say they are: --as NAME."),
    )


def _scalar(connection: Connection, query: str) -> Any:
    return connection.execute(text(query)).scalar_one()


def _execute(connection: Connection, *statements: str) -> None:
    # Without parameters several statements go at once, and % stays what it is.
    connection.exec_driver_sql(";\n".join(statements), execution_options={"no_parameters": True})
