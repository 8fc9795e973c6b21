"""The connection to the database, SQLite or PostgreSQL: sessions, checks of the file, and finding one row by its key."""

import os
import platform
import sqlite3
import stat
import threading
import time
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, cast

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool
from sqlmodel import Session, col, select

from cuecard.core.errors import (
    DATABASE_PASSWORD,
    ClaimLost,
    CuecardError,
    DatabaseAway,
    NotFound,
    Scrubber,
    passwords_in,
    public_form,
)
from cuecard.core.i18n import _
from cuecard.core.worker_archive import Claim
from cuecard.store import errors as troubles
from cuecard.store.errors import busy, database_trouble, missing_driver, read_only
from cuecard.store.task_tables import TaskRow
from cuecard.store.trial_tables import ClaimRow, RunRow, TrialRow, VerdictRow

_SIDES = ("-wal", "-shm")
"""What stands beside a database that writes ahead; whoever cannot write these cannot write the database."""


class Barred(NamedTuple):
    """The reason why a workspace can be read but not written, and a hint what to do about it."""

    reason: str
    hint: str


def check_file(url: URL, create: bool) -> Barred | None:
    """Whether the database file can be used: None if it can be written, else why it can only be read. Raises
    `CuecardError` if it cannot be read, or is missing and must not or cannot be created.
    """
    if not url.database or url.database == ":memory:":
        raise troubles.bad_url(public_form(str(url)))
    if url.database.startswith("file:"):
        # SQLite's own kind of URL, with options that only it can judge.
        if url.query.get("mode") == "ro" or url.query.get("immutable") == "1":
            return Barred(_("Its address asks for reading only."), _("Take that out of --db."))
        return None
    path = Path(url.database)
    try:
        mode = path.stat().st_mode
    except PermissionError:
        reason = _denied(
            _("{place} belongs to {owner} and has the permissions {mode}: you may not enter it."),
            _closed_folder(path),
        )
        raise troubles.unreadable(str(path), reason) from None
    except (FileNotFoundError, NotADirectoryError):
        _check_new(path, create)
        return None
    if stat.S_ISDIR(mode):
        raise troubles.is_a_folder(str(path))
    if not stat.S_ISREG(mode):
        raise troubles.not_a_database(str(path))
    if not os.access(path, os.R_OK):
        reason = _(
            "{place} belongs to {owner} and has the permissions {mode}: you may not read it."
        )
        raise troubles.unreadable(str(path), _denied(reason, path))
    return _barred(path.resolve())


def reading_uri(path: str) -> str:
    """SQLite's URI for a file that this process may read but not write.

    SQLite in write-ahead mode would create files beside the database. It is told that the file is immutable, unless
    such files are there already because somebody else writes or was killed. Raises `CuecardError` where changes in them
    cannot be read without writing.
    """
    real = Path(path).resolve()
    wal, shm, journal = (Path(f"{real}{end}") for end in (*_SIDES, "-journal"))
    options = "mode=ro"
    if _writes_ahead(real) and not journal.exists():
        if not wal.exists() or not wal.stat().st_size:
            options = "immutable=1"
        elif shm.exists():
            options = "mode=ro&readonly_shm=1"
        else:
            raise troubles.changes_beside(path, str(wal))
    return f"{real.as_uri()}?{options}"


