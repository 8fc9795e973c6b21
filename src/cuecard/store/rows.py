"""One row by its key, or the error that there is none; revisions out of their rows; and claims that are held while something
is written.
"""

from collections.abc import Mapping

from sqlalchemy import Connection
from sqlmodel import Session, col, select

from cuecard.core.errors import ClaimLost, NotFound, near
from cuecard.core.i18n import _
from cuecard.core.records import Revision
from cuecard.core.tasks.models import Task
from cuecard.core.worker_archive import Claim
from cuecard.store.codec import origins_in, unpack
from cuecard.store.task_tables import ContentRow, RevisionRow, TaskRow
from cuecard.store.trial_tables import ClaimRow, RunRow, TrialRow, VerdictRow


def task_row(session: Session, task_id: str) -> TaskRow:
    """The row of a task. Raises `NotFound`."""
    row = session.get(TaskRow, task_id)
    if row is None:
        raise task_missing(session, task_id)
    return row


def run_row(session: Session, run_id: int) -> RunRow:
    """The row of a run. Raises `NotFound`."""
    row = session.get(RunRow, run_id)
    if row is None:
        raise NotFound(
            _("There is no such run"), str(run_id), _("`cuecard runs` lists those there are.")
        )
    return row


def of_run(run_id: int) -> str:
    """What to write about (`Database.write`) when who plays a run is checked or changed."""
    return f"run:{run_id}"


def trial_row(session: Session, trial_id: int) -> TrialRow:
    """The row of a trial. Raises `NotFound`."""
    row = session.get(TrialRow, trial_id)
    if row is None:
        raise trial_missing(trial_id)
    return row


def known_or_held(session: Session, trial_id: int, claim: Claim | None) -> None:
    """Raises `NotFound` for an unknown trial; with a claim on it, what `check_fences` raises."""
    if claim is None:
        trial_row(session, trial_id)
    else:
        check_fences(session.connection(), {claim.trial_id: claim.fence})


def check_fences(connection: Connection, fences: Mapping[int, int]) -> None:
    """Hold the claims with these fences, by trial, for the rest of the transaction: whoever takes one of the trials over
    waits for it. Raises `ClaimLost` if somebody has.
    """
    held = select(ClaimRow.trial_id, ClaimRow.fence).where(col(ClaimRow.trial_id).in_(fences))
    ordered = held.order_by(col(ClaimRow.trial_id)).with_for_update(read=True)
    if {row.trial_id: row.fence for row in connection.execute(ordered)} != fences:
        raise claim_lost()


def claim_lost() -> ClaimLost:
    """What whoever holds a claim that stands no more is told."""
    return ClaimLost(
        _("Another worker plays this trial now"),
        _("This one gave no sign of life for too long."),
        _("Nothing of the trial is lost; this worker goes on with others."),
    )


def verdict_row(session: Session, verdict_id: int) -> VerdictRow:
    """The row of a verdict. Raises `NotFound`."""
    row = session.get(VerdictRow, verdict_id)
    if row is None:
        raise NotFound(_("There is no such verdict"), str(verdict_id))
    return row


def trial_missing(trial_id: int | str) -> NotFound:
    hint = _("`cuecard runs` lists the runs, `cuecard score RUN --json` the trials of one.")
    return NotFound(_("There is no such trial"), str(trial_id), hint)


def task_missing(session: Session, task_id: str) -> NotFound:
    like_it = near(task_id, session.exec(select(TaskRow.id)))
    return NotFound(
        _("There is no such task"), task_id, like_it or _("`cuecard board` lists those there are.")
    )


def revision_missing(task_id: str, number: int) -> NotFound:
    return NotFound(
        _("There is no such revision"),
        _("{task} has no revision {number}.").format(task=task_id, number=number),
    )


def load_revision(session: Session, task_id: str, number: int) -> Revision:
    """One revision with its task. Raises `NotFound`."""
    row = session.get(RevisionRow, (task_id, number))
    if row is None:
        task_row(session, task_id)
        raise revision_missing(task_id, number)
    return revision_of(row, task_in(session.get_one(ContentRow, row.hash)))


def revision_of(row: RevisionRow, task: Task) -> Revision:
    """The revision of a row, which says this task."""
    same = {n: getattr(row, n) for n in Revision.model_fields.keys() - {"task", "origins"}}
    return Revision.unchecked(**same, task=task, origins=origins_in(row.origins))


def task_in(content: ContentRow) -> Task:
    """The task that a content is."""
    return Task.model_validate_json(unpack(content.body, content.packed))
