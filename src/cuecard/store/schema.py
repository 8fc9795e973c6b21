"""The tables of a database: created, upgraded from an earlier version, and kept append-only."""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    select,
    text,
)

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.store import roles
from cuecard.store.database_file import ReadOnlyReason
from cuecard.store.engine import Database
from cuecard.store.errors import Busy, foreign_database, half_moved, newer_version, outdated
from cuecard.store.task_tables import metadata

VERSIONS = tuple(f"{number:04}" for number in range(1, 16))
"""The versions of the database, oldest first."""
HEAD = VERSIONS[-1]
MIGRATIONS = Path(__file__).parent / "migrations"
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_POSTGRES_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
_POSTGRES_RIGHTS = (
    "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'),"
    " has_table_privilege('event', 'INSERT')"
)
_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION cuecard_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$
"""
APPEND_ONLY = (
    *(
        "adjudication",
        "content",
        "contribution",
        "cosign",
        "effort",
        "event",
        "judgecall",
        "judgement",
        "label",
    ),
    *(
        "labelset",
        "payload",
        "reveal",
        "revision",
        "roleentry",
        "runorder",
        "seatmove",
        "sessionform",
        "setitem",
        "shadow",
        "take",
        "throwndraft",
    ),
    *("tag", "trialnote", "verdict"),
)
"""The tables whose rows are neither changed nor deleted."""
PRESENT = frozenset({"allowance", "passage", "runlease", "searchmark"})
"""The tables that say who works on this database at present, and its index: they stay where they are when it is copied."""
HALF = Table(
    "cuecard_half", MetaData(), Column("source", Text, primary_key=True), Column("version", Text)
)
"""Stands in a database that a workspace is being moved to, until all of it is there: from where, and its version."""
# Alembic keeps the migration that runs in module globals.
_alembic_lock = threading.Lock()


UPGRADE_SECONDS = 30
"""How long others who use a database on PostgreSQL are waited for, before it is upgraded."""


def ensure_head(database: Database, waiting: Callable[[CuecardError], None] | None = None) -> None:
    """Create or upgrade the tables where needed, in one transaction; if they are up to date, it only reads. On PostgreSQL
    nobody else reads or writes them meanwhile; `waiting` is told, every few seconds, for whom it waits until then.

    Raises `CuecardError` if the database holds other tables, is of a newer version, or must be upgraded and cannot be
    written.
    """
    place = database.public_url
    with database.read() as session:
        version = _version(session.connection(), place)
        queue_due = False
        if version == HEAD and not database.is_sqlite:
            from cuecard.store import role_rules

            database.barred = _barred(session.connection())
            queue_due = not database.barred and role_rules.queue_due(session.connection())
    if version == HEAD:
        database.use_wal(patience=0)
        if queue_due:
            from cuecard.store import role_rules

            with database.connection() as connection:
                role_rules.install_queue(connection)
        return
    if version and not database.is_sqlite:
        roles.check_owner(database, _("Upgrading the workspace"))
    if barred := database.barred:
        raise outdated(place, version or "–", HEAD, *barred)
    until = time.monotonic() + UPGRADE_SECONDS
    while True:
        try:
            with database.connection() as connection:
                _to_head(connection, place)
            break
        except Busy as error:
            if time.monotonic() > until:
                raise
            if waiting:
                waiting(error)
    database.use_wal()


def _to_head(connection: Connection, place: str) -> None:
    # Somebody else may have been first.
    version = _version(connection, place)
    if version is None:
        _create(connection)
    elif version != HEAD:
        if connection.dialect.name != "sqlite":
            # All at once and before anything is changed: half-way, others' locks and ours could be a circle.
            tables = ", ".join(
                f'"{name}"' for name in sorted(table_names(connection)) if name in metadata.tables
            )
            connection.exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        upgrade(connection)


def _create(connection: Connection) -> None:
    """The tables of the newest version, without the migrations that lead to it."""
    create_tables(connection)
    stamp(connection)


def create_tables(connection: Connection) -> None:
    """The tables of the newest version, of which nothing says yet that they are a workspace."""
    from cuecard.store import role_rules

    metadata.create_all(connection)
    keep_append_only(connection, APPEND_ONLY)
    role_rules.install(connection)


def stamp(connection: Connection) -> None:
    """Say that the tables are a workspace of the newest version."""
    version = Column("version_num", String(32), nullable=False)
    key = PrimaryKeyConstraint("version_num", name="alembic_version_pkc")
    table = Table("alembic_version", MetaData(), version, key)
    table.create(connection)
    connection.execute(table.insert().values(version_num=HEAD))


def keep_append_only(connection: Connection, tables: Iterable[str]) -> None:
    """Have the database refuse every UPDATE and DELETE on these tables."""
    if connection.dialect.name == "sqlite":
        for table in tables:
            for action in ("update", "delete"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER {table}_no_{action} BEFORE {action.upper()} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
        return
    connection.execute(text(_POSTGRES_FUNCTION))
    for table in tables:
        connection.exec_driver_sql(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION cuecard_append_only()"
        )


def upgrade(connection: Connection, target: str = "head") -> None:
    """Run the migrations up to `target` on a connection whose transaction the caller owns."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with _alembic_lock:
        command.upgrade(config, target)


def table_names(connection: Connection) -> set[str]:
    """All tables there are, whosever."""
    names = _SQLITE_TABLES if connection.dialect.name == "sqlite" else _POSTGRES_TABLES
    return set(connection.execute(text(names)).scalars())


def _version(connection: Connection, place: str) -> str | None:
    """The database's migration version, None if it has none."""
    tables = table_names(connection)
    if not tables:
        return None
    if HALF.name in tables:
        raise half_moved(place, connection.execute(select(HALF.c.source)).scalar_one())
    if "alembic_version" not in tables:
        raise foreign_database(place)
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if version is None:
        raise foreign_database(place)
    if version not in VERSIONS:
        raise newer_version(place, str(version))
    return str(version)


def _barred(connection: Connection) -> ReadOnlyReason | None:
    """Why a PostgreSQL server lets this user only read."""
    standby, refused, may_add = connection.execute(text(_POSTGRES_RIGHTS)).one()
    if standby or refused == "on":
        return ReadOnlyReason(
            _("The server takes no changes."), _("Open the workspace on its primary server.")
        )
    if not may_add:
        reason = _("The database's user of this address may only read.")
        return ReadOnlyReason(reason, _("Ask whoever runs the database for the right to write."))
    return None
