"""Who has a revision to review, and until when."""

from __future__ import annotations

from datetime import datetime

from cuecard.core.review.contributions import Claimed, Released, Reviewed
from cuecard.core.review.standing import TaskLog


def claims_of(log: TaskLog, revision: int, now: datetime) -> dict[str, datetime]:
    """The leases on a revision that hold at `now`, by person, in the order in which they were taken.
    A lease ends when it is released, when its review is in, and when its time is over.
    """
    held: dict[str, datetime] = {}
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        if entry.revision != revision:
            continue
        match entry.body:
            case Claimed(person=person, until=until):
                held[person] = until
            case Released(person=person):
                held.pop(person, None)
            case Reviewed():
                held.pop(entry.by, None)
            case _:
                pass
    return {person: until for person, until in held.items() if until > now}


def released_by(log: TaskLog, revision: int) -> frozenset[str]:
    """Who gave the revision back and has not taken it again."""
    away: set[str] = set()
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        if entry.revision == revision:
            if isinstance(entry.body, Released):
                away.add(entry.body.person)
            elif isinstance(entry.body, Claimed):
                away.discard(entry.body.person)
    return frozenset(away)
