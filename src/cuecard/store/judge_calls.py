"""Judges' model calls: what was paid for once is never paid for again."""

from __future__ import annotations

from sqlalchemy import Table, insert
from sqlmodel import Session, col, select

from cuecard.core.calls import RecordedCall
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _
from cuecard.core.parts import ModelReply
from cuecard.store.codec import from_json, pack, unpack
from cuecard.store.engine import Database
from cuecard.store.event_codec import dumped
from cuecard.store.lookup import trial_row
from cuecard.store.tables import JudgeCallRow, metadata
from cuecard.store.tables.base import clean
from cuecard.store.usage import JUDGE, add_usage

_TABLE: Table = metadata.tables["judgecall"]


class JudgeCalls:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, trial_id: int, judge: str, attempt: int) -> dict[str, ModelReply]:
        """The recorded replies by key: of one judge's `attempt` at a trial."""
        query = select(JudgeCallRow).where(
            JudgeCallRow.trial_id == trial_id,
            JudgeCallRow.judge == clean(judge),
            JudgeCallRow.attempt == attempt,
        )
        with self._database.read() as session:
            return {row.key: _reply(row) for row in session.exec(query)}

    def add(self, trial_id: int, judge: str, attempt: int, call: RecordedCall) -> None:
        """Record a call; it is on the disk when this returns. The same again is passed over.

        Raises `Conflict` if another reply is recorded under this key, `NotFound` for an unknown trial.
        """
        body, packed = pack(dumped(call.reply))
        key = trial_id, clean(judge), attempt, clean(call.key)
        with self._database.write() as session:
            there = _row(session, key)
            if there is not None:
                if (there.body, there.packed) != (body, packed):
                    raise _refused(call.key)
                return
            trial_row(session, trial_id)
            connection = session.connection()
            connection.execute(
                insert(_TABLE),
                {
                    "trial_id": trial_id,
                    "judge": judge,
                    "attempt": attempt,
                    "key": call.key,
                    "model": call.model,
                    "prompt": call.prompt,
                    "body": body,
                    "packed": packed,
                },
            )
            add_usage(connection, [(trial_id, JUDGE, call.model, call.reply)])

    def next_attempt(self, trial_id: int, judge: str) -> int:
        """The number of a new attempt: one more than the last that has recorded calls, from 0."""
        query = (
            select(JudgeCallRow.attempt)
            .where(JudgeCallRow.trial_id == trial_id, JudgeCallRow.judge == clean(judge))
            .order_by(col(JudgeCallRow.attempt).desc())
            .limit(1)
        )
        with self._database.read() as session:
            last = session.exec(query).first()
        return 0 if last is None else last + 1


def _row(session: Session, key: tuple[int, str, int, str]) -> JudgeCallRow | None:
    return session.get(JudgeCallRow, key)


def _reply(row: JudgeCallRow) -> ModelReply:
    return ModelReply.model_validate(from_json(unpack(row.body, row.packed)))


def _refused(key: str) -> Conflict:
    return Conflict(
        _("Another reply is recorded for this call of the judge"),
        key,
        _("Is the same trial being judged in another window?"),
    )
