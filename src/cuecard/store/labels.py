"""People's decisions on the items of trials."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.parts import CheckpointStatus
from cuecard.core.verdicts import Item
from cuecard.store.label_records import Label, LabelValue, Phase
from cuecard.store.people import ensure_person
from cuecard.store.tables import LabelRow, RevealRow, VerdictRow


def add_label(
    session: Session,
    trial_id: int,
    item: Item,
    person: str,
    value: LabelValue | CheckpointStatus,
    *,
    verdict_id: int | None = None,
    comment: str = "",
    seconds: float = 0,
    gold_wrong: bool = False,
    source: str = "",
) -> Label:
    """Enter a label; it is `revealed` if the person has seen what was decided on the item."""
    name = ensure_person(session, person).name
    seen = session.get(RevealRow, (trial_id, item.key, name)) is not None
    row = LabelRow(
        verdict_id=verdict_id,
        trial_id=trial_id,
        item_key=item.key,
        person=name,
        value=value.value,
        comment=comment,
        created_at=datetime.now(UTC),
        phase="revealed" if seen else "blind",
        seconds=max(seconds, 0),
        gold_wrong=gold_wrong,
        source=source,
    )
    session.add(row)
    session.flush()
    return label_of(row, verdict_id or 0)


def note_reveal(session: Session, trial_id: int, item: Item, person: str) -> None:
    """Remember that `person` has seen what was decided; the first time counts."""
    name = ensure_person(session, person).name
    if session.get(RevealRow, (trial_id, item.key, name)) is None:
        now = datetime.now(UTC)
        session.add(RevealRow(trial_id=trial_id, item_key=item.key, person=name, at=now))


def note_reveals(session: Session, items: Collection[tuple[int, Item]], person: str) -> None:
    """As `note_reveal`, of many items of trials."""
    name = ensure_person(session, person).name
    trials = {trial_id for trial_id, _item in items}
    query = select(RevealRow.trial_id, RevealRow.item_key).where(
        col(RevealRow.trial_id).in_(trials), RevealRow.person == name
    )
    known = set(session.exec(query))
    now = datetime.now(UTC)
    for trial_id, key in dict.fromkeys((trial_id, item.key) for trial_id, item in items):
        if (trial_id, key) not in known:
            session.add(RevealRow(trial_id=trial_id, item_key=key, person=name, at=now))


def label_history(
    session: Session, trial_id: int, item_key: str, person: str, verdict_id: int = 0
) -> list[Label]:
    """All labels of `person` on the item, oldest first."""
    query = (
        select(LabelRow)
        .where(
            LabelRow.trial_id == trial_id,
            LabelRow.item_key == item_key,
            LabelRow.person == person,
        )
        .order_by(col(LabelRow.created_at), col(LabelRow.id))
    )
    return [label_of(row, row.verdict_id or verdict_id) for row in session.exec(query)]


def newest_labels(session: Session, judgements: Any, phase: Phase = "blind") -> list[Label]:
    """The newest label per person on the items of these judgements' verdicts, given in this phase."""
    same_item = (col(VerdictRow.trial_id) == LabelRow.trial_id) & (
        col(VerdictRow.item_key) == LabelRow.item_key
    )
    query = (
        select(LabelRow, VerdictRow.id)
        .join(VerdictRow, same_item)
        .where(
            col(VerdictRow.judgement_id).in_(judgements), col(LabelRow.id).in_(newest_ids(phase))
        )
        .order_by(col(VerdictRow.id), LabelRow.person)
    )
    return [label_of(row, verdict_id or 0) for row, verdict_id in session.exec(query)]


def newest_ids(phase: Phase = "blind") -> Any:
    """Query for the newest label of each person on each item, given in this phase."""
    # By time, not by number: labels that were given elsewhere may come in later than newer ones.
    turn = func.row_number().over(
        partition_by=[col(LabelRow.trial_id), LabelRow.item_key, LabelRow.person],
        order_by=[col(LabelRow.created_at).desc(), col(LabelRow.id).desc()],
    )
    ordered = (
        select_columns(col(LabelRow.id), turn.label("turn"))
        .where(col(LabelRow.phase) == phase)
        .subquery()
    )
    return select(ordered.c.id).where(ordered.c.turn == 1)


def label_of(row: LabelRow, verdict_id: int) -> Label:
    return Label.model_validate(
        {
            "verdict_id": verdict_id,
            "person": row.person,
            "value": row.value,
            "comment": row.comment,
            "created_at": row.created_at,
            "trial_id": row.trial_id,
            "item_key": row.item_key,
            "phase": row.phase,
            "seconds": row.seconds,
            "gold_wrong": row.gold_wrong,
            "source": row.source,
        }
    )
