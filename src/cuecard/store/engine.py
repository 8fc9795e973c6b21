"""One database: how it is reached, and the two ways to work with it, reading and writing.

SQLite runs in WAL with `synchronous=FULL`: a commit returns when it is on the disk, so that neither
`kill -9` nor a power cut takes back what a person typed or paid for. Writers queue: within the process
behind a lock, between processes behind `BEGIN IMMEDIATE` (SQLite) or an advisory lock (PostgreSQL).
So a write never meets another half-way, and no room needs locks of its own. Readers wait for nobody.
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
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.scrubbing import (
    DATABASE_PASSWORD,
    Scrubber,
    passwords_in,
    public_form,
)
from cuecard.store.access import Barred, reading_uri
from cuecard.store.troubles import busy, database_trouble, missing_driver, read_only

BUSY_SECONDS = 30
_LEAST = 3  # Characters of a password that is looked for in what the driver says.
_WRITES = "cuecard_writes"
_PATIENCE = "cuecard_patience"
_BESIDE = "cuecard_beside"
_ADVISORY_LOCK = 0x63756563  # "cuec": any constant that is ours alone


class Database:
    """Sessions on one database, SQLite or PostgreSQL. Safe to use from any thread."""

    def __init__(self, url: URL, barred: Barred | None = None) -> None:
        """`barred`: why it can only be read."""
        self.url = url
        self.barred = barred
        passwords = passwords_in(url.render_as_string(hide_password=False))
        self._scrubber = Scrubber(((DATABASE_PASSWORD, each) for each in passwords), least=_LEAST)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url, barred) if self.is_sqlite else _postgres_engine(url)
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
    def write(self, *, patience: float | None = None) -> Generator[Session]:
        """A session that is alone in writing; commits at the end, or nothing happened at all. `patience`: seconds
        to wait for others who write, if not the usual ones. Raises `CuecardError`.
        """
        bind = self._writer
        if patience is not None:
            bind = bind.execution_options(**{_PATIENCE: patience})
        with self._alone(patience), Session(bind, expire_on_commit=False) as session:
            yield session
            session.commit()

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """As `write`, without the session: for migrations, and for many rows at a time."""
        with self._alone(None), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def beside(self, *, patience: float) -> Generator[Connection]:
        """For a few rows that only their owner changes: on PostgreSQL they need not queue with other writers."""
        if self.is_sqlite:
            with self.write(patience=patience) as session:
                yield session.connection()
            return
        bind = self._engine.execution_options(**{_BESIDE: True})
        with self._explained(), bind.begin() as connection:
            yield connection

    def use_wal(self, *, patience: float = BUSY_SECONDS) -> None:
        """Have SQLite write ahead, so that readers and the writer do not wait for each other; if it does so already,
        this only looks. Somebody else who is at the file is waited for as long as `patience`, then it stays as it is.
        """
        if not self.is_sqlite or self.barred:
            return
        with self._explained():
            connection = self._engine.raw_connection()
            try:
                _switch_to_wal(connection.cursor(), patience)
            finally:
                connection.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _alone(self, patience: float | None) -> Generator[None]:
        if self.barred:
            raise read_only(*self.barred)
        if not self._lock.acquire(timeout=-1 if patience is None else patience):
            raise busy(self.public_url)
        try:
            with self._explained():
                yield
        finally:
            self._lock.release()

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise database_trouble(str(error), self.public_url) from error
        except DBAPIError as error:
            # Neither statement nor parameters: they hold what people wrote, and are long.
            said = self._scrubber.text(str(error.orig))
            raise database_trouble(said, self.public_url) from error
        except PoolTimeout as error:
            raise CuecardError(
                _("The workspace is busy"),
                _("Too many things use it at once."),
                _("Try again in a moment."),
            ) from error


def _switch_to_wal(cursor: Any, patience: float) -> None:
    until = time.monotonic() + patience
    while cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            # Some file systems cannot; the older journal is slower but as safe.
            return
        except sqlite3.OperationalError as error:
            # Unlike other statements, this one does not wait while somebody else makes the file.
            if "locked" not in str(error):
                raise
            if time.monotonic() > until:
                return  # The next one who opens it will.
            time.sleep(0.02)


def _sqlite_engine(url: URL, barred: Barred | None) -> Engine:
    path = url.database or ""
    if barred and not path.startswith("file:"):
        # A connection a session: how such a file is best read changes when somebody else begins to write.
        engine = create_engine(
            url, poolclass=NullPool, hide_parameters=True, creator=lambda: _reading(path)
        )
    else:
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
        options = connection.get_execution_options()
        if not options.get(_WRITES):
            connection.exec_driver_sql("BEGIN")
            return
        patience = options.get(_PATIENCE)
        if patience is None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        try:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {patience * 1000:.0f}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _reading(path: str) -> sqlite3.Connection:
    return sqlite3.connect(
        reading_uri(path), uri=True, timeout=BUSY_SECONDS, check_same_thread=False
    )


def _postgres_engine(url: URL) -> Engine:
    try:
        engine = create_engine(
            url, pool_size=8, max_overflow=16, pool_pre_ping=True, hide_parameters=True
        )
    except ImportError as error:
        raise missing_driver() from error

    def begun(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(_WRITES):
            if (patience := options.get(_PATIENCE)) is not None:
                milliseconds = max(1, round(patience * 1000))  # 0 would mean for ever
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        elif not options.get(_BESIDE):
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    event.listen(engine, "begin", begun)
    return engine
