"""What leaves the store: frozen records, never table objects."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from cuecard.core.events import Event, Limits, Termination
from cuecard.core.parts import CheckpointStatus, PlayerRef, Usage
from cuecard.core.review import GoldCheck, PinnedComment
from cuecard.core.review import Move as Move
from cuecard.core.review import Rating as Rating
from cuecard.core.review import ReviewDecision as ReviewDecision
from cuecard.core.review import TaskState as TaskState
from cuecard.core.tasks import Difficulty, Family, Origin, Task, TaskLanguage
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, Judgement


class Person(Frozen):
    name: str
    created_at: datetime


class TaskSummary(Frozen):
    """A line of the task list."""

    id: str
    title: str
    family: Family
    language: TaskLanguage
    domain: str
    difficulty: Difficulty | None
    revision: int
    state: TaskState
    author: str
    updated_at: datetime
    priority: int = 0
    forks: int = 0


class Revision(Frozen):
    """An immutable, numbered (from 1), content-hashed version of a task. `origins`: what of it a
    machine drafted since the revision before.
    """

    task_id: str
    number: int
    hash: str
    author: str
    message: str
    created_at: datetime
    task: Task
    origins: tuple[Origin, ...] = ()
    uid: str = ""


class Saved(Frozen):
    """What saving a task did: its newest revision before (0: none) and now."""

    task_id: str
    title: str
    before: int
    number: int


class RevisionLine(Frozen):
    """A revision without its task, for lists."""

    task_id: str
    number: int
    hash: str
    author: str
    message: str
    created_at: datetime
    origins: tuple[Origin, ...] = ()
    uid: str = ""


ASIDE = "@"
"""Stands in the id under which something about a task is kept as a draft that is no edit of it."""


class Draft(Frozen):
    """One person's unsaved edit on top of revision `base`. `data` has the shape of a task's
    `model_dump(mode="json")` but need not validate yet. `left_at`: when the editor was left in good
    order after the last change; None while it is open, and after a crash.
    """

    task_id: str
    person: str
    base: int
    data: dict[str, JsonValue]
    updated_at: datetime
    origins: tuple[Origin, ...] = ()
    left_at: datetime | None = None


class ThrownDraft(Frozen):
    """A draft that its person threw away at `thrown_at`; kept, so that they can have it back."""

    id: int
    task_id: str
    person: str
    base: int
    data: dict[str, JsonValue]
    updated_at: datetime
    thrown_at: datetime
    origins: tuple[Origin, ...] = ()


EffortKind = Literal["time", "query", "page"]


class EffortEntry(Frozen):
    """What a person put into a task: `amount` seconds of editing, or so many queries or pages, of
    which `text` says what was asked or which page it was.
    """

    task_id: str
    person: str
    kind: EffortKind
    amount: float
    text: str
    at: datetime


class EffortTotals(Frozen):
    """Sums over entries: seconds of editing without idle time, queries issued, pages consulted."""

    seconds: float = 0
    queries: int = 0
    pages: int = 0


class Review(Frozen):
    """One reviewer's dimensions, decision and comments on one revision; see `Reviewed`. `uid` "": not
    handed in yet.
    """

    task_id: str
    revision: int
    reviewer: str
    ratings: dict[str, Rating]
    decision: ReviewDecision
    comments: tuple[PinnedComment, ...] = ()
    checks: tuple[GoldCheck, ...] = ()
    sample: tuple[str, ...] = ()
    seconds: float = 0
    protocol: str = ""
    created_at: datetime
    uid: str = ""


class Answer(Frozen):
    """What was said to a comment; `turns`: what it made of it."""

    by: str
    text: str
    turns: Literal["", "resolved", "open"]
    at: datetime


class Comment(Frozen):
    """A comment of a review, or outside one, with its answers, oldest first. `place` is the element's
    path in `revision`.
    """

    id: str
    task_id: str
    revision: int
    place: str
    text: str
    dimension: str
    by: str
    at: datetime
    of_review: bool
    answers: tuple[Answer, ...] = ()

    @property
    def resolved(self) -> bool:
        turns = [answer.turns for answer in self.answers if answer.turns]
        return bool(turns) and turns[-1] == "resolved"


class OpenRound(Frozen):
    """A task in review as one person may see it: without author, reviewers or decisions. `reviews` of
    `needed` are in, `claims` of others hold; `mine`: until when this person has it. `wrote`, `reviewed`,
    `released`: this person wrote a revision, has reviewed this one, gave it back.
    """

    task: TaskSummary
    submitted_at: datetime | None
    priority: int
    reviews: int
    needed: int
    claims: int
    mine: datetime | None
    wrote: bool
    reviewed: bool
    released: bool


class RunState(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"


class RunRecord(Frozen):
    """A grid of trials. `kind`: an automated `grid`, one person's `play` session, or a quality `probe`
    of tasks. `plan`: what it was started with, for whoever resumes it; the store does not read it.
    `reason`: why it is paused.
    """

    id: int
    name: str
    kind: Literal["grid", "play", "probe"]
    created_by: str
    created_at: datetime
    state: RunState
    samples: int
    limits: Limits
    trials: int
    finished: int
    plan: dict[str, JsonValue] = {}
    reason: str = ""


class TrialCell(Frozen):
    """What a trial is to be: one cell of a run's grid."""

    task_id: str
    revision: int
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    sample: int = 0
    seed: int = 0


