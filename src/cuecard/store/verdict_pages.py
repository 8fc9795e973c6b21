"""The verdicts of a workspace as a list of any length, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement
from sqlalchemy import select as select_columns
from sqlmodel import Session, and_, col, func, select

from cuecard.core.parts import PlayerRef
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision
from cuecard.store.engine import Database
from cuecard.store.judgements import current_judgements, item_of
from cuecard.store.labels import newest_ids
from cuecard.store.records import VerdictLine
from cuecard.store.tables import JudgementRow, LabelRow, TrialRow, VerdictRow

PAGE = 200


class VerdictFilter(Frozen):
    """Which verdicts are listed. `runs`: of these runs, none meaning all; `mine`: only what the viewer
    has labelled, or has not; `gold_wrong`: only items whose gold somebody holds for wrong.
    """

    runs: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    mine: Literal["", "labelled", "open"] = ""
    gold_wrong: bool = False


class Pages(Frozen):
    """How a list is cut: `starts[i]` is the id of the first verdict of page i, of `VerdictPages.size` verdicts each
    (the last one shorter); `count` verdicts in all.
    """

    count: int
    starts: tuple[int, ...]


class VerdictPages:
    def __init__(self, database: Database, size: int = PAGE) -> None:
        self._database = database
        self.size = size

    def pages(self, person: str, filter: VerdictFilter) -> Pages:
        """Cut the list. Only ids are read."""
        numbered = (
            select_columns(
                cast("ColumnElement[int]", col(VerdictRow.id)).label("id"),
                func.row_number().over(order_by=col(VerdictRow.id)).label("place"),
            ).where(*_conditions(person, filter))
        ).subquery()
        with self._database.read() as session:
            connection = session.connection()
            count = connection.execute(
                select_columns(func.count()).select_from(numbered)
            ).scalar_one()
            starts = connection.execute(
                select_columns(numbered.c.id)
                .where((numbered.c.place - 1) % self.size == 0)
                .order_by(numbered.c.id)
            ).scalars()
            return Pages(count=count, starts=tuple(starts))

    def page(self, person: str, filter: VerdictFilter, start: int) -> list[VerdictLine]:
        """The page that begins with the verdict `start`. Decisions are there only for items that
        `person` has labelled.
        """
        with self._database.read() as session:
            return _lines(session, person, filter, start, self.size)


def _conditions(person: str, filter: VerdictFilter) -> list[Any]:
    judgements = current_judgements(None)
    if filter.judges:
        judgements = judgements.where(col(JudgementRow.judge_name).in_(filter.judges))
    if filter.runs or filter.tasks:
        trials = select(TrialRow.id)
        if filter.runs:
            trials = trials.where(col(TrialRow.run_id).in_(filter.runs))
        if filter.tasks:
            trials = trials.where(col(TrialRow.task_id).in_(filter.tasks))
        judgements = judgements.where(col(JudgementRow.trial_id).in_(trials))
    found: list[Any] = [col(VerdictRow.judgement_id).in_(judgements)]
    labelled = select(LabelRow.id).where(_same_item(), LabelRow.person == person)
    if filter.mine:
        exists = labelled.correlate(VerdictRow).exists()
        found.append(exists if filter.mine == "labelled" else ~exists)
    if filter.gold_wrong:
        flagged = select(LabelRow.id).where(
            _same_item(), col(LabelRow.gold_wrong), col(LabelRow.id).in_(newest_ids())
        )
        found.append(flagged.correlate(VerdictRow).exists())
    return found


def _same_item() -> Any:
    return and_(
        col(LabelRow.trial_id) == VerdictRow.trial_id, col(LabelRow.item_key) == VerdictRow.item_key
    )


def _lines(
    session: Session, person: str, filter: VerdictFilter, start: int, size: int
) -> list[VerdictLine]:
    mine = (
        select(LabelRow.value)
        .where(_same_item(), LabelRow.person == person)
        .order_by(col(LabelRow.id).desc())
        .limit(1)
        .correlate(VerdictRow)
        .scalar_subquery()
    )
    query = (
        select(VerdictRow, TrialRow, JudgementRow.judge_name, mine)
        .join(TrialRow, col(TrialRow.id) == VerdictRow.trial_id)
        .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
        .where(*_conditions(person, filter), col(VerdictRow.id) >= start)
        .order_by(col(VerdictRow.id))
        .limit(size)
    )
    found = cast(
        "Sequence[tuple[VerdictRow, TrialRow, str, str | None]]", session.exec(query).all()
    )
    return [
        VerdictLine.model_validate(
            {
                "verdict_id": verdict.id,
                "trial_id": trial.id,
                "run_id": trial.run_id,
                "task_id": trial.task_id,
                "revision": trial.revision,
                "agent": PlayerRef.model_validate_json(trial.agent).name,
                "judge": judge,
                "item": item_of(verdict.item_kind, verdict.item_index, verdict.item_column),
                "mine": value,
                "decision": Decision(verdict.decision) if value is not None else None,
            }
        )
        for verdict, trial, judge, value in found
    ]
