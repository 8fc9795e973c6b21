"""The review state of a task, computed from its revisions and contributions by a pure function, and who claims it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cuecard.core.contributions import (
    REVIEWS_NEEDED,
    Action,
    Claimed,
    Contribution,
    Move,
    OnSplit,
    Prioritised,
    Released,
    Reopened,
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
    Seen,
    Submitted,
    TaskState,
    ThirdAsked,
    Withdrawn,
)
from cuecard.core.tasks.base import Frozen


class RevisionNode(Frozen):
    """A revision without its content. `uid` and `parents` identify it and the revisions it was made from in every
    workspace; `number` is this workspace's own. `authors`: who saved exactly this content, the earliest first.
    """

    number: int
    uid: str
    hash: str
    parents: tuple[str, ...] = ()
    authors: tuple[str, ...]
    at: datetime
    tick: int

    @property
    def order(self) -> tuple[int, datetime, str]:
        return self.tick, self.at, self.uid


class TaskLog(Frozen):
    """Everything that a task's review state is computed from, in no particular order."""

    task_id: str
    revisions: tuple[RevisionNode, ...]
    contributions: tuple[Contribution, ...] = ()


class RevisionStanding(Frozen):
    """The review state of one revision. `reviewers`: whose reviews count, in their order; `needed`: how many reviews it
    takes; `seen`: who may read them; `submitted_at`: when the present round began; `split`: the reviews disagree.
    """

    number: int
    state: TaskState
    reviewers: tuple[str, ...] = ()
    needed: int = REVIEWS_NEEDED
    seen: Seen = "nobody"
    split: bool = False
    submitted_at: datetime | None = None


class Clash(Frozen):
    """Work of people in separate workspaces that is in conflict; nothing of it is lost.

    `forks`: `revisions` were made from the same one; the first counts as the newest until they are merged. `double`:
    `people` reviewed a revision twice; the first review counts. `own`: `people` reviewed what they wrote; that does not
    count. `late`: a late review undid an approval. `crowd`: more reviews than were asked for.
    """

    task_id: str
    kind: Literal["forks", "double", "own", "late", "crowd"]
    revisions: tuple[int, ...]
    people: tuple[str, ...] = ()


class Standing(Frozen):
    """The review state of a task. `revisions`: by number; `forks`: the newest revisions of branches other than `head`'s."""

    task_id: str
    head: int
    state: TaskState
    priority: int
    revisions: tuple[RevisionStanding, ...]
    history: tuple[Move, ...]
    forks: tuple[int, ...] = ()
    clashes: tuple[Clash, ...] = ()

    def of(self, revision: int) -> RevisionStanding:
        """The state of one revision. Raises `KeyError` if there is none."""
        for standing in self.revisions:
            if standing.number == revision:
                return standing
        raise KeyError(revision)

    @property
    def now(self) -> RevisionStanding:
        """The state of the newest revision."""
        return self.of(self.head)


def standing_of(log: TaskLog) -> Standing:
    """The review state that follows from a task's log. Raises `ValueError` for a log without revisions."""
    if not log.revisions:
        raise ValueError("a task has at least one revision")
    return _Fold(log).result()


def tips_of(revisions: Iterable[RevisionNode]) -> list[RevisionNode]:
    """Revisions from which no other was made; the one that counts as the newest first."""
    revisions = list(revisions)
    stood_on = {parent for node in revisions for parent in node.parents}
    tips = [node for node in revisions if node.uid not in stood_on]
    return sorted(tips, key=lambda node: node.order, reverse=True)


def authors_until(log: TaskLog, revision: int) -> frozenset[str]:
    """Who saved a revision, or one that it was made from, however long ago."""
    by_uid = {node.uid: node for node in log.revisions}
    todo = [node for node in log.revisions if node.number == revision]
    found: set[str] = set()
    seen: set[str] = set()
    while todo:
        node = todo.pop()
        found.update(node.authors)
        seen.add(node.uid)
        todo += [by_uid[uid] for uid in node.parents if uid in by_uid and uid not in seen]
    return frozenset(found)


@dataclass
class _Round:
    """One revision while the log is folded."""

    number: int
    authors: frozenset[str]
    state: TaskState = TaskState.DRAFT
    on_split: OnSplit = "return"
    third: bool = False
    reviews: dict[str, ReviewDecision] = field(default_factory=dict[str, ReviewDecision])
    submitted_at: datetime | None = None

    @property
    def returns(self) -> int:
        return sum(decision is ReviewDecision.RETURN for decision in self.reviews.values())

    @property
    def split(self) -> bool:
        return 0 < self.returns < len(self.reviews)

    @property
    def needed(self) -> int:
        asked = self.third or (self.split and self.on_split == "third")
        return REVIEWS_NEEDED + 1 if asked else REVIEWS_NEEDED

    @property
    def outcome(self) -> TaskState | None:
        """The state that the reviews so far lead to; None while more are needed."""
        count = len(self.reviews)
        if count < self.needed:
            return None
        by_majority = self.third or self.on_split == "third"
        outvoted = by_majority and count > REVIEWS_NEEDED and self.returns * 2 < count
        return TaskState.APPROVED if not self.returns or outvoted else TaskState.RETURNED

    @property
    def seen(self) -> Seen:
        if len(self.reviews) < REVIEWS_NEEDED:
            return "nobody"
        return "party" if self.split and len(self.reviews) == REVIEWS_NEEDED else "all"


