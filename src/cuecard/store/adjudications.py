"""Decisions on disputed items: a third record beside labels and verdicts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import select as select_columns
from sqlmodel import and_, col, func, select, tuple_

from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.engine import Database
from cuecard.store.label_records import Adjudication, Cause, LabelValue
from cuecard.store.labels import note_reveal
from cuecard.store.lookup import trial_row
from cuecard.store.people import ensure_person
from cuecard.store.tables import AdjudicationRow, RevealRow, TrialRow


class GoldDispute(Frozen):
    """An item of a trial whose gold was found wrong, with the revision that it is of."""

    task_id: str
    revision: int
    trial_id: int
    item_key: str


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

    def open(self, trial_id: int, item: Item, by: str) -> list[Adjudication]:
        """All decisions on an item, oldest first, for who is to adjudicate it: labels that `by` gives on it
        from now on count as `revealed`, whether or not they have labelled it before. Raises `NotFound`.
        """
        with self._database.write() as session:
            trial_row(session, trial_id)
            note_reveal(session, trial_id, item, by)
        return self.history(trial_id, item)

    def seen(self, by: str) -> frozenset[tuple[int, str]]:
        """The items (trial, key) of which `by` has seen what was decided."""
        query = select(RevealRow.trial_id, RevealRow.item_key).where(RevealRow.person == by)
        with self._database.read() as session:
            return frozenset(session.exec(query).all())

    def newest(self, trial_ids: Collection[int] | None = None) -> list[Adjudication]:
        """The decision that counts on each item, of these trials or of all, by trial and item."""
        query = (
            select(AdjudicationRow)
            .where(col(AdjudicationRow.id).in_(_newest_ids()))
            .order_by(col(AdjudicationRow.trial_id), AdjudicationRow.item_key)
        )
        if trial_ids is not None:
            query = query.where(col(AdjudicationRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]

    def gold_wrong(self) -> list[GoldDispute]:
        """Every item whose decision that counts is that its gold is wrong."""
        query = (
            select(AdjudicationRow, TrialRow)
            .join(TrialRow, col(TrialRow.id) == AdjudicationRow.trial_id)
            .where(_of_wrong_gold())
            .order_by(TrialRow.task_id, col(TrialRow.revision), col(AdjudicationRow.id))
        )
        with self._database.read() as session:
            return [
                GoldDispute(
                    task_id=trial.task_id,
                    revision=trial.revision,
                    trial_id=row.trial_id,
                    item_key=row.item_key,
                )
                for row, trial in session.exec(query)
            ]

    def runs_on_disputed(self) -> dict[tuple[str, int], frozenset[int]]:
        """The runs that have trials on a revision of which gold was found wrong, by task and revision."""
        disputed = (
            select(TrialRow.task_id, TrialRow.revision)
            .join(AdjudicationRow, col(AdjudicationRow.trial_id) == TrialRow.id)
            .where(_of_wrong_gold())
        )
        query = (
            select(TrialRow.task_id, TrialRow.revision, TrialRow.run_id)
            .where(tuple_(col(TrialRow.task_id), col(TrialRow.revision)).in_(disputed))
            .distinct()
        )
        found: dict[tuple[str, int], frozenset[int]] = {}
        with self._database.read() as session:
            for task_id, revision, run_id in session.exec(query):
                version = (task_id, revision)
                found[version] = found.get(version, frozenset()) | {run_id}
        return found

    def history(self, trial_id: int, item: Item) -> list[Adjudication]:
        """All decisions on an item, oldest first."""
        query = (
            select(AdjudicationRow)
            .where(AdjudicationRow.trial_id == trial_id, AdjudicationRow.item_key == item.key)
            .order_by(col(AdjudicationRow.at), col(AdjudicationRow.id))
        )
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]


def _newest_ids() -> Any:
    # By time, not by number: what was decided elsewhere may come in later than newer decisions.
    turn = func.row_number().over(
        partition_by=[col(AdjudicationRow.trial_id), AdjudicationRow.item_key],
        order_by=[col(AdjudicationRow.at).desc(), col(AdjudicationRow.id).desc()],
    )
    ordered = select_columns(col(AdjudicationRow.id), turn.label("turn")).subquery()
    return select(ordered.c.id).where(ordered.c.turn == 1)


def _of_wrong_gold() -> Any:
    return and_(
        col(AdjudicationRow.cause) == "gold_wrong", col(AdjudicationRow.id).in_(_newest_ids())
    )


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
