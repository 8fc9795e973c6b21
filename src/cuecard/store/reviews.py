"""Reviews and other contributions: how they are added, what of them a person may see, and the comments in them."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from sqlmodel import Session, col, delete, or_, select, tuple_

from cuecard.core.contributions import (
    Answered,
    Body,
    Commented,
    Contribution,
    Move,
    Reviewed,
    SkillsSet,
    TaskState,
    comment_id,
)
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _
from cuecard.core.records import ASIDE, Answer, Comment, OpenRound, Review, TaskSummary
from cuecard.core.review import Standing, TaskLog, claims_of, released_by, standing_of
from cuecard.store.codec import to_json
from cuecard.store.contributions import (
    as_viewer,
    assemble,
    contribution_of,
    contribution_values,
    has_reviewed_and_may_read,
    load_log,
    load_logs,
    may_see,
    of_task,
    refold,
    sign,
    without_reasons,
    written_by,
    wrote,
)
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person, of_person
from cuecard.store.rows import revision_missing, task_row
from cuecard.store.task_tables import (
    ContributionRow,
    DraftRow,
    ReviewFormRow,
    RevisionRow,
    StandingRow,
    TaskRow,
)
from cuecard.store.tasks import summary_of


def comments_in(entries: Sequence[Contribution]) -> list[Comment]:
    """The comments that these entries hold, each with its answers; entries in their order."""
    answers: dict[str, list[Answer]] = {}
    for entry in entries:
        if isinstance(said := entry.body, Answered):
            answer = Answer(by=entry.by, text=said.text, turns=said.turns, at=entry.at)
            answers.setdefault(said.comment, []).append(answer)
    found: list[Comment] = []
    for entry in entries:
        match entry.body:
            case Reviewed(comments=comments):
                for index, pinned in enumerate(comments):
                    id = comment_id(entry.uid, index)
                    told = (pinned.place, pinned.text, pinned.dimension)
                    found.append(_comment(entry, id, told, answers))
            case Commented(place=place, text=text):
                found.append(_comment(entry, comment_id(entry.uid), (place, text, ""), answers))
            case _:
                pass
    return found


def _comment(
    entry: Contribution, id: str, told: tuple[str, str, str], answers: dict[str, list[Answer]]
) -> Comment:
    place, text, dimension = told
    return Comment.from_fields(
        entry,
        id=id,
        place=place,
        text=text,
        dimension=dimension,
        of_review=isinstance(entry.body, Reviewed),
        answers=tuple(answers.get(id, ())),
    )


Guard = Callable[[TaskLog], None]


class Reviews:
    """Reviews, comments and decisions on tasks. What "may see" means, `store.contributions.may_see` says."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def act(
        self,
        task_id: str,
        by: str,
        body: Body,
        *,
        revision: int | None = None,
        guard: Guard | None = None,
        at: datetime | None = None,
    ) -> Contribution:
        """Record what `by` does to a revision (default: the newest). `guard` gets the task's whole log while nobody
        else can write, and raises if the action is not allowed.

        Raises `NotFound`, and `Conflict` on a second review of one revision by one person.
        """
        with self._database.write(of_task(task_id)) as session:
            number = revision if revision is not None else task_row(session, task_id).head
            log = load_log(session, task_id)
            if all(node.number != number for node in log.revisions):
                task_row(session, task_id)
                raise revision_missing(task_id, number)
            name = ensure_person(session, by).name
            same = (c for c in log.contributions if (c.by, c.at, c.body) == (name, at, body))
            if (there := next(same, None)) is not None:
                return there  # delivered once more
            if guard is not None:
                guard(log)
            if isinstance(body, Reviewed):
                _check_first(log, number, name)
            entry = sign(log, number, name, _moment(at), body)
            session.add(ContributionRow(**contribution_values(entry)))
            if isinstance(body, Reviewed) and not self._database.is_sqlite:
                # Whoever has reviewed may be shown what the log could not tell before.
                session.flush()
                refold(session, load_log(session, task_id))
            else:
                refold(session, _with(log, entry))
            if isinstance(body, Reviewed):
                form = (task_id, number, name)
                row = ReviewFormRow
                keys = (row.task_id, col(row.revision), row.reviewer)
                session.connection().execute(delete(row).where(tuple_(*keys) == form))
            return entry

    def log(self, task_id: str) -> TaskLog:
        """The full log of a task, names included. For rules and statistics, never for what one person is shown; raises
        `NotFound`.
        """
        with self._database.read() as session:
            task_row(session, task_id)
            return load_log(session, task_id)

    def logs(self, task_ids: Collection[str] | None = None) -> dict[str, TaskLog]:
        """As `log`, for these tasks or all, by task id."""
        with self._database.read() as session:
            return load_logs(session, task_ids)

    def standing(self, task_id: str) -> Standing:
        """The state of a task and its revisions, reviewers' names included: for rules. Raises `NotFound`."""
        return standing_of(self.log(task_id))

    def state(self, task_id: str) -> TaskState:
        """The task's state in the workflow. Raises `NotFound`."""
        with self._database.read() as session:
            return TaskState(task_row(session, task_id).state)

    def history(self, task_id: str) -> list[Move]:
        """Every step of the task in the workflow, oldest first; empty for an unknown task."""
        with self._database.read() as session:
            log = load_log(session, task_id)
        return list(standing_of(log).history) if log.revisions else []

    def seen_log(self, person: str, task_id: str) -> TaskLog:
        """The log as `person` may see it. While the task is in review, authors' names are "", except for authors
        themselves and for reviewers once all reviews are in. Raises `NotFound`.
        """
        with self._database.read() as session:
            task = task_row(session, task_id)
            return _seen_logs(session, person, [task])[task_id]

    def seen_logs(self, person: str) -> dict[str, TaskLog]:
        """As `seen_log`, of all tasks; by task id."""
        with self._database.read() as session:
            return _seen_logs(session, person, session.exec(select(TaskRow)).all())

    def visible_to(self, person: str, task_id: str, revision: int | None = None) -> list[Review]:
        """The reviews that `person` may see now, by revision and time."""
        query = (
            select(ContributionRow)
            .where(
                ContributionRow.task_id == task_id, ContributionRow.kind == "reviewed", may_see()
            )
            .order_by(col(ContributionRow.revision), col(ContributionRow.tick), ContributionRow.uid)
        )
        if revision is not None:
            query = query.where(ContributionRow.revision == revision)
        with self._database.read() as session:
            found = session.exec(query, params=as_viewer(person))
            return [_review(contribution_of(row)) for row in found]

    def comments_for(self, person: str, task_id: str) -> list[Comment]:
        """The comments that `person` may see now, of reviews and others, oldest first; names are hidden
        as in `seen_log`.
        """
        with self._database.read() as session:
            task = session.get(TaskRow, task_id)
            if task is None:
                return []
            entries = _seen_logs(session, person, [task])[task_id].contributions
        return comments_in(sorted(entries, key=lambda entry: entry.order))

    def open_rounds(self, person: str, now: datetime) -> list[OpenRound]:
        """Every task in review as `person` may see it, the longest waiting first. `now` decides which reviewers' claims
        still hold.
        """
        in_review = select(TaskRow).where(TaskRow.state == TaskState.IN_REVIEW.value)
        with self._database.read() as session:
            tasks = session.exec(in_review).all()
            logs = load_logs(session, [task.id for task in tasks])
            own = written_by(session, person) if tasks else frozenset[str]()
        rounds = [_open_round(task, logs[task.id], person, own, now) for task in tasks]
        return sorted(rounds, key=lambda r: (r.submitted_at or r.task.updated_at, r.task.id))

    def reviewed(self, person: str) -> list[TaskSummary]:
        """Tasks, the last changed first, that `person` reviewed, or wrote and whose reviews may be read for some
        revision. Authors are left out ("").
        """
        own = select(ContributionRow.task_id).where(
            ContributionRow.kind == "reviewed", ContributionRow.by == person
        )
        complete = select(StandingRow.task_id).where(StandingRow.seen != "nobody")
        theirs = col(TaskRow.id).in_(wrote(person)) & col(TaskRow.id).in_(complete)
        query = (
            select(TaskRow)
            .where(or_(col(TaskRow.id).in_(own), theirs))
            .order_by(col(TaskRow.updated_at).desc(), TaskRow.id)
        )
        with self._database.read() as session:
            return [_blind(row) for row in session.exec(query)]

    def built_for(self, person: str) -> list[tuple[str, str, datetime]]:
        """Independent golds of tasks that `person` wrote, the oldest first, of which nobody has decided: task id, by whom,
        when.
        """
        gold = ContributionRow
        decided = select(gold.about).where(gold.kind == "gold_decided")
        # Before version 14 only who decided kept that they had.
        before = select(DraftRow.task_id).where(
            DraftRow.person == person,
            DraftRow.task_id == col(gold.task_id) + f"{ASIDE}decided-" + gold.uid,
            DraftRow.body == to_json({"decided": True}).decode(),
        )
        query = (
            select(gold.task_id, gold.by, gold.at)
            .where(gold.kind == "gold_built", gold.by != person, col(gold.uid).not_in(decided))
            .where(~before.exists())
            .where(col(gold.task_id).in_(wrote(person)))
            .order_by(col(gold.at))
        )
        with self._database.read() as session:
            return [(id, by, at) for id, by, at in session.exec(query) if id]

    def commented_for(self, person: str) -> list[str]:
        """The ids of tasks that `person` wrote, and on which others commented outside reviews."""
        row = ContributionRow
        by_others = select(row.task_id).where(row.kind == "commented", row.by != person)
        query = by_others.where(col(row.task_id).in_(wrote(person))).distinct()
        with self._database.read() as session:
            return sorted(filter(None, session.exec(query)))

    def handed_in(self) -> dict[str, int]:
        """By task id, how many reviews of the newest revision are in; tasks in review only."""
        query = select(TaskRow.id, StandingRow.reviews).where(
            TaskRow.state == TaskState.IN_REVIEW.value,
            StandingRow.task_id == TaskRow.id,
            StandingRow.number == TaskRow.head,
        )
        with self._database.read() as session:
            return dict(session.exec(query).all())

    def counts(self, task_id: str, revision: int) -> int:
        """How many reviews of this revision count."""
        with self._database.read() as session:
            row = session.get(StandingRow, (task_id, revision))
            return row.reviews if row else 0

    def set_skills(
        self,
        person: str,
        languages: Sequence[str] = (),
        domains: Sequence[str] = (),
        *,
        at: datetime | None = None,
    ) -> None:
        """Record the languages and domains that `person` reviews from now on; empty means all."""
        body = SkillsSet(languages=tuple(languages), domains=tuple(domains))
        with self._database.write(of_person(person)) as session:
            name = ensure_person(session, person).name
            entry = sign(None, 0, name, _moment(at), body)
            if session.get(ContributionRow, entry.uid) is None:
                session.add(ContributionRow(**contribution_values(entry)))

    def skills(self) -> dict[str, SkillsSet]:
        """Each person's newest languages and domains, by name."""
        query = select(ContributionRow).where(ContributionRow.kind == "skills_set")
        with self._database.read() as session:
            entries = [contribution_of(row) for row in session.exec(query)]
        found: dict[str, SkillsSet] = {}
        for entry in sorted(entries, key=lambda entry: (entry.at, entry.uid)):
            assert isinstance(entry.body, SkillsSet)
            found[entry.by] = entry.body
        return found


