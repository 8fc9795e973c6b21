"""Judgements and their verdicts as rows."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Row, insert
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import JudgementHead, JudgementRecord, VerdictItem, VerdictRecord
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict
from cuecard.store.trial_tables import JudgementRow, TrialRow, VerdictRow

PRIME = 2**31 - 1
"""The range of `VerdictRow.shuffle`."""


def insert_judgement(
    session: Session, trial_id: int, judgement: Judgement, at: datetime | None = None
) -> JudgementRecord:
    """Insert a judgement and its verdicts. `at`: when it was made, by default now."""
    row = JudgementRow(
        trial_id=trial_id,
        judge_name=judgement.judge.name,
        judge=judgement.judge.model_dump_json(),
        revision_hash=judgement.revision_hash,
        prompt_hash=judgement.prompt_hash,
        trial_hash=judgement.trial_hash,
        table_match=judgement.table.model_dump_json() if judgement.table else None,
        created_at=at or datetime.now(UTC),
    )
    session.add(row)
    session.flush()
    rows = [_row(row, n, verdict) for n, verdict in enumerate(judgement.verdicts)]
    if rows:
        session.connection().execute(insert(VerdictRow), rows)
    return JudgementRecord(
        id=row.id or 0, trial_id=trial_id, created_at=row.created_at, judgement=judgement
    )


def current_judgements(run_id: int | None, *trial_ids: int | None) -> Any:
    """A query for the id of the newest judgement of each judge on each trial, of one run, of these trials or of all."""
    query = select(func.max(JudgementRow.id)).group_by(
        col(JudgementRow.trial_id), JudgementRow.judge_name
    )
    if trial_ids not in ((), (None,)):
        query = query.where(col(JudgementRow.trial_id).in_(trial_ids))
    if run_id is not None:
        query = query.join(TrialRow).where(TrialRow.run_id == run_id)
    return query


def load_judgements(session: Session, condition: Any) -> list[JudgementRecord]:
    """The judgements that meet the SQL condition, with their verdicts, newest first."""
    query = select(JudgementRow).where(condition).order_by(col(JudgementRow.id).desc())
    judgements = session.exec(query).all()
    details = (
        select_columns(col(VerdictRow.judgement_id), *_PARTS)
        .where(col(VerdictRow.judgement_id).in_(select(JudgementRow.id).where(condition)))
        .order_by(col(VerdictRow.judgement_id), col(VerdictRow.position))
    )
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for judgement_id, *parts in session.connection().execute(details):
        verdicts[judgement_id].append(_verdict(*parts))
    return [judgement_of(each, verdicts[each.id or 0]) for each in judgements]


def load_heads(session: Session, condition: Any) -> list[JudgementHead]:
    """As `load_judgements`, but without verdicts, in the order of trial and judge."""
    query = (
        select_columns(
            col(JudgementRow.id),
            col(JudgementRow.trial_id),
            col(JudgementRow.created_at),
            col(JudgementRow.judge),
            col(JudgementRow.revision_hash),
            col(JudgementRow.prompt_hash),
            col(JudgementRow.trial_hash),
        )
        .where(condition)
        .order_by(col(JudgementRow.trial_id), col(JudgementRow.judge_name))
    )
    found = cast("Iterable[tuple[Any, ...]]", session.connection().execute(query))
    return [
        JudgementHead(id, trial_id, created_at, _player(judge), *hashes)
        for id, trial_id, created_at, judge, *hashes in found
    ]


def load_records(session: Session, condition: Any) -> list[VerdictRecord]:
    """The verdicts that meet the SQL condition, in the order in which they were recorded."""
    query = (
        select_columns(
            col(VerdictRow.id),
            col(VerdictRow.trial_id),
            col(TrialRow.task_id),
            col(TrialRow.revision),
            col(JudgementRow.judge),
            *_PARTS,
        )
        .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
        .join(TrialRow, col(TrialRow.id) == VerdictRow.trial_id)
        .where(condition)
        .order_by(col(VerdictRow.id))
    )
    return [_record(row) for row in session.connection().execute(query)]


def blind_item(row: VerdictRow, trial: TrialRow) -> VerdictItem:
    """The item of a verdict as a labeller sees it before labelling: without the judge's decision."""
    return VerdictItem(
        verdict_id=row.id or 0,
        trial_id=row.trial_id,
        run_id=trial.run_id,
        task_id=trial.task_id,
        revision=trial.revision,
        item=item_of(row.item_kind, row.item_index, row.item_column),
    )


def number_from(text: str) -> int:
    """A pseudo-random number below `PRIME` that depends on the text only."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8]) % PRIME


_PARTS: tuple[Any, ...] = (
    col(VerdictRow.item_kind),
    col(VerdictRow.item_index),
    col(VerdictRow.item_column),
    col(VerdictRow.decision),
    col(VerdictRow.supporting),
    col(VerdictRow.rationale),
)


# A run's many trials judge the same few items; records are frozen, so they can be shared.
@lru_cache(maxsize=8192)
def item_of(kind: str, index: int, column: str) -> Item:
    return Item(kind=ItemKind(kind), index=index, column=column)


@lru_cache(maxsize=8192)
def _indices(payload: str) -> tuple[int, ...]:
    return tuple(json.loads(payload))


@lru_cache(maxsize=256)
def _player(payload: str) -> PlayerRef:
    return PlayerRef.model_validate_json(payload)


def verdict_of(row: Row[*tuple[Any, ...]]) -> Verdict:
    return _verdict(
        row.item_kind,
        row.item_index,
        row.item_column,
        row.decision,
        row.supporting,
        row.rationale,
    )


# As for items: most say nothing but yes or no.
@lru_cache(maxsize=8192)
def _verdict(
    kind: str, index: int, column: str, decision: str, supporting: str, rationale: str
) -> Verdict:
    return Verdict(
        item=item_of(kind, index, column),
        decision=Decision(decision),
        supporting=_indices(supporting),
        rationale=rationale,
    )


def _record(row: Row[*tuple[Any, ...]]) -> VerdictRecord:
    return VerdictRecord(
        verdict_id=row.id,
        trial_id=row.trial_id,
        task_id=row.task_id,
        revision=row.revision,
        judge=_player(row.judge),
        item=item_of(row.item_kind, row.item_index, row.item_column),
        decision=Decision(row.decision),
        supporting=_indices(row.supporting),
        rationale=row.rationale,
    )


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
        "shuffle": number_from(f"{judgement.trial_id}/{item.key}"),
    }


def judgement_of(row: JudgementRow, verdicts: list[Verdict]) -> JudgementRecord:
    judgement = Judgement(
        judge=_player(row.judge),
        revision_hash=row.revision_hash,
        prompt_hash=row.prompt_hash,
        trial_hash=row.trial_hash,
        verdicts=tuple(verdicts),
        table=TableMatch.model_validate_json(row.table_match) if row.table_match else None,
    )
    return JudgementRecord(
        id=row.id or 0, trial_id=row.trial_id, created_at=row.created_at, judgement=judgement
    )
