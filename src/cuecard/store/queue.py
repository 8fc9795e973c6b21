"""The queue of trials for workers: PgQueuer hands them out, claims with fences say whose each is. PostgreSQL only."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import case, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, col, func, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from cuecard.core.errors import CuecardError, NotAllowed, install_hint
from cuecard.core.i18n import _, headed
from cuecard.core.records import OfferProgress, RunState, TakeRecord, WorkerRecord
from cuecard.core.worker_archive import WORKER_LAPSE, AlreadyPlayed, Claim, Purpose
from cuecard.store import errors as troubles
from cuecard.store.claims import Claims
from cuecard.store.engine import Database
from cuecard.store.leases import Leases, db_now, worker_alive
from cuecard.store.role_rules import QUEUE, install_queue
from cuecard.store.roles import check_owner
from cuecard.store.trial_tables import ClaimRow, RunRow, TakeRow, TrialRow, WorkerRow

if TYPE_CHECKING:
    from pgqueuer.domain.models import Job
    from pgqueuer.queries import Queries
    from psycopg import AsyncConnection

Answer = TypeVar("Answer")

_TRIES = 3
_AS_OFFERED = f"""UPDATE {QUEUE}pgqueuer SET payload = offered.payload
FROM UNNEST($1::text[], $2::bytea[]) AS offered(name, payload)
WHERE status = 'queued' AND dedupe_key = offered.name"""
_BEHIND = f"UPDATE {QUEUE}pgqueuer SET priority = $2 WHERE id = $1"
_LET_GO = f"UPDATE {QUEUE}pgqueuer SET heartbeat = 'epoch' WHERE queue_manager_id = ANY($1)"


class Workers:
    """The workers of a workspace, and where the trials stand that are offered to them."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def check(self) -> None:
        """Raise `CuecardError` unless workers can share runs of this workspace."""
        if self._database.is_sqlite:
            raise NotAllowed(
                _("Workers need PostgreSQL"),
                _("In a workspace in an SQLite file one process plays a run."),
                _("`cuecard move` takes it to a PostgreSQL database."),
            )
        if find_spec("pgqueuer") is None:
            missing = _("Workers need one more package")
            raise CuecardError(missing, "pgqueuer", install_hint("workers"))

    def all(self) -> list[WorkerRecord]:
        """Every worker that there was, the newest first."""
        with self._database.read() as session:
            return _workers(session, select(WorkerRow))

    def offered(self) -> dict[int, int]:
        """How many trials are left to do of each run that was offered and is not over or stopped, by run id."""
        query = (
            select(col(ClaimRow.run_id), func.sum(case((col(ClaimRow.done), 0), else_=1)))
            .join(RunRow, col(RunRow.id) == ClaimRow.run_id)
            .where(RunRow.state == RunState.RUNNING.value)
            .group_by(col(ClaimRow.run_id))
            .order_by(col(ClaimRow.run_id))
        )
        with self._database.read() as session:
            return dict(session.exec(query).all())

    def handout(self, run_id: int) -> OfferProgress | None:
        """Where the run's offered trials stand; None if it was never offered to workers."""
        mine = ClaimRow.run_id == run_id
        counts = select(col(ClaimRow.done), col(ClaimRow.worker).is_(None), func.count())
        with self._database.read() as session:
            found = session.exec(counts.where(mine).group_by(text("1, 2"))).all()
            if not found:
                return None
            holders = select(col(ClaimRow.worker)).where(mine)
            takers = select(col(TakeRow.worker)).join(TrialRow).where(TrialRow.run_id == run_id)
            played = or_(col(WorkerRow.id).in_(holders), col(WorkerRow.id).in_(takers))
            workers = _workers(session, select(WorkerRow).where(or_(played, _is_here())))
            took = set(session.exec(takers).all())
            lost = select(TakeRow).join(TrialRow).where(TrialRow.run_id == run_id)
            lost = lost.where(TakeRow.why == "lost").order_by(col(TakeRow.at).desc())
            return OfferProgress(
                waiting=sum(n for done, free, n in found if not done and free),
                held=sum(n for done, free, n in found if not done and not free),
                done=sum(n for done, _free, n in found if done),
                workers=tuple(w for w in workers if w.alive or w.id in took),
                lost=tuple(TakeRecord.from_fields(row) for row in session.exec(lost)),
            )

    def queue(
        self,
        person: str,
        concurrency: int = 0,
        *,
        players: str = "",
        lapse: float = WORKER_LAPSE,
    ) -> PgQueue:
        """This process's access to the queue; enter it as an async context. With `concurrency` it is that of a worker."""
        self.check()
        return PgQueue(self._database, self._leases, person, concurrency, players, lapse)


