"""Whether somebody can know a task's gold, by all that the workspace has recorded of them."""

from __future__ import annotations

from typing import Any, Literal

from sqlmodel import Session, col, or_, select

from cuecard.store.tables import (
    AdjudicationRow,
    ContributionRow,
    DraftRow,
    EffortRow,
    LabelRow,
    RevealRow,
    ReviewFormRow,
    RunRow,
    TaskRow,
    ThrownDraftRow,
    TrialRow,
)
from cuecard.store.visible import wrote

Acquaintance = Literal["wrote", "edited", "reviewed", "built", "judged", "played", ""]
"""`built`: a second gold, or began one. `judged`: gave or saw verdicts. `played`: was its user."""


def acquaintance(session: Session, task_id: str, person: str) -> Acquaintance:
    """How `person` knows the task; "" if nothing tells that they do."""
    asked: dict[Acquaintance, tuple[Any, ...]] = {
        "wrote": (
            select(TaskRow.id).where(TaskRow.id == task_id, col(TaskRow.id).in_(wrote(person))),
        ),
        "built": (
            _contributed(task_id, person, kind="gold_built"),
            # What is kept aside of an edit is named by the task and a mark.
            select(DraftRow.task_id).where(
                DraftRow.person == person,
                col(DraftRow.task_id).startswith(f"{task_id}@", autoescape=True),
            ),
        ),
        "reviewed": (
            _contributed(task_id, person),
            select(ReviewFormRow.task_id).where(
                ReviewFormRow.task_id == task_id, ReviewFormRow.reviewer == person
            ),
        ),
        "edited": tuple(
            select(row.task_id).where(row.task_id == task_id, row.person == person)
            for row in (DraftRow, ThrownDraftRow, EffortRow)
        ),
        "judged": (
            _of_its_trials(LabelRow, task_id, LabelRow.person == person),
            _of_its_trials(RevealRow, task_id, RevealRow.person == person),
            _of_its_trials(AdjudicationRow, task_id, AdjudicationRow.by == person),
        ),
        "played": (
            select(TrialRow.id)
            .join(RunRow)
            .where(
                TrialRow.task_id == task_id,
                RunRow.kind == "play",
                RunRow.created_by == person,
            ),
        ),
    }
    for how, queries in asked.items():
        for query in queries:
            if session.exec(query.limit(1)).first() is not None:
                return how
    return ""


def _contributed(task_id: str, person: str, kind: str = "") -> Any:
    row = ContributionRow
    leased = (col(row.kind).in_(("claimed", "released"))) & (row.about == person)
    query = select(row.uid).where(row.task_id == task_id, or_(row.by == person, leased))
    return query.where(row.kind == kind) if kind else query


def _of_its_trials(row: Any, task_id: str, by: Any) -> Any:
    query = select(TrialRow.id).join(row, col(row.trial_id) == TrialRow.id)
    return query.where(TrialRow.task_id == task_id, by)
