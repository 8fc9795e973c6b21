"""Bringing a database to the version this program works with.

At head, which is nearly always, one cheap query says so and Alembic is never imported.
"""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, text

from cuecard.store.engine import Database
from cuecard.store.migrations import HEAD, VERSIONS
from cuecard.store.troubles import foreign_database, newer_version

MIGRATIONS = Path(__file__).parent / "migrations"
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_POSTGRES_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
# Alembic keeps the migration that runs in module globals.
_alembic_lock = threading.Lock()


def ensure_head(database: Database) -> None:
    """Create or upgrade the tables where needed, all in one transaction.

    Raises `CuecardError` if the database holds other tables or is of a newer version.
    """
    with database.connection() as connection:
        if _version(connection, database.public_url) != HEAD:
            upgrade(connection)
        else:
            # Changes nothing, but fails if nothing can be changed: now, not when somebody has typed.
            connection.exec_driver_sql("DELETE FROM alembic_version WHERE 1 = 0")
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