class PgQueue:
    """A `TrialQueue` of one process, over PgQueuer. A trial's place in the queue lapses when its beats stop, and then
    somebody else's take raises the fence of its claim: whatever the queue does, the fence says whose the trial is.
    """

    def __init__(
        self,
        database: Database,
        leases: Leases,
        person: str,
        concurrency: int,
        players: str,
        lapse: float,
    ) -> None:
        self.worker = uuid4().hex
        self._database = database
        self._claims = Claims(database, leases, self.worker, lapse)
        self._person = person
        self._concurrency = concurrency
        self._players = players
        self._lapse = lapse
        self._jobs: dict[int, tuple[Claim, Job, list[int]]] = {}
        self._lanes: dict[int, deque[tuple[Job, list[int]]]] = defaultdict(deque)
        self._changed = asyncio.Event()
        self._mending = asyncio.Lock()
        self._queries: Queries | None = None
        self._connection: AsyncConnection[Any] | None = None

    async def __aenter__(self) -> PgQueue:
        await self._connect()
        if self._concurrency:
            await asyncio.to_thread(
                self._claims.enter, self._person, self._concurrency, self._players
            )
        return self

    async def __aexit__(self, *_error: object) -> None:
        for claim, _job, _rest in list(self._jobs.values()):
            with suppress(CuecardError):
                await self.give_back(claim, done=False)
        if self._concurrency:
            with suppress(CuecardError):
                await asyncio.to_thread(self._claims.leave)
        await self._disconnect()

    async def offer(
        self, run_id: int, lanes: Mapping[str, Sequence[int]], purpose: Purpose = "play"
    ) -> int:
        """See `TrialQueue`. Raises `NotFound`, and `AlreadyPlayed` while one process plays the run alone."""
        await self._install()
        new, left = await asyncio.to_thread(
            self._claims.offer, run_id, list(lanes.values()), purpose
        )
        jobs = [(f"{run_id}{name}", lane) for name, lane in lanes.items() if new.issuperset(lane)]
        jobs += [(f"{run_id}/{trial}", [trial]) for trial in sorted(left)]
        for start in range(0, len(jobs), 1000):
            # What was offered and given back lies there still, under its name.
            keys: list[str | None] = [key for key, _lane in jobs[start : start + 1000]]
            payloads: list[bytes | None] = [
                json.dumps({"trials": list(lane)}).encode()
                for _key, lane in jobs[start : start + 1000]
            ]
            names, none = [_entry(run_id)] * len(keys), [0] * len(keys)
            await self._ask(
                lambda queries, p=payloads, k=keys: queries.driver.execute(_AS_OFFERED, k, p)
            )
            await self._ask(
                lambda queries, n=names, p=payloads, z=none, k=keys: queries.enqueue(
                    n, p, z, dedupe_key=k, on_conflict="skip"
                )
            )
        return len(new)

    async def take(self, run_id: int, most: int) -> list[Claim]:
        """See `TrialQueue`."""
        taken: list[tuple[Job, list[int]]] = []
        lanes = self._lanes[run_id]
        while lanes and len(taken) < most:
            taken.append(lanes.popleft())
        if len(taken) < most:
            jobs = await self._dequeue(run_id, most - len(taken))
            # A late beat may have us find what we hold.
            held = {job.id for _claim, job, _rest in self._jobs.values()}
            taken += [(job, _payload(job)["trials"]) for job in jobs if job.id not in held]
        claims: list[Claim] = []
        try:
            holds = [claim for claim, _job, _rest in self._jobs.values()]
            for claim, job, rest in await asyncio.to_thread(
                self._claims.take, run_id, taken, holds
            ):
                if claim is None and rest:
                    await self._ask(lambda q, j=job: q.retry_job(j, timedelta(seconds=0.5), None))
                elif claim is None:
                    await self._ask(lambda q, j=job: q.log_jobs([(j, "successful", None)]))
                else:
                    self._jobs[claim.trial_id] = claim, job, rest
                    claims.append(claim)
                    if claim.lost:  # Whoever is next has others first.
                        await self._ask(
                            lambda q, j=job, n=claim.lost: q.driver.execute(_BEHIND, j.id, -n)
                        )
        except AlreadyPlayed:
            for job, _trials in taken:
                await self._ask(lambda q, j=job: q.retry_job(j, timedelta(seconds=0.5), None))
            raise
        return claims

    async def beat(self, calls: int, note: str) -> list[Claim]:
        """See `TrialQueue`."""
        waiting = [job for lane in self._lanes.values() for job, _rest in lane]
        ids = [job.id for _claim, job, _rest in self._jobs.values()] + [job.id for job in waiting]
        mine = [claim for claim, _job, _rest in self._jobs.values()]
        standing, dead = await asyncio.to_thread(self._claims.beat, calls, note)
        if ids:
            await self._ask(lambda queries: queries.update_heartbeat(ids))
        if dead:
            await self._ask(lambda queries: queries.driver.execute(_LET_GO, dead))
            self._changed.set()
        lost = [claim for claim in mine if standing.get(claim.trial_id) != claim.fence]
        for claim in lost:
            self._jobs.pop(claim.trial_id, None)
        return lost

    async def give_back(self, claim: Claim, *, done: bool) -> None:
        """See `TrialQueue`."""
        held = self._jobs.get(claim.trial_id)
        if held is None or held[0] != claim:
            return
        _claim, job, rest = held
        # It is forgotten when all is done: where the server is away meanwhile, the whole is tried again.
        if await asyncio.to_thread(self._claims.let_go, claim, done):
            if not done:
                await self._ask(lambda queries: queries.retry_job(job, timedelta(0), None))
            elif not rest:
                await self._ask(lambda queries: queries.log_jobs([(job, "successful", None)]))
        else:
            done = False
        if self._jobs.get(claim.trial_id) is held:
            del self._jobs[claim.trial_id]
            if done and rest:
                self._lanes[claim.run_id].append((job, rest))
        self._changed.set()

    async def cancel(self, run_id: int) -> None:
        """See `TrialQueue`."""
        await self._install()
        await self._ask(lambda queries: queries.clear_queue(_entry(run_id)))
        await self._ask(lambda queries: queries.clear_queue_log(_entry(run_id)))
        await asyncio.to_thread(self._claims.withdraw, run_id)

    async def wait(self, seconds: float) -> None:
        """See `TrialQueue`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)
        self._changed.clear()

    async def _dequeue(self, run_id: int, most: int) -> list[Job]:
        from pgqueuer.domain.types import QueueEntrypoint, QueueManagerId
        from pgqueuer.ports.repository import EntrypointExecutionParameter

        entries = {QueueEntrypoint(_entry(run_id)): EntrypointExecutionParameter(0)}
        return await self._ask(
            lambda queries: queries.dequeue(
                most,
                entries,
                QueueManagerId(UUID(self.worker)),
                None,
                timedelta(seconds=self._lapse),
            )
        )

    async def _ask(self, question: Callable[[Queries], Awaitable[Answer]]) -> Answer:
        """What the queue answers, over a new connection if the server was restarted. Raises `CuecardError`; `DatabaseAway`
        if the server is not there now.
        """
        import psycopg

        for turn in range(_TRIES):
            queries = self._queries or await self._connect()
            try:
                return await question(queries)
            except psycopg.OperationalError as error:
                if self._queries is queries:  # Else somebody else found that first.
                    await self._disconnect()
                if turn == _TRIES - 1:
                    raise self._trouble(error) from error
            except psycopg.Error as error:
                raise self._trouble(error) from error
        raise AssertionError

    def _trouble(self, error: BaseException) -> CuecardError:
        if troubles.is_away(DBAPIError("", None, error)):
            return troubles.away(str(error), self._database.public_url)
        said = headed(self._database.public_url, str(error).strip())
        return CuecardError(_("The queue of trials cannot be used"), said)

    async def _install(self) -> None:
        queries = self._queries or await self._connect()
        if not await queries.has_table(queries.qbe.settings.queue_table):
            await asyncio.to_thread(self._make)

    def _make(self) -> None:
        check_owner(self._database, _("Making the queue of workers, once"))
        with self._database.connection() as connection:
            install_queue(connection)

    async def _connect(self) -> Queries:
        """A connection of its own, on the loop. It does not listen: with each trial that anybody takes all would be woken."""
        import psycopg
        from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
        from pgqueuer.adapters.persistence.qb import (
            QueryBuilderEnvironment,
            QueryQueueBuilder,
            QuerySchedulerBuilder,
        )
        from pgqueuer.domain.settings import DBSettings
        from pgqueuer.queries import Queries

        # Of what a lost connection leaves behind it warns by itself; we say that the database is away.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
        async with self._mending:
            if self._queries is not None:
                return self._queries
            settings = DBSettings(prefix=QUEUE)
            arguments, options = self._database.connect_arguments()
            try:
                self._connection = await psycopg.AsyncConnection.connect(
                    *arguments, autocommit=True, **options
                )
            except psycopg.Error as error:
                raise self._trouble(error) from error
            self._queries = Queries(
                PsycopgDriver(self._connection),
                QueryBuilderEnvironment(settings),
                QueryQueueBuilder(settings),
                QuerySchedulerBuilder(settings),
            )
            return self._queries

    async def _disconnect(self) -> None:
        connection, self._connection, self._queries = self._connection, None, None
        if connection is not None:
            await connection.close()


def _entry(run_id: int) -> str:
    return f"run/{run_id}"


def _payload(job: Job) -> dict[str, Any]:
    return json.loads(job.payload or b"{}")


def _is_here() -> Any:
    return col(WorkerRow.left_at).is_(None)


def _workers(session: Session, query: SelectOfScalar[WorkerRow]) -> list[WorkerRecord]:
    now, held = db_now(session), col(ClaimRow.worker).is_not(None)
    # What a silent one had may have been taken over from it.
    counts = select(col(ClaimRow.worker), func.count()).where(held).group_by(col(ClaimRow.worker))
    holds = dict(session.exec(counts).all())
    return [
        WorkerRecord.from_fields(row, alive=worker_alive(row, now), under_way=holds.get(row.id, 0))
        for row in session.exec(query.order_by(col(WorkerRow.since).desc()))
    ]
