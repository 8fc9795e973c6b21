"""Reading trials' logs, whole or in outline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, or_, select
from sqlmodel import col

from cuecard.core.errors import NotFound
from cuecard.core.events import Event, TrialReopened, course_of
from cuecard.core.i18n import _
from cuecard.store.codec import unpack
from cuecard.store.event_codec import decode, decode_outline
from cuecard.store.payloads import read_payloads
from cuecard.store.records import Outline
from cuecard.store.tables import EventRow

_ROWS = (
    select(
        col(EventRow.seq),
        col(EventRow.take),
        col(EventRow.at),
        col(EventRow.body),
        col(EventRow.packed),
    )
    .where(col(EventRow.trial_id) == bindparam("trial"))
    .order_by(col(EventRow.seq))
)
_LOG = _ROWS.where(col(EventRow.seq) > bindparam("after"))
_FIRST = _ROWS.where(col(EventRow.seq) < bindparam("upto"))
_TAKEN_BACK = (
    select(col(EventRow.seq))
    .where(
        col(EventRow.trial_id) == bindparam("trial"),
        or_(col(EventRow.take) > 0, col(EventRow.key) == TrialReopened(keep=True).key),
    )
    .limit(1)
)
_WORDS = _ROWS.where(col(EventRow.type).in_(("user_spoke", "agent_spoke", "trial_reopened")))
_SOME = _ROWS.where(col(EventRow.seq).in_(bindparam("seqs", expanding=True)))


class Line(NamedTuple):
    """An event as far as its row goes, that row's JSON, and the hashes of what stands elsewhere."""

    event: Event
    body: bytes
    left_out: tuple[str, ...]


def read_lines(connection: Connection, trial_id: int, *, after: int = -1) -> list[Line]:
    """The log behind number `after`, all takes, without what stands elsewhere."""
    return [_line(*row) for row in connection.execute(_LOG, {"trial": trial_id, "after": after})]


def read_beginning(connection: Connection, trial_id: int, upto: int) -> list[Line] | None:
    """The first `upto` lines of a log that was never reopened; None for one that was: its course is not known
    from its beginning.
    """
    if connection.execute(_TAKEN_BACK, {"trial": trial_id}).first() is not None:
        return None
    return [_line(*row) for row in connection.execute(_FIRST, {"trial": trial_id, "upto": upto})]


def read_words(connection: Connection, trial_id: int) -> list[Line]:
    """Of the log, all takes, what was said and what was taken back; nothing else is read."""
    return [_line(*row) for row in connection.execute(_WORDS, {"trial": trial_id})]


def read_event(connection: Connection, trial_id: int, seq: int) -> Event:
    """One event, whole. Raises `NotFound`."""
    return read_events(connection, trial_id, [seq])[0]


def read_events(connection: Connection, trial_id: int, seqs: Sequence[int]) -> list[Event]:
    """Some events of a trial, whole, in the log's order. Raises `NotFound` if one is missing."""
    rows = connection.execute(_SOME, {"trial": trial_id, "seqs": list(seqs)})
    lines = [_line(*row) for row in rows]
    if len(lines) != len(set(seqs)):
        raise NotFound(_("There is no such event"), f"{trial_id}: {', '.join(map(str, seqs))}")
    return completed(connection, lines)


def completed(connection: Connection, lines: Sequence[Line]) -> list[Event]:
    """The lines' events, whole."""
    contents = read_payloads(connection, [digest for line in lines for digest in line.left_out])
    return [
        line.event.model_copy(update={"body": decode(line.body, contents)})
        if line.left_out
        else line.event
        for line in lines
    ]


def course(lines: Sequence[Line]) -> list[Line]:
    """The lines of the trial's course; see `core.events.course_of`."""
    by_seq = {line.event.seq: line for line in lines}
    return [by_seq[event.seq] for event in course_of([line.event for line in lines])]


def outline(lines: Sequence[Line]) -> Outline:
    return Outline(
        events=tuple(line.event for line in lines),
        left_out={line.event.seq: line.left_out for line in lines if line.left_out},
    )


def _line(seq: int, take: int, at: datetime, body: str | None, packed: bytes | None) -> Line:
    payload = unpack(body, packed)
    decoded, left_out = decode_outline(payload)
    return Line(Event(seq=seq, take=take, at=at, body=decoded), payload, left_out)