def _check_new(path: Path, create: bool) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise troubles.no_folder(str(folder))
    if not create:
        raise troubles.absent(str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise troubles.not_made_here(str(path), *_unwritable(folder))


def _barred(path: Path) -> Barred | None:
    beside = [side for end in _SIDES if (side := Path(f"{path}{end}")).exists()]
    for place in (path, path.parent, *beside):
        if not os.access(place, os.W_OK):
            return _unwritable(place)
    return None


def _unwritable(place: Path) -> Barred:
    copy = _("Copy the workspace to a folder of your own and open the copy.")
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return Barred(_("{place} is on a read-only file system.").format(place=place), copy)
    found = place.stat()
    mine = found.st_uid == os.geteuid()
    if os.geteuid() == 0 or (mine and found.st_mode & stat.S_IWUSR):
        reason = _("The system keeps {place} from being changed, whatever its permissions say.")
        return Barred(reason.format(place=place), _("See `lsattr`. {copy}").format(copy=copy))
    text = _("{place} belongs to {owner} and has the permissions {mode}: you may not write it.")
    mend = _("`chmod u+w {place}` lets you write it.").format(place=place)
    return Barred(_denied(text, place), mend if mine else copy)


def _denied(text: str, place: Path) -> str:
    """`text` filled in with a place's owner and its permissions, such as `-rw-r--r--`."""
    found = place.stat()
    mode = stat.filemode(found.st_mode)
    return text.format(place=place, owner=_owner(found.st_uid), mode=mode)


def _closed_folder(path: Path) -> Path:
    """The first folder on the way to `path` that this process may not enter."""
    folders = reversed(path.absolute().parents)
    return next((folder for folder in folders if not os.access(folder, os.X_OK)), path.parent)


def _owner(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _writes_ahead(path: Path) -> bool:
    """Whether the file's header says so: https://www.sqlite.org/fileformat.html, offset 18."""
    with path.open("rb") as file:
        return file.read(20)[18:19] == b"\x02"


BUSY_SECONDS = 30
_PAGES = 1024
_TRYING = 1.0
_LEAST = 3  # Characters of a password that is looked for in what the driver says.
_PATIENCE = "cuecard_patience"
_LOCKS = "cuecard_locks"
_BEGIN = "cuecard_begin"

# PostgreSQL: who waits, and for how long (docs/storage.md). In seconds.
LOCK_SECONDS = 4
"""How long a write waits for another that is about the same; then it says for whom."""
IDLE_SECONDS = 10
"""After so long without a word in the middle of a write its session is ended, and its locks are free."""
_WHOLE_IDLE_SECONDS = 120  # A merge or a migration works something out between its statements.
_SESSION = {
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": "900s",
    "statement_timeout": "900s",
    # A machine that went away without a word: its sessions end after 5 + 3 * 3 s.
    "tcp_keepalives_idle": "5s",
    "tcp_keepalives_interval": "3s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15s",
}
_CONNECTION = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_OURS = 0x63756563  # "cuec": the first half of the keys of all our advisory locks
_ENDS_TRANSACTIONS = 170000
"""The version of PostgreSQL that ends a whole transaction after a time."""
_TELLS_AT_ONCE = 150000
"""The version of PostgreSQL that counts what a transaction changed when it commits, if asked."""
_TELL = "SELECT pg_stat_force_next_flush()"
_CHANGES = """
SELECT sum(pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))
FROM pg_class WHERE relnamespace = current_schema()::text::regnamespace AND relkind = 'r'
    AND current_setting('track_counts') = 'on'
"""
"""Rows that were ever written in this workspace; null where the server does not count."""
_ANY_CHANGE = "SELECT txid_current_snapshot()"
_WHOLE = 0
"""Held by all who write about something, alone by who writes about everything."""
_STAND = """
SELECT 1 / (count(*) = %s)::int FROM (
    SELECT FROM claim JOIN unnest(%s::int[], %s::int[]) given(trial, fence)
        ON claim.trial_id = given.trial AND claim.fence = given.fence
    ORDER BY claim.trial_id FOR SHARE OF claim
) held
"""
"""Holds claims as `check_fences` does; an error where one of them stands no more."""
_HOLDERS = """
SELECT application_name, usename, state, extract(epoch FROM clock_timestamp() - state_change)::int
FROM pg_stat_activity LEFT JOIN (
    SELECT DISTINCT pid AS holder FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND classid = %(ours)s AND objid = ANY(%(keys)s::oid[])
        AND (mode = 'ExclusiveLock' OR %(whole)s)
) held ON held.holder = pid
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (holder IS NOT NULL OR backend_xid IS NOT NULL)
ORDER BY holder IS NULL, xact_start NULLS LAST LIMIT 1
"""


class _Locks(NamedTuple):
    """What a writing transaction on PostgreSQL excludes others from: keys of advisory locks, or everything."""

    keys: tuple[int, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, about: tuple[str, ...]) -> "_Locks":
        # Hashed: two names with one key only wait for each other. Sorted: nobody waits in a circle.
        return cls(tuple(sorted({1 + zlib.crc32(name.encode()) % 0x7FFFFFFE for name in about})))

    def begin(self, patience: float | None) -> str:
        """The statements that begin the transaction: one message to the server."""
        idle = _WHOLE_IDLE_SECONDS if self.whole else IDLE_SECONDS
        statements = ["BEGIN", f"SET LOCAL idle_in_transaction_session_timeout = '{idle}s'"]
        if patience is not None:  # 0 would mean for ever
            statements.append(f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}")
        if self.whole:
            statements.append(f"SELECT pg_advisory_xact_lock({_OURS}, {_WHOLE})")
        elif self.keys:
            statements.append(f"SELECT pg_advisory_xact_lock_shared({_OURS}, {_WHOLE})")
        statements += [f"SELECT pg_advisory_xact_lock({_OURS}, {key})" for key in self.keys]
        return "; ".join(statements)


began_to_write: ContextVar[bool] = ContextVar("began_to_write", default=False)
"""Of what is being done in this thread; see `Workspace.attempt`."""


class Database:
    """Sessions on one database, SQLite or PostgreSQL. Safe to use from any thread."""

    def __init__(self, url: URL, barred: Barred | None = None, busy: float = BUSY_SECONDS) -> None:
        """`barred`: why it can only be read, None if it can be written. `busy`: seconds to wait for other writers of a
        SQLite file.
        """
        self.url = url
        self.barred = barred
        passwords = passwords_in(url.render_as_string(hide_password=False))
        self._scrubber = Scrubber(((DATABASE_PASSWORD, each) for each in passwords), least=_LEAST)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = (
            _sqlite_engine(url, barred, busy) if self.is_sqlite else _postgres_engine(url)
        )
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
        return public_form(self.url.render_as_string(hide_password=True))

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that reads one snapshot of the database. Raises `CuecardError`."""
        with self._explained(), self._begun() as connection, Session(connection) as session:
            yield session

    @contextmanager
    def write(self, *about: str, patience: float | None = None) -> Generator[Session]:
        """A session that commits at its end; on an error nothing is written. It excludes others who write about the same,
        such as "task:espresso", and without `about` all who name something or nothing; so what it reads stays true until
        it commits. A SQLite file has one writer at a time, whatever they write about. `patience`: seconds to wait for other
        writers, if not the default. Raises `CuecardError`.
        """
        locks = _Locks.of(about) if about else _Locks(whole=True)
        with (
            self._writing(locks, patience) as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            yield session
            session.commit()

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """As `write` about everything, but gives the bare connection."""
        with self._writing(_Locks(whole=True)) as connection:
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
        with self._writing(_Locks(), patience) as connection:
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
        began_to_write.set(True)
        with self._explained(_Locks()), self._begun(**{_BEGIN: ""}) as connection:
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
                check_fences(connection, fences)
            yield
            return
        import psycopg

        driver: Any = connection.connection.dbapi_connection
        try:
            with driver.pipeline():
                driver.execute("BEGIN")
                if driver.info.server_version >= _TELLS_AT_ONCE:
                    driver.execute(_TELL)
                if driver.info.server_version >= _ENDS_TRANSACTIONS:
                    # Who stops before all is sent is not idle.
                    driver.execute(f"SET LOCAL transaction_timeout = '{IDLE_SECONDS}s'")
                if fences:
                    driver.execute(_STAND, (len(fences), list(fences), list(fences.values())))
                yield
                driver.execute("COMMIT")
        except psycopg.errors.DivisionByZero as error:
            raise _claim_lost() from error
        except DBAPIError as error:  # Its answer came while more was being sent.
            if isinstance(error.orig, psycopg.errors.DivisionByZero):
                raise _claim_lost() from error
            raise
        except psycopg.Error as error:
            lost: bool = driver.closed or driver.broken
            raise DBAPIError.instance(
                None, None, error, psycopg.Error, connection_invalidated=lost
            ) from error

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
        with self._explained():
            if not self.is_sqlite:
                with self._begun(**{_BEGIN: ""}) as connection:
                    counted = None
                    if _server_version(connection) >= _TELLS_AT_ONCE:
                        counted = connection.exec_driver_sql(_CHANGES).scalar()
                    # Else of the whole server: it moves with strangers' writes, too.
                    return str(counted or connection.exec_driver_sql(_ANY_CHANGE).scalar())
            if self.barred:
                places = (Path(f"{self.url.database}{end}") for end in ("", *_SIDES))
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
                    raise troubles.full(f"{file.parent}: {size >> 20:,} MB > {room >> 20:,} MB")
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
        self._engine.dispose()

    @contextmanager
    def _writing(self, locks: _Locks, patience: float | None = None) -> Generator[Connection]:
        if self.barred:
            raise read_only(*self.barred)
        began_to_write.set(True)
        if self.is_sqlite and not self._lock.acquire(timeout=-1 if patience is None else patience):
            raise busy(self.public_url)
        try:
            options = {_LOCKS: locks, _PATIENCE: patience, _BEGIN: locks.begin(patience)}
            with (
                self._explained(locks, quietly=patience is not None),
                self._begun(**options) as connection,
            ):
                yield connection
                if connection.in_transaction():  # as it is, unless it was taken back
                    connection.commit()
        finally:
            if self.is_sqlite:
                self._lock.release()

    @contextmanager
    def _begun(self, **options: Any) -> Generator[Connection]:
        """A connection in a transaction, which is rolled back unless it was committed."""
        with self._connected(options) as connection:
            yield connection

    def _connected(self, options: dict[str, Any]) -> Connection:
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
    def _explained(self, locks: _Locks | None = None, *, quietly: bool = False) -> Generator[None]:
        try:
            found = self._inode()
            if self._file and found != self._file:
                # SQLite would go on with a file that nobody finds any more.
                raise troubles.gone(self.public_url)
            self._file = found
            yield
        except DatabaseAway as error:
            self._noticed(error, quietly)
            raise
        except sqlite3.Error as error:
            raise self._noticed(database_trouble(str(error), self.public_url), quietly) from error
        except DBAPIError as error:
            if troubles.is_waiting(error):
                holder = self._holder(locks or _Locks(whole=True))
                waits = troubles.busy_by(self.public_url, *holder)
                raise self._noticed(waits, quietly) from error
            # Neither statement nor parameters: they hold what people wrote, and are long.
            said = self._scrubber.text(str(error.orig))
            make = troubles.away if troubles.is_away(error) else database_trouble
            raise self._noticed(make(said, self.public_url), quietly) from error
        except PoolTimeout as error:
            raise CuecardError(
                _("The workspace is busy"),
                _("Too many things use it at once."),
                _("Try again in a moment."),
            ) from error

    def _holder(self, locks: _Locks) -> tuple[str, float | None]:
        """Who holds what a transaction waited for, "" if that is not known; and for how many seconds they have said
        nothing in the middle of it, None if they are at work.
        """
        asked = {"ours": _OURS, "keys": [_WHOLE, *locks.keys], "whole": locks.whole}
        try:
            with self._connected({_BEGIN: ""}) as connection:
                found = connection.exec_driver_sql(_HOLDERS, asked).first()
        except DBAPIError:
            found = None
        if found is None:
            return "", None
        name, role, state, seconds = found
        who = name.removeprefix("cuecard ") or role
        return who, float(seconds) if state and state.startswith("idle") else None

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


def _sqlite_engine(url: URL, barred: Barred | None, busy: float) -> Engine:
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
        if _LOCKS not in options:
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


def _postgres_engine(url: URL) -> Engine:
    given = {name: value for name, value in _CONNECTION.items() if name not in url.query}
    # What the address says comes last, so it holds.
    ours = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    given["options"] = f"{ours} {url.query.get('options', '')}"
    if "application_name" not in url.query:
        given["application_name"] = f"cuecard {_login()}@{platform.node()} {os.getpid()}"[:63]
    try:
        # A connection that was lost is found when a transaction begins on it: no question before each is needed.
        engine = create_engine(
            url,
            pool_size=8,
            max_overflow=16,
            hide_parameters=True,
            connect_args=given,
            use_native_hstore=False,  # else the server is asked for it first
        )
    except ImportError as error:
        raise missing_driver() from error

    engine.dialect.statement_compiler = _by_code_point(engine.dialect.statement_compiler)

    def connected(connection: Any, _record: object) -> None:
        # `begun` begins transactions, in one message with all that goes before.
        connection.autocommit = True

    def begun(connection: Connection) -> None:
        options = connection.get_execution_options()
        begin = options.get(_BEGIN, _READ)
        if begin:
            if _LOCKS in options and _server_version(connection) >= _TELLS_AT_ONCE:
                begin = f"{begin}; {_TELL}"
            connection.exec_driver_sql(begin, execution_options={"no_parameters": True})

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _server_version(connection: Connection) -> int:
    driver: Any = connection.connection.dbapi_connection
    return driver.info.server_version


def _by_code_point(base: Any) -> Any:
    """A compiler that sorts texts as SQLite and Python do, whatever the collation of the database."""
    from sqlalchemy import String, collate

    class Compiler(base):
        def order_by_clause(self, select: Any, **kw: Any) -> str:
            if getattr(select, "_distinct", True):  # There PostgreSQL takes only what is selected.
                return cast(str, super().order_by_clause(select, **kw))
            order = [_collated(each) for each in select._order_by_clauses]
            said = ", ".join(self.process(each, **kw) for each in order)
            return f" ORDER BY {said}" if said else ""

    def _collated(each: Any) -> Any:
        inner = getattr(each, "element", each) if getattr(each, "modifier", None) else each
        kind = getattr(inner, "type", None)
        if kind is None or kind._type_affinity is not String:
            return each
        plain = collate(inner, "C")
        return plain.desc() if inner is not each else plain

    return Compiler


def _login() -> str:
    return _owner(os.geteuid())


def task_row(session: Session, task_id: str) -> TaskRow:
    """The row of a task. Raises `NotFound`."""
    row = session.get(TaskRow, task_id)
    if row is None:
        raise task_missing(task_id)
    return row


def run_row(session: Session, run_id: int) -> RunRow:
    """The row of a run. Raises `NotFound`."""
    row = session.get(RunRow, run_id)
    if row is None:
        raise NotFound(
            _("There is no such run"), str(run_id), _("`cuecard runs` lists those there are.")
        )
    return row


def of_run(run_id: int) -> str:
    """What to write about (`Database.write`) when who plays a run is checked or changed."""
    return f"run:{run_id}"


def trial_row(session: Session, trial_id: int) -> TrialRow:
    """The row of a trial. Raises `NotFound`."""
    row = session.get(TrialRow, trial_id)
    if row is None:
        raise trial_missing(trial_id)
    return row


def known_or_held(session: Session, trial_id: int, claim: Claim | None) -> None:
    """Raises `NotFound` for an unknown trial; with a claim on it, what `check_fences` raises."""
    if claim is None:
        trial_row(session, trial_id)
    else:
        check_fences(session.connection(), {claim.trial_id: claim.fence})


def check_fences(connection: Connection, fences: Mapping[int, int]) -> None:
    """Hold the claims with these fences, by trial, for the rest of the transaction: whoever takes one of the trials over
    waits for it. Raises `ClaimLost` if somebody has.
    """
    held = select(ClaimRow.trial_id, ClaimRow.fence).where(col(ClaimRow.trial_id).in_(fences))
    ordered = held.order_by(col(ClaimRow.trial_id)).with_for_update(read=True)
    if {row.trial_id: row.fence for row in connection.execute(ordered)} != fences:
        raise _claim_lost()


def _claim_lost() -> ClaimLost:
    return ClaimLost(
        _("Another worker plays this trial now"),
        _("This one gave no sign of life for too long."),
        _("Nothing of the trial is lost; this worker goes on with others."),
    )


def verdict_row(session: Session, verdict_id: int) -> VerdictRow:
    """The row of a verdict. Raises `NotFound`."""
    row = session.get(VerdictRow, verdict_id)
    if row is None:
        raise NotFound(_("There is no such verdict"), str(verdict_id))
    return row


def trial_missing(trial_id: int) -> NotFound:
    return NotFound(_("There is no such trial"), str(trial_id))


def task_missing(task_id: str, number: int | None = None) -> NotFound:
    if number is None:
        return NotFound(_("There is no such task"), task_id)
    return NotFound(
        _("There is no such revision"),
        _("{task} has no revision {number}.").format(task=task_id, number=number),
    )
