"""Judgements and verdicts, and what a labeller may see of them.

What counts are the newest judgement of each judge on each trial. A label is about the item: two judges'
verdicts on the same item of the same trial, or a later judgement of the same judge, share it.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, insert, literal
from sqlmodel import Session, col, func, select

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef
from cuecard.core.verdicts import Item, Judgement, TableMatch, Verdict
from cuecard.store.engine import Database
from cuecard.store.label_counts import label_counts
from cuecard.store.labels import add_label, label_history, newest_labels
from cuecard.store.lookup import run_row, trial_row, verdict_row
from cuecard.store.records import (
    JudgementRecord,
    Label,
    LabelValue,
    RunLabels,
    VerdictItem,
    VerdictRecord,
)
from cuecard.store.tables import JudgementRow, LabelRow, TrialRow, VerdictRow

_PRIME = 2**31 - 1


class Verdicts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, trial_id: int, judgement: Judgement) -> JudgementRecord:
        """Record a judgement. Raises `NotFound` for an unknown trial."""
        with self._database.write() as session:
            trial_row(session, trial_id)
            row = JudgementRow(
                trial_id=trial_id,
                judge_name=judgement.judge.name,
                judge=judgement.judge.model_dump_json(),
                revision_hash=judgement.revision_hash,
                prompt_hash=judgement.prompt_hash,
                table_match=judgement.table.model_dump_json() if judgement.table else None,
                created_at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            rows = [_row(row, n, verdict) for n, verdict in enumerate(judgement.verdicts)]
            if rows:
                session.connection().execute(insert(VerdictRow), rows)
            return JudgementRecord(
                id=row.id or 0, trial_id=trial_id, created_at=row.created_at, judgement=judgement
            )

    def of_trial(self, trial_id: int) -> list[JudgementRecord]:
        """All judgements of a trial, newest first."""
        with self._database.read() as session:
            return _judgements(session, JudgementRow.trial_id == trial_id)

    def of_run(self, run_id: int) -> list[JudgementRecord]:
        """The newest judgement of each judge on each trial, by trial and judge. Raises `NotFound`."""
        with self._database.read() as session:
            run_row(session, run_id)
            found = _judgements(session, col(JudgementRow.id).in_(current_judgements(run_id)))
        return sorted(found, key=lambda record: (record.trial_id, record.judgement.judge.name))

    def queue(
        self, person: str, *, run_id: int | None = None, limit: int = 200
    ) -> list[VerdictItem]:
        """What `person` has not labelled, each item of a trial once, in an order of their own that
        stays the same and tells nothing about decisions. Nothing here comes from a judge or another
        labeller.
        """
        labelled = (
            select(LabelRow.id)
            .where(
                LabelRow.trial_id == VerdictRow.trial_id,
                LabelRow.item_key == VerdictRow.item_key,
                LabelRow.person == person,
            )
            .correlate(VerdictRow)
            .exists()
        )
        # Multiplying modulo a prime permutes: another order for each person, the same each time.
        factor = literal(_number(person) or 1, BigInteger)
        turn = func.min(VerdictRow.shuffle) * factor % _PRIME
        query = (
            select(func.min(VerdictRow.id))
            .where(col(VerdictRow.judgement_id).in_(current_judgements(run_id)), ~labelled)
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
            .order_by(turn, func.min(VerdictRow.id))
            .limit(limit)
        )
        with self._database.read() as session:
            ids = session.exec(query).all()
            details = select(VerdictRow, TrialRow).join(TrialRow).where(col(VerdictRow.id).in_(ids))
            items = {verdict.id: _blind(verdict, trial) for verdict, trial in session.exec(details)}
        return [items[verdict_id] for verdict_id in ids]

    def label(self, verdict_id: int, person: str, value: LabelValue, comment: str = "") -> Label:
        """Record a decision; earlier ones of the person stay in the history. Raises `NotFound`."""
        with self._database.write() as session:
            return add_label(session, verdict_row(session, verdict_id), person, value, comment)

    def labels(self, run_id: int | None = None) -> list[Label]:
        """Everybody's newest labels, for statistics: one per person and verdict that counts, by
        verdict and person. A label given on another verdict about the same item is among them, under
        each verdict that it is about.
        """
        with self._database.read() as session:
            return newest_labels(session, current_judgements(run_id))

    def history(self, verdict_id: int, person: str) -> list[Label]:
        """All that `person` has decided on the verdict's item, oldest first. Raises `NotFound`."""
        with self._database.read() as session:
            return label_history(session, verdict_row(session, verdict_id), person)

    def reveal(self, verdict_id: int, person: str) -> VerdictRecord:
        """The verdict with its decision. Raises `NotAllowed` until `person` has labelled the item."""
        with self._database.read() as session:
            verdict = verdict_row(session, verdict_id)
            if not label_history(session, verdict, person):
                raise NotAllowed(
                    _("Label this first"),
                    _("A verdict is shown only to those who have labelled its item."),
                )
            return _records(session, VerdictRow.id == verdict_id)[0]

    def records(self, run_id: int | None = None) -> list[VerdictRecord]:
        """All verdicts that count, decisions included: for statistics, not for labellers' screens."""
        with self._database.read() as session:
            return _records(session, col(VerdictRow.judgement_id).in_(current_judgements(run_id)))

    def progress(self, person: str) -> list[RunLabels]:
        """How far labelling is, for each run with verdicts, newest first."""
        with self._database.read() as session:
            return label_counts(session, person, current_judgements(None))


