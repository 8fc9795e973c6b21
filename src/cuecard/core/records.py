"""Records of tasks, runs, live sessions and results, as the store gives them out and other packages pass them on."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from cuecard.core.config_schema import FormQuestion
from cuecard.core.contributions import GoldCheck, PinnedComment, Rating, ReviewDecision, TaskState
from cuecard.core.engine.events import Event, Limits, RunState, Termination
from cuecard.core.engine.messages import ModelReply, PlayerRef, Usage, UserReply
from cuecard.core.engine.step_context import SeatMove
from cuecard.core.tasks.base import Frozen, Origin
from cuecard.core.tasks.models import Difficulty, Family, Task, TaskLanguage


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


class RunLease(Frozen):
    """Who plays a run (`alive`), or did when they were killed. `since`: by the database's clock."""

    person: str
    host: str
    pid: int
    since: datetime
    alive: bool


class RunRecord(Frozen):
    """A grid of trials. `kind`: an automated `grid`, one person's `play` session, or a quality `probe`
    of tasks. `plan`: what it was started with, for whoever resumes it; the store does not read it.
    `state`: see `core.run_state`. `reason`: why it is paused. `uid` names it in every copy of the workspace.
    """

    id: int
    uid: str = ""
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
    lease: RunLease | None = None


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
    """A trial's effective log in which large texts are only their beginnings, with an ellipsis (a tool's
    entries only their titles). `left_out`: the `seq` of such events, with the hashes of what is missing.
    """

    events: tuple[Event, ...]
    left_out: dict[int, tuple[str, ...]]


class Shadow(Frozen):
    """What a simulator would have said in a trial's user turn `turn`, after the dialogue whose hash is
    `state` (see `core.evaluation.shadows.state_of`). `calls`: what it was answered by its model, none for a baseline.
    `live`: it listened while the session was played; otherwise it was asked afterwards.
    """

    trial_id: int
    turn: int
    state: str
    player: PlayerRef
    reply: UserReply
    calls: tuple[ModelReply, ...] = ()
    live: bool = True
    at: datetime


class SeatStep(Frozen):
    """A move as it is kept. `place`: its step, such as `agent/3/move/0` or `conclusion/move/2`."""

    trial_id: int
    take: int
    place: str
    person: str
    move: SeatMove
    at: datetime


class Pulse(Frozen):
    """The newest event of a trial: its number and take, and when it was."""

    seq: int
    take: int
    at: datetime


class SessionForm(Frozen):
    """What a person said of a session: answers by the questions' keys (numbers of scales, an option, or
    words). `questions` are those that were asked.
    """

    trial_id: int
    person: str
    questions: tuple[FormQuestion, ...]
    answers: dict[str, int | str]
    at: datetime


NoteKind = Literal["bookmark", "comment"]


class TaskTraits(Frozen):
    """Of one revision. `hash`: of its content; `facts` of a closed world, `stages` of a persona."""

    family: Family
    language: TaskLanguage
    domain: str
    difficulty: Difficulty | None
    facts: int
    stages: int
    hash: str


class KeptFigures(Frozen):
    """`body`: a trial's figures as JSON; `stamp`: what they were counted from and by."""

    judgement_id: int
    trial_id: int
    stamp: str
    body: str


class PromptUse(Frozen):
    """How many calls of a run were made with a prompt, by whoever paid (`agent`, `user`, `conclusion`, `world`,
    `judge`). `player`: the agent's name, or the judge's. `hash`: of the prompt's template.
    """

    payer: str
    player: str
    hash: str
    calls: int


class TrialNote(Frozen):
    """What a person noted at a place of a trial: `turn/3`, `event/17`, `verdict/triple/4`, `stage/2`,
    `step/1`, `fact/0`, "" for the whole trial. A bookmark may have no text.
    """

    uid: str
    trial_id: int
    person: str
    kind: NoteKind
    place: str
    text: str
    at: datetime