class TrialRecord(Frozen):
    """One dialogue on one revision; open while `termination` is None. `uid` names it in every copy of
    the workspace.
    """

    id: int
    uid: str = ""
    run_id: int
    task_id: str
    title: str
    family: Family
    revision: int
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    sample: int
    seed: int
    termination: Termination | None
    detail: str
    created_at: datetime
    ended_at: datetime | None
    events: int


class UsageRecord(Frozen):
    """What one payer's calls of one model have cost a trial: `agent`, `user`, `conclusion`, `world`
    or `judge`. All takes of the trial count. `cost` is None if no call had a price; `priced`: how
    many had one.
    """

    trial_id: int
    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None
    priced: int = 0


class Outline(Frozen):
    """A trial's course in which large texts are only their beginnings, with an ellipsis (a tool's
    entries only their titles). `left_out`: the `seq` of such events, with the hashes of what is missing.
    """

    events: tuple[Event, ...]
    left_out: dict[int, tuple[str, ...]]


class JudgementRecord(Frozen):
    id: int
    trial_id: int
    created_at: datetime
    judgement: Judgement


class VerdictItem(Frozen):
    """A verdict to be labelled, without anything that the labeller must not see yet."""

    verdict_id: int
    trial_id: int
    run_id: int
    task_id: str
    revision: int
    item: Item


class VerdictRecord(Frozen):
    """A verdict with the judge's decision: only for those who may see it."""

    verdict_id: int
    trial_id: int
    task_id: str
    revision: int
    judge: PlayerRef
    item: Item
    decision: Decision
    supporting: tuple[int, ...]
    rationale: str


class LabelValue(StrEnum):
    """A person's decision on an item. On the status of a checkpoint it is a `CheckpointStatus`."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


Phase = Literal["blind", "revealed"]
"""Whether a label was given before or after its person saw what was decided on the item."""


class Label(Frozen):
    """The newest of one person's decisions on one item; earlier ones stay in the history. `verdict_id`:
    of a verdict on the item, 0 if there is none. `seconds`: how long it took, 0 if not known;
    `gold_wrong`: the person holds the gold item itself for wrong; `source`: the file it came from, "" if
    it was given here.
    """

    verdict_id: int
    person: str
    value: LabelValue | CheckpointStatus
    comment: str = ""
    created_at: datetime
    trial_id: int = 0
    item_key: str = ""
    phase: Phase = "blind"
    seconds: float = 0
    gold_wrong: bool = False
    source: str = ""


Cause = Literal[
    "alias",
    "granularity",
    "composition",
    "contradiction",
    "format",
    "gold_wrong",
    "prompt_ambiguous",
    "human_slip",
]
"""Why a decision was wrong. The first five are the judge's errors."""


class Adjudication(Frozen):
    """What was decided on an item that was disputed; labels and verdicts stay as they are. `cause` "":
    nobody erred.
    """

    trial_id: int
    item_key: str
    by: str
    value: LabelValue | CheckpointStatus
    cause: Cause | Literal[""] = ""
    comment: str = ""
    at: datetime


class SetItem(Frozen):
    """An item of a labelling set. `probability`: with which it was drawn from its stratum, for weights;
    `raters`: how many people are to label it, `people`: who, nobody named meaning anybody.
    """

    trial_id: int
    item: Item
    stratum: str = ""
    probability: float = 1
    raters: int = 1
    people: tuple[str, ...] = ()


class LabelSet(Frozen):
    """Items that were drawn to be labelled. `plan` says how; the store does not read it."""

    id: int
    uid: str
    name: str
    created_by: str
    created_at: datetime
    items: int
    plan: dict[str, JsonValue] = {}


class SetProgress(Frozen):
    """`wanted` labels of `items` items; `given` of them are there, `mine` by one person, for whom `left`
    items wait. `seconds`: what this person took in all for those whose time is known, `timed` of them.
    """

    items: int
    wanted: int
    given: int
    mine: int
    left: int
    seconds: float
    timed: int


class VerdictLine(Frozen):
    """A line of the list of verdicts. `decision`: None unless this person has labelled the item and
    has seen the decision since.
    """

    verdict_id: int
    trial_id: int
    run_id: int
    task_id: str
    revision: int
    agent: str
    judge: str
    item: Item
    mine: LabelValue | CheckpointStatus | None
    decision: Decision | None


class RunLabels(Frozen):
    """How far the labelling of a run is: items that judges decided, those that one person has
    labelled, and all people's labels that count.
    """

    run_id: int
    name: str
    judges: tuple[str, ...]
    verdicts: int
    mine: int
    labels: int
