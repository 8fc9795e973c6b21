"""Leases on runs: one process at a time plays a run, and loses it when its heartbeats stop."""

import functools
import logging
import os
import platform
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import getnode

from sqlalchemy import CursorResult, delete, func, update
from sqlmodel import Session, col, select

from cuecard.core.engine.events import Played
from cuecard.core.errors import CuecardError, DatabaseAway, error_text
from cuecard.core.records import RunLease
from cuecard.core.worker_archive import LAPSE, WORKER_LAPSE, AlreadyPlayed, Lease
from cuecard.store.engine import Database
from cuecard.store.rows import of_run, run_row
from cuecard.store.task_tables import in_utc
from cuecard.store.trial_tables import ClaimRow, RunLeaseRow, WorkerRow

BEAT = 3.0
_RELEASE_PATIENCE = 2.0
_LOG = logging.getLogger(__name__)
_PROC = Path("/proc")
_HELD: set[str] = set()
"""Owners of the leases that this process holds, over all of its workspaces."""


@dataclass(frozen=True)
class _Watched:
    """The heartbeats of a lease on another machine as first seen, and when by the monotonic clock (seconds)."""

    owner: str
    beats: int
    at: float


class Leases:
    """The leases of this process, kept alive by one thread, and a view of those of others. `settle` blocks until all
    events that were recorded so far are written.
    """

    def __init__(self, database: Database, settle: Callable[[], None]) -> None:
        self._database = database
        self._settle = settle
        self._lock = threading.Lock()
        self._held: dict[str, Lease] = {}
        self._owed: set[str] = set()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._watched: dict[int, _Watched] = {}

    def take(self, run_id: int, person: str, on_lost: Callable[[], None] | None = None) -> Lease:
        """Hold the run until `release`. `on_lost` is called, on the heartbeat thread, if somebody else takes the run
        over. Raises `NotFound`, and `AlreadyPlayed` while another process plays it.
        """
        lease = Lease(run_id, on_lost=on_lost)
        with self._database.write(of_run(run_id)) as session:
            is_session = run_row(session, run_id).kind == "play"
            row = session.exec(
                select(RunLeaseRow).where(RunLeaseRow.run_id == run_id).with_for_update()
            ).first()
            if row is not None and self._played(session, row) == "now":
                certain, held = not self._doubtful(row), _record(row, alive=True)
                raise AlreadyPlayed(held, certain=certain, session=is_session)
            if row is not None:
                session.delete(row)
                session.flush()
            if (working := held_by_workers(session, run_id).get(run_id)) is not None:
                if working.alive:
                    raise AlreadyPlayed(working)
                _fence_off(session, run_id)
            now = db_now(session)
            session.add(
                RunLeaseRow(
                    run_id=run_id,
                    owner=lease.owner,
                    person=person.strip(),
                    host=platform.node(),
                    machine=this_machine(),
                    pid=os.getpid(),
                    started=started(os.getpid()),
                    since=now,
                    beats=0,
                    beat_at=now,
                )
            )
            _HELD.add(lease.owner)
        with self._lock:
            self._held[lease.owner] = lease
            self._start_heartbeat()
        return lease

    def _start_heartbeat(self) -> None:
        if self._thread is None:
            self._wake.clear()
            self._thread = threading.Thread(
                target=self._heartbeat, name="cuecard-leases", daemon=True
            )
            self._thread.start()

    def release(self, lease: Lease) -> None:
        """Give up a run, if it is held. If that cannot be written, it is written when the database is back: as long as this
        process lives, others on its machine take the lease for held.
        """
        # Whoever takes it next reads its logs, and must find what nobody waited for.
        self._settle()
        with self._lock:
            known = self._held.pop(lease.owner, None)
        _HELD.discard(lease.owner)
        if known is None or lease.lost:
            return
        try:
            self._delete({lease.owner})
        except CuecardError:
            with self._lock:
                self._owed.add(lease.owner)
                if not self._wake.is_set():
                    self._start_heartbeat()

    def _delete(self, owners: set[str]) -> None:
        mine = delete(RunLeaseRow).where(col(RunLeaseRow.owner).in_(owners))
        with self._database.beside(patience=_RELEASE_PATIENCE) as connection:
            connection.execute(mine)

    def close(self) -> None:
        """Release all runs and stop the thread."""
        self._wake.set()
        with self._lock:
            held, thread = list(self._held.values()), self._thread
        for lease in held:
            self.release(lease)
        if thread is not None:
            thread.join()

    def of(self, session: Session, run_id: int | None = None) -> dict[int, RunLease]:
        """The lease of each run that is played, or was when its process was killed (`alive` tells which), by run id. A run
        whose trials workers hold is played by the one that took the first of them.
        """
        return held_by_workers(session, run_id) | self.of_processes(session, run_id)

    def of_processes(self, session: Session, run_id: int | None = None) -> dict[int, RunLease]:
        """As `of`, without what workers hold."""
        query = select(RunLeaseRow)
        if run_id is not None:
            query = query.where(RunLeaseRow.run_id == run_id)
        return {
            row.run_id: _record(row, alive=self._played(session, row) == "now")
            for row in session.exec(query)
        }

    def _played(self, session: Session, row: RunLeaseRow) -> Played:
        if row.machine == this_machine():
            if row.pid == os.getpid() and row.started == started(row.pid):
                return "now" if row.owner in _HELD else "lapsed"
            return "now" if row.started and started(row.pid) == row.started else "lapsed"
        if not self._database.is_sqlite:
            age = (db_now(session) - in_utc(row.beat_at)).total_seconds()
            return "now" if age < LAPSE else "lapsed"
        seen = self._watched.get(row.run_id)
        if seen is None or (seen.owner, seen.beats) != (row.owner, row.beats):
            self._watched[row.run_id] = _Watched(row.owner, row.beats, time.monotonic())
            return "now"
        return "now" if time.monotonic() - seen.at < LAPSE else "lapsed"

    def _doubtful(self, row: RunLeaseRow) -> bool:
        return self._database.is_sqlite and row.machine != this_machine()

    def _heartbeat(self) -> None:
        while not self._wake.wait(BEAT):
            with self._lock:
                held, owed = list(self._held.values()), set(self._owed)
                if not held and not owed:
                    self._thread = None
                    return
            try:
                if owed:
                    self._delete(owed)
                    with self._lock:
                        self._owed -= owed
                self._beat(held)
            except DatabaseAway as away:
                _LOG.info("a heartbeat waits: %s", away)
            except Exception as error:  # noqa: BLE001 - the boundary of a worker: the next beat may come through
                _LOG.warning("a heartbeat could not be written: %s", error_text(error))

    def _beat(self, held: list[Lease]) -> None:
        lost: list[Lease] = []
        with self._database.beside(patience=BEAT) as connection:
            for lease in held:
                beat = (
                    update(RunLeaseRow)
                    .where(col(RunLeaseRow.owner) == lease.owner)
                    .values(
                        beats=col(RunLeaseRow.beats) + 1,
                        beat_at=datetime.now(UTC)
                        if self._database.is_sqlite
                        else func.clock_timestamp(),
                    )
                )
                done: CursorResult[Any] = connection.execute(beat)
                if not done.rowcount:
                    lost.append(lease)
        for lease in lost:
            with self._lock:
                known = self._held.pop(lease.owner, None)
            _HELD.discard(lease.owner)
            # Released a moment ago is not lost.
            if known is not None:
                lease.lost = True
                if lease.on_lost:
                    lease.on_lost()


