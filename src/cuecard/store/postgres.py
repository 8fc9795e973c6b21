"""What is PostgreSQL's own: how connections are made and transactions begun, who waits for whom and for how long
(docs/storage.md), and what is asked of the server itself.
"""

import os
import platform
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from cuecard.store.database_file import owner_of
from cuecard.store.errors import missing_driver
from cuecard.store.rows import claim_lost

# Who waits, and for how long (docs/storage.md). In seconds.
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
_BEGIN = "cuecard_begin"
_WRITES = "cuecard_writes"
PLAIN = MappingProxyType({_BEGIN: ""})
"""Options of a connection without a transaction, whose statements each see what is committed by then."""
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_OURS = 0x63756563  # "cuec": the first half of the keys of all our advisory locks
_ENDS_TRANSACTIONS = 170000
"""The version of PostgreSQL that ends a whole transaction after a time."""
_TELLS_AT_ONCE = 150000
"""The version of PostgreSQL that counts what a transaction changed when it commits, if asked."""
_TELL = "SELECT pg_stat_force_next_flush()"
_ENDS = f"set_config('transaction_timeout', '{IDLE_SECONDS}s', true)"
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


class Locks(NamedTuple):
    """What a writing transaction excludes others from: keys of advisory locks, or everything."""

    keys: tuple[int, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, about: tuple[str, ...] | None) -> "Locks":
        """`about`: what is written about, nothing for everything; None excludes nobody."""
        if not about:
            return cls(whole=about is not None)
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


def to_write(about: tuple[str, ...] | None, patience: float | None) -> dict[str, Any]:
    """Options of a connection that begins a writing transaction: see `Locks.of`, and `Database.write`."""
    return {_WRITES: True, _BEGIN: Locks.of(about).begin(patience)}


def postgres_engine(url: URL) -> Engine:
    """Whose connections begin a transaction that only reads, unless their options say otherwise."""
    given = {name: value for name, value in _CONNECTION.items() if name not in url.query}
    # What the address says comes last, so it holds.
    ours = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    given["options"] = f"{ours} {url.query.get('options', '')}"
    if "application_name" not in url.query:
        given["application_name"] = (
            f"cuecard {owner_of(os.geteuid())}@{platform.node()} {os.getpid()}"[:63]
        )
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
            if _WRITES in options and _server_version(connection) >= _TELLS_AT_ONCE:
                begin = f"{begin}; {_TELL}"
            connection.exec_driver_sql(begin, execution_options={"no_parameters": True})

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _server_version(connection: Connection) -> int:
    driver: Any = connection.connection.dbapi_connection
    return driver.info.server_version


@contextmanager
def in_one_message(connection: Connection, fences: Mapping[int, int] | None) -> Generator[None]:
    """See `Database.at_once`. `connection`: one that is `PLAIN`."""
    import psycopg

    driver: Any = connection.connection.dbapi_connection
    try:
        with driver.pipeline():
            driver.execute("BEGIN")
            if driver.info.server_version >= _ENDS_TRANSACTIONS:
                # Who stops before all is sent is not idle.
                driver.execute(f"{_TELL}, {_ENDS}")
            elif driver.info.server_version >= _TELLS_AT_ONCE:
                driver.execute(_TELL)
            if fences:
                driver.execute(_STAND, (len(fences), list(fences), list(fences.values())))
            yield
            driver.execute("COMMIT")
    except psycopg.errors.DivisionByZero as error:
        raise claim_lost() from error
    except DBAPIError as error:  # Its answer came while more was being sent.
        if isinstance(error.orig, psycopg.errors.DivisionByZero):
            raise claim_lost() from error
        raise
    except psycopg.Error as error:
        lost: bool = driver.closed or driver.broken
        raise DBAPIError.instance(
            None, None, error, psycopg.Error, connection_invalidated=lost
        ) from error


def changes(connection: Connection) -> str:
    """See `Database.version`."""
    counted = None
    if _server_version(connection) >= _TELLS_AT_ONCE:
        counted = connection.exec_driver_sql(_CHANGES).scalar()
    # Else of the whole server: it moves with strangers' writes, too.
    return str(counted or connection.exec_driver_sql(_ANY_CHANGE).scalar())


def holder(connection: Connection, about: tuple[str, ...] | None) -> tuple[str, float | None]:
    """Who holds what a transaction `about` this (`Locks.of`) waited for, "" if that is not known; and for how many seconds
    they have said nothing in the middle of it, None if they are at work.
    """
    locks = Locks.of(about)
    asked = {"ours": _OURS, "keys": [_WHOLE, *locks.keys], "whole": locks.whole}
    found = connection.exec_driver_sql(_HOLDERS, asked).first()
    if found is None:
        return "", None
    name, role, state, seconds = found
    who = name.removeprefix("cuecard ") or role
    return who, float(seconds) if state and state.startswith("idle") else None


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
