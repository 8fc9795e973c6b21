"""Decisions on disputed items: a third record beside labels and verdicts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Literal

from sqlmodel import col, func, select

from cuecard.core.parts import CheckpointStatus
from cuecard.core.verdicts import Item
from cuecard.store.engine import Database
from cuecard.store.lookup import trial_row
from cuecard.store.people import ensure_person
from cuecard.store.records import Adjudication, Cause, LabelValue
from cuecard.store.tables import AdjudicationRow


class Adjudications:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        trial_id: int,
        item: Item,
        by: str,
        value: LabelValue | CheckpointStatus,
        cause: Cause | Literal[""] = "",
        comment: str = "",
    ) -> Adjudication:
        """Decide on an item; earlier decisions stay in the history. Raises `NotFound`."""
        with self._database.write() as session:
            trial_row(session, trial_id)
            row = AdjudicationRow(
                trial_id=trial_id,
                item_key=item.key,
                by=ensure_person(session, by).name,
                value=value.value,
                cause=cause,
                comment=comment,
                at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _record(row)

    def newest(self, trial_ids: Collection[int] | None = None) -> list[Adjudication]:
        """The decision that counts on each item, of these trials or of all, by trial and item."""
        ids = select(func.max(AdjudicationRow.id)).group_by(
            col(AdjudicationRow.trial_id), AdjudicationRow.item_key
        )
        query = (
            select(AdjudicationRow)
            .where(col(AdjudicationRow.id).in_(ids))
            .order_by(col(AdjudicationRow.trial_id), AdjudicationRow.item_key)
        )
        if trial_ids is not None:
            query = query.where(col(AdjudicationRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]

    def history(self, trial_id: int, item: Item) -> list[Adjudication]:
        """All decisions on an item, oldest first."""
        query = (
            select(AdjudicationRow)
            .where(AdjudicationRow.trial_id == trial_id, AdjudicationRow.item_key == item.key)
            .order_by(col(AdjudicationRow.id))
        )
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]


def _record(row: AdjudicationRow) -> Adjudication:
    return Adjudication.model_validate(
        {
            "trial_id": row.trial_id,
            "item_key": row.item_key,
            "by": row.by,
            "value": row.value,
            "cause": row.cause,
            "comment": row.comment,
            "at": row.at,
        }
    )
