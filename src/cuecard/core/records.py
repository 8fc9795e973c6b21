"""Immutable records of tasks, runs, trials and sessions, as the store returns them. Times are in UTC."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import JsonValue

from cuecard.core.contributions import GoldCheck, PinnedComment, Rating, ReviewDecision, TaskState
from cuecard.core.engine.events import Event, Limits, RunState, Termination
from cuecard.core.engine.messages import ModelReply, PlayerRef, Usage, UserReply
from cuecard.core.engine.step_context import PlayMove
from cuecard.core.tasks.base import FormQuestion, Frozen, Origin
from cuecard.core.tasks.models import Difficulty, Family, Task, TaskLanguage


class Person(Frozen):
    name: str
    created_at: datetime


class Membership(Frozen):
    """A role of the PostgreSQL server, and the person it stands for, or worked as, since or at a time."""

    role: str
    person: str
    coordinator: bool
    at: datetime


class TaskSummary(Frozen):
    """One task of the task list. `forks`: newest revisions on other branches than `revision`."""

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


class RevisionLine(Frozen):
    """An immutable, numbered (from 1), content-hashed version of a task, without the task itself. `origins`: what a
    machine drafted since the previous revision. `uid`: the same in every copy of the workspace.
    """

    task_id: str
    number: int
    hash: str
    author: str
    message: str
    created_at: datetime
    origins: tuple[Origin, ...] = ()
    uid: str = ""


class Revision(RevisionLine):
    """A revision with its task."""

    task: Task


class Saved(Frozen):
    """The result of saving a task: its newest revision before (0: none) and now."""

    task_id: str
    title: str
    before: int
    number: int


ASIDE = "@"
"""Part of the ids of drafts that are not edits of a task but something else about it."""
ASIDE_GOLD = f"{ASIDE}gold"
"""What the ids of drafts of a second gold end in, behind the task's."""


class Draft(Frozen):
    """One person's unsaved edit on top of revision `base`. `data` has the shape of a task's
    `model_dump(mode="json")` but need not validate yet. `left_at`: when the editor was closed after the
    last change; None while it is open, and after a crash.
    """

    task_id: str
    person: str
    base: int
    data: dict[str, JsonValue]
    updated_at: datetime
    origins: tuple[Origin, ...] = ()
    left_at: datetime | None = None


class ThrownDraft(Draft):
    """A draft that its person threw away at `thrown_at`; kept so that it can be restored."""

    id: int
    thrown_at: datetime


EffortKind = Literal["time", "query", "page"]


class EffortEntry(Frozen):
    """A person's effort on a task: `amount` is seconds of editing, or a number of queries or pages; `text` is the query
    or the page's address.
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
    """One reviewer's ratings, decision and comments on one revision; see `Reviewed` for the fields. `uid` is "" until
    the review is handed in.
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
    """An answer to a comment. `turns`: whether it resolves the comment or opens it again; "" for neither."""

    by: str
    text: str
    turns: Literal["", "resolved", "open"]
    at: datetime


class Comment(Frozen):
    """A comment of a review (`of_review`) or outside one, with its answers, oldest first. `place` is the path of the
    element in `revision`.
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
    """A task in review as one person may see it: without author, reviewers or decisions. `reviews` of the `needed`
    reviews are in; `claims`: how many others have claimed it; `mine`: until when this person has. `wrote`, `reviewed`,
    `released`: whether this person wrote a revision, has reviewed this one, or gave it back.
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
    """Who plays a run, or (not `alive`) whose process vanished while playing it. `since`: by the database's clock.
    `workers`: how many workers that are alive share it; 0 for one process alone.
    """

    person: str
    host: str
    pid: int
    since: datetime
    alive: bool
    workers: int = 0


class WorkerRecord(Frozen):
    """A process that plays trials offered to workers. `alive`: it beat lately and did not leave. `players`: a hash of its
    configuration; `under_way`: trials that it holds; `calls`: of models that it made; `note`: why it takes nothing of a run.
    """

    id: str
    host: str
    pid: int
    person: str
    since: datetime
    beat_at: datetime
    left_at: datetime | None
    concurrency: int
    players: str
    under_way: int
    calls: int
    note: str
    alive: bool


Taking = Literal["first", "again", "lost"]
"""Why a worker took a trial: nobody had; it had been given back (`again`); or its holder's beats had stopped (`lost`)."""


class TakeRecord(Frozen):
    """A worker took a trial. `fence` counts the takes of the trial from 1; `before`: the worker that it was taken from."""

    trial_id: int
    fence: int
    worker: str
    at: datetime
    why: Taking
    before: str | None


class OfferProgress(Frozen):
    """Where the trials of a run stand that was offered to workers. `waiting`: offered and held by nobody; `held` by a
    worker; `done`. `workers`: those that are alive or took a trial of the run; `lost`: the takes from workers that died.
    """

    waiting: int
    held: int
    done: int
    workers: tuple[WorkerRecord, ...]
    lost: tuple[TakeRecord, ...]


OrderKind = Literal["pause", "resume", "cancel", "budget", "concurrency"]
"""What can be asked of those who play a run."""


class RunOrder(Frozen):
    """What a person asked of those who play a run. `value`: of a budget (None: no limit) or concurrency."""

    id: int
    run_id: int
    kind: OrderKind
    value: float | None = None
    person: str
    at: datetime


