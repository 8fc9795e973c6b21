"""Imports the labels, reveals, adjudications and labelling sets of bundles."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, func, select

from cuecard.store.bundle_records import (
    Bundle,
    LeftOut,
    SharedAdjudication,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
)
from cuecard.store.codec import to_json
from cuecard.store.trial_tables import (
    AdjudicationRow,
    LabelRow,
    LabelSetRow,
    RevealRow,
    SetItemRow,
    TrialRow,
    VerdictRow,
)

Counts = tuple[int, int]
"""How many were added, and how many were known."""


def import_labelling(
    session: Session, bundles: Sequence[Bundle]
) -> tuple[dict[str, Counts], tuple[LeftOut, ...]]:
    """Add what is new, with counts by kind. What is about trials that are not here is left out and reported."""
    labels = [label for bundle in bundles for label in bundle.labels]
    reveals = [reveal for bundle in bundles for reveal in bundle.reveals]
    decisions = [decision for bundle in bundles for decision in bundle.adjudications]
    sets = [drawn for bundle in bundles for drawn in bundle.label_sets]
    if not any((labels, reveals, decisions, sets)):
        return {}, ()
    importing = _LabelImport(session)
    counts = {
        "reveal": importing.reveals(reveals),
        "label": importing.labels(labels),
        "adjudication": importing.adjudications(decisions),
        "label_set": importing.label_sets(sets),
    }
    return counts, importing.left_out()


class _LabelImport:
    def __init__(self, session: Session) -> None:
        self._session = session
        query = select(TrialRow.uid, TrialRow.id)
        self._trials = {uid: id_ or 0 for uid, id_ in session.exec(query)}
        self._left: Counter[tuple[str, str, str]] = Counter()

    def left_out(self) -> tuple[LeftOut, ...]:
        return tuple(
            LeftOut.model_validate(
                {
                    "person": person,
                    "trial": uid,
                    "reason": "no_trial",
                    "count": count,
                    "kind": kind,
                }
            )
            for (person, uid, kind), count in sorted(self._left.items())
        )

    def labels(self, labels: Sequence[SharedLabel]) -> Counts:
        """Add labels, also on items that no judge has decided on here: a label belongs to the item, not to a verdict."""
        # Of two that differ only in what earlier versions did not know, the same one stays everywhere.
        ordered = sorted(labels, key=lambda x: (x.phase, x.seconds, x.gold_wrong, x.source))
        unique = {label.identity: label for label in ordered}
        here: list[SharedLabel] = []
        for label in sorted(unique.values(), key=lambda x: (x.at, x.trial, x.item)):
            if label.trial in self._trials:
                here.append(label)
            else:
                self._left[label.person, label.trial, "label"] += 1
        trials = self._trials_of(here)
        verdicts, known = self._verdicts(trials), self._known_labels(trials)
        rows: list[dict[str, Any]] = []
        for label in here:
            trial = self._trials[label.trial]
            key = (trial, label.item, label.person, label.value.value, label.comment, label.at)
            if key not in known:
                rows.append(
                    {
                        "verdict_id": verdicts.get((trial, label.item)),
                        "trial_id": trial,
                        "item_key": label.item,
                        "person": label.person,
                        "value": label.value.value,
                        "comment": label.comment,
                        "created_at": label.at,
                        "phase": label.phase,
                        "seconds": label.seconds,
                        "gold_wrong": label.gold_wrong,
                        "source": label.source,
                    }
                )
        self._insert(LabelRow, rows)
        return len(rows), len(here) - len(rows)

    def reveals(self, reveals: Sequence[SharedReveal]) -> Counts:
        """Add reveals; of two on an item, the earlier holds. Those without their trial are not reported."""
        here = {
            (self._trials[r.trial], r.item, r.person): r
            for r in sorted(reveals, key=lambda r: r.at, reverse=True)
            if r.trial in self._trials
        }
        added = 0
        for (trial, item, person), reveal in sorted(here.items(), key=lambda pair: pair[0]):
            row = self._session.get(RevealRow, (trial, item, person))
            if row is None:
                new = RevealRow(trial_id=trial, item_key=item, person=person, at=reveal.at)
                self._session.add(new)
                added += 1
            elif reveal.at < row.at:
                row.at = reveal.at
        self._session.flush()
        return added, len(here) - added

    def adjudications(self, decisions: Sequence[SharedAdjudication]) -> Counts:
        here: list[SharedAdjudication] = []
        for decision in sorted(set(decisions), key=lambda x: (x.at, x.trial, x.item)):
            if decision.trial in self._trials:
                here.append(decision)
            else:
                self._left[decision.by, decision.trial, "adjudication"] += 1
        query = select(AdjudicationRow).where(
            col(AdjudicationRow.trial_id).in_(self._trials_of(here))
        )
        known = {
            (row.trial_id, row.item_key, row.by, row.value, row.cause, row.comment, row.at)
            for row in self._session.exec(query)
        }
        rows: list[dict[str, Any]] = []
        for x in here:
            trial = self._trials[x.trial]
            values = (trial, x.item, x.by, x.value.value, x.cause, x.comment, x.at)
            if values not in known:
                names = ("trial_id", "item_key", "by", "value", "cause", "comment", "at")
                rows.append(dict(zip(names, values, strict=True)))
        self._insert(AdjudicationRow, rows)
        return len(rows), len(here) - len(rows)

    def label_sets(self, sets: Sequence[SharedLabelSet]) -> Counts:
        """A set is imported whole or not at all, because its sampling probabilities hold for the whole set."""
        known = set(self._session.exec(select(LabelSetRow.uid)))
        unique = sorted({drawn.uid: drawn for drawn in sets}.values(), key=lambda x: (x.at, x.uid))
        added = left = 0
        for drawn in unique:
            missing = [item.trial for item in drawn.items if item.trial not in self._trials]
            if drawn.uid in known:
                continue
            if missing:
                self._left[drawn.by, missing[0], "label_set"] += 1
                left += 1
                continue
            self._add_set(drawn)
            added += 1
        return added, len(unique) - added - left

    def _add_set(self, drawn: SharedLabelSet) -> None:
        row = LabelSetRow(
            uid=drawn.uid,
            name=drawn.name,
            created_by=drawn.by,
            created_at=drawn.at,
            plan=to_json(drawn.plan).decode(),
        )
        self._session.add(row)
        self._session.flush()
        self._insert(
            SetItemRow,
            [
                {
                    "set_id": row.id,
                    "position": position,
                    "trial_id": self._trials[item.trial],
                    "item_key": item.item,
                    "stratum": item.stratum,
                    "probability": item.probability,
                    "raters": item.raters,
                    "people": json.dumps(item.people, ensure_ascii=False),
                }
                for position, item in enumerate(drawn.items)
            ],
        )

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._session.connection().execute(insert(table), rows)

    def _trials_of(self, entries: Iterable[SharedLabel | SharedAdjudication]) -> list[int]:
        return sorted({self._trials[entry.trial] for entry in entries})

    def _verdicts(self, trials: Sequence[int]) -> dict[tuple[int, str], int]:
        """By trial and item, the first verdict on it."""
        query = (
            select(VerdictRow.trial_id, VerdictRow.item_key, func.min(VerdictRow.id))
            .where(col(VerdictRow.trial_id).in_(trials))
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
        )
        return {(trial, item): id_ or 0 for trial, item, id_ in self._session.exec(query)}

    def _known_labels(self, trials: Sequence[int]) -> set[tuple[Any, ...]]:
        query = select(LabelRow).where(col(LabelRow.trial_id).in_(trials))
        return {
            (row.trial_id, row.item_key, row.person, row.value, row.comment, row.created_at)
            for row in self._session.exec(query)
        }
