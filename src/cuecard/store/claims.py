"""Claims on offered trials: whose each is, by fences; how often it was lost; and the rows of the workers that hold them."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, func, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from cuecard.core.records import RunState
from cuecard.core.worker_archive import POISON, AlreadyPlayed, Claim, Purpose
from cuecard.store.engine import Database
from cuecard.store.leases import Leases, db_now, started, this_machine, worker_alive
from cuecard.store.rows import of_run, run_row
from cuecard.store.trial_tables import ClaimRow, EventRow, TakeRow, TrialRow, WorkerRow

if TYPE_CHECKING:
    from pgqueuer.domain.models import Job

_BRIEFLY = 2.5


class Claims:
    """The claims of one `worker`, in the tables: whatever the queue hands out, they say whose a trial is. Its calls block."""

    def __init__(self, database: Database, leases: Leases, worker: str, lapse: float) -> None:
        self.worker = worker
        self._database = database
        self._leases = leases
        self._lapse = lapse

    def enter(self, person: str, concurrency: int, players: str) -> None:
        with self._database.append() as session:
            now = db_now(session)
            session.add(
                WorkerRow(
                    id=self.worker,
                    host=platform.node(),
                    machine=this_machine(),
                    pid=os.getpid(),
                    started=started(os.getpid()),
                    since=now,
                    beat_at=now,
                    person=person,
                    concurrency=concurrency,
                    players=players,
                )
            )

    def leave(self) -> None:
        with self._database.append() as session:
            row = session.get_one(WorkerRow, self.worker)
            row.left_at = db_now(session)
            session.add(row)

    def offer(
        self, run_id: int, lanes: Sequence[Sequence[int]], purpose: Purpose
    ) -> tuple[set[int], set[int]]:
        """The trials that are offered now, and ended ones that were before: whoever did that may have gone before they were
        queued, and then nobody would ever be done with them.
        """
        trials = [trial for lane in lanes for trial in lane]
        with self._database.write(of_run(run_id)) as session:
            run = run_row(session, run_id)
            self._free(session, run_id)
            run.state, run.reason = RunState.RUNNING.value, ""
            session.add(run)
            known = {row.trial_id: row for row in session.exec(_claims(trials))}
            held = {trial for trial, row in known.items() if row.worker is not None}
            new = {trial for lane in lanes if held.isdisjoint(lane) for trial in lane}
            for trial in new:
                row = known.get(trial) or ClaimRow(trial_id=trial, run_id=run_id, purpose=purpose)
                row.purpose, row.done = purpose, False
                session.add(row)
            ended = select(col(ClaimRow.trial_id)).join(TrialRow)
            ended = ended.where(ClaimRow.run_id == run_id, ClaimRow.purpose != "retry")
            ended = ended.where(
                col(TrialRow.termination).is_not(None), col(ClaimRow.done).is_(False)
            )
            return new, set(session.exec(ended.where(col(ClaimRow.worker).is_(None)))) - new

    def _free(self, session: Session, run_id: int) -> None:
        lease = self._leases.of_processes(session, run_id).get(run_id)
        if lease is not None and lease.alive:
            raise AlreadyPlayed(lease)

    def take(
        self, run_id: int, taken: Sequence[tuple[Job, list[int]]], held: Collection[Claim]
    ) -> list[tuple[Claim | None, Job, list[int]]]:
        """The claim on the first trial of each job that is not done, with what is left of the job. None where nothing is,
        where a living worker holds one of its trials, and for all but one that workers may have died of: they would be
        suspected together.
        """
        if not taken:
            return []
        with self._database.write(of_run(run_id)) as session:
            self._free(session, run_id)
            trials = [trial for _job, lane in taken for trial in lane]
            rows = {row.trial_id: row for row in session.exec(_claims(trials).with_for_update())}
            again = [trial for trial, row in rows.items() if row.fence]
            losses = dict(session.exec(_losses(again)).all()) if again else {}
            now = db_now(session)
            living = self._living(session, now, {row.worker for row in rows.values()})
            suspected = any(_is_suspect(claim) for claim in held)
            claims: list[tuple[Claim | None, Job, list[int]]] = []
            for job, lane in taken:
                left = [t for t in lane if t in rows and not rows[t].done]
                if not left:
                    claims.append((None, job, []))
                    continue
                row = rows[left[0]]
                if any(rows[trial].worker in living for trial in left):
                    claims.append((None, job, left))
                    continue
                before, why = row.worker, "again" if row.fence else "first"
                # Whoever gave it back outlived it.
                number, elsewhere = losses.get(row.trial_id, 0) if before else 0, 0
                # What it took itself and knows nothing of: the server died before it answered.
                if before not in (None, self.worker):
                    why, number = "lost", number + 1
                if number >= POISON:
                    elsewhere = _other_deaths(session, row, number)
                purpose: Any = row.purpose
                claim = Claim(row.trial_id, run_id, row.fence + 1, purpose, number, elsewhere)
                if _is_suspect(claim):
                    if suspected:
                        claims.append((None, job, left))
                        continue
                    suspected = True
                row.fence, row.worker, row.taken = row.fence + 1, self.worker, now
                session.add(row)
                session.add(
                    TakeRow(
                        trial_id=row.trial_id,
                        fence=row.fence,
                        worker=self.worker,
                        at=now,
                        why=why,
                        before=before,
                    )
                )
                claims.append((claim, job, left[1:]))
            return claims

    def _living(
        self, session: Session, now: datetime, workers: Collection[str | None]
    ) -> set[str | None]:
        """Others among these workers, whose beats have not lapsed."""
        others = [worker for worker in workers if worker not in (None, self.worker)]
        query = select(WorkerRow).where(col(WorkerRow.id).in_(others))
        rows = session.exec(query) if others else ()
        return {row.id for row in rows if worker_alive(row, now, self._lapse)}

    def beat(self, calls: int, note: str) -> tuple[dict[int, int], list[UUID]]:
        """The fences of what this worker holds, and workers of this machine that died with something in their hands."""
        mine = update(WorkerRow).where(col(WorkerRow.id) == self.worker)
        held = select(col(ClaimRow.trial_id), col(ClaimRow.fence))
        others = select(WorkerRow).where(
            col(WorkerRow.id).in_(select(ClaimRow.worker)), WorkerRow.machine == this_machine()
        )
        with self._database.beside(patience=_BRIEFLY) as connection:
            beat = mine.values(beat_at=func.clock_timestamp(), calls=calls, note=note)
            connection.execute(beat)
            with Session(connection) as session:
                standing = dict(session.exec(held.where(ClaimRow.worker == self.worker)).all())
                now = db_now(session)
                dead = [
                    UUID(row.id)
                    for row in session.exec(others)
                    if row.left_at is None and not worker_alive(row, now, self._lapse)
                ]
        return standing, dead

    def let_go(self, claim: Claim, done: bool) -> bool:
        """Whether the trial was still held under this fence."""
        held = update(ClaimRow).where(
            col(ClaimRow.trial_id) == claim.trial_id, col(ClaimRow.fence) == claim.fence
        )
        with self._database.beside(patience=_BRIEFLY) as connection:
            return bool(connection.execute(held.values(worker=None, done=done)).rowcount)

    def withdraw(self, run_id: int) -> None:
        free = update(ClaimRow).where(
            col(ClaimRow.run_id) == run_id, col(ClaimRow.worker).is_(None)
        )
        with self._database.write(of_run(run_id)) as session:
            session.connection().execute(free.values(done=True))


def _claims(trials: Sequence[int]) -> SelectOfScalar[ClaimRow]:
    return (
        select(ClaimRow).where(col(ClaimRow.trial_id).in_(trials)).order_by(col(ClaimRow.trial_id))
    )


def _losses(trials: Sequence[int]) -> SelectOfScalar[Any]:
    """How often in a row each of these trials was lost: since somebody last got on with it, or took it from nobody."""
    last = select(func.max(EventRow.at)).where(EventRow.trial_id == TakeRow.trial_id)
    free = aliased(TakeRow)
    freely = select(func.max(free.fence)).where(
        free.trial_id == TakeRow.trial_id, free.why != "lost"
    )
    lost = select(col(TakeRow.trial_id), func.count()).where(
        TakeRow.why == "lost",
        col(TakeRow.trial_id).in_(trials),
        col(TakeRow.fence) > freely.scalar_subquery(),
        or_(last.scalar_subquery().is_(None), col(TakeRow.at) > last.scalar_subquery()),
    )
    return cast(SelectOfScalar[Any], lost.group_by(col(TakeRow.trial_id)))


def _is_suspect(claim: Claim) -> bool:
    return claim.lost >= POISON - 1 and not claim.poisons


def _other_deaths(session: Session, claim: ClaimRow, lost: int) -> int:
    """How many workers of the run died that had not held the trial, since the first of those took it that were `lost` with
    it in a row.
    """
    mine = select(TakeRow).where(TakeRow.trial_id == claim.trial_id)
    takes = session.exec(mine.order_by(col(TakeRow.fence).desc())).all()
    holders = {take.worker for take in takes}
    since = takes[min(lost, len(takes)) - 1].at
    died = select(func.count(func.distinct(TakeRow.before))).join(TrialRow)
    others = TakeRow.why == "lost", TrialRow.run_id == claim.run_id, TakeRow.at > since
    return session.exec(died.where(*others, col(TakeRow.before).not_in(holders))).one()
