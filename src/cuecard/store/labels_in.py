"""Labels that were given outside, entered all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, func, select

from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.label_records import LabelValue, Phase
from cuecard.store.people import ensure_person
from cuecard.store.tables import LabelRow, RevealRow, VerdictRow
from cuecard.store.tables.base import clean

Key = tuple[int, str, str]
"""Trial, item, person."""


class OutsideLabel(Frozen):
    """A label from a file. `at` None: the file does not tell when it was given. `phase` None: it does not
    tell whether its person had seen what was decided; then what this workspace knows decides.
    """

    trial_id: int
    item: Item
    person: str
    value: LabelValue | CheckpointStatus
    comment: str = ""
    seconds: float = 0
    gold_wrong: bool = False
    phase: Phase | None = None
    at: datetime | None = None
    source: str = ""


def enter_labels(session: Session, labels: Sequence[OutsideLabel]) -> int:
    """Add what is not known, in the order of the labels; how many were added.

    A label that tells its time is known if its person said just that then. Any other is known if it is
    what the person said last, or said last in a file of that name: the same file again changes nothing,
    even if they have changed their mind here since.
    """
    trials = {label.trial_id for label in labels}
    for person in sorted({label.person for label in labels}):
        ensure_person(session, person)
    history, seen = _history(session, trials), _seen(session, trials)
    verdicts = _verdicts(session, trials)
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = []
    for label in labels:
        key = (label.trial_id, label.item.key, label.person)
        said = history[key]
        if _known(label, said):
            continue
        # Two of one file that tell no time keep their order.
        at = label.at or max([now, *(row["created_at"] + _TICK for row in said[-1:])])
        if label.phase == "revealed" and (key not in seen or at < seen[key]):
            seen[key] = at
            _note(session, key, at)
        revealed = key in seen and seen[key] <= at
        row: dict[str, Any] = {
            "verdict_id": verdicts.get((label.trial_id, label.item.key)),
            "trial_id": label.trial_id,
            "item_key": label.item.key,
            "person": label.person,
            "value": label.value.value,
            "comment": clean(label.comment),
            "created_at": at,
            "phase": "revealed" if revealed else "blind",
            "seconds": label.seconds,
            "gold_wrong": label.gold_wrong,
            "source": clean(label.source),
        }
        said.append(row)
        said.sort(key=lambda known: known["created_at"])
        rows.append(row)
    if rows:
        session.flush()
        session.connection().execute(insert(LabelRow), rows)
    return len(rows)


_TICK = timedelta(microseconds=1)


def _known(label: OutsideLabel, said: Sequence[dict[str, Any]]) -> bool:
    def same(row: dict[str, Any]) -> bool:
        given = (label.value.value, clean(label.comment), label.gold_wrong)
        return given == (row["value"], row["comment"], row["gold_wrong"])

    if label.at is not None:
        return any(same(row) and row["created_at"] == label.at for row in said)
    of_file = [row for row in said if row["source"] == clean(label.source)]
    return any(same(row) for row in (*said[-1:], *of_file[-1:]))


def _history(session: Session, trials: Collection[int]) -> defaultdict[Key, list[dict[str, Any]]]:
    query = (
        select(LabelRow)
        .where(col(LabelRow.trial_id).in_(trials))
        .order_by(col(LabelRow.created_at), col(LabelRow.id))
    )
    found: defaultdict[Key, list[dict[str, Any]]] = defaultdict(list)
    for row in session.exec(query):
        found[row.trial_id, row.item_key, row.person].append(row.model_dump())
    return found


def _seen(session: Session, trials: Collection[int]) -> dict[Key, datetime]:
    query = select(RevealRow).where(col(RevealRow.trial_id).in_(trials))
    return {(row.trial_id, row.item_key, row.person): row.at for row in session.exec(query)}


def _note(session: Session, key: Key, at: datetime) -> None:
    row = session.get(RevealRow, key)
    if row is None:
        trial_id, item_key, person = key
        session.add(RevealRow(trial_id=trial_id, item_key=item_key, person=person, at=at))
        session.flush()
    else:
        row.at = at


def _verdicts(session: Session, trials: Collection[int]) -> dict[tuple[int, str], int]:
    """By trial and item, the newest verdict on it."""
    query = (
        select(VerdictRow.trial_id, VerdictRow.item_key, func.max(VerdictRow.id))
        .where(col(VerdictRow.trial_id).in_(trials))
        .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
    )
    return {(trial, item): id_ or 0 for trial, item, id_ in session.exec(query)}
