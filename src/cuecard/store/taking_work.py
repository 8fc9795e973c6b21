"""Labels and effort that came in parcels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, func, select

from cuecard.store.shared import LeftOut, SharedEffort, SharedLabel
from cuecard.store.tables import EffortRow, LabelRow, TrialRow, VerdictRow

Counts = tuple[int, int]
"""How many were added, and how many were known."""


def take_labels(
    session: Session, labels: Sequence[SharedLabel]
) -> tuple[Counts, tuple[LeftOut, ...]]:
    """Add labels of trials that are here and whose item was judged here; the others are left out."""
    if not labels:
        return (0, 0), ()
    trials = {uid: id_ or 0 for uid, id_ in session.exec(select(TrialRow.uid, TrialRow.id))}
    wanted = sorted({trials[label.trial] for label in labels if label.trial in trials})
    verdicts = _verdicts(session, wanted)
    known = _known_labels(session, wanted)
    rows: list[dict[str, Any]] = []
    left: Counter[tuple[str, str, str]] = Counter()
    for label in sorted(set(labels), key=lambda found: (found.at, found.trial, found.item)):
        trial = trials.get(label.trial)
        verdict = verdicts.get((trial or 0, label.item))
        if trial is None or verdict is None:
            reason = "no_trial" if trial is None else "no_item"
            left[label.person, label.trial, reason] += 1
            continue
        values = (trial, label.item, label.person, label.value.value, label.comment, label.at)
        if values not in known:
            names = ("trial_id", "item_key", "person", "value", "comment", "created_at")
            rows.append({"verdict_id": verdict, **dict(zip(names, values, strict=True))})
    if rows:
        session.connection().execute(insert(LabelRow), rows)
    left_out = tuple(
        LeftOut.model_validate({"person": person, "trial": uid, "reason": reason, "count": count})
        for (person, uid, reason), count in sorted(left.items())
    )
    return (len(rows), len(set(labels)) - len(rows) - left.total()), left_out


def take_effort(session: Session, parcels: Iterable[Sequence[SharedEffort]]) -> Counts:
    """Add what is not entered yet. Equal entries are counted: as many are kept as the parcel with the
    most of them has.
    """
    wanted: Counter[SharedEffort] = Counter()
    for entries in parcels:
        wanted |= Counter(entries)
    if not wanted:
        return 0, 0
    people = sorted({entry.person for entry in wanted})
    query = select(EffortRow).where(col(EffortRow.person).in_(people))
    known = Counter(
        SharedEffort.model_validate(
            {
                "task_id": row.task_id,
                "person": row.person,
                "kind": row.kind,
                "amount": row.amount,
                "text": row.text,
                "at": row.at,
            }
        )
        for row in session.exec(query)
    )
    missing = sorted(
        (wanted - known).elements(), key=lambda e: (e.at, e.task_id, e.kind, e.amount, e.text)
    )
    if missing:
        rows = [entry.model_dump() for entry in missing]
        session.connection().execute(insert(EffortRow), rows)
    return len(missing), wanted.total() - len(missing)


def _verdicts(session: Session, trials: Sequence[int]) -> dict[tuple[int, str], int]:
    """By trial and item, the first verdict on it."""
    query = (
        select(VerdictRow.trial_id, VerdictRow.item_key, func.min(VerdictRow.id))
        .where(col(VerdictRow.trial_id).in_(trials))
        .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
    )
    return {(trial, item): id_ or 0 for trial, item, id_ in session.exec(query)}


def _known_labels(session: Session, trials: Sequence[int]) -> set[tuple[Any, ...]]:
    query = select(LabelRow).where(col(LabelRow.trial_id).in_(trials))
    return {
        (row.trial_id, row.item_key, row.person, row.value, row.comment, row.created_at)
        for row in session.exec(query)
    }
