"""Contributions (reviews, comments, decisions) as rows, the states derived from them, and who may see which."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, cast

from sqlalchemy import bindparam
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, func, or_, select

from cuecard.core.contributions import (
    Answered,
    Body,
    Claimed,
    Contribution,
    GoldDecided,
    QcDecided,
    Released,
    Reviewed,
    contribution_uid,
)
from cuecard.core.review import RevisionNode, Standing, TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.store.codec import from_json, pack, to_json, unpack
from cuecard.store.roles import shown
from cuecard.store.task_tables import (
    ContentRow,
    ContributionRow,
    CosignRow,
    RevisionRow,
    StandingRow,
    TaskRow,
    insert_of,
    metadata,
)
from cuecard.store.trial_tables import LabelRow, SetItemRow

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of_task(task_id: str) -> str:
    """What to write about (`Database.write`) when what follows from a task's log is checked or changed."""
    return f"task:{task_id}"


def load_log(session: Session, task_id: str) -> TaskLog:
    """The revisions and contributions of one task; a log without revisions if there is no such task. To a role that must
    not see them, other people's reviews and claims have no names and say only what the task's state does (roles.sql).
    """
    return load_logs(session, [task_id]).get(task_id) or TaskLog(task_id=task_id, revisions=())


def first_log(row: RevisionRow) -> TaskLog:
    """The log of a task whose first revision this row is."""
    return TaskLog(task_id=row.task_id, revisions=(_node(row, ()),))


def load_logs(session: Session, task_ids: Collection[str] | None = None) -> dict[str, TaskLog]:
    """The logs of these tasks, or of all, by task id."""
    nodes = select(RevisionRow).order_by(RevisionRow.task_id, col(RevisionRow.number))
    row = shown(session, ContributionRow, "contributionlog")
    entries = select(row).where(col(row.task_id).is_not(None))
    if task_ids is not None:
        nodes = nodes.where(col(RevisionRow.task_id).in_(task_ids))
        entries = entries.where(col(row.task_id).in_(task_ids))
    return assemble(session, session.exec(nodes).all(), session.exec(entries).all())


def assemble(
    session: Session, nodes: Iterable[RevisionRow], entries: Iterable[ContributionRow]
) -> dict[str, TaskLog]:
    """The logs of the tasks of these revisions, by task id, with those of their contributions that are given."""
    revisions: dict[str, list[RevisionNode]] = defaultdict(list)
    cosigned: dict[str, list[CosignRow]] = defaultdict(list)
    nodes = list(nodes)
    tasks = {row.task_id for row in nodes}
    query = select(CosignRow).join(RevisionRow, col(RevisionRow.uid) == CosignRow.uid)
    if len(tasks) == 1:
        query = query.where(RevisionRow.task_id == next(iter(tasks)))
    for row in session.exec(query):
        cosigned[row.uid].append(row)
    for row in nodes:
        revisions[row.task_id].append(_node(row, cosigned.get(row.uid, ())))
    contributions: dict[str, list[Contribution]] = defaultdict(list)
    for row in entries:
        contributions[row.task_id or ""].append(contribution_of(row))
    return {
        task_id: TaskLog(
            task_id=task_id,
            revisions=tuple(found),
            contributions=tuple(sorted(contributions[task_id], key=lambda entry: entry.order)),
        )
        for task_id, found in revisions.items()
    }


