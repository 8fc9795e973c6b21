"""One turn of a model agent: model calls and tool calls until it replies."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cuecard.core.agents.calling import OVERFLOW, performing
from cuecard.core.agents.compaction import Compactor, Reach
from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.thread import Thread
from cuecard.core.agents.tools import complaint, ending, named_right
from cuecard.core.agents.wires import NATIVE, Spoken, Wire
from cuecard.core.events import Limits, TrialStarted
from cuecard.core.i18n import _
from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import (
    AgentReply,
    Desk,
    EmptyReply,
    ErrorLoop,
    ModelReply,
    ToolAnswer,
    ToolCall,
    ToolSpec,
)
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line

SAME_ERROR_LIMIT = 3

Answering = Callable[[], Awaitable[ToolAnswer]]


@dataclass(frozen=True)
class Place:
    """Where an agent's own tool is called: `number` counts the turn's tool calls that were carried
    out, from 0.
    """

    desk: Desk
    thread: Thread
    number: int


class OwnTool(Protocol):
    """A tool that the agent answers itself, without the world."""

    @property
    def spec(self) -> ToolSpec: ...

    def begin(self, call: ToolCall, place: Place) -> Answering:
        """Take a call; also when the turn is played again, and in the order of the calls. What is
        returned is performed only if no answer is recorded.
        """
        ...


@dataclass(frozen=True)
class Manner:
    """How an agent takes its turns.

    `max_steps` counts model calls. `prompt`: the hash of the system prompt. `turn_tools` end a turn,
    `own_tools` the agent answers itself. Without a `reach` nothing is cut. `show`: stream what is said
    to whoever looks on.
    """

    client: ChatClient
    language: TaskLanguage
    max_steps: int
    prompt: str = ""
    wire: Wire = NATIVE
    reach: Reach | None = None
    turn_tools: tuple[ToolSpec, ...] = ()
    own_tools: tuple[OwnTool, ...] = ()
    show: bool = True

    def tools(self, desk: Desk) -> tuple[ToolSpec, ...]:
        """All tools that the model gets."""
        own = (tool.spec for tool in self.own_tools)
        return (*desk.tools, *own, *self.turn_tools)


class Voice:
    """Speaks with the model over `thread`, and keeps the thread within its reach."""

    def __init__(self, manner: Manner, thread: Thread, desk: Desk) -> None:
        self._manner = manner
        self._thread = thread
        self._desk = desk
        self._compactor = (
            Compactor(manner.client, manner.reach, manner.language, thread, desk)
            if manner.reach
            else None
        )

    async def ask(
        self,
        tools: Sequence[ToolSpec],
        *,
        may_call: bool = True,
        show: bool = True,
        prompt: str = "",
    ) -> Spoken:
        """The model's reply to the thread as it stands. Raises `ModelCallError`."""
        if self._compactor is not None:
            await self._compactor.make_room()
            reply = await self._call(tools, may_call, show, prompt, overflow=True)
            if reply.finish_reason == OVERFLOW:
                await self._compactor.make_more_room()
                reply = await self._call(tools, may_call, show, prompt, overflow=False)
        else:
            reply = await self._call(tools, may_call, show, prompt, overflow=False)
        return self._manner.wire.decode(reply, tools, may_call=may_call)

    def answered(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add the answers to the calls of the last reply."""
        fitted = self._compactor.fitted(texts) if self._compactor else texts
        self._thread.results(ids, fitted)

    async def _call(
        self, tools: Sequence[ToolSpec], may_call: bool, show: bool, prompt: str, *, overflow: bool
    ) -> ModelReply:
        manner = self._manner
        perform = performing(
            manner.client,
            self._thread.messages,
            tools if manner.wire.native else (),
            manner.wire.shown(self._desk.stream) if show and manner.show else None,
            may_call=may_call,
            overflow=overflow,
        )
        return await self._desk.call_model(
            manner.client.config.model, perform, prompt=prompt or manner.prompt
        )


class Turn:
    """Plays one turn onto `thread`. `desk` is the trial's own, a scope of it, or a recorded turn's."""

    def __init__(self, manner: Manner, thread: Thread, desk: Desk) -> None:
        self._manner = manner
        self._thread = thread
        self._desk = desk
        self._voice = Voice(manner, thread, desk)
        self._tools = manner.tools(desk)
        self._ending = frozenset(tool.name for tool in manner.turn_tools)
        self._own = {tool.spec.name: tool for tool in manner.own_tools}
        self._calls_left = self._limit = _limits(desk).max_tool_calls_per_turn
        self._errors: Counter[str] = Counter()
        self._was_empty = False

    async def play(self) -> AgentReply:
        """Raises `EmptyReply`, `ErrorLoop`, and what calling the model or the world raises."""
        for step in range(self._manner.max_steps):
            spoken = await self._reply(last=step == self._manner.max_steps - 1)
            ids = self._thread.reply(spoken)
            if not spoken.calls:
                return AgentReply(text=spoken.text.strip())
            over = next((call for call in spoken.calls if self._ends(call)), None)
            answers = await self._answers(spoken, over)
            self._voice.answered(ids, [answer.text for answer in answers])
            if over and (found := ending(over)):
                act, words = found
                return AgentReply(text=words, act=act)
            self._count_errors(spoken.calls, answers)
        raise ErrorLoop(
            _("The agent did not come to an end"),
            _("it used all {n} steps of a turn without a reply").format(n=self._manner.max_steps),
        )

    async def _reply(self, *, last: bool) -> Spoken:
        """A reply with text or calls; after an empty one the model is asked again, once a turn."""
        tools, may_call = self._tools, True
        if last:
            self._thread.user(self._say(Note.LAST_STEP))
            tools, may_call = (self._manner.turn_tools or tools), bool(self._manner.turn_tools)
        while True:
            spoken = await self._voice.ask(tools, may_call=may_call)
            if spoken.calls:
                calls = tuple(named_right(call, self._tools) for call in spoken.calls)
                return replace(spoken, calls=calls)
            if spoken.text.strip():
                return spoken
            if self._was_empty:
                raise EmptyReply(_("The agent replied with nothing"), _("also when asked again"))
            self._was_empty = True
            self._thread.count(spoken.usage)
            self._thread.user(self._say(Note.CUT_EMPTY if spoken.cut else Note.EMPTY))

    async def _answers(self, spoken: Spoken, over: ToolCall | None) -> list[ToolAnswer]:
        """An answer to each call, in order. Those that reach the world are made at the same time."""
        answers: list[ToolAnswer | asyncio.Task[ToolAnswer]] = []
        made: list[asyncio.Task[ToolAnswer]] = []
        for call in spoken.calls:
            refusal = self._refusal(call, over, cut=spoken.cut)
            if refusal:
                answers.append(refusal)
                continue
            answering = self._carry_out(call)
            self._calls_left -= 1
            if len(spoken.calls) == 1:
                return [await answering]
            # Tasks start in the order in which they are made: this fixes each call's step number.
            made.append(asyncio.create_task(answering))
            answers.append(made[-1])
        # All are waited for, also when one fails: none may still be recording when the trial ends.
        for outcome in await asyncio.gather(*made, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        return [
            answer.result() if isinstance(answer, asyncio.Task) else answer for answer in answers
        ]

    def _carry_out(self, call: ToolCall) -> Coroutine[None, None, ToolAnswer]:
        own = self._own.get(call.name)
        if own is None:
            return self._desk.call_tool(call)
        place = Place(self._desk, self._thread, self._limit - self._calls_left)
        return self._desk.call_tool(call, own.begin(call, place))

    def _refusal(self, call: ToolCall, over: ToolCall | None, *, cut: bool) -> ToolAnswer | None:
        if over is not None:
            note = Note.DELIVERED if call is over else Note.NOT_CARRIED_OUT
            return ToolAnswer(text=self._say(note))
        problem = complaint(call, self._tools, self._manner.language)
        if call.broken and cut:
            problem = self._say(Note.CUT_CALL)
        elif not problem and call.name in self._ending:
            problem = self._say(Note.NOTHING_SAID)
        elif not problem and self._calls_left <= 0:
            problem = self._say(Note.NO_MORE_CALLS)
        return ToolAnswer(text=problem, ok=False) if problem else None

    def _ends(self, call: ToolCall) -> bool:
        found = ending(call) if call.name in self._ending else None
        return bool(found and found[1] and not complaint(call, self._tools, self._manner.language))

    def _count_errors(self, calls: Sequence[ToolCall], answers: Sequence[ToolAnswer]) -> None:
        """The same error, or the same call failing, counts once a reply: the model had no chance to
        learn from the first.
        """
        failed = [(c, a.text) for c, a in zip(calls, answers, strict=True) if not a.ok]
        repeated = {text: text for _call, text in failed}
        repeated |= {_written(call): text for call, text in failed}
        for what, text in repeated.items():
            self._errors[what] += 1
            if self._errors[what] >= SAME_ERROR_LIMIT:
                raise ErrorLoop(_("The agent keeps making the same mistake"), one_line(text, 200))

    def _say(self, note: Note) -> str:
        return say(self._manner.language, note)


def _written(call: ToolCall) -> str:
    arguments = call.broken or json.dumps(call.arguments, sort_keys=True)
    return f"{call.name} {arguments}"


def _limits(desk: Desk) -> Limits:
    """The trial's limits, which its first event holds."""
    first = desk.log[0].body if desk.log else None
    return first.limits if isinstance(first, TrialStarted) else Limits()