def current_judgements(run_id: int | None) -> Any:
    """Query for the ids of the newest judgement per trial and judge."""
    query = select(func.max(JudgementRow.id)).group_by(
        col(JudgementRow.trial_id), JudgementRow.judge_name
    )
    if run_id is not None:
        query = query.join(TrialRow).where(TrialRow.run_id == run_id)
    return query


def _row(judgement: JudgementRow, position: int, verdict: Verdict) -> dict[str, Any]:
    item = verdict.item
    return {
        "judgement_id": judgement.id,
        "position": position,
        "trial_id": judgement.trial_id,
        "item_key": item.key,
        "item_kind": item.kind.value,
        "item_index": item.index,
        "item_column": item.column,
        "decision": verdict.decision.value,
        "supporting": json.dumps(verdict.supporting),
        "rationale": verdict.rationale,
        "shuffle": _number(f"{judgement.trial_id}/{item.key}"),
    }


def _number(text: str) -> int:
    """A number below the prime that follows from the text."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8]) % _PRIME


def _item(row: VerdictRow) -> Item:
    return Item.model_validate(
        {"kind": row.item_kind, "index": row.item_index, "column": row.item_column}
    )


def _verdict(row: VerdictRow) -> Verdict:
    return Verdict.model_validate(
        {
            "item": _item(row),
            "decision": row.decision,
            "supporting": json.loads(row.supporting),
            "rationale": row.rationale,
        }
    )


def _blind(row: VerdictRow, trial: TrialRow) -> VerdictItem:
    return VerdictItem(
        verdict_id=row.id or 0,
        trial_id=row.trial_id,
        run_id=trial.run_id,
        task_id=trial.task_id,
        revision=trial.revision,
        item=_item(row),
    )


def _judgements(session: Session, condition: Any) -> list[JudgementRecord]:
    query = select(JudgementRow).where(condition).order_by(col(JudgementRow.id).desc())
    rows = session.exec(query).all()
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    chosen = select(JudgementRow.id).where(condition)
    details = (
        select(VerdictRow)
        .where(col(VerdictRow.judgement_id).in_(chosen))
        .order_by(col(VerdictRow.judgement_id), col(VerdictRow.position))
    )
    for verdict in session.exec(details):
        verdicts[verdict.judgement_id].append(_verdict(verdict))
    return [_judgement(row, verdicts[row.id or 0]) for row in rows]


def _judgement(row: JudgementRow, verdicts: list[Verdict]) -> JudgementRecord:
    judgement = Judgement(
        judge=_player(row.judge),
        revision_hash=row.revision_hash,
        prompt_hash=row.prompt_hash,
        verdicts=tuple(verdicts),
        table=TableMatch.model_validate_json(row.table_match) if row.table_match else None,
    )
    return JudgementRecord(
        id=row.id or 0, trial_id=row.trial_id, created_at=row.created_at, judgement=judgement
    )


def _records(session: Session, condition: Any) -> list[VerdictRecord]:
    query = (
        select(VerdictRow, JudgementRow.judge, TrialRow.task_id, TrialRow.revision)
        .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
        .join(TrialRow, col(TrialRow.id) == VerdictRow.trial_id)
        .where(condition)
        .order_by(col(VerdictRow.id))
    )
    return [_record(*found) for found in session.exec(query)]


def _record(row: VerdictRow, judge: str, task_id: str, revision: int) -> VerdictRecord:
    verdict = _verdict(row)
    return VerdictRecord(
        verdict_id=row.id or 0,
        trial_id=row.trial_id,
        task_id=task_id,
        revision=revision,
        judge=_player(judge),
        item=verdict.item,
        decision=verdict.decision,
        supporting=verdict.supporting,
        rationale=verdict.rationale,
    )


@lru_cache(maxsize=256)
def _player(payload: str) -> PlayerRef:
    return PlayerRef.model_validate_json(payload)
