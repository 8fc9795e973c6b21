"""The thread that writes events to trials' logs: events that wait at the same time share one transaction."""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Table, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cuecard.core.archive import PATIENCE
from cuecard.core.engine.events import Event, ModelReplied, TrialEnded, TrialRetried
from cuecard.core.errors import PAUSES, Conflict, CuecardError, DatabaseAway, NotFound
from cuecard.core.i18n import _
from cuecard.core.worker_archive import Claim
from cuecard.store.codec import Encoded, PayloadCache, dumped, encode, pack, write_payloads
from cuecard.store.engine import Database
from cuecard.store.rows import check_fences, trial_missing
from cuecard.store.task_tables import in_utc, metadata
from cuecard.store.trial_logs import add_usage, read_event

_EVENT: Table = metadata.tables["event"]
_TRIAL: Table = metadata.tables["trial"]
_INSERT = insert(_EVENT)
_SET_END = (
    update(_TRIAL)
    .where(_TRIAL.c.id == bindparam("trial"))
    .values(
        termination=bindparam("how"), detail=bindparam("why", type_=_TRIAL.c.detail.type),
        ended_at=bindparam("when", type_=_TRIAL.c.ended_at.type),
    )
)  # fmt: skip
_STATE = select(
    _TRIAL.c.id,
    _TRIAL.c.termination,
    select(func.coalesce(func.max(_EVENT.c.seq) + 1, 0))
    .where(_EVENT.c.trial_id == _TRIAL.c.id)
    .correlate(_TRIAL)
    .scalar_subquery(),
).where(_TRIAL.c.id.in_(bindparam("trials", expanding=True)))


class _State(NamedTuple):
    """How long a trial's log is, and whether the trial has ended."""

    next: int
    ended: bool


@dataclass
class _Batch:
    """The rows and changes of state that one batch of events brings, without payloads."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    events: dict[tuple[int, int], Event] = field(default_factory=dict[tuple[int, int], Event])
    states: dict[int, _State] = field(default_factory=dict[int, _State])
    ends: dict[int, TrialEnded | None] = field(default_factory=dict[int, TrialEnded | None])
    ended_at: dict[int, datetime] = field(default_factory=dict[int, datetime])


class Appender:
    """Appends batches of events, and caches the length of each log it wrote. If another process writes to the same log,
    the database refuses the number; call `forget` for the trial then. Not safe to use from several threads.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelf = PayloadCache(database)
        self._states: dict[int, _State] = {}

    def append(
        self, batch: Sequence[tuple[int, Event]], fences: Mapping[int, int] | None = None
    ) -> None:
        """Append a batch; see `Runs.append_events`. On PostgreSQL one round trip, besides one the first time that trials are
        met; what else must hold of a trial goes the same way, as fences do in `Database.at_once`. `fences`: of the claims on
        trials that workers play. Raises `ClaimLost` if one of them stands no more.
        """
        coded = [encode(event.body) for _trial_id, event in batch]
        ready = self._shelf.ready(
            (trial_id, payload)
            for (trial_id, _event), one in zip(batch, coded, strict=True)
            for payload in one.payloads
        )
        new = _Batch()
        with self._database.plain() as connection:
            new.states = self._known(connection, {trial_id for trial_id, _event in batch})
            try:
                for (trial_id, event), one in zip(batch, coded, strict=True):
                    _add(connection, new, trial_id, event, one)
            except Conflict:
                # Who lost a trial is told so, and not that its log is odd.
                if fences:
                    check_fences(connection, fences)
                raise
            if new.rows:
                try:
                    with self._database.at_once(connection, fences):
                        write_payloads(connection, ready)
                        _write(connection, new)
                except IntegrityError as error:
                    what = _("an event of this place in the dialogue is already recorded")
                    raise _refused(what) from error
        if new.rows:
            self._shelf.kept(ready)
        for trial_id, state in new.states.items():
            if state.ended:
                self.forget([trial_id])
            else:
                self._states[trial_id] = state

    def forget(self, trials: Iterable[int]) -> None:
        """Drop what is cached about these trials, so that it is read from the database again."""
        for trial_id in trials:
            self._states.pop(trial_id, None)
            self._shelf.forget(trial_id)

    def _known(self, connection: Connection, trials: set[int]) -> dict[int, _State]:
        states = {t: self._states[t] for t in trials if t in self._states}
        unknown = [trial_id for trial_id in trials if trial_id not in states]
        if unknown:
            for trial_id, termination, following in connection.execute(_STATE, {"trials": unknown}):
                states[trial_id] = _State(following, termination is not None)
        for trial_id in unknown:
            if trial_id not in states:
                raise trial_missing(trial_id)
        return states


