"""Finding one row by its key, or saying what is missing."""

from __future__ import annotations

from sqlmodel import Session

from cuecard.core.errors import NotFound
from cuecard.core.i18n import _
from cuecard.store.tables import RunRow, TaskRow, TrialRow, VerdictRow


def task_row(session: Session, task_id: str) -> TaskRow:
    """Raises `NotFound`."""
    row = session.get(TaskRow, task_id)
    if row is None:
        raise task_missing(task_id)
    return row


def run_row(session: Session, run_id: int) -> RunRow:
    """Raises `NotFound`."""
    row = session.get(RunRow, run_id)
    if row is None:
        raise NotFound(
            _("There is no such run"), str(run_id), _("`cuecard runs` lists those there are.")
        )
    return row


def trial_row(session: Session, trial_id: int) -> TrialRow:
    """Raises `NotFound`."""
    row = session.get(TrialRow, trial_id)
    if row is None:
        raise trial_missing(trial_id)
    return row


def verdict_row(session: Session, verdict_id: int) -> VerdictRow:
    """Raises `NotFound`."""
    row = session.get(VerdictRow, verdict_id)
    if row is None:
        raise NotFound(_("There is no such verdict"), str(verdict_id))
    return row


def trial_missing(trial_id: int) -> NotFound:
    return NotFound(_("There is no such trial"), str(trial_id))


def task_missing(task_id: str, number: int | None = None) -> NotFound:
    if number is None:
        return NotFound(_("There is no such task"), task_id)
    return NotFound(
        _("There is no such revision"),
        _("{task} has no revision {number}.").format(task=task_id, number=number),
    )