def next_tick(log: TaskLog | None, at: datetime) -> int:
    """The logical time of a new entry: microseconds since 1970, or the log's highest tick plus one if that is larger. A
    hybrid logical clock (Kulkarni et al. 2014).
    """
    ticks: list[int] = []
    if log is not None:
        ticks = [node.tick for node in log.revisions] + [c.tick for c in log.contributions]
    return max((at - _EPOCH) // timedelta(microseconds=1), max(ticks, default=0) + 1)


def sign(log: TaskLog | None, revision: int, by: str, at: datetime, body: Body) -> Contribution:
    """A new contribution with its uid and tick. Without a log it belongs to no task. Raises `KeyError` for a revision
    that the log does not hold.
    """
    uid, task_id, tick = "", "", 0
    if log is not None:
        uid = {node.number: node.uid for node in log.revisions}[revision]
        task_id, tick = log.task_id, next_tick(log, at)
    name = contribution_uid(task_id, uid, by, at, tick, body)
    return Contribution(
        uid=name, task_id=task_id, revision=revision, by=by, at=at, tick=tick, body=body
    )


def contribution_values(entry: Contribution) -> dict[str, Any]:
    """A contribution as values of the columns of `ContributionRow`."""
    body, packed = pack(to_json(entry.body.model_dump(mode="json")))
    match entry.body:
        case Claimed(person=person) | Released(person=person):
            about = person
        case Answered(comment=comment):
            about = comment.partition("#")[0]
        case Reviewed(decision=decision):
            about = decision.value
        case GoldDecided(gold=gold):
            about = gold
        case _:
            about = ""
    return {
        "uid": entry.uid,
        "task_id": entry.task_id or None,
        "revision": entry.revision or None,
        "kind": entry.body.kind,
        "by": entry.by,
        "about": about,
        "at": entry.at,
        "tick": entry.tick,
        "body": body,
        "packed": packed,
    }


def contribution_of(row: ContributionRow) -> Contribution:
    return Contribution.from_fields(
        row,
        task_id=row.task_id or "",
        revision=row.revision or 0,
        body=from_json(unpack(row.body, row.packed)),
    )


def standing_values(standing: Standing) -> list[dict[str, Any]]:
    """The states of a task's revisions as values of the columns of `StandingRow`."""
    return [
        {
            "task_id": standing.task_id,
            "number": revision.number,
            "state": revision.state.value,
            "reviews": len(revision.reviewers),
            "needed": revision.needed,
            "seen": revision.seen,
            "submitted_at": revision.submitted_at,
        }
        for revision in standing.revisions
    ]


def refold(session: Session, log: TaskLog) -> Standing:
    """Compute the task's state from its full `log`, and write it to `TaskRow` and `StandingRow`."""
    standing = standing_of(log)
    connection = session.connection()
    table = metadata.tables["standing"]
    statement = insert_of(connection.dialect.name, table).values(standing_values(standing))
    keys = ("task_id", "number")
    changed = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=changed))
    task = session.get_one(TaskRow, log.task_id)
    if task.head != standing.head:
        _point_at(session, task, standing.head)
    author = min(log.revisions, key=lambda node: node.order).authors[0]
    if task.author != author:
        task.author = author
        task.search = _search(task)
    show_standing(task, standing)
    session.add(task)
    session.flush()
    return standing


def show_standing(row: TaskRow, standing: Standing) -> None:
    """Set those columns of a task's row that repeat where it stands."""
    row.state, row.priority, row.forks = (
        standing.state.value,
        standing.priority,
        len(standing.forks),
    )


def show_content(row: TaskRow, task: Task) -> None:
    """Set those columns of a task's row that repeat the content of its newest revision."""
    row.title, row.family, row.language = task.title, task.family, task.language
    row.domain, row.difficulty = task.domain, task.difficulty
    row.search = _search(row)


def _search(row: TaskRow) -> str:
    return "\n".join((row.id, row.title, row.domain, row.author)).casefold()


def _point_at(session: Session, row: TaskRow, number: int) -> None:
    revision = session.get_one(RevisionRow, (row.id, number))
    content = session.get_one(ContentRow, revision.hash)
    row.head, row.updated_at = number, revision.created_at
    show_content(row, Task.model_validate_json(unpack(content.body, content.packed)))


def _node(row: RevisionRow, cosigned: Collection[CosignRow]) -> RevisionNode:
    signed = sorted([(row.created_at, row.author), *((c.at, c.author) for c in cosigned)])
    return RevisionNode(
        number=row.number,
        uid=row.uid,
        hash=row.hash,
        parents=tuple(json.loads(row.parents)),
        authors=tuple(author for _at, author in signed),
        at=signed[0][0],
        tick=min([row.tick, *(c.tick for c in cosigned)]),
    )


_REVIEW_KINDS = ("reviewed", "third_asked")
_LEASE_KINDS = ("claimed", "released")
_VIEWER = "viewer"
_GOLD_KINDS = ("gold_built", "gold_decided")
_HIDDEN_KINDS = (*_REVIEW_KINDS, *_LEASE_KINDS, *_GOLD_KINDS, "answered")


def wrote(person: Any) -> Any:
    """A query for the ids of the tasks of which `person` saved a revision."""
    own = select(RevisionRow.task_id).where(RevisionRow.author == person)
    cosigned = (
        select(RevisionRow.task_id)
        .join(CosignRow, col(CosignRow.uid) == RevisionRow.uid)
        .where(CosignRow.author == person)
    )
    return own.union(cosigned)


def written_by(session: Session, person: str) -> frozenset[str]:
    """The result of `wrote`."""
    found: Iterable[str] = session.connection().execute(wrote(person)).scalars()
    return frozenset(found)


