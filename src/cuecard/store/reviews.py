"""The workflow's storage, and what a reviewer may see.

Who may do what is decided in `annotate.review`; that nobody sees too much is decided here.
"""

from __future__ import annotations

import json

from sqlmodel import Session, col, func, select

from cuecard.core.errors import Conflict
from cuecard.core.i18n import _
from cuecard.store.engine import Database
from cuecard.store.lookup import task_missing, task_row
from cuecard.store.people import ensure_person
from cuecard.store.records import Move, Review, Revision, TaskState, TaskSummary
from cuecard.store.tables import MoveRow, ReviewFormRow, ReviewRow, RevisionRow, TaskRow
from cuecard.store.tasks import load_revision, step, summary_of

REVIEWS_NEEDED = 2


class Reviews:
    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, task_id: str) -> TaskState:
        """Raises `NotFound`."""
        with self._database.read() as session:
            return TaskState(task_row(session, task_id).state)

    def history(self, task_id: str) -> list[Move]:
        """Every step of the workflow, oldest first."""
        query = select(MoveRow).where(MoveRow.task_id == task_id).order_by(col(MoveRow.id))
        with self._database.read() as session:
            return [_move(row) for row in session.exec(query)]

    def move(
        self,
        task_id: str,
        revision: int,
        state: TaskState,
        *,
        by: str,
        reason: str,
        expected: TaskState | None,
    ) -> Move:
        """Take the next step. Raises `Conflict` if the task's state is not `expected` any more (None:
        any will do) or `revision` is not the newest, `NotFound` if there is no such task.
        """
        with self._database.write() as session:
            task = task_row(session, task_id)
            if task.head != revision:
                raise Conflict(
                    _("This is not the newest revision any more"),
                    _("{task} is at revision {head}; this was about {revision}.").format(
                        task=task_id, head=task.head, revision=revision
                    ),
                    _("Open the task again and look at what changed."),
                )
            if expected is not None and task.state != expected:
                raise _moved_on(session, task)
            return _move(step(session, task, state, ensure_person(session, by).name, reason))

    def add(self, review: Review) -> None:
        """Hand in a review. Raises `Conflict` on a reviewer's second one of a revision."""
        with self._database.write() as session:
            if session.get(RevisionRow, (review.task_id, review.revision)) is None:
                task_row(session, review.task_id)
                raise task_missing(review.task_id, review.revision)
            name = ensure_person(session, review.reviewer).name
            if session.get(ReviewRow, (review.task_id, review.revision, name)) is not None:
                raise Conflict(
                    _("You have already reviewed this revision"),
                    _("{task}, revision {revision}").format(
                        task=review.task_id, revision=review.revision
                    ),
                    _(
                        "A review stays as it was handed in; the next revision can be reviewed anew."
                    ),
                )
            session.add(
                ReviewRow(
                    task_id=review.task_id,
                    revision=review.revision,
                    reviewer=name,
                    ratings=json.dumps(review.ratings),
                    decision=review.decision.value,
                    comments=json.dumps(review.comments),
                    created_at=review.created_at,
                )
            )
            form = session.get(ReviewFormRow, (review.task_id, review.revision, name))
            if form is not None:
                session.delete(form)

    def visible_to(self, person: str, task_id: str, revision: int | None = None) -> list[Review]:
        """The reviews that `person` may see now, by revision and time: their own, and for a revision
        with at least two reviews everybody's. The author sees no more than anybody else.
        """
        complete = (
            select(ReviewRow.revision)
            .where(ReviewRow.task_id == task_id)
            .group_by(col(ReviewRow.revision))
            .having(func.count() >= REVIEWS_NEEDED)
        )
        query = (
            select(ReviewRow)
            .where(
                ReviewRow.task_id == task_id,
                (col(ReviewRow.reviewer) == person) | col(ReviewRow.revision).in_(complete),
            )
            .order_by(col(ReviewRow.revision), col(ReviewRow.created_at), ReviewRow.reviewer)
        )
        if revision is not None:
            query = query.where(ReviewRow.revision == revision)
        with self._database.read() as session:
            return [_review(row) for row in session.exec(query)]

    def queue(self, person: str) -> list[TaskSummary]:
        """What `person` can review now, the longest waiting first: in review, not written by them in
        any revision, not yet reviewed by them, fewer than two reviews in. Authors are left out ("").
        """
        wrote = select(RevisionRow.task_id).where(RevisionRow.author == person)
        of_head = (ReviewRow.task_id == TaskRow.id) & (ReviewRow.revision == TaskRow.head)
        reviewed = select(ReviewRow.task_id).where(of_head, ReviewRow.reviewer == person)
        handed_in = select(func.count()).select_from(ReviewRow).where(of_head)
        query = (
            select(TaskRow)
            .where(
                TaskRow.state == TaskState.IN_REVIEW.value,
                col(TaskRow.id).not_in(wrote),
                ~reviewed.correlate(TaskRow).exists(),
                handed_in.correlate(TaskRow).scalar_subquery() < REVIEWS_NEEDED,
            )
            .order_by(col(TaskRow.updated_at), TaskRow.id)
        )
        with self._database.read() as session:
            rows = session.exec(query).all()
            return [summary_of(row).model_copy(update={"author": ""}) for row in rows]

    def reviewed(self, person: str) -> list[TaskSummary]:
        """Tasks of which `person` may read reviews, the last changed first: those they reviewed, and
        those they wrote with a revision whose reviews are all in. Authors are left out ("").
        """
        own = select(ReviewRow.task_id).where(ReviewRow.reviewer == person)
        complete = (
            select(ReviewRow.task_id)
            .group_by(col(ReviewRow.task_id), col(ReviewRow.revision))
            .having(func.count() >= REVIEWS_NEEDED)
        )
        wrote = select(RevisionRow.task_id).where(RevisionRow.author == person)
        theirs = col(TaskRow.id).in_(wrote) & col(TaskRow.id).in_(complete)
        query = (
            select(TaskRow)
            .where(col(TaskRow.id).in_(own) | theirs)
            .order_by(col(TaskRow.updated_at).desc(), TaskRow.id)
        )
        with self._database.read() as session:
            rows = session.exec(query).all()
            return [summary_of(row).model_copy(update={"author": ""}) for row in rows]

    def blind_revision(self, person: str, task_id: str, number: int | None = None) -> Revision:
        """A revision as a reviewer gets it: without author and message (""), until `person` has
        reviewed it and two reviews are in, or if `person` wrote it. Raises `NotFound`.
        """
        with self._database.read() as session:
            number = number if number is not None else task_row(session, task_id).head
            revision = load_revision(session, task_id, number)
            own = session.get(ReviewRow, (task_id, number, person)) is not None
            open_now = own and _count(session, task_id, number) >= REVIEWS_NEEDED
        if open_now or revision.author == person:
            return revision
        return revision.model_copy(update={"author": "", "message": ""})

    def handed_in(self) -> dict[str, int]:
        """For each task in review, how many reviews of its newest revision are in."""
        of_head = (ReviewRow.task_id == TaskRow.id) & (ReviewRow.revision == TaskRow.head)
        count = select(func.count()).select_from(ReviewRow).where(of_head).correlate(TaskRow)
        query = select(TaskRow.id, count.scalar_subquery()).where(
            TaskRow.state == TaskState.IN_REVIEW.value
        )
        with self._database.read() as session:
            return dict(session.exec(query).all())

    def counts(self, task_id: str, revision: int) -> int:
        """How many reviews of this revision are in."""
        with self._database.read() as session:
            return _count(session, task_id, revision)


