"""What was labelled, seen, adjudicated and drawn, as it travels: what meets the conditions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlmodel import Session, col, select

from cuecard.store.shared import (
    SharedAdjudication,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
    SharedSetItem,
)
from cuecard.store.tables import (
    AdjudicationRow,
    LabelRow,
    LabelSetRow,
    RevealRow,
    SetItemRow,
    TrialRow,
)


def labels_of(session: Session, *conditions: Any) -> Iterator[SharedLabel]:
    query = (
        select(LabelRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == LabelRow.trial_id)
        .where(*conditions)
        .order_by(col(LabelRow.id))
    )
    for row, uid in session.exec(query):
        yield SharedLabel.model_validate(
            {
                "trial": uid,
                "item": row.item_key,
                "person": row.person,
                "value": row.value,
                "comment": row.comment,
                "at": row.created_at,
                "phase": row.phase,
                "seconds": row.seconds,
                "gold_wrong": row.gold_wrong,
                "source": row.source,
            }
        )


def reveals_of(session: Session, *conditions: Any) -> Iterator[SharedReveal]:
    query = (
        select(RevealRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == RevealRow.trial_id)
        .where(*conditions)
    )
    for row, uid in session.exec(query):
        yield SharedReveal(trial=uid, item=row.item_key, person=row.person, at=row.at)


def adjudications_of(session: Session, *conditions: Any) -> Iterator[SharedAdjudication]:
    query = (
        select(AdjudicationRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == AdjudicationRow.trial_id)
        .where(*conditions)
        .order_by(col(AdjudicationRow.id))
    )
    for row, uid in session.exec(query):
        yield SharedAdjudication.model_validate(
            {
                "trial": uid,
                "item": row.item_key,
                "by": row.by,
                "value": row.value,
                "cause": row.cause,
                "comment": row.comment,
                "at": row.at,
            }
        )


def label_sets_of(session: Session, *conditions: Any) -> Iterator[SharedLabelSet]:
    query = select(LabelSetRow).where(*conditions)
    rows = list(session.exec(query))
    items: dict[int, list[SharedSetItem]] = defaultdict(list)
    inside = (
        select(SetItemRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == SetItemRow.trial_id)
        .where(col(SetItemRow.set_id).in_([row.id for row in rows]))
        .order_by(col(SetItemRow.set_id), col(SetItemRow.position))
    )
    for item, uid in session.exec(inside):
        items[item.set_id].append(
            SharedSetItem(
                trial=uid,
                item=item.item_key,
                stratum=item.stratum,
                probability=item.probability,
                raters=item.raters,
                people=tuple(json.loads(item.people)),
            )
        )
    for row in rows:
        yield SharedLabelSet(
            uid=row.uid,
            name=row.name,
            by=row.created_by,
            at=row.created_at,
            plan=json.loads(row.plan),
            items=tuple(items[row.id or 0]),
        )