class RunRecord(Frozen):
    """A grid of trials. `kind`: an automated `grid`, one person's `play` session, or a quality `probe` of tasks. `plan`:
    its settings (`RunSettings`) as JSON, for resuming it; the store does not interpret them. `state`: see
    `core.engine.events.run_state`. `reason`: why it is paused. `uid`: the same in every copy of the workspace.
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
    failed: int = 0
    plan: dict[str, JsonValue] = {}
    reason: str = ""
    lease: RunLease | None = None

    @property
    def is_exam(self) -> bool:
        """Whether a judge sits an exam in it: what is right there is known, so it belongs among no scores or labels."""
        return self.kind == "probe" and bool(self.plan.get("exam"))

    @property
    def shown(self) -> RunState:
        """Its state as people read it."""
        barren = self.state is RunState.DONE and 0 < self.trials == self.failed
        return RunState.FAILED if barren else self.state


class TrialCell(Frozen):
    """One cell of a run's grid: a trial that is to be played. `sample` counts from 0."""

    task_id: str
    revision: int
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    sample: int = 0
    seed: int = 0


class TrialRecord(NamedTuple):
    """One trial: a dialogue on one revision, open while `termination` is None. `events`: the length of its log. `uid`:
    the same in every copy of the workspace. A plain tuple, as there are hundreds of thousands of them.
    """

    id: int
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
    uid: str = ""


def first_judge(plan: Mapping[str, JsonValue]) -> str:
    """The first of the judges that a run with this plan was entered with, "" for none. What it decided counts where no judge is
    named; in trials that it did not judge, what the judge decided who judged them first.
    """
    judges = plan.get("judges")
    return str(judges[0]) if isinstance(judges, list) and judges else ""


class UsageRecord(NamedTuple):
    """Tokens and cost of one model's calls for one `payer` of a trial (`agent`, `user`, `conclusion`, `world` or
    `judge`), over all its attempts. `cost` is None if no call had a price; `priced`: how many calls had one.
    """

    trial_id: int
    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None
    priced: int = 0


class Outline(Frozen):
    """A trial's effective log with large texts cut to their beginnings and an ellipsis (search results to their
    titles). `left_out`: the `seq` of the events with cut texts, and the hashes of those texts.
    """

    events: tuple[Event, ...]
    left_out: dict[int, tuple[str, ...]]


class Shadow(Frozen):
    """What a simulator would have said in a trial's user turn `turn`, after the dialogue whose hash is `state` (see
    `core.evaluation.shadows.state_of`). `calls`: the replies of its model, none for a baseline. `live`: it was asked
    while the session was played; otherwise afterwards.
    """

    trial_id: int
    turn: int
    state: str
    player: PlayerRef
    reply: UserReply
    calls: tuple[ModelReply, ...] = ()
    live: bool = True
    at: datetime


class PlayStep(Frozen):
    """A stored move of a person who plays the agent. `take`: the attempt; `place`: its key, such as `agent/3/move/0`."""

    trial_id: int
    take: int
    place: str
    person: str
    move: PlayMove
    at: datetime


class LatestEvent(Frozen):
    """The newest event of a trial: its number, its attempt (`take`) and its time."""

    seq: int
    take: int
    at: datetime


class SessionForm(Frozen):
    """A person's answers to the form after a session, by the questions' keys: a number on a scale, an option, or words.
    `questions`: those that were asked.
    """

    trial_id: int
    person: str
    questions: tuple[FormQuestion, ...]
    answers: dict[str, int | str]
    at: datetime


NoteKind = Literal["bookmark", "comment", "blame", "blame_proposed"]
"""The last two say whose fault a failed trial is (`core.evaluation.blame`), by a person and by a model."""
PLACED: tuple[NoteKind, ...] = ("bookmark", "comment")
"""Notes on a place of a trial, which everybody sees there."""


class TaskTraits(Frozen):
    """Properties of one revision that results are grouped by. `facts`: number of facts of a facts task; `stages`: of its
    persona; `hash`: of its content.
    """

    family: Family
    language: TaskLanguage
    domain: str
    difficulty: Difficulty | None
    facts: int
    stages: int
    hash: str


class KeptFigures(NamedTuple):
    """The stored figures of a judged trial. `body`: `TrialFigures` as JSON; `stamp`: the version and log that they were
    computed with (`core.evaluation.scores.stamp_of`).
    """

    judgement_id: int
    trial_id: int
    stamp: str
    body: str


class PromptUse(Frozen):
    """How many calls of a run were made with one prompt by one `payer` (`agent`, `user`, `conclusion`, `world`,
    `judge`). `player`: the name of the agent or judge. `hash`: of the prompt's template.
    """

    payer: str
    player: str
    hash: str
    calls: int


class TrialNote(Frozen):
    """A person's bookmark or comment on a place of a trial: `turn/3`, `event/17`, `verdict/triple/4`, `stage/2`,
    `step/1`, `fact/0`, or "" for the whole trial; of the other kinds, the party at fault. A bookmark may have no text.
    """

    uid: str
    trial_id: int
    person: str
    kind: NoteKind
    place: str
    text: str
    at: datetime
