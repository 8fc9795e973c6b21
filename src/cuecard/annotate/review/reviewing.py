"""A reviewer's work: skills, what they see of a task, the gold items they must check, and checks of reviews."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from cuecard.annotate.authoring.changes import Change, changes_between
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.review.assignment import may_review
from cuecard.annotate.review.comments import Thread, threads_for
from cuecard.annotate.review.workflow import (
    EMBEDDED_PROTOCOL,
    Dimension,
    Protocol,
    actions_of,
    authors_in,
)
from cuecard.core.contributions import (
    Action,
    CheckMark,
    GoldCheck,
    Rating,
    ReviewDecision,
    Reviewed,
    SkillsSet,
    TaskState,
)
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.i18n import _, listed, plural
from cuecard.core.records import Review
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import for_display, one_line, storable

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


GOLD = "gold"
"""The dimension that can pass only if the whole sample is checked and nothing is marked wrong."""


class GoldItem(Frozen):
    """One item of the gold that can be right or wrong by itself. `sources`: the pages it cites."""

    place: str
    sources: tuple[str, ...] = ()


def gold_items(task: Task) -> tuple[GoldItem, ...]:
    """The triples, rows, checkpoints or facts of a task, in their order."""
    gold = task.gold
    return tuple(
        GoldItem(place=f"gold.{gold.field}[{at}]", sources=tuple(dict.fromkeys(pages)))
        for at, pages in enumerate(gold.citations())
    )


def sources_of(task: Task, place: str) -> tuple[str, ...]:
    """The pages behind a gold item: those it cites, or else those of the task as a whole."""
    cited = next((item.sources for item in gold_items(task) if item.place == place), ())
    return cited or tuple(source.url for source in task.sources)


def sample_of(task: Task, revision_uid: str, reviewer: str, k: int) -> tuple[str, ...]:
    """The places of `k` gold items to check (all if there are fewer), in order: always the same for a revision and a
    reviewer, different between reviewers.

    Stratified: by the stages of triples, by entity of facts and rules, by equal stretches of rows and steps. Each
    stratum gets its share, at least one if `k` allows.
    """
    items = gold_items(task)
    if k >= len(items):
        return tuple(item.place for item in items)
    if k <= 0:
        return ()
    rank = {item.place: _rank(revision_uid, reviewer, item.place) for item in items}
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[_stratum(task, at, len(items), k)].append(item.place)
    strata = [sorted(group, key=rank.__getitem__) for group in groups.values()]
    strata.sort(key=lambda group: rank[group[0]])
    drawn: set[str] = set()
    for group, share in zip(strata, _shares([len(group) for group in strata], k), strict=True):
        drawn.update(group[:share])
    return tuple(item.place for item in items if item.place in drawn)


def unmarked(sample: Collection[str], checks: Collection[GoldCheck]) -> tuple[str, ...]:
    """The places of a sample that are not checked yet, in order."""
    marked = {check.place for check in checks}
    return tuple(place for place in sample if place not in marked)


def check_marks(given: Review, task: Task, revision_uid: str) -> str:
    """What is wrong with the marks of a review, translated; "" if nothing. A review's sample must be the one drawn for
    its reviewer, and its gold passes only if all of that is marked and nothing is marked wrong.
    """
    drawn = sample_of(task, revision_uid, given.reviewer, len(given.sample))
    if given.sample and set(given.sample) != set(drawn):
        return _("The spot check is not the one that was drawn for this reviewer.")
    known = {item.place for item in gold_items(task)}
    if strange := [check.place for check in given.checks if check.place not in known]:
        return _("There is no gold item {place}.").format(place=strange[0])
    passes = given.ratings.get(GOLD) == "pass"
    approves = given.decision is ReviewDecision.APPROVE
    left = unmarked(given.sample, given.checks) if passes or approves else ()
    if left:
        return plural(
            "{n} item of the spot check is not marked.",
            "{n} items of the spot check are not marked.",
            len(left),
        )
    if (passes or approves) and any(check.mark == "wrong" for check in given.checks):
        return _("Gold with an item marked wrong does not pass.")
    return ""


def marks_of(checks: Collection[GoldCheck]) -> Mapping[CheckMark, int]:
    """How many items carry each mark."""
    counts: dict[CheckMark, int] = {"right": 0, "wrong": 0, "unsure": 0}
    for check in checks:
        counts[check.mark] += 1
    return counts


def _stratum(task: Task, at: int, count: int, k: int) -> Hashable:
    stratum = ANNOTATE[task.family].stratum(task.gold, at)
    return at * k // count if stratum is None else stratum


def _shares(sizes: Sequence[int], k: int) -> list[int]:
    """`k` over strata: one each first, the rest by size (largest remainder), none more than it has."""
    shares = [0] * len(sizes)
    for at in range(min(k, len(sizes))):
        shares[at] = 1
    total = sum(sizes)
    for _more in range(k - sum(shares)):
        behind = (at for at in range(len(sizes)) if shares[at] < sizes[at])
        shares[min(behind, key=lambda at: shares[at] / k - sizes[at] / total)] += 1
    return shares


def _rank(revision_uid: str, reviewer: str, place: str) -> bytes:
    said = "\0".join((revision_uid, reviewer, place))
    return hashlib.sha256(said.encode()).digest()


class ReviewSheet(Frozen):
    """A revision as its reviewer may see it: without the author, and without the other review until both are in.
    `obstacle`: why this person may not review it now, translated, "" if they may; `own`: they are an author.
    `previous`: the revision that they reviewed before.
    """

    task: Task
    revision: int
    uid: str
    state: TaskState
    dimensions: tuple[Dimension, ...]
    mine: Review | None
    visible: tuple[Review, ...]
    previous: Task | None
    previous_number: int | None
    obstacle: str
    own: bool


def review_sheet(
    workspace: Workspace,
    task_id: str,
    person: str,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    now: datetime | None = None,
) -> ReviewSheet:
    """The newest revision for review. Raises `NotFound`."""
    head = workspace.tasks.revision(task_id)
    visible = tuple(workspace.reviews.visible_to(person, task_id))
    mine = [review for review in visible if review.reviewer == person]
    before = max((r.revision for r in mine if r.revision < head.number), default=None)
    log = workspace.reviews.log(task_id)
    return ReviewSheet(
        task=head.task,
        revision=head.number,
        uid=head.uid,
        state=workspace.reviews.state(task_id),
        dimensions=protocol.dimensions(head.task.family),
        mine=next((review for review in mine if review.revision == head.number), None),
        visible=visible,
        previous=workspace.tasks.revision(task_id, before).task if before else None,
        previous_number=before,
        obstacle=obstacle_to_review(log, head.number, person, protocol, now or datetime.now(UTC)),
        own=person in authors_in(log),
    )


def review(
    workspace: Workspace,
    given: Review,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    at: datetime | None = None,
) -> TaskState:
    """Hand in a review, which cannot be changed. Gives the task's state: the second review approves or returns it.

    Raises `NotAllowed` if this person may not review this revision now or the review is incomplete, `Conflict` if it
    was handed in already.
    """
    revision = workspace.tasks.revision(given.task_id, given.revision)
    complaint = check_review(given, protocol.dimensions(revision.task.family))
    if complaint := complaint or check_marks(given, revision.task, revision.uid):
        raise NotAllowed(_("This review is not complete"), complaint)

    now = at or datetime.now(UTC)

    def guard(log: TaskLog) -> None:
        if obstacle := obstacle_to_review(log, given.revision, given.reviewer, protocol, now):
            raise NotAllowed(_("This review is not possible"), obstacle)

    body = Reviewed.from_fields(given, protocol=protocol.stamp)
    workspace.reviews.act(
        given.task_id, given.reviewer, body, revision=given.revision, guard=guard, at=now
    )
    return workspace.reviews.state(given.task_id)


def check_review(given: Review, dimensions: Sequence[Dimension]) -> str:
    """What is missing or wrong in a review, translated; "" if nothing."""
    keys = {dimension.key for dimension in dimensions}
    if unknown := sorted(set(given.ratings) - keys):
        return _("There is no dimension {names}.").format(names=listed(unknown))
    if missing := [_(d.label) for d in dimensions if d.key not in given.ratings]:
        return _("Not rated yet: {names}.").format(names=listed(missing))
    failed = [d for d in dimensions if given.ratings[d.key] == "fail"]
    if failed and given.decision is ReviewDecision.APPROVE:
        return _("A task that fails in “{name}” cannot be approved.").format(
            name=_(failed[0].label)
        )
    said = [comment for comment in given.comments if comment.text.strip()]
    explained = {comment.dimension for comment in said}
    if unexplained := [_(d.label) for d in failed if d.key not in explained]:
        return _("Say in a comment why “{name}” fails.").format(name=unexplained[0])
    if given.decision is ReviewDecision.RETURN and not said:
        return _("Say in a comment what the author should change.")
    return ""


def obstacle_to_review(
    log: TaskLog, revision: int, person: str, protocol: Protocol, now: datetime
) -> str:
    """Why `person` may not hand in a review of `revision` now, translated; "" if they may."""
    head = standing_of(log).head
    if revision != head:
        return _("Revision {old} was replaced by revision {new} meanwhile.").format(
            old=revision, new=head
        )
    return may_review(log, person, now, protocol)


@dataclass(frozen=True)
class ReviewContext:
    """Everything a reviewer needs. `changes`: since the revision they reviewed before; `last`: their ratings of it.
    `threads`: comments they may read. `items`: the places of the gold items; `sample`: those they must check.
    """

    sheet: ReviewSheet
    changes: tuple[Change, ...]
    last: dict[str, Rating]
    threads: tuple[Thread, ...]
    items: tuple[str, ...]
    sample: tuple[str, ...]
    may_ask_third: bool

    @property
    def reading(self) -> bool:
        """Whether it is only to be read."""
        return bool(self.sheet.obstacle)


def review_context(
    workspace: Workspace, task_id: str, person: str, protocol: Protocol = EMBEDDED_PROTOCOL
) -> ReviewContext:
    """The newest revision for one reviewer. Raises `NotFound`."""
    sheet = review_sheet(workspace, task_id, person, protocol)
    changes: list[Change] = []
    last: dict[str, Rating] = {}
    if sheet.previous is not None:
        before, now = (t.model_dump(mode="json") for t in (sheet.previous, sheet.task))
        changes = changes_between(before, now)
        last = next(
            dict(given.ratings)
            for given in sheet.visible
            if (given.reviewer, given.revision) == (person, sheet.previous_number)
        )
    return ReviewContext(
        sheet=sheet,
        changes=tuple(changes),
        last=last,
        threads=threads_for(workspace, person, task_id),
        items=tuple(item.place for item in gold_items(sheet.task)),
        sample=sample_of(sheet.task, sheet.uid, person, protocol.spot_check),
        may_ask_third=Action.ASK_THIRD in actions_of(workspace, task_id, person),
    )


LANGUAGES: tuple[str, ...] = get_args(TaskLanguage)
_MOST, _LONGEST = 40, 80


def set_skills(
    workspace: Workspace, person: str, languages: Sequence[str], domains: Sequence[str]
) -> SkillsSet:
    """Save what `person` reviews from now on; all languages are saved as none. Nothing is saved if it is unchanged.
    Raises `CuecardError` for what cannot be a language or domain.
    """
    spoken = tuple(language for language in LANGUAGES if language in languages)
    if unknown := sorted(set(languages) - set(LANGUAGES)):
        raise CuecardError(
            _("There is no such language"),
            listed(unknown),
            _("Tasks are in one of {names}.").format(names=listed(LANGUAGES)),
        )
    wanted = SkillsSet(
        languages=() if len(spoken) == len(LANGUAGES) else spoken, domains=_named(domains)
    )
    before = workspace.reviews.skills().get(person, SkillsSet())
    if wanted != before:
        workspace.reviews.set_skills(person, wanted.languages, wanted.domains)
    return wanted


def parse_domains(text: str) -> tuple[str, ...]:
    """Domains from a line in which commas stand between them."""
    for comma in "，、;；":
        text = text.replace(comma, ",")
    return _named(text.split(","))


def domains_in(workspace: Workspace) -> tuple[str, ...]:
    """The domains of the tasks in use, sorted."""
    return tuple(sorted({task.domain for task in workspace.tasks.summaries() if task.domain}))


def _named(domains: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for domain in domains:
        name = one_line(for_display(storable(domain)), _LONGEST)
        if name:
            found.setdefault(name.casefold(), name)
    if len(found) > _MOST:
        raise CuecardError(
            _("Too many domains"), hint=_("Name at most {n}, or none for any.").format(n=_MOST)
        )
    return tuple(found.values())
