"""Events: the append-only log of a trial, what a run tells while it goes on, and where a run stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    Mark,
    Message,
    ModelReply,
    PlayerRef,
    Remark,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.errors import Halt
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Prediction


class Termination(StrEnum):
    """Why a trial ended."""

    USER_DONE = "user_done"
    ANSWERED = "answered"
    MAX_TURNS = "max_turns"
    CONTEXT_OVERFLOW = "context_overflow"
    ERROR_LOOP = "error_loop"
    EMPTY_RESPONSE = "empty_response"
    API_ERROR = "api_error"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"

    @property
    def is_failure(self) -> bool:
        return self not in (Termination.USER_DONE, Termination.ANSWERED, Termination.MAX_TURNS)


class Limits(Frozen):
    """`max_turns`: agent turns before the trial ends as `max_turns`."""

    max_turns: int = 60
    max_tool_calls_per_turn: int = 100


class TrialStarted(Frozen):
    type: Literal["trial_started"] = "trial_started"
    task_id: str
    revision: int
    revision_hash: str
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    sample: int = 0
    seed: int = 0
    limits: Limits = Limits()
    cuecard: str = ""

    @property
    def key(self) -> str:
        return "start"


class UserSpoke(Frozen):
    type: Literal["user_spoke"] = "user_spoke"
    turn: int
    reply: UserReply

    @property
    def key(self) -> str:
        return f"user/{self.turn}"

    @property
    def message(self) -> Message:
        r = self.reply
        return Message(
            role="user",
            turn=self.turn,
            text=r.text,
            stage=r.stage,
            cue_met=r.cue_met,
            checkpoint=r.checkpoint,
            status=r.status,
        )


class AgentSpoke(Frozen):
    type: Literal["agent_spoke"] = "agent_spoke"
    turn: int
    reply: AgentReply

    @property
    def key(self) -> str:
        return f"agent/{self.turn}"

    @property
    def message(self) -> Message:
        return Message(role="agent", turn=self.turn, text=self.reply.text, act=self.reply.act)


class ModelReplied(Frozen):
    """`part` is in whose turn it was (`agent`, `user`, `conclusion`), `step` counts the calls of this
    turn and `scope`. A scope ends in a slash: `tool/2/` is the world answering the turn's tool call 2.
    `prompt`: the hash of the prompt's template.
    """

    type: Literal["model_replied"] = "model_replied"
    part: str
    turn: int
    step: int
    model: str
    reply: ModelReply
    scope: str = ""
    prompt: str = ""

    @property
    def key(self) -> str:
        return f"{self.part}/{self.turn}/{self.scope}model/{self.step}"

    @property
    def payer(self) -> str:
        """Whose call it was: the part's, or `world` where the world made it to answer a tool call."""
        return "world" if "tool/" in self.scope else self.part


class ToolAnswered(Frozen):
    type: Literal["tool_answered"] = "tool_answered"
    part: str
    turn: int
    step: int
    call: ToolCall
    answer: ToolAnswer
    scope: str = ""

    @property
    def key(self) -> str:
        return f"{self.part}/{self.turn}/{self.scope}tool/{self.step}"


class Marked(Frozen):
    """`step` counts the marks of one kind in this turn and scope."""

    type: Literal["marked"] = "marked"
    part: str
    turn: int
    step: int
    mark: Mark
    scope: str = ""

    @property
    def key(self) -> str:
        return f"{self.part}/{self.turn}/{self.scope}{self.mark.kind}/{self.step}"


class Concluded(Frozen):
    type: Literal["concluded"] = "concluded"
    prediction: Prediction

    @property
    def key(self) -> str:
        return "conclusion"


class TrialEnded(Frozen):
    type: Literal["trial_ended"] = "trial_ended"
    termination: Termination
    detail: str = ""

    @property
    def key(self) -> str:
        return "end"


class TrialRetried(Frozen):
    """The trial is taken again. `keep`: it goes on after its last step, as if it had not ended;
    otherwise it starts over. `back_to` (with `keep`): it goes on from before the event of this number,
    when a person takes words back or has the agent's turn taken again. What was before stays in the log
    as an earlier take.
    """

    type: Literal["trial_reopened"] = "trial_reopened"
    keep: bool
    reason: str = ""
    back_to: int | None = None

    @property
    def key(self) -> str:
        return "reopened"


EventBody = Annotated[
    TrialStarted
    | UserSpoke
    | AgentSpoke
    | ModelReplied
    | ToolAnswered
    | Marked
    | Concluded
    | TrialEnded
    | TrialRetried,
    Field(discriminator="type"),
]
# Built on first use: it is the largest of all validators, and the app starts without it.
EVENT_BODY: TypeAdapter[EventBody] = TypeAdapter(EventBody, config=ConfigDict(defer_build=True))


class Event(Frozen):
    """`seq` counts from 0 within the trial; `at` is in UTC. `take` counts how often the trial was
    retried before; within a take, keys are unique.
    """

    seq: int
    at: datetime
    body: EventBody
    take: int = 0


