"""How far labelling is, counted by the database."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlmodel import Session, col, func, select

from cuecard.store.label_records import RunLabels
from cuecard.store.tables import JudgementRow, LabelRow, RunRow, TrialRow, VerdictRow


def label_counts(session: Session, person: str, judgements: Any) -> list[RunLabels]:
    """One line for each run that has verdicts among `judgements`, newest first."""
    judged = (
        select(TrialRow.run_id, VerdictRow.trial_id, VerdictRow.item_key)
        .join(VerdictRow, col(VerdictRow.trial_id) == TrialRow.id)
        .where(col(VerdictRow.judgement_id).in_(judgements))
        .distinct()
    ).subquery()
    items = dict(
        session.exec(select(judged.c.run_id, func.count()).group_by(judged.c.run_id)).all()
    )
    labels: dict[int, int] = defaultdict(int)
    mine: dict[int, int] = defaultdict(int)
    labelled = (
        select(TrialRow.run_id, LabelRow.person, LabelRow.trial_id, LabelRow.item_key)
        .join(TrialRow, col(LabelRow.trial_id) == TrialRow.id)
        .distinct()
    ).subquery()
    for run_id, who, count in session.exec(
        select(labelled.c.run_id, labelled.c.person, func.count()).group_by(
            labelled.c.run_id, labelled.c.person
        )
    ):
        labels[run_id] += count
        if who == person:
            mine[run_id] = count
    judges: dict[int, list[str]] = defaultdict(list)
    for run_id, judge in session.exec(
        select(TrialRow.run_id, JudgementRow.judge_name)
        .join(TrialRow, col(JudgementRow.trial_id) == TrialRow.id)
        .distinct()
        .order_by(JudgementRow.judge_name)
    ):
        judges[run_id].append(judge)
    runs = session.exec(
        select(RunRow).where(col(RunRow.id).in_(items)).order_by(col(RunRow.id).desc())
    )
    return [
        RunLabels(
            run_id=run.id or 0,
            name=run.name,
            judges=tuple(judges[run.id or 0]),
            verdicts=items[run.id or 0],
            mine=mine[run.id or 0],
            labels=labels[run.id or 0],
        )
        for run in runs
    ]