def _record(row: RunLeaseRow, *, alive: bool) -> RunLease:
    return RunLease(
        person=row.person, host=row.host, pid=row.pid, since=in_utc(row.since), alive=alive
    )


def worker_alive(row: WorkerRow, now: datetime, lapse: float = WORKER_LAPSE) -> bool:
    """Whether a worker beat in the last `lapse` seconds and did not leave; of one on this machine, whether it is there."""
    if row.left_at is not None:
        return False
    if row.machine == this_machine() and started(row.pid) != row.started:
        return False
    return (now - in_utc(row.beat_at)).total_seconds() < lapse


def held_by_workers(session: Session, run_id: int | None = None) -> dict[int, RunLease]:
    """Who plays runs of which workers hold trials: by the worker with the oldest hold, one that is alive if there is one."""
    query = (
        select(col(ClaimRow.run_id), func.min(ClaimRow.taken), WorkerRow)
        .join(WorkerRow, col(WorkerRow.id) == ClaimRow.worker)
        .where(*(() if run_id is None else (ClaimRow.run_id == run_id,)))
        .group_by(col(ClaimRow.run_id), *WorkerRow.__table__.columns)  # pyright: ignore
        .order_by(func.min(ClaimRow.taken))
    )
    found: dict[int, list[RunLease]] = defaultdict(list)
    rows = session.exec(query).all()
    now = db_now(session) if rows else datetime.now(UTC)
    for run, since, worker in rows:
        found[run].append(
            RunLease.from_fields(worker, since=since, alive=worker_alive(worker, now))
        )
    return {
        run: next((lease for lease in leases if lease.alive), leases[0]).model_copy(
            update={"workers": sum(lease.alive for lease in leases)}
        )
        for run, leases in found.items()
    }


def _fence_off(session: Session, run_id: int) -> None:
    """Refuse what workers that seem dead may still write to trials of the run."""
    held = update(ClaimRow).where(col(ClaimRow.run_id) == run_id, col(ClaimRow.worker).is_not(None))
    session.connection().execute(held.values(fence=col(ClaimRow.fence) + 1, worker=None))


def db_now(session: Session) -> datetime:
    """The time of the database: of the PostgreSQL server, or for an SQLite file of this machine."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return in_utc(session.exec(select(func.clock_timestamp())).one())


@functools.cache
def this_machine() -> str:
    """An identifier of this boot of this machine and of its PID namespace: containers have their own process numbers."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return f"{platform.node()} {getnode():x}"


def started(pid: int) -> str:
    """When a process began, in the system's own count; "" if it does not exist or is a zombie. It tells apart two
    processes that had the same number in turn. Where the system does not say, "alive".
    """
    try:
        # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name in brackets may hold anything.
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        state, *rest = fields.rpartition(")")[2].split()
        return "" if state in ("Z", "X") else rest[18]
    except OSError:
        if (_PROC / "self").exists():
            return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "alive"