def effective_log(log: Sequence[Event]) -> tuple[Event, ...]:
    """The events that make up the trial as it stands, without what its retries took back.

    Everything that plays, shows or scores a trial works on its effective log; what was spent is counted over
    the whole log.
    """
    effective: list[Event] = []
    for event in log:
        if isinstance(event.body, TrialRetried):
            effective = kept_by(effective, event.body)
        else:
            effective.append(event)
    return tuple(effective)


def kept_by(effective: Sequence[Event], retried: TrialRetried) -> list[Event]:
    """What of an effective log stands after it was retried. What people noted stands also where the turn in
    which they did is taken back.
    """
    if not retried.keep:
        return []
    back_to = retried.back_to
    return [e for e in effective if not isinstance(e.body, TrialEnded) and _stands(e, back_to)]


def _stands(event: Event, back_to: int | None) -> bool:
    if back_to is None or event.seq < back_to:
        return True
    return isinstance(event.body, Marked) and isinstance(event.body.mark, Remark)


def dialogue_of(events: Sequence[Event]) -> Dialogue:
    """The dialogue as far as the log goes."""
    spoken = [e.body.message for e in events if isinstance(e.body, UserSpoke | AgentSpoke)]
    return Dialogue(tuple(spoken))


@dataclass(frozen=True)
class RunBegan:
    cells: int
    concurrency: int


@dataclass(frozen=True)
class TrialBegan:
    """`resumed`: events of it were there already."""

    cell: str
    resumed: bool


@dataclass(frozen=True)
class TurnPlayed:
    """The agent's turn `turn` (from 0) is over. Turns from before a resumption are not told again."""

    cell: str
    turn: int


@dataclass(frozen=True)
class CallAnswered:
    """A model answered, for `payer` (agent, user, conclusion, world). `cost` is None without a price."""

    cell: str
    payer: str
    model: str
    usage: Usage
    cost: float | None


@dataclass(frozen=True)
class ToolUsed:
    """The world answered a tool call."""

    cell: str
    name: str


@dataclass(frozen=True)
class TrialFinished:
    """`problem`: why the trial could not begin, or what failed after it (judging, say)."""

    cell: str
    termination: Termination
    detail: str = ""
    problem: str = ""


@dataclass(frozen=True)
class TrialLeftOpen:
    """Cancelled where it stood; its trial log resumes it. `cut`: the models and tools that had not answered."""

    cell: str
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunFinished:
    summary: RunSummary


RunEvent = (
    RunBegan
    | TrialBegan
    | TurnPlayed
    | CallAnswered
    | ToolUsed
    | TrialFinished
    | TrialLeftOpen
    | RunFinished
)


@dataclass(frozen=True)
class RunSummary:
    """Counts of cells: `finished` ones by termination, those with a `problem`, those cancelled in
    the middle and `left_open`, and those `not_begun`. `halt`: why the run stopped before its end,
    where it did not simply get cancelled.
    """

    cells: int
    terminations: Mapping[Termination, int] = field(default_factory=dict[Termination, int])
    problems: int = 0
    left_open: int = 0
    not_begun: int = 0
    cancelled: bool = False
    halt: Halt | None = None

    @property
    def finished(self) -> int:
        return sum(self.terminations.values())


Played = Literal["now", "lapsed", "no"]
"""Whether somebody plays a run: `now`; `lapsed`, whoever did is gone without a word; `no`."""


class RunState(StrEnum):
    """`running`: somebody plays it. `interrupted`: whoever played it was killed. `open`: it was entered, or left in
    good order, and nobody plays it. `paused`: it stopped by itself or was paused. `cancelled`: it was stopped.
    """

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    OPEN = "open"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def label(self) -> str:
        return _(_LOOKS[self][1])

    @property
    def glyph(self) -> str:
        return _LOOKS[self][0]

    @property
    def tone(self) -> Literal["stage", "user", "good", "bad", "muted"]:
        return _LOOKS[self][2]

    @property
    def told(self) -> str:
        """`▸ running`."""
        return f"{self.glyph} {self.label}"


_LOOKS: dict[RunState, tuple[str, str, Literal["stage", "user", "good", "bad", "muted"]]] = {
    RunState.RUNNING: ("▸", N_("running"), "user"),
    RunState.INTERRUPTED: ("✗", N_("interrupted"), "bad"),
    RunState.OPEN: ("◌", N_("open"), "muted"),
    RunState.PAUSED: ("‖", N_("paused"), "stage"),
    RunState.DONE: ("●", N_("done"), "good"),
    RunState.CANCELLED: ("–", N_("stopped"), "muted"),
}


def run_state(marked: RunState, played: Played, *, trials: int, finished: int) -> RunState:
    """What a run's mark means, in view of who plays it and how many of its trials have ended.

    `marked`: how whoever played it last left it: `running` from its first moment on, then `paused`, `done` or
    `cancelled`. What is played runs, whatever is marked; what is marked as running and not played is not.
    """
    if played == "now":
        return RunState.RUNNING
    if marked is RunState.RUNNING:
        return RunState.INTERRUPTED if played == "lapsed" else RunState.OPEN
    if marked is RunState.DONE and finished < trials:
        return RunState.OPEN
    return marked
