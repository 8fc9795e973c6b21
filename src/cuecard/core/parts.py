"""The four parts of a trial, as protocols that many players fill.

A player keeps no state between turns: it decides from the dialogue and the log alone. Everything that costs money, time or
chance (a model call, a tool's answer, a person's typing) goes through the `Desk`, which records
it and, when a trial is resumed, hands back what was recorded instead of doing it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from cuecard.core.errors import CuecardError
from cuecard.core.prediction import Prediction
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.core.events import Event
    from cuecard.core.marks import Mark
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


MOST_TOKENS = 10**9
"""Of one call: more than that is no count."""


def token_count(value: object) -> int:
    """A count of tokens as somebody else tells it; what cannot be one is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0


class Usage(Frozen):
    """Tokens of one call, as the server counted them. `cached` are among `prompt`, `reasoning` among
    `completion`.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )


class ModelReply(Frozen):
    """One answer of a model. `tool_calls` in the order the model gave them. `cost` in the currency of
    the price table, None where the model has no price. `attempts`: requests sent to get it.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    model: str = ""
    latency_ms: int = 0
    cost: float | None = None
    attempts: int = 1


class AgentReply(Frozen):
    """`interrupted`: the user stopped the agent, and this is what it had said by then."""

    text: str
    act: Act = Act.REPLY
    interrupted: bool = False


class FlagKind(StrEnum):
    """What a simulator's reply was caught at, also when asked again."""

    LEAK = "leak"
    FORMAT = "format"
    UNUSABLE = "unusable"


class Flag(Frozen):
    """`found`: the words that gave it away."""

    kind: FlagKind
    found: str = ""


class Evidence(Frozen):
    """The part of the agent's last reply that a person's mark rests on: characters from `start` up to
    `end` of its text, and what stands there.
    """

    start: int
    end: int
    text: str


class UserReply(Frozen):
    """What the user part says, and what it decided.

    `stage`: the stage (from 1) whose line this text discloses. `cue_met`: whether the agent's last
    reply met the cue of the next stage. `checkpoint` (from 0) and `status`: the step that the agent's
    last turn was about and its reading. `done`: nothing is left to say, `text` may be a farewell.
    `answered` (with `done`): the trial ends as `answered` rather than `user_done`. `flags`: what
    checks found in a simulator's reply and asking again did not mend.

    Only people give the rest. `edited`: the line is said in other words than the card's; `meaning`:
    whether it still says the same, where that was asked. `unsure`: the cue was looked at and left open
    (`cue_met` is None). `evidence`: what the mark rests on.
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
    flags: tuple[Flag, ...] = ()
    unsure: bool = False
    evidence: Evidence | None = None
    meaning: Literal["", "kept", "changed"] = ""


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


class CallDesk(Protocol):
    """Where model calls are made that must never be paid for twice: each has a key that follows from
    its place, and a recorded reply is handed back instead of calling again.
    """

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        """Perform a model call, or hand back the recorded reply. `prompt`: the hash of the prompt
        that the messages were made from.
        """
        ...

    def scope(self, name: str) -> CallDesk:
        """A desk within this one, with keys of its own: for calls made at the same time, whose order
        is not fixed. The same name must always be given for the same piece of work.
        """
        ...


class Desk(CallDesk, Protocol):
    """What a player works with during its turn; everything done here is recorded once."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    @property
    def log(self) -> Sequence[Event]:
        """All that is recorded so far: a player's only memory of earlier turns."""
        ...

    @property
    def rewound(self) -> int:
        """The take of the log that began when words were last taken back, 0 if never. What a player told
        to a service of its own in an earlier take may not stand any more.
        """
        ...

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        """Have the world answer, or hand back the recorded answer. `perform`: who answers in the
        world's place, for tools of the player's own.
        """
        ...

    async def mark(self, mark: Mark) -> Mark:
        """Record something that players decide or learn besides what they say, or hand back what is
        recorded in its place. Marks are counted by kind within the desk.
        """
        ...

    def scope(self, name: str) -> Desk: ...

    def onward(self) -> Desk:
        """This desk for a player that cannot repeat what it did in a turn that was broken off: tool calls
        and marks are counted on after those that are recorded, rather than answered from them.
        """
        ...

    def stream(self, text: str) -> None:
        """Show a piece of the reply as it is written; never recorded."""
        ...


class WorldDesk(CallDesk, Protocol):
    """What a world works with while it answers one tool call."""

    @property
    def log(self) -> Sequence[Event]: ...


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

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer: ...


class Judge(Protocol):
    @property
    def ref(self) -> PlayerRef: ...

    async def judge(self, task: Task, prediction: Prediction, desk: CallDesk) -> Judgement: ...


@runtime_checkable
class Closable(Protocol):
    """A player that holds something (a process, a server). Closed when its trial is over, however."""

    async def close(self) -> None: ...


class ErrorLoop(CuecardError):
    """An agent keeps making the same error; the trial ends as `error_loop`."""


class EmptyReply(CuecardError):
    """An agent gave nothing to show, even when asked again; the trial ends as `empty_response`."""


class StartOver(CuecardError):
    """A player cannot take the trial up where it was left: it is to be played again from its
    beginning, in a new take. The text is recorded as the reason.
    """
