"""What people do to a task besides writing it, as signed immutable entries; and a task's states and their transitions."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from cuecard.core.tasks.base import Frozen, Name

Rating = Literal["pass", "fail", "cannot_judge"]
CheckMark = Literal["right", "wrong", "unsure"]
OnSplit = Literal["return", "third"]
QcVerdict = Literal["keep", "revise", "remove"]


class ReviewDecision(StrEnum):
    APPROVE = "approve"
    RETURN = "return"


class PinnedComment(Frozen):
    """A comment of a review. `place`: the path of an element, such as `persona.stages[3].line`, or "" for the whole
    task. `dimension`: the key of the dimension whose failing it explains, if any.
    """

    place: str
    text: str
    dimension: str = ""


class GoldCheck(Frozen):
    """A reviewer's mark on one gold item. `opened`: the sources that were opened for it."""

    place: str
    mark: CheckMark
    opened: tuple[str, ...] = ()


class Submitted(Frozen):
    """A revision was submitted for review under the present `protocol`. `reason`: why it was submitted in spite of
    `warnings`, codes of the linter. `on_split`: what follows when two reviewers disagree: the task is returned, or a
    third person decides.
    """

    kind: Literal["submitted"] = "submitted"
    reason: str = ""
    warnings: tuple[str, ...] = ()
    protocol: str = ""
    on_split: OnSplit = "return"


class Withdrawn(Frozen):
    """The author took a submission back."""

    kind: Literal["withdrawn"] = "withdrawn"
    reason: Name


class Reopened(Frozen):
    """An approved task was made a draft again."""

    kind: Literal["reopened"] = "reopened"
    reason: Name


class Retired(Frozen):
    kind: Literal["retired"] = "retired"
    reason: str = ""


class Restored(Frozen):
    kind: Literal["restored"] = "restored"
    reason: str = ""


class ThirdAsked(Frozen):
    """A revision whose two reviewers disagree goes to a third person."""

    kind: Literal["third_asked"] = "third_asked"
    reason: Name


class Reviewed(Frozen):
    """A reviewer handed in a review. `ratings`: by the keys of `protocol`'s dimensions. `sample`: the places that were
    drawn for the spot check. `seconds`: time spent, without idle periods.
    """

    kind: Literal["reviewed"] = "reviewed"
    ratings: dict[str, Rating]
    decision: ReviewDecision
    comments: tuple[PinnedComment, ...] = ()
    checks: tuple[GoldCheck, ...] = ()
    sample: tuple[str, ...] = ()
    seconds: float = 0
    protocol: str = ""


class Claimed(Frozen):
    """`person` has the revision to review until `until`: they claimed it, or a coordinator assigned it."""

    kind: Literal["claimed"] = "claimed"
    person: str
    until: datetime


class Released(Frozen):
    """`person` does not review the revision after all: skipped, or taken away by a coordinator."""

    kind: Literal["released"] = "released"
    person: str
    reason: Name


class Prioritised(Frozen):
    """The task's priority for review; the newest counts. 0 is normal, a higher one is reviewed sooner."""

    kind: Literal["prioritised"] = "prioritised"
    priority: Annotated[int, Field(ge=-2, le=2)]


class Commented(Frozen):
    """A comment outside a review. `during`: the work during which it was made, if any."""

    kind: Literal["commented"] = "commented"
    place: str
    text: Name
    during: Literal["", "adjudication", "play"] = ""


class Answered(Frozen):
    """An answer to the comment with the id `comment` (see `comment_id`), which may also resolve or reopen it."""

    kind: Literal["answered"] = "answered"
    comment: str
    text: str = ""
    turns: Literal["", "resolved", "open"] = ""


class GoldBuilt(Frozen):
    """A second annotator's gold, built from the brief without having seen the author's. `gold` has the
    shape of the task's gold as JSON.
    """

    kind: Literal["gold_built"] = "gold_built"
    gold: dict[str, JsonValue]
    seconds: float = 0
    note: str = ""


class GoldDecided(Frozen):
    """Somebody decided between the task's gold and the independent one of the entry with the uid `gold`. The entry's
    revision is the one that has what they decided; it may be the one that there was.
    """

    kind: Literal["gold_decided"] = "gold_decided"
    gold: str


class QcDecided(Frozen):
    """A person confirmed, or changed, what the decision table proposed from `signals`."""

    kind: Literal["qc_decided"] = "qc_decided"
    verdict: QcVerdict
    proposed: QcVerdict
    signals: dict[str, JsonValue] = {}
    rules: tuple[str, ...] = ()
    reason: str = ""


