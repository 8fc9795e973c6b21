"""Events of a trial's append-only log, events that a running grid reports, and the state of a run."""

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
from cuecard.core.predictions import Prediction
from cuecard.core.tasks.base import Frozen


class Termination(StrEnum):
    """Why a trial ended. `user_done`, `answered` and `max_turns` are ordinary ends; all others are failures, whose
    trials hand in nothing.
    """

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
    """Limits of one trial. `max_turns`: turns of the agent, after which the trial ends as `max_turns`."""

    max_turns: int = 60
    max_tool_calls_per_turn: int = 100


class TrialStarted(Frozen):
    """The first event: what is played by whom. `sample` counts trials of the same task and players from 0; `cuecard`
    is the version of this program.
    """

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
    """The user part spoke. `turn` counts exchanges from 0; turn 0 is the opening."""

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
    """The agent answered the user's words of the same `turn`."""

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
    """A model answered a call. `part`: in whose turn (`agent`, `user`, `conclusion`). `step` counts the model calls
    of this turn and `scope` from 0. A scope ends in a slash: `tool/2/` is the world answering tool call 2 of the turn.
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
        """Who is charged for the call: the part, or `world` where the world made it to answer a tool call."""
        return "world" if "tool/" in self.scope else self.part


class ToolAnswered(Frozen):
    """A tool call and its answer. `step` counts the tool calls of this turn and `scope` from 0."""

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
    """A player noted something beside its words (see `Mark`). `step` counts the marks of this kind in this turn and
    scope from 0.
    """

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
    """The agent handed in its prediction."""

    type: Literal["concluded"] = "concluded"
    prediction: Prediction

    @property
    def key(self) -> str:
        return "conclusion"


class TrialEnded(Frozen):
    """The trial is over. `detail`: the error's message, where it failed."""

    type: Literal["trial_ended"] = "trial_ended"
    termination: Termination
    detail: str = ""

    @property
    def key(self) -> str:
        return "end"


class TrialRetried(Frozen):
    """A new attempt at the trial begins. `keep`: it goes on after its last step, as if it had not ended;
    otherwise it starts over. `back_to` (with `keep`): it goes on from before the event with this `seq`, because a
    person took words back or had the agent's turn repeated. Earlier events stay in the log as an earlier attempt.
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
    """One entry of a trial's log. `seq` counts from 0 within the trial; `at` is in UTC. `take` is the number of the
    attempt: how often the trial was retried before. Within an attempt, keys of bodies are unique.
    """

    seq: int
    at: datetime
    body: EventBody
    take: int = 0


def effective_log(log: Sequence[Event]) -> tuple[Event, ...]:
    """The events that count: the log without `TrialRetried` events and without what they discarded.

    Playing, showing and scoring a trial use its effective log; tokens and cost are counted over the whole log.
    """
    effective: list[Event] = []
    for event in log:
        if isinstance(event.body, TrialRetried):
            effective = kept_by(effective, event.body)
        else:
            effective.append(event)
    return tuple(effective)


def kept_by(effective: Sequence[Event], retried: TrialRetried) -> list[Event]:
    """The events of an effective log that still count after `retried`. With `keep`, people's remarks are kept even
    where the turn they were made in is discarded.
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
    """The messages of the user and the agent that `events` hold, in order."""
    spoken = [e.body.message for e in events if isinstance(e.body, UserSpoke | AgentSpoke)]
    return Dialogue(tuple(spoken))


@dataclass(frozen=True)
class RunBegan:
    """`cells`: trials to be played, at most `concurrency` of them at a time."""

    cells: int
    concurrency: int


@dataclass(frozen=True)
class TrialBegan:
    """`cell`: the `Cell.id`. `resumed`: its log already held events."""

    cell: str
    resumed: bool


@dataclass(frozen=True)
class TurnPlayed:
    """The agent's turn `turn` (from 0) is over. Turns recorded before the trial was resumed are not reported again."""

    cell: str
    turn: int


@dataclass(frozen=True)
class CallAnswered:
    """A model answered a call charged to `payer` (agent, user, conclusion, world). `cost`: in the price table's
    currency, None if the model has no price.
    """

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
    """The trial has ended. `problem`: why it could not begin, or what failed after it (judging, for example)."""

    cell: str
    termination: Termination
    detail: str = ""
    problem: str = ""


@dataclass(frozen=True)
class TrialLeftOpen:
    """The trial was stopped before its end and can be resumed from its log. `cut`: models and tools whose answers
    were still awaited. `why`: said where it is not the run that was stopped.
    """

    cell: str
    cut: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class RunFinished:
    """The last event of a run, also of one that was stopped."""

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
    """How many cells finished (by termination), finished with a problem, were stopped in the middle (`left_open`) or
    never began. `halt`: why the run paused before its end; None for a run that ended or was cancelled at once.
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
"""Whether a process plays a run: `now`; `lapsed`: one did and vanished without giving the run back; `no`."""


class RunState(StrEnum):
    """`running`: a process plays it now. `interrupted`: the process that played it was killed. `open`: entered, or left
    in good order with trials to play, and not played now. `paused`: it paused by itself or was paused. `cancelled`: a
    person stopped it. `failed` is only told: one that is done, every trial of which failed.
    """

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    OPEN = "open"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

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
    def badge(self) -> str:
        """Glyph and label: `▸ running`."""
        return f"{self.glyph} {self.label}"


_LOOKS: dict[RunState, tuple[str, str, Literal["stage", "user", "good", "bad", "muted"]]] = {
    RunState.RUNNING: ("▸", N_("running"), "user"),
    RunState.INTERRUPTED: ("✗", N_("interrupted"), "bad"),
    RunState.OPEN: ("◌", N_("open"), "muted"),
    RunState.PAUSED: ("‖", N_("paused"), "stage"),
    RunState.DONE: ("●", N_("done"), "good"),
    RunState.CANCELLED: ("–", N_("stopped"), "muted"),
    RunState.FAILED: ("⊘", N_("all failed"), "bad"),
}


def run_state(marked: RunState, played: Played, *, trials: int, finished: int) -> RunState:
    """The true state of a run, from the state stored with it and whether a process plays it now.

    `marked`: the stored state, as the last process left it: `running` while it plays, then `paused`, `done` or
    `cancelled`. A run that is played now is `running` whatever is stored; one stored as `running` that nobody plays is
    `interrupted` or `open`; one stored as `done` with trials left (`finished` < `trials`) is `open`.
    """
    if played == "now":
        return RunState.RUNNING
    if marked is RunState.RUNNING:
        return RunState.INTERRUPTED if played == "lapsed" else RunState.OPEN
    if marked is RunState.DONE and finished < trials:
        return RunState.OPEN
    return marked
