"""Why somebody decided as they did about a task's quality may quote reviews: it is as hidden as those."""

from __future__ import annotations

from collections.abc import Mapping

from sqlmodel import Session, col, select

from cuecard.core.review import Contribution, QcDecided, Reviewed, TaskLog
from cuecard.store.tables import StandingRow


def without_reasons(
    session: Session, person: str, logs: Mapping[str, TaskLog], own: frozenset[str]
) -> dict[str, TaskLog]:
    """The logs, in which decisions of others have neither name nor reason where there are reviews of the
    task that `person` must not see yet. `own`: the tasks that `person` wrote.
    """
    giving = [task_id for task_id, log in logs.items() if any(map(_decides, log.contributions))]
    if not giving:
        return dict(logs)
    query = select(StandingRow).where(
        col(StandingRow.task_id).in_(giving), StandingRow.seen != "all", StandingRow.reviews > 0
    )
    masked = dict(logs)
    for row in session.exec(query):
        log = masked[row.task_id]
        mine = any(
            isinstance(entry.body, Reviewed) and entry.by == person and entry.revision == row.number
            for entry in log.contributions
        )
        party = row.seen == "party" and (mine or row.task_id in own)
        if row.reviews > int(mine) and not party:
            entries = tuple(_without_reason(entry, person) for entry in log.contributions)
            masked[row.task_id] = log.model_copy(update={"contributions": entries})
    return masked


def _decides(entry: Contribution) -> bool:
    return isinstance(entry.body, QcDecided)


def _without_reason(entry: Contribution, person: str) -> Contribution:
    if not isinstance(entry.body, QcDecided) or entry.by == person:
        return entry
    body = entry.body.model_copy(update={"reason": ""})
    return entry.model_copy(update={"by": "", "body": body})
