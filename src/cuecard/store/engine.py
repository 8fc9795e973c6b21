"""The connection to the database, SQLite or PostgreSQL: its sessions, and what went wrong in them."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import _, headed
from cuecard.core.secrets import DATABASE_PASSWORD, Scrubber, passwords_in, public_form
from cuecard.store import errors as troubles
from cuecard.store.database_file import SIDES, ReadOnlyReason, reading_uri
from cuecard.store.errors import busy, database_trouble, read_only

BUSY_SECONDS = 30
_PAGES = 1024
_TRYING = 1.0
_LEAST = 3  # Characters of a password that is looked for in what the driver says.
_PATIENCE = "cuecard_patience"
_WRITES = "cuecard_writes"


began_to_write: ContextVar[bool] = ContextVar("began_to_write", default=False)
"""Of what is being done in this thread; see `Workspace.attempt`."""


class _Moment(threading.local):
    """Of a thread in `Database.one_moment`: the connection that its reads share, and those given up while some still read."""

    def __init__(self) -> None:
        self.lasts = False
        self.reads = 0
        self.connection: Connection | None = None
        self.old: list[Connection] = []


class Database:
    """Sessions on one database, SQLite or PostgreSQL. Safe to use from any thread."""

    def __init__(
        self, url: URL, barred: ReadOnlyReason | None = None, busy: float = BUSY_SECONDS
    ) -> None:
        """`barred`: why it can only be read, None if it can be written. `busy`: seconds to wait for other writers of a
        SQLite file.
        """
        self.url = url
        self.barred = barred
        passwords = passwords_in(url.render_as_string(hide_password=False))
        self._scrubber = Scrubber(((DATABASE_PASSWORD, each) for each in passwords), least=_LEAST)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url, barred, busy) if self.is_sqlite else _postgres(url)
        self._moment = _Moment()
        self._lock = threading.Lock()
        self._watch_lock = threading.Lock()
        self._watch: PoolProxiedConnection | None = None
        self._file: tuple[int, int] | None = None
        self.on_away: Callable[[DatabaseAway], None] | None = None
        """Called on any thread with each error that says that the database is away, but not for want of `patience`."""

    @property
    def public_url(self) -> str:
        """The address as it may be shown: a path, or a URL without its password."""
        if self.is_sqlite:
            return str(self.url.database)
        url = self.url.set(drivername=self.url.get_backend_name())
        return public_form(url.render_as_string(hide_password=True))

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that reads one snapshot of the database. Raises `CuecardError`."""
        moment = self._moment
        if not moment.lasts:
            with self._explained(), self._begun() as connection, Session(connection) as session:
                yield session
            return
        moment.reads += 1
        try:
            with self._explained():
                moment.connection = moment.connection or self._connected({})
                with Session(moment.connection) as session:
                    yield session
        except CuecardError as error:
            if isinstance(error.__cause__, DBAPIError):
                self._let_go()  # No statement follows one that failed.
            raise
        finally:
            moment.reads -= 1
            if moment.old:
                self._let_go(keep=True)

    @contextmanager
    def one_moment(self) -> Generator[None]:
        """On PostgreSQL all that this thread reads meanwhile is one snapshot, and one transaction: each `read` after the first
        takes two round trips less. It begins anew where this thread writes, or asks for the `version`.
        """
        moment = self._moment
        if self.is_sqlite or moment.lasts:
            yield
            return
        moment.lasts = True
        try:
            yield
        finally:
            moment.lasts = False
            self._let_go()

    def _let_go(self, *, keep: bool = False) -> None:
        """What is read from here on is of a later moment, unless it is to `keep` on."""
        moment = self._moment
        if moment.connection is not None and not keep:
            moment.old.append(moment.connection)
            moment.connection = None
        while moment.old and not moment.reads:
            moment.old.pop().close()

    @contextmanager
    def decoding(self) -> Generator[None]:
        """For what reads rows outside of a session. Raises `CuecardError` where one holds something else than was written."""
        try:
            yield
        except troubles.UNREADABLE as error:
            raise troubles.unreadable_row(error, self.public_url) from error

    @contextmanager
    def write(self, *about: str, patience: float | None = None) -> Generator[Session]:
        """A session that commits at its end; on an error nothing is written. It excludes others who write about the same,
        such as "task:espresso", and without `about` all who name something or nothing; so what it reads stays true until
        it commits. A SQLite file has one writer at a time, whatever they write about. `patience`: seconds to wait for other
        writers, if not the default. Raises `CuecardError`.
        """
        with (
            self._writing(about, patience) as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            yield session
            session.commit()

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """As `write` about everything, but gives the bare connection."""
        with self._writing() as connection:
            yield connection

    def try_writing(self) -> None:
        """Commit something that changes nothing. Raises `CuecardError` as any write would."""
        with self.append(patience=_TRYING) as session:
            if self.is_sqlite:  # a page is written, so a full disk shows
                number = session.connection().exec_driver_sql("PRAGMA user_version").scalar()
                session.connection().exec_driver_sql(f"PRAGMA user_version = {number}")

    @contextmanager
    def beside(self, *, patience: float | None = None) -> Generator[Connection]:
        """As `connection`, but on PostgreSQL it excludes nobody and waits for nobody: for rows that are only added, or that
        only their owner changes.
        """
        with self._writing(None, patience) as connection:
            yield connection

    @contextmanager
    def append(self, *, patience: float | None = None) -> Generator[Session]:
        """As `beside`, but gives a session."""
        with (
            self.beside(patience=patience) as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            yield session
            session.commit()

    @contextmanager
    def plain(self) -> Generator[Connection]:
        """For `at_once`: a connection without a transaction, whose statements each see what is committed by then. On SQLite
        it is that of `connection`.
        """
        if self.is_sqlite:
            with self.connection() as connection:
                yield connection
            return
        if self.barred:
            raise read_only(*self.barred)
        from cuecard.store.postgres import PLAIN

        began_to_write.set(True)
        self._let_go()
        with self._explained(None), self._begun(PLAIN) as connection:
            yield connection

    @contextmanager
    def at_once(
        self, connection: Connection, fences: Mapping[int, int] | None = None
    ) -> Generator[None]:
        """What is executed meanwhile goes to a PostgreSQL server as one message and one transaction, which excludes nobody:
        one round trip. No statement gives results, and the first that fails is told at the end; nothing is written then.
        Raises `ClaimLost` if a claim of these `fences`, by trial, stands no more.
        """
        if self.is_sqlite:
            if fences:
                from cuecard.store.rows import check_fences

                check_fences(connection, fences)
            yield
            return
        from cuecard.store.postgres import in_one_message

        with in_one_message(connection, fences):
            yield

    def use_wal(self, *, patience: float = BUSY_SECONDS) -> None:
        """Switch SQLite to write-ahead logging, so that readers and the writer do not wait for each other. Waits up to
        `patience` seconds for others who use the file, and leaves the mode as it is if they do not let go.
        """
        if not self.is_sqlite or self.barred:
            return
        with self._explained():
            connection = self._engine.raw_connection()
            try:
                _switch_to_wal(connection.cursor(), patience)
            finally:
                connection.close()

    def connect_arguments(self) -> tuple[Sequence[Any], dict[str, Any]]:
        """What the driver takes to open a connection of one's own."""
        arguments, options = self._engine.dialect.create_connect_args(self.url)
        return arguments, dict(options)

    def version(self) -> str:
        """Another text than before if anything was committed since, here or elsewhere; on PostgreSQL what others do in other
        schemas or databases does not change it. Reads no table: asking takes a millisecond. Raises `CuecardError`.
        """
        self._let_go()
        with self._explained():
            if not self.is_sqlite:
                from cuecard.store.postgres import PLAIN, changes

                with self._begun(PLAIN) as connection:
                    return changes(connection)
            if self.barred:
                places = (Path(f"{self.url.database}{end}") for end in ("", *SIDES))
                found = [place.stat() for place in places if place.exists()]
                return " ".join(f"{each.st_mtime_ns}/{each.st_size}" for each in found)
            # Counts what others committed, so this connection must stay and write nothing.
            with self._watch_lock:
                self._watch = self._watch or self._engine.raw_connection()
                return str(self._watch.cursor().execute("PRAGMA data_version").fetchone()[0])

    def copy_pages(self, file: Path, told: Callable[[int, int], None], *, room: int) -> None:
        """Copy an SQLite database as it is now into an empty file, page by page, while others go on writing. `room`: bytes
        that the file may take. `told` is called with pages that were copied, and how many there are. Raises `CuecardError`.
        """

        def copied(_state: int, rest: int, of: int) -> None:
            told(of - rest, of)

        with self._explained():
            source = self._engine.raw_connection()
            try:
                cursor = source.cursor()
                # In a transaction that reads, others' commits do not make the copy begin again.
                cursor.execute("BEGIN")
                pages = cursor.execute("PRAGMA page_count").fetchone()[0]
                size = pages * cursor.execute("PRAGMA page_size").fetchone()[0]
                if size > room:
                    raise troubles.full(
                        headed(file.parent, f"{size >> 20:,} MB > {room >> 20:,} MB")
                    )
                with closing(sqlite3.connect(file)) as made:
                    driver: Any = source.driver_connection
                    driver.backup(made, pages=_PAGES, progress=copied)
            finally:
                source.close()

    def close(self) -> None:
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
        # What a thread still holds comes back to a pool that nobody has any more.
        event.listen(self._engine, "checkin", _close)
        self._engine.dispose()

    @contextmanager
    def _writing(
        self, about: tuple[str, ...] | None = (), patience: float | None = None
    ) -> Generator[Connection]:
        """`about`: as of `write`; None on PostgreSQL excludes nobody."""
        if self.barred:
            raise read_only(*self.barred)
        began_to_write.set(True)
        self._let_go()
        if self.is_sqlite and not self._lock.acquire(timeout=-1 if patience is None else patience):
            raise busy(self.public_url)
        try:
            if self.is_sqlite:
                options = {_WRITES: True, _PATIENCE: patience}
            else:
                from cuecard.store.postgres import to_write

                options = to_write(about, patience)
            with (
                self._explained(about, quietly=patience is not None),
                self._begun(options) as connection,
            ):
                yield connection
                if connection.in_transaction():  # as it is, unless it was taken back
                    connection.commit()
        finally:
            if self.is_sqlite:
                self._lock.release()

    @contextmanager
    def _begun(self, options: Mapping[str, Any] = MappingProxyType({})) -> Generator[Connection]:
        """A connection in a transaction, which is rolled back unless it was committed."""
        with self._connected(options) as connection:
            yield connection

    def _connected(self, options: Mapping[str, Any]) -> Connection:
        for again in (False, True):
            connection = self._engine.connect().execution_options(**options)
            try:
                connection.begin()
            except BaseException as error:
                connection.close()
                # It may have been lost while nobody used it; then all were, and the next is a new one.
                lost = isinstance(error, DBAPIError) and error.connection_invalidated
                if again or not lost:
                    raise
            else:
                return connection
        raise AssertionError

    @contextmanager
    def _explained(
        self, about: tuple[str, ...] | None = (), *, quietly: bool = False
    ) -> Generator[None]:
        try:
            found = self._inode()
            if self._file and found != self._file:
                # SQLite would go on with a file that nobody finds any more.
                raise troubles.gone(self.public_url)
            self._file = found
            with self.decoding():
                yield
        except DatabaseAway as error:
            self._noticed(error, quietly)
            raise
        except sqlite3.Error as error:
            raise self._noticed(database_trouble(str(error), self.public_url), quietly) from error
        except DBAPIError as error:
            if troubles.is_waiting(error):
                waits = troubles.busy_by(self.public_url, *self._holder(about))
                raise self._noticed(waits, quietly) from error
            # Neither statement nor parameters: they hold what people wrote, and are long.
            said = self._scrubber.text(str(error.orig))
            make = troubles.away if troubles.is_away(error) else database_trouble
            raise self._noticed(make(said, self.public_url), quietly) from error
        except OverflowError as error:
            # SQLite's driver refuses numbers of more than 64 bits before the database sees them.
            if "SQLite" not in str(error):
                raise
            raise troubles.too_large(self.public_url) from error
        except PoolTimeout as error:
            raise CuecardError(
                _("The workspace is busy"),
                _("Too many things use it at once."),
                _("Try again in a moment."),
            ) from error

    def _holder(self, about: tuple[str, ...] | None) -> tuple[str, float | None]:
        """See `postgres.holder`."""
        from cuecard.store.postgres import PLAIN, holder

        try:
            with self._connected(PLAIN) as connection:
                return holder(connection, about)
        except DBAPIError:
            return "", None

    def _noticed(self, error: CuecardError, quietly: bool) -> CuecardError:
        if isinstance(error, DatabaseAway):
            error.wrote = began_to_write.get()
            if self.on_away is not None and not quietly:
                self.on_away(error)
        return error

    def _inode(self) -> tuple[int, int] | None:
        """Which file is written to; None without one."""
        if not self.is_sqlite or self.barred:
            return None
        try:
            found = os.stat(self.url.database or "")
        except OSError:
            return None
        return found.st_dev, found.st_ino


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


def _postgres(url: URL) -> Engine:
    from cuecard.store.postgres import postgres_engine

    return postgres_engine(url)


def _close(connection: Any, _record: object) -> None:
    if connection is not None:  # and not found dead
        connection.close()


def _sqlite_engine(url: URL, barred: ReadOnlyReason | None, busy: float) -> Engine:
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
            connect_args={"timeout": busy},
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
        if _WRITES not in options:
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
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {busy * 1000:.0f}")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _reading(path: str) -> sqlite3.Connection:
    return sqlite3.connect(
        reading_uri(path), uri=True, timeout=BUSY_SECONDS, check_same_thread=False
    )