def reviewed_by(person: Any, task_id: Any, revision: Any) -> Any:
    """The SQL condition that `person` handed in a review of this revision."""
    other = aliased(ContributionRow)
    return (
        select(other.uid)
        .where(
            other.task_id == task_id,
            other.revision == revision,
            other.kind == "reviewed",
            other.by == person,
        )
        .exists()
    )


def reviews_open_to(person: Any, task_id: Any, revision: Any) -> Any:
    """The SQL condition that `person` may read everybody's reviews of this revision."""
    # An alias, so that a query over standings can ask it of each of its own rows. What is asked of the
    # party is asked of this row: a query two levels down is not correlated with the outermost by itself.
    row = aliased(StandingRow)
    party = or_(col(row.task_id).in_(wrote(person)), reviewed_by(person, row.task_id, row.number))
    return (
        select(row.number)
        .where(
            row.task_id == task_id,
            row.number == revision,
            or_(row.seen == "all", and_(row.seen == "party", party)),
        )
        .exists()
    )


def as_viewer(person: str) -> dict[str, str]:
    """The parameters with which to execute a query that contains `may_see`."""
    return {_VIEWER: person}


@cache
def may_see() -> Any:
    """The SQL condition for rows of `ContributionRow` that the viewer (see `as_viewer`) may see. It is large, so it is
    built once.
    """
    row = ContributionRow
    person = _given(_VIEWER)
    return or_(
        _apart_from_answers(person, row),
        and_(row.kind == "answered", col(row.about).in_(_commented(person))),
    )


def has_reviewed_and_may_read(session: Session, person: str, task_id: str, revision: int) -> bool:
    """Whether `person` reviewed this revision and may now read the other reviews of it."""
    given = {"task": task_id, "revision": revision, **as_viewer(person)}
    return session.exec(_reviewed_and_open(), params=given).first() is not None


@cache
def _reviewed_and_open() -> Any:
    task, revision = _given("task"), _given("revision")
    person = _given(_VIEWER)
    return select(StandingRow.number).where(
        StandingRow.task_id == task,
        StandingRow.number == revision,
        reviewed_by(person, StandingRow.task_id, StandingRow.number),
        reviews_open_to(person, StandingRow.task_id, StandingRow.number),
    )


def _commented(person: Any) -> Any:
    """A query for the uids of entries with comments that `person` may see."""
    row = aliased(ContributionRow)
    kinds = col(row.kind).in_(("reviewed", "commented"))
    return select(row.uid).where(kinds, _apart_from_answers(person, row))


def _apart_from_answers(person: Any, row: Any) -> Any:
    built = aliased(ContributionRow)
    also_built = (
        select(built.uid)
        .where(
            built.task_id == row.task_id,
            built.revision == row.revision,
            built.kind == "gold_built",
            built.by == person,
        )
        .exists()
    )
    return or_(
        row.by == person,
        col(row.kind).not_in(_HIDDEN_KINDS),
        and_(col(row.kind).in_(_REVIEW_KINDS), reviews_open_to(person, row.task_id, row.revision)),
        and_(col(row.kind).in_(_LEASE_KINDS), row.about == person),
        and_(col(row.kind).in_(_GOLD_KINDS), or_(col(row.task_id).in_(wrote(person)), also_built)),
    )


def _given(name: str) -> Any:
    """A parameter of the query."""
    return cast(Any, bindparam(name))


def same_item(row: Any = SetItemRow) -> Any:
    """The SQL condition that a label and a row of a labelling set are about the same item."""
    return (col(LabelRow.trial_id) == row.trial_id) & (col(LabelRow.item_key) == row.item_key)


def waits_for(person: str) -> tuple[Any, ...]:
    """SQL conditions for rows of `SetItemRow` that `person` is still to label: they have no label on the item, and
    either it is assigned to them, or it is assigned to nobody and fewer than `raters` people have labelled it.
    """
    mine = select(LabelRow.id).where(same_item(), LabelRow.person == person).correlate(SetItemRow)
    others = (
        select(func.count(func.distinct(LabelRow.person)))
        .where(same_item())
        .correlate(SetItemRow)
        .scalar_subquery()
    )
    anybody = (col(SetItemRow.people) == "[]") & (others < col(SetItemRow.raters))
    named = col(SetItemRow.people).contains(json.dumps(person, ensure_ascii=False), autoescape=True)
    return ~mine.exists(), or_(anybody, named)


def without_reasons(
    session: Session, person: str, logs: Mapping[str, TaskLog], own: frozenset[str]
) -> dict[str, TaskLog]:
    """These logs as `person` may see them: other people's decisions lose their name and reason as long as the task has
    reviews that `person` must not read yet. `own`: the ids of the tasks that `person` wrote.
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