def _add(
    connection: Connection, batch: _Batch, trial_id: int, event: Event, coded: Encoded
) -> None:
    state = batch.states[trial_id]
    if event.seq < state.next:
        there = batch.events.get((trial_id, event.seq))
        if _alike(there or read_event(connection, trial_id, event.seq), event):
            return
        raise _refused(_("another event is recorded as number {n}").format(n=event.seq))
    body = event.body
    if state.ended and not isinstance(body, TrialRetried):
        raise _refused(_("the trial has ended"))
    if event.seq > state.next:
        raise _refused(_("events are missing before number {n}").format(n=event.seq))
    batch.states[trial_id] = _State(event.seq + 1, isinstance(body, TrialEnded))
    batch.events[trial_id, event.seq] = event
    text, packed = pack(coded.body)
    batch.rows.append(
        {
            "trial_id": trial_id,
            "seq": event.seq,
            "take": event.take,
            "key": body.key,
            "type": body.type,
            "at": event.at,
            "body": text,
            "packed": packed,
        }
    )
    if isinstance(body, TrialEnded):
        batch.ends[trial_id] = body
        batch.ended_at[trial_id] = event.at
    elif isinstance(body, TrialRetried):
        batch.ends[trial_id] = None


def _write(connection: Connection, batch: _Batch) -> None:
    connection.execute(_INSERT, batch.rows)
    add_usage(
        connection,
        (
            (trial_id, body.payer, body.model, body.reply)
            for (trial_id, _seq), event in batch.events.items()
            if isinstance(body := event.body, ModelReplied)
        ),
    )
    if batch.ends:
        ends = [
            {
                "trial": trial_id,
                "how": end.termination.value if end else None,
                "why": end.detail if end else "",
                "when": batch.ended_at[trial_id] if end else None,
            }
            for trial_id, end in sorted(batch.ends.items(), key=lambda each: each[0])
        ]
        connection.execute(_SET_END, ends)


def _alike(one: Event, other: Event) -> bool:
    # What counts is what would be written: some odd values (NaN) change on their way to JSON.
    return (
        in_utc(one.at) == in_utc(other.at)
        and one.take == other.take
        and (one.body == other.body or dumped(one.body) == dumped(other.body))
    )


def _refused(reason: str) -> Conflict:
    return Conflict(
        _("This does not follow in the trial's log"),
        reason,
        _("Is the same trial open in another window? Go on in one of them only."),
    )


MAX_BATCH = 512
MAX_WAITING = 4096
"""Events in the queue from which on nobody may run ahead of the disk."""
BUSY = 3
"""Events in a batch from which on the next one waits a little for company."""
GATHER = 0.003
"""Seconds of that: far less than any model takes, and a commit costs as much CPU as twenty events."""
LAZY = 0.05
"""Seconds that events for which nobody waits are held back at most."""


class Session:
    """One player's access to a trial's log. Once an event is refused, so are all later ones of the session; otherwise
    they could follow somebody else's event.
    """

    __slots__ = ("claim", "trouble")

    def __init__(self, claim: Claim | None = None) -> None:
        self.claim = claim
        self.trouble: Exception | None = None


class Job:
    """An event waiting to be written. `settled`: it has been written, or refused with `error`."""

    __slots__ = ("_loop", "_waiter", "error", "event", "lazy", "session", "settled", "trial_id")

    def __init__(self, trial_id: int, event: Event, session: Session, *, lazy: bool) -> None:
        self.trial_id = trial_id
        self.event = event
        self.session = session
        self.lazy = lazy
        self.settled = False
        self.error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop it was submitted from and on which `settle` is called, None if there was none."""
        return self._loop

    async def wait(self) -> None:
        """Wait until the event is written or refused, also if cancelled meanwhile: a write under way cannot be taken
        back. Raises the `CancelledError` then.
        """
        cancelled: asyncio.CancelledError | None = None
        while not self.settled:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def refuse(self, error: Exception) -> None:
        """Set `error` to the session's first error, of which later ones are consequences."""
        if self.session.trouble is None:
            self.session.trouble = error
        self.error = self.session.trouble

    def settle(self) -> None:
        """Mark as settled and wake who waits; to be called on `loop`, if there is one."""
        self.settled = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


_Order = Job | Literal["flush", "stop"]


