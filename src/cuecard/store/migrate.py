"""Bringing a database to the version this program works with.

At head, which is nearly always, one cheap query says so and Alembic is never imported.
"""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, text

from cuecard.core.i18n import _
from cuecard.store.access import Barred
from cuecard.store.engine import Database
from cuecard.store.migrations import HEAD, VERSIONS
from cuecard.store.troubles import foreign_database, newer_version, outdated

MIGRATIONS = Path(__file__).parent / "migrations"
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_POSTGRES_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
_POSTGRES_RIGHTS = (
    "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'),"
    " has_table_privilege('event', 'INSERT')"
)
# Alembic keeps the migration that runs in module globals.
_alembic_lock = threading.Lock()


def ensure_head(database: Database) -> None:
    """Create or upgrade the tables where needed, all in one transaction; at head, only look.

    Raises `CuecardError` if the database holds other tables, is of a newer version, or must be upgraded and cannot
    be written.
    """
    place = database.public_url
    with database.read() as session:
        version = _version(session.connection(), place)
        if version == HEAD and not database.is_sqlite:
            database.barred = _barred(session.connection())
    if version == HEAD:
        database.use_wal(patience=0)
        return
    if barred := database.barred:
        raise outdated(place, version or "–", HEAD, *barred)
    with database.connection() as connection:
        # Somebody else may have been first.
        if _version(connection, place) != HEAD:
            upgrade(connection)
    database.use_wal()


def upgrade(connection: Connection, target: str = "head") -> None:
    """Run the migrations up to `target` on a connection whose transaction the caller owns."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with _alembic_lock:
        command.upgrade(config, target)


def _version(connection: Connection, place: str) -> str | None:
    """The database's version, None if it is empty."""
    names = _SQLITE_TABLES if connection.dialect.name == "sqlite" else _POSTGRES_TABLES
    tables = set(connection.execute(text(names)).scalars())
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise foreign_database(place)
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if version is None:
        raise foreign_database(place)
    if version not in VERSIONS:
        raise newer_version(place, str(version))
    return str(version)


def _barred(connection: Connection) -> Barred | None:
    """Why a PostgreSQL server lets this user only read."""
    standby, refused, may_add = connection.execute(text(_POSTGRES_RIGHTS)).one()
    if standby or refused == "on":
        return Barred(
            _("The server takes no changes."), _("Open the workspace on its primary server.")
        )
    if not may_add:
        reason = _("The database's user of this address may only read.")
        return Barred(reason, _("Ask whoever runs the database for the right to write."))
    return None
