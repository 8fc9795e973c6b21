"""The append-only logs of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, func, select

from cuecard.core.errors import Conflict
from cuecard.core.events import EVENT_BODY, Event, EventBody, TrialEnded
from cuecard.core.i18n import _
from cuecard.store.codec import from_json, pack, to_json, unpack
from cuecard.store.lookup import trial_row
from cuecard.store.tables import EventRow, TrialRow
from cuecard.store.tables.base import in_utc


def append(session: Session, batch: Sequence[tuple[int, Event]]) -> None:
    """Record a batch within the session's transaction; see `Runs.append_events`."""
    logs: dict[int, _Log] = {}
    for trial_id, event in batch:
        log = logs.get(trial_id)
        if log is None:
            log = logs[trial_id] = _Log(session, trial_row(session, trial_id))
        log.add(event)
    rows = [row for log in logs.values() for row in log.rows]
    if not rows:
        return
    try:
        session.connection().execute(insert(EventRow), rows)
    except IntegrityError as error:
        raise _refused(_("an event of this place in the dialogue is already recorded")) from error


def load(
    session: Session, trial_id: int, *, after: int = -1, upto: int | None = None
) -> list[Event]:
    """The events with `after` < `seq` <= `upto`, in order."""
    query = (
        select(EventRow.seq, EventRow.at, EventRow.body, EventRow.packed)
        .where(EventRow.trial_id == trial_id, EventRow.seq > after)
        .order_by(col(EventRow.seq))
    )
    if upto is not None:
        query = query.where(EventRow.seq <= upto)
    return [
        Event(seq=seq, at=at, body=_decode(unpack(body, packed)))
        for seq, at, body, packed in session.exec(query)
    ]


class _Log:
    """One trial's log while a batch is added to it."""

    def __init__(self, session: Session, trial: TrialRow) -> None:
        self._session = session
        self._trial = trial
        self._recorded = session.exec(
            select(func.count()).select_from(EventRow).where(EventRow.trial_id == trial.id)
        ).one()
        self._new: list[Event] = []
        self.rows: list[dict[str, Any]] = []

    def add(self, event: Event) -> None:
        if event.seq < self._recorded + len(self._new):
            if _alike(self._at(event.seq), event):
                return
            raise _refused(_("another event is recorded as number {n}").format(n=event.seq))
        if self._trial.termination is not None:
            raise _refused(_("the trial has ended"))
        if event.seq > self._recorded + len(self._new):
            raise _refused(_("events are missing before number {n}").format(n=event.seq))
        self._new.append(event)
        self.rows.append(_row(self._trial.id, event))
        if isinstance(event.body, TrialEnded):
            self._trial.termination = event.body.termination.value
            self._trial.detail = event.body.detail
            self._trial.ended_at = event.at
            self._session.add(self._trial)

    def _at(self, seq: int) -> Event:
        if seq >= self._recorded:
            return self._new[seq - self._recorded]
        return load(self._session, self._trial.id or 0, after=seq - 1, upto=seq)[0]


def _row(trial_id: int | None, event: Event) -> dict[str, Any]:
    body, packed = pack(_encode(event.body))
    return {
        "trial_id": trial_id,
        "seq": event.seq,
        "key": event.body.key,
        "type": event.body.type,
        "at": event.at,
        "body": body,
        "packed": packed,
    }


def _encode(body: EventBody) -> bytes:
    try:
        return EVENT_BODY.dump_json(body)
    except PydanticSerializationError:
        # Half of a surrogate pair, as broken model output has it: kept, as an escape.
        return to_json(EVENT_BODY.dump_python(body, mode="json"))


def _decode(payload: bytes) -> EventBody:
    try:
        return EVENT_BODY.validate_json(payload)
    except ValidationError:
        return EVENT_BODY.validate_python(from_json(payload))


def _alike(one: Event, other: Event) -> bool:
    # What counts is what would be written: some odd values (NaN) change on their way to JSON.
    return in_utc(one.at) == in_utc(other.at) and (
        one.body == other.body or _encode(one.body) == _encode(other.body)
    )


def _refused(reason: str) -> Conflict:
    return Conflict(
        _("This does not follow in the trial's log"),
        reason,
        _("Is the same trial open in another window? Go on in one of them only."),
    )
