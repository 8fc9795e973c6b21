"""What all who play runs of a workspace may use together, and what people ask of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, text
from sqlmodel import Session, col, select

from cuecard.core.records import OrderKind, RunOrder
from cuecard.core.worker_archive import LAPSE, Refusal, Shares
from cuecard.store.engine import Database
from cuecard.store.leases import db_now
from cuecard.store.rows import run_row
from cuecard.store.trial_tables import AllowanceRow, RunOrderRow, TrialRow, UsageRow

if TYPE_CHECKING:
    from cuecard.core.llm.limiter import Need

_LOCK = 0x63756161  # "cuaa": any constant that is ours alone
_PATIENCE = 5.0
_REFUSED = "refused"
_TOLD_FOR = timedelta(seconds=LAPSE)
COST = "cost"


class Allowances:
    """A row for what each party has of an allowance; taking more than before excludes others who do, for some milliseconds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def share(
        self, party: str, needs: Sequence[Need], refused: Sequence[Refusal] = (), run_id: int = 0
    ) -> Shares:
        """Take and give back, so that `party` has its part of each. `refused`: what it found, to be told to others.
        `run_id`: the run whose recorded cost counts against the need with a key that begins with `COST`.
        """
        keys = [need.key for need in needs]
        found = [f"{_REFUSED} {key}" for key in keys]
        with self._alone() as session:
            now = db_now(session)
            spent = _spent(session, run_id) if run_id else None
            rows = session.exec(select(AllowanceRow).where(col(AllowanceRow.key).in_(keys + found)))
            living: dict[str, list[AllowanceRow]] = {}
            for row in rows.all():
                if row.until > now:
                    living.setdefault(row.key, []).append(row)
                else:
                    session.delete(row)
            session.flush()
            amounts: dict[str, float] = {}
            for need in needs:
                whole = need.whole - (spent or 0.0) if need.key.startswith(COST) else need.whole
                there = living.get(need.key, [])
                others = [(row.amount, row.want) for row in there if row.party != party]
                row = next(
                    (row for row in there if row.party == party),
                    AllowanceRow(key=need.key, party=party, amount=0, want=0, until=now),
                )
                amounts[need.key] = part_of(need, whole, row.amount, others)
                # A smaller part is given back only when it is told that no more is used.
                row.amount, row.want = max(amounts[need.key], need.has), need.want
                row.until = now + timedelta(seconds=LAPSE + need.holds)
                session.add(row)
            for each in refused:
                session.merge(
                    AllowanceRow(
                        key=f"{_REFUSED} {each.key}",
                        party=party,
                        amount=0,
                        want=0,
                        until=now + _TOLD_FOR,
                        said=json.dumps(each.said),
                    )
                )
            told = [row for key in found for row in living.get(key, []) if row.party != party]
            return Shares(
                amounts=amounts,
                alone=not any(row.party != party for key in keys for row in living.get(key, [])),
                at=now,
                refusals=[_refusal(row) for row in told],
                spent=spent,
            )

    @property
    def across(self) -> bool:
        """Whether programs on several machines share them."""
        return not self._database.is_sqlite

    def others(self, party: str, keys: Collection[str]) -> bool:
        """Whether somebody else has, or waits for, a part of any of these."""
        query = select(AllowanceRow.party).where(col(AllowanceRow.key).in_(keys))
        with self._database.read() as session:
            found = session.exec(query.where(AllowanceRow.party != party).limit(1))
            return found.first() is not None

    def leave(self, party: str, used: Mapping[str, float]) -> None:
        """Give back all that `party` has, but for what it `used` and still counts."""
        mine = select(AllowanceRow).where(AllowanceRow.party == party, AllowanceRow.said == "")
        with self._alone() as session:
            now = db_now(session)
            for row in session.exec(mine).all():
                row.amount, row.want = used.get(row.key, 0.0), 0.0
                row.until -= timedelta(seconds=LAPSE)
                if row.amount > 0 and row.until > now:
                    session.add(row)
                else:
                    session.delete(row)

    @contextmanager
    def _alone(self) -> Generator[Session]:
        if self._database.is_sqlite:
            with self._database.write(patience=_PATIENCE) as session:
                yield session
            return
        with (
            self._database.beside(patience=_PATIENCE) as connection,
            Session(connection) as session,
        ):
            session.connection().execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield session
            session.flush()


class Orders:
    """What people asked of those who play runs; nothing is taken back, the newest of a kind holds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def give(
        self, run_id: int, kind: OrderKind, person: str, value: float | None = None
    ) -> RunOrder:
        """Record an order. Raises `NotFound`."""
        with self._database.write() as session:
            run_row(session, run_id)
            row = RunOrderRow(
                run_id=run_id, kind=kind, value=value, person=person, at=db_now(session)
            )
            session.add(row)
            session.flush()
            return RunOrder.from_fields(row)

    def of(self, run_id: int, *, after: int = 0) -> list[RunOrder]:
        """The orders about a run with an id above `after`, oldest first."""
        query = select(RunOrderRow).where(RunOrderRow.run_id == run_id, col(RunOrderRow.id) > after)
        with self._database.read() as session:
            rows = session.exec(query.order_by(col(RunOrderRow.id)))
            return [RunOrder.from_fields(row) for row in rows]

    def last(self) -> int:
        """The id of the newest order about any run; 0 if there is none."""
        with self._database.read() as session:
            return session.exec(select(func.max(RunOrderRow.id))).one() or 0


def part_of(need: Need, whole: float, had: float, others: Sequence[tuple[float, float]]) -> float:
    """How much of `whole` somebody may have who told last that it is `had`, beside `others`, who each have and want so much. All get what they want, the
    least first, and the rest in equal parts; what others have is theirs until they give it back. Where a part would be too
    little for anything, one after the other has as much as that takes.
    """
    free = max(0.0, whole - sum(amount for amount, _want in others))
    fair = _fair(whole, need.want, [want for _amount, want in others])
    if fair < need.step and any(want > 0 for _amount, want in others):
        turn = had <= need.used and need.used + need.step <= free
        return need.used + need.step if turn else need.used
    return max(min(fair, free), need.used)


def _fair(whole: float, want: float, others: Sequence[float]) -> float:
    wants = sorted((*others, want))
    left = whole
    for index, each in enumerate(wants):
        equal = left / (len(wants) - index)
        if each >= equal:
            return equal if want >= each else want
        left -= each
    return want + left / len(wants)


def _spent(session: Session, run_id: int) -> float:
    query = (
        select(func.sum(UsageRow.cost))
        .join(TrialRow, col(TrialRow.id) == UsageRow.trial_id)
        .where(TrialRow.run_id == run_id)
    )
    return session.exec(query).one() or 0.0


def _refusal(row: AllowanceRow) -> Refusal:
    title, message, hint = json.loads(row.said)
    return Refusal(
        row.key.removeprefix(f"{_REFUSED} "), (title, message, hint), row.until - _TOLD_FOR
    )
