"""People's decisions on the items of trials."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.store.people import ensure_person
from cuecard.store.records import Label, LabelValue
from cuecard.store.tables import LabelRow, VerdictRow


def add_label(
    session: Session, verdict: VerdictRow, person: str, value: LabelValue, comment: str
) -> Label:
    row = LabelRow(
        verdict_id=verdict.id or 0,
        trial_id=verdict.trial_id,
        item_key=verdict.item_key,
        person=ensure_person(session, person).name,
        value=value.value,
        comment=comment,
        created_at=datetime.now(UTC),
    )
    session.add(row)
    session.flush()
    return _label(row, row.verdict_id)


def label_history(session: Session, verdict: VerdictRow, person: str) -> list[Label]:
    """All labels of `person` on the verdict's item, oldest first."""
    query = (
        select(LabelRow)
        .where(
            LabelRow.trial_id == verdict.trial_id,
            LabelRow.item_key == verdict.item_key,
            LabelRow.person == person,
        )
        .order_by(col(LabelRow.created_at), col(LabelRow.id))
    )
    return [_label(row, row.verdict_id) for row in session.exec(query)]


def newest_labels(session: Session, judgements: Any) -> list[Label]:
    """The newest label per person on the items of these judgements' verdicts."""
    # By time, not by number: labels that were given elsewhere may come in later than newer ones.
    turn = func.row_number().over(
        partition_by=[col(LabelRow.trial_id), LabelRow.item_key, LabelRow.person],
        order_by=[col(LabelRow.created_at).desc(), col(LabelRow.id).desc()],
    )
    ordered = select_columns(col(LabelRow.id), turn.label("turn")).subquery()
    newest = select(ordered.c.id).where(ordered.c.turn == 1)
    same_item = (col(VerdictRow.trial_id) == LabelRow.trial_id) & (
        col(VerdictRow.item_key) == LabelRow.item_key
    )
    query = (
        select(LabelRow, VerdictRow.id)
        .join(VerdictRow, same_item)
        .where(col(VerdictRow.judgement_id).in_(judgements), col(LabelRow.id).in_(newest))
        .order_by(col(VerdictRow.id), LabelRow.person)
    )
    return [_label(row, verdict_id or 0) for row, verdict_id in session.exec(query)]


def _label(row: LabelRow, verdict_id: int) -> Label:
    return Label(
        verdict_id=verdict_id,
        person=row.person,
        value=LabelValue(row.value),
        comment=row.comment,
        created_at=row.created_at,
    )
