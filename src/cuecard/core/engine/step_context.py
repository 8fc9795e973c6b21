"""The protocols of players, the contexts through which they make calls (each recorded once), and a person's moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from cuecard.core.engine.events import (
    Event,
    Limits,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialStarted,
)
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
from cuecard.core.predictions import Prediction
from cuecard.core.secrets import scrub_model
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.core.tasks.models import Task
    from cuecard.core.verdicts import Judgement


Perform = Callable[[], Awaitable[ModelReply]]


class CallContext(Protocol):
    """Makes model calls so that none is paid for twice: each call has a key that follows from its place (`model/0`,
    `batch/2/model/1`), and a reply recorded under that key is returned instead of calling again.
    """

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        """Call the model by `perform`, or return the recorded reply. `prompt`: the hash of the template that the
        messages were made from, which is recorded.
        """
        ...

    def scope(self, name: str) -> CallContext:
        """A context whose keys begin with `name`: for calls made concurrently, in no fixed order. The same work
        must be given the same name whenever the trial is resumed.
        """
        ...


class StepContext(CallContext, Protocol):
    """What a player uses during its turn: tools, models, marks and the log. Everything done here is recorded once."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    @property
    def log(self) -> Sequence[Event]:
        """The trial's effective log so far: a player's only memory of earlier turns."""
        ...

    @property
    def rewound(self) -> int:
        """The attempt (from 1) that began when a person last took words back; 0 if that never happened. A player that
        keeps a session outside the log must rebuild what it was told before this attempt.
        """
        ...

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        """The answer of the world, or of `perform` for a tool of the player's own; a recorded answer is returned
        instead of asking again.
        """
        ...

    async def mark(self, mark: Mark) -> Mark:
        """Record a decision or observation besides the words of the turn; returns the mark that is already recorded in
        its place, if there is one. Places are counted per kind of mark within the context.
        """
        ...

    def scope(self, name: str) -> StepContext: ...

    def onward(self) -> StepContext:
        """This context for a player that cannot repeat an interrupted turn exactly (a harness): its tool calls and
        marks come after the recorded ones instead of being answered from them.
        """
        ...

    def stream(self, text: str) -> None:
        """Show a piece of the reply on screens while it is being written; it is not recorded."""
        ...


class WorldContext(CallContext, Protocol):
    """What a world uses while it answers one tool call."""

    @property
    def log(self) -> Sequence[Event]: ...


class Agent(Protocol):
    """The part that searches and answers. `reply` gives its words in one turn, `conclude` its prediction after the
    dialogue. An exception of either ends the trial as a failure, except a `Halt`, which pauses the run. `ref` names the
    player in records.
    """

    @property
    def ref(self) -> PlayerRef: ...

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply: ...

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction: ...


class User(Protocol):
    """The part that asks: a person or a simulator. `open` gives its first words, `reply` the next ones; a reply that is
    `done` ends the dialogue. Exceptions act as those of an `Agent`.
    """

    @property
    def ref(self) -> PlayerRef: ...

    async def open(self, context: StepContext) -> UserReply: ...

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply: ...


class World(Protocol):
    """What answers an agent's tool calls. `tools`: those it offers. A call that it cannot answer gets an answer with
    `ok` false that says why, not an exception.
    """

    @property
    def ref(self) -> PlayerRef: ...

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer: ...


class Judge(Protocol):
    """Decides for every item of a task's gold whether the prediction covers it."""

    @property
    def ref(self) -> PlayerRef: ...

    async def judge(
        self, task: Task, prediction: Prediction, context: CallContext
    ) -> Judgement: ...


@runtime_checkable
class Closable(Protocol):
    """A player that holds a resource (a process, a server). `close` is called when its trial is over, failed or not."""

    async def close(self) -> None: ...


class RecordedCall(Frozen):
    """A judge's model call as it is stored. `key` follows from the call's place; `prompt`: the template's hash."""

    key: str
    model: str
    reply: ModelReply
    prompt: str = ""


class FreshCalls:
    """A `CallContext` that always calls and records nothing: for notebooks, and for judging without a workspace."""

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        del model, prompt
        return await perform()

    def scope(self, name: str) -> FreshCalls:
        del name
        return self


class RecordingCalls(FreshCalls):
    """`FreshCalls` that also keep every model reply in `heard`, so that the tokens and cost of simulators asked beside
    a trial (shadows) can be told.
    """

    def __init__(self) -> None:
        self.heard: list[ModelReply] = []

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        reply = await super().call_model(model, perform, prompt=prompt)
        self.heard.append(reply)
        return reply

    def scope(self, name: str) -> RecordingCalls:
        del name
        return self


class KeyedCalls:
    """A `CallContext` that returns calls in `recorded` by their key and passes new ones to `record`, which returns when
    the call is stored.
    """

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
    """The `StepContext` of one turn, over a trial's log; scoped, it is also the `WorldContext` of one tool call."""

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

        # A tool of the agent's own is performed again when the trial is replayed, not taken from the recording.
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
        # Text streamed within a scope (a team member's, say) is not the reply itself.
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
    """The person who plays the agent calls a tool of the world."""

    kind: Literal["tool"] = "tool"
    call: ToolCall


class ReplyMove(Frozen):
    """The person who plays the agent answers the user."""

    kind: Literal["reply"] = "reply"
    text: str
    act: Act = Act.REPLY


class HandInMove(Frozen):
    """The person who plays the agent hands in a prediction, which ends the trial."""

    kind: Literal["hand_in"] = "hand_in"
    prediction: Prediction


PlayMove = Annotated[ToolMove | ReplyMove | HandInMove, Field(discriminator="kind")]


def move_place(part: Literal["agent", "conclusion"], turn: int, number: int) -> str:
    """The key of a person's move `number` (from 0) in a turn: `agent/3/move/0`, or `conclusion/move/0`."""
    return f"agent/{turn}/move/{number}" if part == "agent" else f"conclusion/move/{number}"


def limits_of(context: StepContext) -> Limits:
    """The trial's limits, which its first event holds."""
    first = context.log[0].body if context.log else None
    return first.limits if isinstance(first, TrialStarted) else Limits()
