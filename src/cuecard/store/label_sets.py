"""Items that were drawn to be labelled, and how far that is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import uuid4

from pydantic import JsonValue
from sqlalchemy import BigInteger, insert, literal
from sqlmodel import Session, col, func, select

from cuecard.core.errors import NotFound
from cuecard.core.i18n import _
from cuecard.core.verdicts import Item
from cuecard.store.codec import to_json
from cuecard.store.engine import Database
from cuecard.store.judgements import PRIME, number_from
from cuecard.store.label_records import LabelSet, SetItem, SetProgress
from cuecard.store.people import ensure_person
from cuecard.store.tables import LabelRow, LabelSetRow, SetItemRow
from cuecard.store.visible import same_item, waits_for

_STRIDE = 7919
"""Positions are spread by this prime before a person's own factor permutes them."""


class LabelSets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        *,
        name: str,
        created_by: str,
        items: Sequence[SetItem],
        plan: Mapping[str, JsonValue] | None = None,
    ) -> LabelSet:
        """Keep a set as it was drawn; it never changes."""
        with self._database.write() as session:
            row = LabelSetRow(
                uid=uuid4().hex,
                name=name,
                created_by=ensure_person(session, created_by).name,
                created_at=datetime.now(UTC),
                plan=to_json(dict(plan or {})).decode(),
            )
            session.add(row)
            session.flush()
            rows = [
                {
                    "set_id": row.id,
                    "position": position,
                    "trial_id": item.trial_id,
                    "item_key": item.item.key,
                    "stratum": item.stratum,
                    "probability": item.probability,
                    "raters": item.raters,
                    "people": json.dumps(item.people, ensure_ascii=False),
                }
                for position, item in enumerate(items)
            ]
            if rows:
                session.connection().execute(insert(SetItemRow), rows)
            return _set(row, len(rows))

    def all(self) -> list[LabelSet]:
        """Every set, the newest first."""
        count = (
            select(func.count())
            .select_from(SetItemRow)
            .where(SetItemRow.set_id == LabelSetRow.id)
            .correlate(LabelSetRow)
            .scalar_subquery()
        )
        query = select(LabelSetRow, count).order_by(col(LabelSetRow.id).desc())
        with self._database.read() as session:
            return [_set(row, items) for row, items in session.exec(query)]

    def get(self, set_id: int) -> LabelSet:
        """Raises `NotFound`."""
        with self._database.read() as session:
            row = _row(session, set_id)
            count = select(func.count()).select_from(SetItemRow).where(SetItemRow.set_id == set_id)
            return _set(row, session.exec(count).one())

    def items(self, set_id: int) -> list[SetItem]:
        """The items in the order in which they were drawn. Raises `NotFound`."""
        query = (
            select(SetItemRow).where(SetItemRow.set_id == set_id).order_by(col(SetItemRow.position))
        )
        with self._database.read() as session:
            _row(session, set_id)
            return [_item(row) for row in session.exec(query)]

    def queue(self, set_id: int, person: str, *, limit: int = 200) -> list[SetItem]:
        """What `person` is to label next: items of which they have no label, that are theirs or anybody's,
        and that still lack labels of others or theirs; in an order of their own. Raises `NotFound`.
        """
        factor = literal(number_from(person) or 1, BigInteger)
        turn = (
            (col(SetItemRow.position) + 1) * literal(_STRIDE, BigInteger) % PRIME * factor % PRIME
        )
        query = (
            select(SetItemRow)
            .where(SetItemRow.set_id == set_id, *waits_for(person))
            .order_by(turn, col(SetItemRow.position))
            .limit(limit)
        )
        with self._database.read() as session:
            _row(session, set_id)
            return [_item(row) for row in session.exec(query)]

    def waiting(self, person: str, trial_id: int) -> list[Item]:
        """The items of a trial that `person` is to label in any set, each once: see `queue`."""
        query = (
            select(SetItemRow.item_key)
            .where(SetItemRow.trial_id == trial_id, *waits_for(person))
            .distinct()
            .order_by(SetItemRow.item_key)
        )
        with self._database.read() as session:
            return [Item.of_key(key) for key in session.exec(query)]

    def waiting_everywhere(self, person: str) -> frozenset[tuple[int, str]]:
        """Trial and key of every item that `person` is to label in any set."""
        query = select(SetItemRow.trial_id, SetItemRow.item_key).where(*waits_for(person))
        with self._database.read() as session:
            return frozenset(session.exec(query))

    def progress(self, set_id: int, person: str) -> SetProgress:
        """Raises `NotFound`."""
        of_set = SetItemRow.set_id == set_id
        labelled = (
            select(SetItemRow.position, LabelRow.person)
            .join(LabelRow, same_item())
            .where(of_set)
            .distinct()
        ).subquery()
        given = (
            select(labelled.c.position, func.count().label("n")).group_by(labelled.c.position)
        ).subquery()
        with self._database.read() as session:
            _row(session, set_id)
            items, wanted = session.exec(
                select(func.count(), func.coalesce(func.sum(SetItemRow.raters), 0)).where(of_set)
            ).one()
            # More labels of an item than were asked for do not make up for others.
            counted = session.exec(
                select(SetItemRow.raters, given.c.n)
                .join(given, given.c.position == SetItemRow.position)
                .where(of_set)
            ).all()
            mine = session.exec(
                select(func.count()).select_from(labelled).where(labelled.c.person == person)
            ).one()
            left = session.exec(
                select(func.count()).select_from(SetItemRow).where(of_set, *waits_for(person))
            ).one()
            seconds, timed = session.exec(
                select(func.coalesce(func.sum(LabelRow.seconds), 0.0), func.count(col(LabelRow.id)))
                .select_from(SetItemRow)
                .join(LabelRow, same_item())
                .where(of_set, LabelRow.person == person, LabelRow.seconds > 0)
            ).one()
        return SetProgress(
            items=items,
            wanted=int(wanted),
            given=sum(min(raters, n) for raters, n in counted),
            mine=mine,
            left=left,
            seconds=float(seconds),
            timed=timed,
        )


def _row(session: Session, set_id: int) -> LabelSetRow:
    row = session.get(LabelSetRow, set_id)
    if row is None:
        raise NotFound(_("There is no such labelling set"), str(set_id))
    return row


def _set(row: LabelSetRow, items: int) -> LabelSet:
    return LabelSet.model_validate(
        {
            "id": row.id,
            "uid": row.uid,
            "name": row.name,
            "created_by": row.created_by,
            "created_at": row.created_at,
            "items": items,
            "plan": json.loads(row.plan),
        }
    )


def _item(row: SetItemRow) -> SetItem:
    return SetItem(
        trial_id=row.trial_id,
        item=Item.of_key(row.item_key),
        stratum=row.stratum,
        probability=row.probability,
        raters=row.raters,
        people=tuple(json.loads(row.people)),
    )
