"""The connection to the database, SQLite or PostgreSQL: sessions, checks of the file, and finding one row by its key."""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool
from sqlmodel import Session, col, select

from cuecard.core.archive import Claim
from cuecard.core.errors import (
    DATABASE_PASSWORD,
    ClaimLost,
    CuecardError,
    NotFound,
    Scrubber,
    passwords_in,
    public_form,
)
from cuecard.core.i18n import _
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
_LEAST = 3  # Characters of a password that is looked for in what the driver says.
_WRITES = "cuecard_writes"
_PATIENCE = "cuecard_patience"
_BESIDE = "cuecard_beside"
_ADVISORY_LOCK = 0x63756563  # "cuec": any constant that is ours alone


class Database:
    """Sessions on one database, SQLite or PostgreSQL. Safe to use from any thread."""

    def __init__(self, url: URL, barred: Barred | None = None) -> None:
        """`barred`: why it can only be read, None if it can be written."""
        self.url = url
        self.barred = barred
        passwords = passwords_in(url.render_as_string(hide_password=False))
        self._scrubber = Scrubber(((DATABASE_PASSWORD, each) for each in passwords), least=_LEAST)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url, barred) if self.is_sqlite else _postgres_engine(url)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._lock = threading.Lock()
        self._watch_lock = threading.Lock()
        self._watch: PoolProxiedConnection | None = None

    @property
    def public_url(self) -> str:
        """The address as it may be shown: a path, or a URL without its password."""
        if self.is_sqlite:
            return str(self.url.database)
        return public_form(self.url.render_as_string(hide_password=True))

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that reads one snapshot of the database. Raises `CuecardError`."""
        with self._explained(), Session(self._engine) as session:
            yield session

    @contextmanager
    def write(self, *, patience: float | None = None) -> Generator[Session]:
        """A session that excludes other writers and commits at its end; on an error nothing is written. `patience`:
        seconds to wait for other writers, if not the default. Raises `CuecardError`.
        """
        bind = self._writer
        if patience is not None:
            bind = bind.execution_options(**{_PATIENCE: patience})
        with self._alone(patience), Session(bind, expire_on_commit=False) as session:
            yield session
            session.commit()

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """As `write`, but gives the bare connection: for migrations and bulk inserts."""
        with self._alone(None), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def beside(self, *, patience: float) -> Generator[Connection]:
        """As `connection`, but on PostgreSQL without waiting for other writers: for rows that only their owner changes."""
        if self.is_sqlite:
            with self.write(patience=patience) as session:
                yield session.connection()
            return
        bind = self._engine.execution_options(**{_BESIDE: True})
        with self._explained(), bind.begin() as connection:
            yield connection

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
        """Another text than before if anything was committed since, here or elsewhere. Reads no table: asking takes less
        than a millisecond. Raises `CuecardError`.
        """
        with self._explained():
            if not self.is_sqlite:
                with self._engine.begin() as connection:
                    return str(
                        connection.exec_driver_sql("SELECT txid_current_snapshot()").scalar()
                    )
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
            told = troubles.away if troubles.is_away(error) else database_trouble
            raise told(said, self.public_url) from error
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
        raise ClaimLost(
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
