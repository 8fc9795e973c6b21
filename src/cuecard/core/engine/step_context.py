"""What players work with in a step: their protocols, the contexts in which each call is made and recorded once, and a person's moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from cuecard.core.engine.events import Event, Marked, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import (
    Act,
    AgentReply,
    Dialogue,
    Mark,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    UserReply,
)
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import scrub_model
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Prediction

if TYPE_CHECKING:
    from cuecard.core.tasks.models import Task
    from cuecard.core.verdicts import Judgement


Perform = Callable[[], Awaitable[ModelReply]]


class CallContext(Protocol):
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

    def scope(self, name: str) -> CallContext:
        """A step context within this one, with keys of its own: for calls made at the same time, whose order
        is not fixed. The same name must always be given for the same piece of work.
        """
        ...


class StepContext(CallContext, Protocol):
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
        recorded in its place. Marks are counted by kind within the step context.
        """
        ...

    def scope(self, name: str) -> StepContext: ...

    def onward(self) -> StepContext:
        """This step context for a player that cannot repeat what it did in a turn that was broken off: tool calls
        and marks are counted on after those that are recorded, rather than answered from them.
        """
        ...

    def stream(self, text: str) -> None:
        """Show a piece of the reply as it is written; never recorded."""
        ...


class WorldContext(CallContext, Protocol):
    """What a world works with while it answers one tool call."""

    @property
    def log(self) -> Sequence[Event]: ...


class Agent(Protocol):
    """The part that searches and answers. `reply` gives its words in one turn, `conclude` what it hands in when the dialogue
    is over. What they raise ends the trial with a failure, except a `Halt`, which pauses the run; `ref` names the player in the record.
    """

    @property
    def ref(self) -> PlayerRef: ...

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply: ...

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction: ...


class User(Protocol):
    """The part that wants something. `open` gives its first words, `reply` its next ones; `done` in them ends the dialogue."""

    @property
    def ref(self) -> PlayerRef: ...

    async def open(self, context: StepContext) -> UserReply: ...

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply: ...


class World(Protocol):
    """What answers an agent's tool calls. `tools` are those it offers; a call that it cannot answer is an answer that is
    not `ok` and says why, not an exception.
    """

    @property
    def ref(self) -> PlayerRef: ...

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer: ...


class Judge(Protocol):
    """Decides on every item of a task's gold whether what was handed in covers it."""

    @property
    def ref(self) -> PlayerRef: ...

    async def judge(
        self, task: Task, prediction: Prediction, context: CallContext
    ) -> Judgement: ...


@runtime_checkable
class Closable(Protocol):
    """A player that holds something (a process, a server). Closed when its trial is over, however."""

    async def close(self) -> None: ...


class RecordedCall(Frozen):
    """`key` follows from the call's place; `prompt` is the hash of its prompt's template."""

    key: str
    model: str
    reply: ModelReply
    prompt: str = ""


class FreshCalls:
    """A `CallContext` that records nothing: for notebooks and for judging files without a workspace."""

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        del model, prompt
        return await perform()

    def scope(self, name: str) -> FreshCalls:
        del name
        return self


class HeardCalls(FreshCalls):
    """Hears what the models answer to whoever is asked beside a trial."""

    def __init__(self) -> None:
        self.heard: list[ModelReply] = []

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        reply = await super().call_model(model, perform, prompt=prompt)
        self.heard.append(reply)
        return reply

    def scope(self, name: str) -> HeardCalls:
        del name
        return self


class KeyedCalls:
    """A `CallContext` over recorded calls by key. `record` returns when a new one is safe."""

    def __init__(
        self,
        recorded: Mapping[str, ModelReply],
        record: Callable[[RecordedCall], Awaitable[None]],
        scope: str = "",
    ) -> None:
        self._recorded = recorded
        self._record = record
        self._scope = scope
        self._steps: Counter[str] = Counter()

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        key = f"{self._scope}model/{self._steps['model']}"
        self._steps["model"] += 1
        past = self._recorded.get(key)
        if past is not None:
            return past
        reply = await perform()
        await self._record(RecordedCall(key=key, model=model, reply=reply, prompt=prompt))
        return reply

    def scope(self, name: str) -> KeyedCalls:
        return KeyedCalls(self._recorded, self._record, f"{self._scope}{name}/")


