"""One database: how it is reached, and the two ways to work with it, reading and writing.

SQLite runs in WAL with `synchronous=FULL`: a commit returns when it is on the disk, so that neither
`kill -9` nor a power cut takes back what a person typed or paid for. Writers queue: within the process
behind a lock, between processes behind `BEGIN IMMEDIATE` (SQLite) or an advisory lock (PostgreSQL).
So a write never meets another half-way, and no room needs locks of its own.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.store.locate import public_form
from cuecard.store.troubles import database_trouble, missing_driver

BUSY_SECONDS = 30
_WRITES = "cuecard_writes"
_ADVISORY_LOCK = 0x63756563  # "cuec": any constant that is ours alone


class Database:
    """Sessions on one database, SQLite or PostgreSQL. Safe to use from any thread."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url) if self.is_sqlite else _postgres_engine(url)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._lock = threading.Lock()

    @property
    def public_url(self) -> str:
        """The address as it may be shown: a path, or a URL without its password."""
        if self.is_sqlite:
            return str(self.url.database)
        return public_form(self.url.render_as_string(hide_password=True))

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that sees one state of the database throughout. Raises `CuecardError`."""
        with self._explained(), Session(self._engine) as session:
            yield session

    @contextmanager
    def write(self) -> Generator[Session]:
        """A session that is alone in writing; commits at the end, or nothing happened at all."""
        with (
            self._explained(),
            self._lock,
            Session(self._writer, expire_on_commit=False) as session,
        ):
            yield session
            session.commit()

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """As `write`, without the session: for migrations, and for many rows at a time."""
        with self._explained(), self._lock, self._writer.begin() as connection:
            yield connection

    def use_wal(self) -> None:
        """Have SQLite write ahead, so that readers and the writer do not wait for each other."""
        if not self.is_sqlite:
            return
        with self._explained():
            connection = self._engine.raw_connection()
            try:
                _switch_to_wal(connection.cursor())
            finally:
                connection.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise database_trouble(str(error), self.public_url) from error
        except DBAPIError as error:
            # Neither statement nor parameters: they hold what people wrote, and are long.
            raise database_trouble(str(error.orig), self.public_url) from error
        except PoolTimeout as error:
            raise CuecardError(
                _("The workspace is busy"),
                _("Too many things use it at once."),
                _("Try again in a moment."),
            ) from error


def _switch_to_wal(cursor: Any) -> None:
    patience = time.monotonic() + BUSY_SECONDS
    while cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            # Some file systems cannot; the older journal is slower but as safe.
            return
        except sqlite3.OperationalError as error:
            # Unlike other statements, this one does not wait while somebody else makes the file.
            if "locked" not in str(error) or time.monotonic() > patience:
                raise
            time.sleep(0.02)


def _sqlite_engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=8,
        max_overflow=64,
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS},
    )

    def connected(connection: Any, _record: object) -> None:
        # The driver must not open transactions on its own; see `begun`.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _postgres_engine(url: URL) -> Engine:
    try:
        engine = create_engine(
            url, pool_size=8, max_overflow=16, pool_pre_ping=True, hide_parameters=True
        )
    except ImportError as error:
        raise missing_driver() from error

    def begun(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    event.listen(engine, "begin", begun)
    return engine