def _count(session: Session, task_id: str, revision: int) -> int:
    query = (
        select(func.count())
        .select_from(ReviewRow)
        .where(ReviewRow.task_id == task_id, ReviewRow.revision == revision)
    )
    return session.exec(query).one()


def _moved_on(session: Session, task: TaskRow) -> Conflict:
    last = session.exec(
        select(MoveRow).where(MoveRow.task_id == task.id).order_by(col(MoveRow.id).desc())
    ).first()
    return Conflict(
        _("This task has moved on"),
        _("{person} made it “{state}” at {time} UTC.").format(
            person=last.by if last else "–",
            state=task.state,
            time=last.at.strftime("%Y-%m-%d %H:%M") if last else "–",
        ),
        _("Open the task again."),
    )


def _move(row: MoveRow) -> Move:
    return Move(
        task_id=row.task_id,
        revision=row.revision,
        state=TaskState(row.state),
        by=row.by,
        reason=row.reason,
        at=row.at,
    )


def _review(row: ReviewRow) -> Review:
    return Review.model_validate(
        {
            "task_id": row.task_id,
            "revision": row.revision,
            "reviewer": row.reviewer,
            "ratings": json.loads(row.ratings),
            "decision": row.decision,
            "comments": json.loads(row.comments),
            "created_at": row.created_at,
        }
    )