class _Fold:
    def __init__(self, log: TaskLog) -> None:
        self._log = log
        self._rounds = {
            node.number: _Round(node.number, authors_until(log, node.number))
            for node in log.revisions
        }
        self._tips = tips_of(log.revisions)
        self._retired = False
        self._priority = 0
        self._history: list[Move] = []
        self._clashes: list[Clash] = []

    def result(self) -> Standing:
        steps: list[RevisionNode | Contribution] = [*self._log.revisions, *self._log.contributions]
        # A contribution comes after its revision, even if a forged or broken tick says otherwise.
        at = {node.number: node.order for node in self._log.revisions}
        steps.sort(
            key=lambda step: (
                (step.order, 0, step.order)
                if isinstance(step, RevisionNode)
                else (max(step.order, at.get(step.revision, step.order)), 1, step.order)
            )
        )
        top: int | None = None
        for step in steps:
            if isinstance(step, RevisionNode):
                top = self._revised(step, top)
            elif step.revision in self._rounds:
                self._take(step, self._rounds[step.revision])
        head = self._tips[0].number
        if forks := tuple(node.number for node in self._tips[1:]):
            self._clash("forks", (head, *forks))
        state = TaskState.RETIRED if self._retired else self._rounds[head].state
        return Standing(
            task_id=self._log.task_id,
            head=head,
            state=state,
            priority=self._priority,
            revisions=tuple(map(_standing, sorted(self._rounds.values(), key=lambda r: r.number))),
            history=tuple(self._history),
            forks=forks,
            clashes=tuple(self._clashes),
        )

    def _revised(self, node: RevisionNode, top: int | None) -> int:
        # An archived task stays archived, whatever is saved.
        moves = top is not None and self._rounds[top].state is not TaskState.DRAFT
        if moves and not self._retired:
            author = node.authors[0] if node.authors else ""
            self._step(Action.REVISE, node.number, TaskState.DRAFT, author, "", node.at)
        return node.number

    def _take(self, entry: Contribution, round_: _Round) -> None:
        match entry.body:
            case Submitted() as body if round_.state in (TaskState.DRAFT, TaskState.RETURNED):
                round_.on_split = body.on_split
                round_.submitted_at = entry.at
                self._move(Action.SUBMIT, entry, round_, TaskState.IN_REVIEW, body.reason)
                self._decide(entry, round_)
            case Withdrawn(reason=reason) if round_.state is TaskState.IN_REVIEW:
                self._move(Action.WITHDRAW, entry, round_, TaskState.DRAFT, reason)
            case Reopened(reason=reason) if round_.state is TaskState.APPROVED:
                self._move(Action.REOPEN, entry, round_, TaskState.DRAFT, reason)
            case ThirdAsked(reason=reason) if (
                round_.state is TaskState.RETURNED
                and round_.split
                and len(round_.reviews) == REVIEWS_NEEDED
            ):
                round_.third = True
                self._move(Action.ASK_THIRD, entry, round_, TaskState.IN_REVIEW, reason)
            case Reviewed() as body:
                self._reviewed(entry, round_, body)
            case Retired(reason=reason) if not self._retired:
                self._retired = True
                self._step(
                    Action.RETIRE, entry.revision, TaskState.RETIRED, entry.by, reason, entry.at
                )
            case Restored(reason=reason) if self._retired:
                self._retired = False
                self._step(Action.RESTORE, entry.revision, round_.state, entry.by, reason, entry.at)
            case Prioritised(priority=priority):
                self._priority = priority
            case _:
                pass

    def _reviewed(self, entry: Contribution, round_: _Round, body: Reviewed) -> None:
        if entry.by in round_.authors:
            self._clash("own", (round_.number,), entry.by)
            return
        if entry.by in round_.reviews:
            self._clash("double", (round_.number,), entry.by)
            return
        decided = len(round_.reviews) >= round_.needed
        round_.reviews[entry.by] = body.decision
        if decided:
            self._clash("crowd", (round_.number,), entry.by)
        if round_.state in (TaskState.IN_REVIEW, TaskState.APPROVED, TaskState.RETURNED):
            self._decide(entry, round_)

    def _decide(self, entry: Contribution, round_: _Round) -> None:
        outcome = round_.outcome
        if outcome is None or outcome is round_.state:
            return
        if round_.state is TaskState.APPROVED:
            self._clash("late", (round_.number,), entry.by)
        action = Action.APPROVE if outcome is TaskState.APPROVED else Action.RETURN
        self._move(action, entry, round_, outcome, "")

    def _move(
        self, action: Action, entry: Contribution, round_: _Round, state: TaskState, reason: str
    ) -> None:
        round_.state = state
        self._step(action, round_.number, state, entry.by, reason, entry.at)

    def _step(
        self, action: Action, revision: int, state: TaskState, by: str, reason: str, at: datetime
    ) -> None:
        self._history.append(
            Move(
                task_id=self._log.task_id,
                revision=revision,
                action=action,
                state=state,
                by=by,
                reason=reason,
                at=at,
            )
        )

    def _clash(
        self,
        kind: Literal["forks", "double", "own", "late", "crowd"],
        revisions: tuple[int, ...],
        *people: str,
    ) -> None:
        self._clashes.append(
            Clash(task_id=self._log.task_id, kind=kind, revisions=revisions, people=people)
        )


def _standing(round_: _Round) -> RevisionStanding:
    return RevisionStanding.from_fields(round_, reviewers=tuple(round_.reviews))


def claims_of(log: TaskLog, revision: int, now: datetime) -> dict[str, datetime]:
    """Who claims the review of a revision at `now`, and until when, in the order of the claims. A claim ends when it is
    released, when the review is in, and when its time is over.
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