class TrialStepContext:
    """A `StepContext`, and a `WorldContext` for the world while it answers."""

    def __init__(
        self, world: World, trial_log: TrialLog, part: str, turn: int, scope: str = ""
    ) -> None:
        self._world = world
        self._trial_log = trial_log
        self._part = part
        self._turn = turn
        self._scope = scope
        self._steps: Counter[str] = Counter()
        self._onward = False

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._world.tools

    @property
    def log(self) -> Sequence[Event]:
        return self._trial_log.events

    @property
    def rewound(self) -> int:
        return self._trial_log.rewound

    def onward(self) -> TrialStepContext:
        context = TrialStepContext(
            self._world, self._trial_log, self._part, self._turn, self._scope
        )
        context._steps, context._onward = self._steps, True
        return context

    def scope(self, name: str) -> TrialStepContext:
        return TrialStepContext(
            self._world, self._trial_log, self._part, self._turn, f"{self._scope}{name}/"
        )

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        step = self._next("tool")
        call = scrub_model(call)

        async def answered() -> ToolAnswered:
            if perform is not None:
                answer = await perform()
            else:
                answer = await self._world.answer(call, self.scope(f"tool/{step}"))
            answer = scrub_model(answer)
            return ToolAnswered(
                part=self._part,
                turn=self._turn,
                step=step,
                call=call,
                answer=answer,
                scope=self._scope,
            )

        # What an agent answers itself, it answers itself again when the trial is replayed.
        asked = call if perform is None else None
        return (await self._trial_log.step(self._key("tool", step), answered, asked)).answer

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        step = self._next("model")

        async def call() -> ModelReplied:
            reply = await perform()
            return ModelReplied(
                part=self._part,
                turn=self._turn,
                step=step,
                model=model,
                reply=reply,
                scope=self._scope,
                prompt=prompt,
            )

        return (await self._trial_log.step(self._key("model", step), call, model)).reply

    async def mark(self, mark: Mark) -> Mark:
        body = Marked(
            part=self._part,
            turn=self._turn,
            step=self._next(mark.kind),
            mark=scrub_model(mark),
            scope=self._scope,
        )
        return (await self._trial_log.record(body)).mark

    def stream(self, text: str) -> None:
        # What is done within a scope is not the reply.
        if not self._scope:
            self._trial_log.stream(self._turn, text)

    def _next(self, kind: str) -> int:
        step = self._steps[kind]
        while self._onward and kind != "model" and self._trial_log.recorded(self._key(kind, step)):
            step += 1
        self._steps[kind] = step + 1
        return step

    def _key(self, kind: str, step: int) -> str:
        return f"{self._part}/{self._turn}/{self._scope}{kind}/{step}"


class ToolMove(Frozen):
    """The person who plays the agent asks the world."""

    kind: Literal["tool"] = "tool"
    call: ToolCall


class ReplyMove(Frozen):
    """The person who plays the agent answers the user."""

    kind: Literal["reply"] = "reply"
    text: str
    act: Act = Act.REPLY


class HandInMove(Frozen):
    """The person who plays the agent hands in."""

    kind: Literal["hand_in"] = "hand_in"
    prediction: Prediction


SeatMove = Annotated[ToolMove | ReplyMove | HandInMove, Field(discriminator="kind")]


def move_place(part: Literal["agent", "conclusion"], turn: int, number: int) -> str:
    """The step of move `number` (from 0) of a turn: `agent/3/move/0`. There is one conclusion."""
    return f"agent/{turn}/move/{number}" if part == "agent" else f"conclusion/move/{number}"
