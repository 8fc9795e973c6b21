"""The append-only log of a trial.

Every body has a `key` that is unique within its trial and follows from its place in the dialogue, not
from time: this is what lets a resumed trial find what was already done, and a store refuse doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from cuecard.core.marks import Mark, Remark
from cuecard.core.parts import (
    AgentReply,
    Dialogue,
    Message,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    UserReply,
)
from cuecard.core.prediction import Prediction
from cuecard.core.tasks.base import Frozen


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


class TrialReopened(Frozen):
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
    | TrialReopened,
    Field(discriminator="type"),
]
# Built on first use: it is the largest of all validators, and the app starts without it.
EVENT_BODY: TypeAdapter[EventBody] = TypeAdapter(EventBody, config=ConfigDict(defer_build=True))


class Event(Frozen):
    """`seq` counts from 0 within the trial; `at` is in UTC. `take` counts how often the trial was
    reopened before; within a take, keys are unique.
    """

    seq: int
    at: datetime
    body: EventBody
    take: int = 0


def course_of(log: Sequence[Event]) -> tuple[Event, ...]:
    """The events that make up the trial as it stands, without what its reopenings took back.

    Everything that plays, shows or scores a trial works on its course; what was spent is counted over
    the whole log.
    """
    course: list[Event] = []
    for event in log:
        if isinstance(event.body, TrialReopened):
            course = kept_by(course, event.body)
        else:
            course.append(event)
    return tuple(course)


def kept_by(course: Sequence[Event], reopened: TrialReopened) -> list[Event]:
    """What of a course stands after it was reopened. What people noted stands also where the turn in
    which they did is taken back.
    """
    if not reopened.keep:
        return []
    back_to = reopened.back_to
    return [e for e in course if not isinstance(e.body, TrialEnded) and _stands(e, back_to)]


def _stands(event: Event, back_to: int | None) -> bool:
    if back_to is None or event.seq < back_to:
        return True
    return isinstance(event.body, Marked) and isinstance(event.body.mark, Remark)


def dialogue_of(events: Sequence[Event]) -> Dialogue:
    """The dialogue as far as the log goes."""
    spoken = [e.body.message for e in events if isinstance(e.body, UserSpoke | AgentSpoke)]
    return Dialogue(tuple(spoken))
