"""Copies of a whole workspace: moved to another database, row by row and resumable, or backed up into a file.

Rows are compared in the order of their keys, in both databases, so that one walk finds what is missing, counts, and hashes.
"""

import hashlib
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    LargeBinary,
    String,
    Table,
    and_,
    bindparam,
    collate,
    delete,
    func,
    select,
    text,
)
from sqlmodel import Session, col

from cuecard.core.errors import Conflict, CuecardError, system_words
from cuecard.core.i18n import _, headed
from cuecard.core.system import drafted
from cuecard.core.worker_archive import LAPSE, AlreadyPlayed
from cuecard.store import errors as troubles
from cuecard.store import role_rules, roles
from cuecard.store.engine import Database
from cuecard.store.leases import Leases
from cuecard.store.schema import APPEND_ONLY, HALF, HEAD, PRESENT, create_tables, stamp, table_names
from cuecard.store.task_tables import insert_new, insert_of, metadata
from cuecard.store.trial_tables import WorkerRow

OnRows = Callable[[str, int, int], None]
"""Called with what is being done (a table's name, "" for pages of a file), how much of it is done, and how much there is."""
_ROWS, _LARGE_ROWS = 1000, 50
"""Rows held in memory at a time; the latter of tables that hold compressed contents, of up to megabytes each."""
_LOCK_SECONDS = 10
_UNLIMITED = (
    "SELECT set_config('statement_timeout', '0', true), set_config('row_security', 'off', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)


class CopiedTable(NamedTuple):
    """A table that is the same in both databases. `hash`: SHA-256 over its rows in the order of their keys, as 64 hex digits;
    `changed`: rows that the last comparison found other, because somebody had written them meanwhile.
    """

    table: str
    rows: int
    hash: str
    changed: int


class Copies:
    """Copies of one workspace, which stays as it is."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def move(self, target: Database, told: OnRows) -> list[CopiedTable]:
        """Copy every row into `target`, which is empty or was begun by a call that was killed; then hold the workspace still,
        take in what was written meanwhile, and compare every table. Only then the target is a workspace.

        Raises `AlreadyPlayed`; `CuecardError` if the target holds something else, or the workspace is being written.
        """
        source = self._database
        roles.check_owner(source, _("Moving the workspace"))
        if target.barred:
            raise troubles.read_only(*target.barred)
        with source.read() as session:
            self._check_leases(session)
            _begin(target, source.public_url)
            target.use_wal()
            connection = unlimited(session.connection())
            for table in tables():
                count = count_of(connection, table)
                with target.read() as there:
                    known = count_of(there.connection(), table)
                if count != known:
                    _copy(connection, target, table, count, told)
        with _still(source) as connection:
            with Session(connection) as session:
                self._check_leases(session)
            return _finish(connection, target, told)

    def back_up(self, file: Path, told: OnRows, *, force: bool = False) -> list[CopiedTable]:
        """Write the workspace as it is at this moment into a file that is a workspace, while others go on writing. SQLite's
        pages are copied as they are; then no tables are compared, but every page of the copy is checked. `force`: in place
        of a file that exists. Raises `CuecardError`.
        """
        database = self._database
        roles.check_owner(database, _("Backing the workspace up"))
        try:
            _check_free(file, force=force)
            with drafted(file, private=True, new=not force) as draft:
                found: list[CopiedTable] = []
                if database.is_sqlite:
                    room = shutil.disk_usage(draft.parent).free
                    database.copy_pages(draft, lambda done, of: told("", done, of), room=room)
                from cuecard.store.workspace import database_at

                copy = database_at(draft, create=True)
                try:
                    if database.is_sqlite:
                        _clear_present(copy)
                    else:
                        found = self._dump(copy, told)
                    check_pages(copy)
                finally:
                    copy.close()
        except OSError as error:
            raise CuecardError(
                _("This file cannot be written"), headed(file, system_words(error))
            ) from error
        return found

    def _dump(self, copy: Database, told: OnRows) -> list[CopiedTable]:
        with self._database.read() as session:
            connection = unlimited(session.connection())
            _begin(copy, self._database.public_url)
            for table in tables():
                _copy(connection, copy, table, count_of(connection, table), told)
            return _finish(connection, copy, told)

    def _check_leases(self, session: Session) -> None:
        for lease in self._leases.of(session).values():
            if lease.alive:
                raise AlreadyPlayed(lease)
        beating = select(WorkerRow).where(
            col(WorkerRow.left_at).is_(None),
            col(WorkerRow.beat_at) > datetime.now(UTC) - timedelta(seconds=LAPSE),
        )
        if worker := session.scalars(beating).first():
            whose = _("{person}'s on {host}, process {pid}")
            raise Conflict(
                _("A worker is at work in this workspace"),
                whose.format(person=worker.person, host=worker.host, pid=worker.pid),
                _("Stop it first: it would take up the next run here."),
            )


def _check_free(file: Path, *, force: bool) -> None:
    """Raises `CuecardError` where a file is in the way, and `OSError` where none can have this name."""
    in_use = [f for end in ("-wal", "-shm", "-journal") if (f := Path(f"{file}{end}")).exists()]
    if file.exists() and not force:
        raise CuecardError(_("This file exists already"), str(file), _("--force writes over it."))
    if in_use or (file.exists() and not file.is_file()):
        raise CuecardError(
            _("This file cannot be written over"),
            _("{file} is there: somebody uses it as a workspace.").format(file=in_use[0])
            if in_use
            else str(file),
            _("Choose another file."),
        )


def tables() -> list[Table]:
    """Those that are copied: what a row refers to is of an earlier table."""
    return [table for table in metadata.sorted_tables if table.name not in PRESENT]


def rows_of(connection: Connection, table: Table) -> Iterator[Any]:
    """A table's rows in the order of their keys, which is the same in every database; few of them in memory."""
    at_once = _LARGE_ROWS if _is_large(table) else _ROWS
    query = select(table).order_by(*_order(connection, table))
    return iter(connection.execute(query, execution_options={"yield_per": at_once}))


def check_pages(database: Database) -> None:
    """Raises `CuecardError` if a page of an SQLite file is damaged."""
    with database.read() as session:
        for (said,) in session.connection().exec_driver_sql("PRAGMA integrity_check(1)"):
            if said != "ok":
                raise troubles.damaged(headed(database.public_url, said))


def _begin(target: Database, source: str) -> None:
    with target.connection() as connection:
        unlimited(connection)
        names = table_names(connection)
        if not names:
            create_tables(connection)
            HALF.create(connection)
            connection.execute(HALF.insert().values(source=source, version=HEAD))
        elif HALF.name not in names:
            raise troubles.occupied(target.public_url)
        _check_mark(connection, target, source)


def _check_mark(connection: Connection, target: Database, source: str | None = None) -> None:
    """Whether the target is still half moved, by this version, and from here. Others wait until the transaction ends."""
    if HALF.name not in table_names(connection):
        raise troubles.occupied(target.public_url)
    begun, version = connection.execute(select(HALF).with_for_update()).one()
    if source not in (None, begun) or version != HEAD:
        raise CuecardError(
            _("Another workspace is being moved there"),
            _("{place} was begun from {source}, version {version}; nothing was changed.").format(
                place=target.public_url, source=begun, version=version
            ),
            _("Finish that, or choose an empty database, a new schema or a new file."),
        )


def _copy(
    source: Connection, target: Database, table: Table, count: int, told: OnRows
) -> tuple[CopiedTable, str]:
    """Make the target's table like the source's; gives it as it was found, with the hash that the target had."""
    here, there = hashlib.sha256(), hashlib.sha256()
    most = _LARGE_ROWS if _is_large(table) else _ROWS
    batch: list[tuple[Any, Any]] = []
    rows = changed = 0
    for mine, theirs in _paired(table, rows_of(source, table), _rows_in(target, table)):
        ours = b"" if mine is None else _canonical(mine)
        other = b"" if theirs is None else _canonical(theirs)
        here.update(ours)
        there.update(other)
        rows += mine is not None
        if ours != other:
            batch.append((mine, theirs))
            changed += 1
            if len(batch) >= most:
                _write(target, table, batch)
                batch.clear()
        if rows % most == 0:
            told(table.name, rows, count)
    _write(target, table, batch)
    told(table.name, rows, count)
    return CopiedTable(table.name, rows, here.hexdigest(), changed), there.hexdigest()


def _finish(source: Connection, target: Database, told: OnRows) -> list[CopiedTable]:
    """Compare every table, take in what is other, and make a workspace of the target."""
    found: list[CopiedTable] = []
    for table in tables():
        count = count_of(source, table)
        copied, hash = _copy(source, target, table, count, told)
        if copied.changed:
            hash = _copy(source, target, table, count, told)[1]
        if hash != copied.hash:
            raise CuecardError(
                _("The copy is not like the workspace"),
                _("Table {table} of {place} has other rows after they were written.").format(
                    table=table.name, place=target.public_url
                ),
                _("Nothing was lost: go on with the workspace as it was, and report this."),
            )
        found.append(copied)
    with target.connection() as connection:
        unlimited(connection)
        _check_mark(connection, target)
        if not target.is_sqlite:
            for table in tables():
                _set_sequence(connection, table)
                connection.execute(text(f'ANALYZE "{table.name}"'))
        HALF.drop(connection)
        stamp(connection)
        role_rules.install(connection)  # of roles that the rows tell of
    return found


def _set_sequence(connection: Connection, table: Table) -> None:
    """PostgreSQL does not see the numbers that were given; the next row gets the one behind them."""
    column = table.autoincrement_column
    if column is None or len(table.primary_key) > 1 or column.foreign_keys:
        return
    name = func.pg_get_serial_sequence(f'"{table.name}"', column.name)
    highest = func.max(column)
    connection.execute(select(func.setval(name, func.coalesce(highest, 1), highest.is_not(None))))


def _write(target: Database, table: Table, batch: Sequence[tuple[Any, Any]]) -> None:
    """Write pairs of rows, as they shall be and as they are; None where there is none."""
    if not batch:
        return
    keys = [column.name for column in table.primary_key]
    new = [dict(mine._mapping) for mine, theirs in batch if theirs is None]
    other = [dict(mine._mapping) for mine, theirs in batch if mine is not None and theirs]
    gone = [{f"_{k}": theirs._mapping[k] for k in keys} for mine, theirs in batch if mine is None]
    if (other or gone) and table.name in APPEND_ONLY:
        raise troubles.occupied(target.public_url)
    with target.connection() as connection:
        _check_mark(connection, target)
        if gone:
            same = (table.c[key] == bindparam(f"_{key}") for key in keys)
            connection.execute(delete(table).where(and_(*same)), gone)
        if other:
            add = insert_of(connection.dialect.name, table)
            values = {c.name: add.excluded[c.name] for c in table.columns if c.name not in keys}
            connection.execute(add.on_conflict_do_update(index_elements=keys, set_=values), other)
        if new:
            connection.execute(insert_new(connection, table), new)


def _paired(table: Table, ours: Iterable[Any], others: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Rows of two tables side by side by their keys, both in the order of these; None where one is missing."""
    place = {column.name: n for n, column in enumerate(table.columns)}
    parts = [place[column.name] for column in table.primary_key]
    below = [place[column.name] for column in _own_parents(table)]

    def key(row: Any) -> tuple[Any, ...]:
        return (*(row[n] is not None for n in below), *(row[n] for n in parts))

    mine, theirs = iter(ours), iter(others)
    one, other = next(mine, None), next(theirs, None)
    while one is not None or other is not None:
        if other is None or (one is not None and key(one) < key(other)):
            yield one, None
            one = next(mine, None)
        elif one is None or key(other) < key(one):
            yield None, other
            other = next(theirs, None)
        else:
            yield one, other
            one, other = next(mine, None), next(theirs, None)


def _rows_in(database: Database, table: Table) -> Iterator[Any]:
    # A session of its own: of an empty table it is over at once, and holds up nothing while rows are written.
    with database.read() as session:
        yield from rows_of(unlimited(session.connection()), table)


def _order(connection: Connection, table: Table) -> list[Any]:
    """Rows that others of their table build on come first. Texts go by the bytes of UTF-8, as everywhere but in a language's
    order.
    """
    order: list[Any] = [column.is_not(None) for column in _own_parents(table)]
    for column in table.primary_key:
        is_text = isinstance(column.type, String) or isinstance(
            getattr(column.type, "impl", None), String
        )
        plain = connection.dialect.name == "sqlite" or not is_text
        order.append(column if plain else collate(column, "C"))
    return order


def _own_parents(table: Table) -> list[Any]:
    return [key.parent for key in table.foreign_keys if key.column.table is table]


def _is_large(table: Table) -> bool:
    return any(isinstance(column.type, LargeBinary) for column in table.columns)


def _canonical(row: Any) -> bytes:
    """The same bytes for the same values, from whichever database they came."""
    return repr(tuple(row)).encode()


def count_of(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


@contextmanager
def _still(database: Database) -> Generator[Connection]:
    """A connection on which to read while nobody writes."""
    if database.barred:
        with database.read() as session:
            yield session.connection()
        return
    with database.connection() as connection:
        unlimited(connection)
        if not database.is_sqlite:
            names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
            connection.execute(text(f"LOCK TABLE {names} IN SHARE MODE"))
        yield connection


def unlimited(connection: Connection) -> Connection:
    """Long reads are meant here; and where a rule would hide rows, PostgreSQL refuses instead of leaving them out."""
    if connection.dialect.name != "sqlite":
        connection.execute(text(_UNLIMITED))
    return connection


def _clear_present(copy: Database) -> None:
    with copy.connection() as connection:
        for name in sorted(PRESENT):
            connection.execute(delete(metadata.tables[name]))