def _moment(at: datetime | None) -> datetime:
    return at if at is not None else datetime.now(UTC)


def _with(log: TaskLog, entry: Contribution) -> TaskLog:
    return log.model_copy(update={"contributions": (*log.contributions, entry)})


def _check_first(log: TaskLog, number: int, person: str) -> None:
    for entry in log.contributions:
        same = entry.by == person and entry.revision == number
        if same and isinstance(entry.body, Reviewed):
            raise Conflict(
                _("You have already reviewed this revision"),
                _("{task}, revision {revision}").format(task=log.task_id, revision=number),
                _("A review stays as it was handed in; the next revision can be reviewed anew."),
            )


def _seen_logs(session: Session, person: str, tasks: Sequence[TaskRow]) -> dict[str, TaskLog]:
    nodes = select(RevisionRow).order_by(RevisionRow.task_id, col(RevisionRow.number))
    entries = select(ContributionRow).where(may_see())
    if len(tasks) == 1:
        nodes = nodes.where(RevisionRow.task_id == tasks[0].id)
        entries = entries.where(ContributionRow.task_id == tasks[0].id)
    else:
        entries = entries.where(col(ContributionRow.task_id).is_not(None))
    seen = session.exec(entries, params=as_viewer(person)).all()
    logs = assemble(session, session.exec(nodes).all(), seen)
    own = written_by(session, person)
    for task in tasks:
        blind = task.state == TaskState.IN_REVIEW.value and task.id not in own
        if blind and not has_reviewed_and_may_read(session, person, task.id, task.head):
            logs[task.id] = _without_authors(logs[task.id])
    return without_reasons(session, person, logs, own)


