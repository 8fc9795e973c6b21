"""Adding events to trials' logs: encoded outside, then written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cuecard.core.errors import Conflict
from cuecard.core.events import Event, ModelReplied, TrialEnded, TrialReopened
from cuecard.core.i18n import _
from cuecard.store.codec import pack
from cuecard.store.engine import Database
from cuecard.store.event_codec import Encoded, dumped, encode
from cuecard.store.logs import read_event
from cuecard.store.lookup import trial_missing
from cuecard.store.payloads import Shelf, write_payloads
from cuecard.store.tables import metadata
from cuecard.store.tables.base import in_utc
from cuecard.store.usage import add_usage

_EVENT: Table = metadata.tables["event"]
_TRIAL: Table = metadata.tables["trial"]
_INSERT = insert(_EVENT)
_SET_END = (
    update(_TRIAL)
    .where(_TRIAL.c.id == bindparam("trial"))
    .values(
        termination=bindparam("how"), detail=bindparam("why", type_=_TRIAL.c.detail.type),
        ended_at=bindparam("when", type_=_TRIAL.c.ended_at.type),
    )
)  # fmt: skip
_STATE = select(
    _TRIAL.c.id,
    _TRIAL.c.termination,
    select(func.coalesce(func.max(_EVENT.c.seq) + 1, 0))
    .where(_EVENT.c.trial_id == _TRIAL.c.id)
    .correlate(_TRIAL)
    .scalar_subquery(),
).where(_TRIAL.c.id.in_(bindparam("trials", expanding=True)))


class _State(NamedTuple):
    """How long a trial's log is, and whether the trial has ended."""

    next: int
    ended: bool


@dataclass
class _Batch:
    """What is to be written for a batch, beside its payloads."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    events: dict[tuple[int, int], Event] = field(default_factory=dict[tuple[int, int], Event])
    states: dict[int, _State] = field(default_factory=dict[int, _State])
    ends: dict[int, TrialEnded | None] = field(default_factory=dict[int, TrialEnded | None])
    ended_at: dict[int, datetime] = field(default_factory=dict[int, datetime])


class Appender:
    """Appends batches, and remembers how long the logs are that it has written. Whoever else writes
    to one of them takes a number that this one wants too, which the database notices: `forget` the
    trial then. Not for several threads at once.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelf = Shelf(database)
        self._states: dict[int, _State] = {}

    def append(self, batch: Sequence[tuple[int, Event]]) -> None:
        """See `Runs.append_events`."""
        coded = [encode(event.body) for _trial_id, event in batch]
        ready = self._shelf.ready(
            (trial_id, payload)
            for (trial_id, _event), one in zip(batch, coded, strict=True)
            for payload in one.payloads
        )
        new = _Batch()
        with self._database.connection() as connection:
            new.states = self._known(connection, {trial_id for trial_id, _event in batch})
            for (trial_id, event), one in zip(batch, coded, strict=True):
                _add(connection, new, trial_id, event, one)
            if new.rows:
                write_payloads(connection, ready)
                _write(connection, new)
        if new.rows:
            self._shelf.kept(ready)
        for trial_id, state in new.states.items():
            if state.ended:
                self.forget([trial_id])
            else:
                self._states[trial_id] = state

    def forget(self, trials: Iterable[int]) -> None:
        """Look into the database before the next event of these trials."""
        for trial_id in trials:
            self._states.pop(trial_id, None)
            self._shelf.forget(trial_id)

    def _known(self, connection: Connection, trials: set[int]) -> dict[int, _State]:
        states = {t: self._states[t] for t in trials if t in self._states}
        unknown = [trial_id for trial_id in trials if trial_id not in states]
        if unknown:
            for trial_id, termination, following in connection.execute(_STATE, {"trials": unknown}):
                states[trial_id] = _State(following, termination is not None)
        for trial_id in unknown:
            if trial_id not in states:
                raise trial_missing(trial_id)
        return states


def _add(
    connection: Connection, batch: _Batch, trial_id: int, event: Event, coded: Encoded
) -> None:
    state = batch.states[trial_id]
    if event.seq < state.next:
        there = batch.events.get((trial_id, event.seq))
        if _alike(there or read_event(connection, trial_id, event.seq), event):
            return
        raise _refused(_("another event is recorded as number {n}").format(n=event.seq))
    body = event.body
    if state.ended and not isinstance(body, TrialReopened):
        raise _refused(_("the trial has ended"))
    if event.seq > state.next:
        raise _refused(_("events are missing before number {n}").format(n=event.seq))
    batch.states[trial_id] = _State(event.seq + 1, isinstance(body, TrialEnded))
    batch.events[trial_id, event.seq] = event
    text, packed = pack(coded.body)
    batch.rows.append(
        {
            "trial_id": trial_id,
            "seq": event.seq,
            "take": event.take,
            "key": body.key,
            "type": body.type,
            "at": event.at,
            "body": text,
            "packed": packed,
        }
    )
    if isinstance(body, TrialEnded):
        batch.ends[trial_id] = body
        batch.ended_at[trial_id] = event.at
    elif isinstance(body, TrialReopened):
        batch.ends[trial_id] = None


def _write(connection: Connection, batch: _Batch) -> None:
    try:
        connection.execute(_INSERT, batch.rows)
    except IntegrityError as error:
        raise _refused(_("an event of this place in the dialogue is already recorded")) from error
    add_usage(
        connection,
        (
            (trial_id, body.payer, body.model, body.reply)
            for (trial_id, _seq), event in batch.events.items()
            if isinstance(body := event.body, ModelReplied)
        ),
    )
    if batch.ends:
        ends = [
            {
                "trial": trial_id,
                "how": end.termination.value if end else None,
                "why": end.detail if end else "",
                "when": batch.ended_at[trial_id] if end else None,
            }
            for trial_id, end in batch.ends.items()
        ]
        connection.execute(_SET_END, ends)


def _alike(one: Event, other: Event) -> bool:
    # What counts is what would be written: some odd values (NaN) change on their way to JSON.
    return (
        in_utc(one.at) == in_utc(other.at)
        and one.take == other.take
        and (one.body == other.body or dumped(one.body) == dumped(other.body))
    )


def _refused(reason: str) -> Conflict:
    return Conflict(
        _("This does not follow in the trial's log"),
        reason,
        _("Is the same trial open in another window? Go on in one of them only."),
    )