class EventWriter:
    """A thread that writes the events of all trials, and commits those that wait together at once."""

    def __init__(
        self, database: Database, patience: Callable[[], float] = lambda: PATIENCE
    ) -> None:
        """`patience`: seconds that events wait for a database that is away, until they are refused."""
        self._appender = Appender(database)
        self._patience = patience
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._lock = threading.Lock()
        self._progress = threading.Condition()
        self._submitted = 0
        self._written = 0
        self._busy = False
        self._closed = False
        self._again = threading.Event()
        # A daemon: whatever was acknowledged is on the disk, so it need not hold up the exit.
        self._thread = threading.Thread(target=self._work, name="cuecard-events", daemon=True)
        self._thread.start()

    def submit(
        self, trial_id: int, event: Event, session: Session | None = None, *, lazy: bool = False
    ) -> Job:
        """Queue `event` after all that were submitted before. `lazy`: nobody waits for it, so it may be held back up to
        `LAZY` seconds to share a commit. Raises `CuecardError` if the workspace is closed.
        """
        job = Job(trial_id, event, session or Session(), lazy=lazy)
        with self._lock:
            if self._closed:
                raise CuecardError(_("The workspace is closed"), _("Nothing more can be recorded."))
            self._submitted += 1
            self._orders.put(job)
        return job

    @property
    def crowded(self) -> bool:
        """Whether more than `MAX_WAITING` events wait; then nobody should submit lazily."""
        return self._submitted - self._written > MAX_WAITING

    def settle(self) -> None:
        """Block until all that was submitted so far is written or refused."""
        with self._lock:
            upto = self._submitted
            if self._written >= upto:
                return
            self._orders.put("flush")
        with self._progress:
            self._progress.wait_for(lambda: self._written >= upto)

    def close(self) -> None:
        """Write all that was submitted, and stop the thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._orders.put("stop")
        self._again.set()
        self._thread.join()

    def try_again(self) -> None:
        """Try at once what waits for the database; without patience, for the last time."""
        self._again.set()

    def _work(self) -> None:
        go_on = True
        while go_on:
            batch, go_on = self._next_batch()
            if batch:
                self._write(batch)
                self._tell(batch)
                self._busy = len(batch) >= BUSY

    def _next_batch(self) -> tuple[list[Job], bool]:
        """The next events to write, and whether the thread should go on afterwards."""
        batch: list[Job] = []
        awaited = gathered = False
        until = 0.0
        order: _Order | None = self._orders.get()
        while order is not None:
            if not isinstance(order, Job):
                return batch, order == "flush"
            if not batch:
                until = time.monotonic() + LAZY
            batch.append(order)
            awaited |= not order.lazy
            if len(batch) >= MAX_BATCH:
                break
            order = self._next_order(0)
            if order is None and not awaited:
                order = self._next_order(until - time.monotonic())
            elif order is None and self._busy and not gathered:
                # Asleep rather than waiting: woken by each event, the thread would gather nothing.
                gathered = True
                time.sleep(GATHER)
                order = self._next_order(0)
        return batch, True

    def _next_order(self, patience: float) -> _Order | None:
        try:
            return self._orders.get(patience > 0, max(patience, 0))
        except Empty:
            return None

    def _write(self, batch: Sequence[Job], *, again: bool = False) -> None:
        """Write a batch; if it is refused, trial by trial or event by event, so that one stops no others."""
        for job in batch:
            if job.session.trouble is not None:
                job.refuse(job.session.trouble)
        batch = [job for job in batch if job.error is None]
        if not batch:
            return
        try:
            self._append([(job.trial_id, job.event) for job in batch], _fences(batch))
        except Exception as error:  # noqa: BLE001 - the boundary of a worker: whoever waits is told
            trials: dict[int, list[Job]] = defaultdict(list)
            for job in batch:
                trials[job.trial_id].append(job)
            self._appender.forget(trials)
            if isinstance(error, CuecardError) and not isinstance(error, Conflict | NotFound):
                parts = []  # The disk's or the server's trouble is everybody's.
            elif len(trials) > 1:
                parts = list(trials.values())
            elif len(batch) > 1:
                parts = [[job] for job in batch]
            else:
                # What was remembered of the log may be out of date: somebody else wrote the same.
                parts = [] if again else [list(batch)]
            for part in parts:
                self._write(part, again=len(batch) == 1)
            if not parts:
                for job in batch:
                    job.refuse(error)

    def _append(self, batch: Sequence[tuple[int, Event]], fences: Mapping[int, int]) -> None:
        """Append a batch, again and again while the database is away: twice is as good as once."""
        began, (pause, longest) = time.monotonic(), PAUSES
        while True:
            self._again.clear()
            try:
                return self._appender.append(batch, fences)
            except DatabaseAway:
                if self._closed or time.monotonic() - began >= self._patience():
                    raise
                self._appender.forget(trial_id for trial_id, _event in batch)
            self._again.wait(pause)
            pause = min(2 * pause, longest)

    def _tell(self, batch: Sequence[Job]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop | None, list[Job]] = defaultdict(list)
        for job in batch:
            by_loop[job.loop].append(job)
        for loop, jobs in by_loop.items():
            if loop is None:
                _settle(jobs)
                continue
            try:
                loop.call_soon_threadsafe(_settle, jobs)
            except RuntimeError:  # The loop was closed: nobody waits any more.
                for job in jobs:
                    job.settled = True
        with self._progress:
            self._written += len(batch)
            self._progress.notify_all()


def _fences(batch: Sequence[Job]) -> dict[int, int]:
    """The oldest fence of each trial: whoever shows a newer one is heard when the batch is taken apart."""
    fences: dict[int, int] = {}
    for job in batch:
        if (claim := job.session.claim) is not None:
            fences[job.trial_id] = min(claim.fence, fences.get(job.trial_id, claim.fence))
    return fences


def _settle(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.settle()