def _without_authors(log: TaskLog) -> TaskLog:
    """The log without authors' names, also in the entries that only an author can have made."""
    names = {name for node in log.revisions for name in node.authors}
    return log.model_copy(
        update={
            "revisions": tuple(n.model_copy(update={"authors": ("",)}) for n in log.revisions),
            "contributions": tuple(
                entry.model_copy(update={"by": ""}) if entry.by in names else entry
                for entry in log.contributions
            ),
        }
    )


def _blind(row: TaskRow) -> TaskSummary:
    return summary_of(row).model_copy(update={"author": ""})


def _open_round(
    task: TaskRow, log: TaskLog, person: str, own: frozenset[str], now: datetime
) -> OpenRound:
    round_ = standing_of(log).of(task.head)
    claims = claims_of(log, task.head, now)
    return OpenRound(
        task=_blind(task),
        submitted_at=round_.submitted_at,
        priority=task.priority,
        reviews=len(round_.reviewers),
        needed=round_.needed,
        claims=len(claims.keys() - {person}),
        mine=claims.get(person),
        wrote=task.id in own,
        reviewed=person in round_.reviewers,
        released=person in released_by(log, task.head),
    )


def _review(entry: Contribution) -> Review:
    body = entry.body
    assert isinstance(body, Reviewed)
    return Review.from_fields(
        body,
        task_id=entry.task_id,
        revision=entry.revision,
        reviewer=entry.by,
        created_at=entry.at,
        uid=entry.uid,
    )
