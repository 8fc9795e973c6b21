"""The four parts of a trial, as protocols that many players fill.

A player keeps no state between turns: it decides from the dialogue and the log alone. Everything that costs money, time or
chance (a model call, a tool's answer, a person's typing) goes through the `Desk`, which records
it and, when a trial is resumed, hands back what was recorded instead of doing it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import JsonValue

from cuecard.core.errors import CuecardError
from cuecard.core.prediction import Prediction
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.core.events import Event
    from cuecard.core.tasks import Task
    from cuecard.core.verdicts import Judgement


class PlayerRef(Frozen):
    """Who plays a part: recorded with every trial and judgement.

    `kind` is the sort of player (`offline`, `react`, `scripted`, `human`, `closed`, `lexical`...);
    a `baseline` is an embedded offline player, and every screen and report says so.
    """

    name: str
    kind: str
    model: str = ""
    baseline: bool = False
    version: str = "1"


class Act(StrEnum):
    """What an agent's turn was. Only checkpoint agents tell `ask` and `answer` apart."""

    REPLY = "reply"
    ASK = "ask"
    ANSWER = "answer"


class CheckpointStatus(StrEnum):
    """The responder's reading of an agent's turn (DiscoBench)."""

    AMBIGUITY_DETECTED = "ambiguity_detected"
    WRONG_AMBIGUITY_DETECTED = "wrong_ambiguity_detected"
    CORRECT_ANSWER = "correct_answer"
    WRONG_ANSWER = "wrong_answer"
    MISSED_AMBIGUITY_CORRECT = "missed_ambiguity_correct"
    MISSED_AMBIGUITY_WRONG = "missed_ambiguity_wrong"
    SEARCH_ONLY = "search_only"
    TASK_COMPLETED = "task_completed"


class ToolSpec(Frozen):
    """A tool as a model sees it; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class ToolCall(Frozen):
    """`broken`: the arguments as a model wrote them, where no object could be read from them."""

    name: str
    arguments: dict[str, JsonValue] = {}
    id: str = ""
    broken: str = ""


class SearchEntry(Frozen):
    id: str
    title: str
    content: str
    date: str = ""
    url: str = ""


class Hit(Frozen):
    """A closed or parallel world's record of one query (Mind-ParaWorld's hit log)."""

    is_compound: bool
    hit: bool
    matched_fact_keys: tuple[str, ...] = ()
    reason: str = ""


class ToolAnswer(Frozen):
    """`text` is what the agent sees; `entries` and `hit` are for the log. Not `ok`: the call was
    refused, and `text` says why.
    """

    text: str
    entries: tuple[SearchEntry, ...] = ()
    hit: Hit | None = None
    ok: bool = True


class Usage(Frozen):
    """Tokens of one call, as the server counted them."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0


class ModelReply(Frozen):
    """One answer of a model. `tool_calls` in the order the model gave them."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    model: str = ""
    latency_ms: int = 0


class AgentReply(Frozen):
    text: str
    act: Act = Act.REPLY


class UserReply(Frozen):
    """What the user part says, and what it decided.

    `stage`: the stage (from 1) whose line this text discloses. `cue_met`: whether the agent's last
    reply met the cue of the next stage. `checkpoint` (from 0) and `status`: the step that the agent's
    last turn was about and its reading. `done`: nothing is left to say, `text` may be a farewell.
    `answered` (with `done`): the trial ends as `answered` rather than `user_done`.
    """

    text: str
    stage: int | None = None
    cue_met: bool | None = None
    checkpoint: int | None = None
    status: CheckpointStatus | None = None
    done: bool = False
    answered: bool = False
    edited: bool = False
    reason: str = ""


class Message(Frozen):
    """One turn of the dialogue with the decisions that came with it. `turn` counts exchanges from
    0: the user opens turn 0, the agent answers it, the user's next words open turn 1.
    """

    role: Literal["user", "agent"]
    turn: int
    text: str
    act: Act = Act.REPLY
    stage: int | None = None
    cue_met: bool | None = None
    checkpoint: int | None = None
    status: CheckpointStatus | None = None


@dataclass(frozen=True)
class Dialogue:
    messages: tuple[Message, ...] = ()

    def plus(self, message: Message) -> Dialogue:
        return Dialogue((*self.messages, message))

    def last(self, role: Literal["user", "agent"]) -> Message | None:
        return next((m for m in reversed(self.messages) if m.role == role), None)

    def of(self, role: Literal["user", "agent"]) -> tuple[Message, ...]:
        return tuple(m for m in self.messages if m.role == role)

    @property
    def turn(self) -> int:
        """The number of the current exchange."""
        return self.messages[-1].turn if self.messages else 0

    @property
    def stages_disclosed(self) -> tuple[int, ...]:
        return tuple(m.stage for m in self.messages if m.stage is not None)


class Desk(Protocol):
    """What a player works with during its turn; everything done here is recorded once."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    @property
    def log(self) -> tuple[Event, ...]:
        """All that is recorded so far: a player's only memory of earlier turns."""
        ...

    async def call_tool(self, call: ToolCall) -> ToolAnswer:
        """Have the world answer, or hand back the recorded answer."""
        ...

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]]
    ) -> ModelReply:
        """Perform a model call, or hand back the recorded reply without calling."""
        ...

    def stream(self, text: str) -> None:
        """Show a piece of the reply as it is written; never recorded."""
        ...


class Agent(Protocol):
    @property
    def ref(self) -> PlayerRef: ...

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply: ...

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction: ...


class User(Protocol):
    @property
    def ref(self) -> PlayerRef: ...

    async def open(self, desk: Desk) -> UserReply: ...

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply: ...


class World(Protocol):
    @property
    def ref(self) -> PlayerRef: ...

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    async def answer(self, call: ToolCall) -> ToolAnswer: ...


class Judge(Protocol):
    @property
    def ref(self) -> PlayerRef: ...

    async def judge(self, task: Task, prediction: Prediction) -> Judgement: ...


class ErrorLoop(CuecardError):
    """An agent keeps making the same error; the trial ends as `error_loop`."""


class EmptyReply(CuecardError):
    """An agent gave nothing to show, even when asked again; the trial ends as `empty_response`."""