class SkillsSet(Frozen):
    """What a person reviews: languages and domains, none meaning any. Belongs to no task."""

    kind: Literal["skills_set"] = "skills_set"
    languages: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


Body = Annotated[
    Submitted
    | Withdrawn
    | Reopened
    | Retired
    | Restored
    | ThirdAsked
    | Reviewed
    | Claimed
    | Released
    | Prioritised
    | Commented
    | Answered
    | GoldBuilt
    | GoldDecided
    | QcDecided
    | SkillsSet,
    Field(discriminator="kind"),
]


class Contribution(Frozen):
    """One entry, by the person `by`. `uid` is the same in every workspace. `tick` is its time in microseconds, or one
    more than the task's highest tick in its workspace, if that is later: so entries sort after everything their makers
    could see, even if clocks are wrong, and entries of separate workspaces sort by time. An entry with `task_id` "" and
    `revision` 0 belongs to no task.
    """

    uid: str
    task_id: str
    revision: int
    by: str
    at: datetime
    tick: int
    body: Body

    @property
    def order(self) -> tuple[int, datetime, str]:
        """The sort key of a task's entries, which gives the same order in every workspace."""
        return self.tick, self.at, self.uid


def contribution_uid(
    task_id: str, revision_uid: str, by: str, at: datetime, tick: int, body: Body
) -> str:
    """The hash that names an entry: over everything it says, 32 hex digits. What is left at its default
    does not count, so that a field added later changes no name.
    """
    said = body.model_dump(mode="json", exclude_defaults=True)
    moment = at.astimezone(UTC).isoformat()
    return _digest([task_id, revision_uid, by, moment, tick, body.kind, said])


def revision_uid(task_id: str, content_hash: str, parents: tuple[str, ...]) -> str:
    """The hash that names a revision: its content and what it stands on, not who saved it when."""
    return _digest([task_id, content_hash, sorted(parents)])


def comment_id(uid: str, index: int | None = None) -> str:
    """Names a comment: comment `index` of the review `uid`, or the entry `uid` itself."""
    return uid if index is None else f"{uid}#{index}"


def _digest(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


REVIEWS_NEEDED = 2


class TaskState(StrEnum):
    """Where a task stands; always about its newest revision."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    RETURNED = "returned"
    APPROVED = "approved"
    RETIRED = "retired"


class Action(StrEnum):
    """`revise` follows from saving a revision, `approve` and `return` from reviews; the others are
    what people do.
    """

    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    ASK_THIRD = "ask_third"
    APPROVE = "approve"
    RETURN = "return"
    REOPEN = "reopen"
    REVISE = "revise"
    RETIRE = "retire"
    RESTORE = "restore"


@dataclass(frozen=True)
class Transition:
    """A step between states of a task. `target`: None means the state before; `by`: whose step it is."""

    sources: frozenset[TaskState]
    target: TaskState | None
    by: Literal["author", "reviews", "anyone"]


_ALL = frozenset(TaskState)
TRANSITIONS: dict[Action, Transition] = {
    Action.SUBMIT: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED}), TaskState.IN_REVIEW, "author"
    ),
    Action.WITHDRAW: Transition(frozenset({TaskState.IN_REVIEW}), TaskState.DRAFT, "author"),
    Action.ASK_THIRD: Transition(frozenset({TaskState.RETURNED}), TaskState.IN_REVIEW, "author"),
    Action.APPROVE: Transition(frozenset({TaskState.IN_REVIEW}), TaskState.APPROVED, "reviews"),
    # A review that was made elsewhere may come in late and undo an approval, never make one.
    Action.RETURN: Transition(
        frozenset({TaskState.IN_REVIEW, TaskState.APPROVED}), TaskState.RETURNED, "reviews"
    ),
    Action.REOPEN: Transition(frozenset({TaskState.APPROVED}), TaskState.DRAFT, "author"),
    Action.REVISE: Transition(_ALL - {TaskState.RETIRED}, TaskState.DRAFT, "anyone"),
    Action.RETIRE: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED, TaskState.APPROVED}),
        TaskState.RETIRED,
        "author",
    ),
    Action.RESTORE: Transition(frozenset({TaskState.RETIRED}), None, "author"),
}

Seen = Literal["nobody", "party", "all"]
"""Who may read the reviews of a revision besides their own: nobody, its reviewers and authors, all."""


class Move(Frozen):
    """One step in a task's workflow history."""

    task_id: str
    revision: int
    action: Action
    state: TaskState
    by: str
    reason: str
    at: datetime
