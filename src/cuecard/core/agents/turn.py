"""One turn of a model agent: model calls and tool calls until it replies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.thread import Thread
from cuecard.core.agents.tools import complaint, ending, named_right
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


@dataclass(frozen=True)
class Manner:
    """How an agent takes its turns. `own_tools` end a turn; `max_steps` counts model calls."""

    client: ChatClient
    language: TaskLanguage
    max_steps: int
    own_tools: tuple[ToolSpec, ...] = ()


async def ask_model(
    client: ChatClient,
    thread: Thread,
    desk: Desk,
    tools: Sequence[ToolSpec],
    *,
    may_call: bool = True,
    show: bool = True,
) -> ModelReply:
    """The model's reply to the thread as it stands, through the desk. Raises `ModelCallError`."""
    messages = thread.messages

    async def perform() -> ModelReply:
        on_text = desk.stream if show else None
        return await client.chat(messages, tools, on_text, may_call=may_call)

    return await desk.call_model(client.config.model, perform)


class Turn:
    """Plays one turn onto `thread`. `desk` is the trial's own, or a recorded turn's."""

    def __init__(self, manner: Manner, thread: Thread, desk: Desk) -> None:
        self._manner = manner
        self._thread = thread
        self._desk = desk
        self._tools = (*desk.tools, *manner.own_tools)
        self._calls_left = _limits(desk).max_tool_calls_per_turn
        self._errors: Counter[str] = Counter()
        self._was_empty = False

    async def play(self) -> AgentReply:
        """Raises `EmptyReply`, `ErrorLoop`, and what calling the model or the world raises."""
        for step in range(self._manner.max_steps):
            reply = await self._reply(last=step == self._manner.max_steps - 1)
            if not reply.tool_calls:
                self._thread.assistant(reply.text)
                return AgentReply(text=reply.text.strip())
            calls = [named_right(call, self._tools) for call in reply.tool_calls]
            ids = self._thread.assistant(reply.text, calls)
            over = next((call for call in calls if self._ends(call)), None)
            answers = await self._answers(calls, over)
            for id_, answer in zip(ids, answers, strict=True):
                self._thread.tool(id_, answer.text)
            if over and (found := ending(over)):
                act, words = found
                return AgentReply(text=words, act=act)
            self._count_errors(answers)
        raise ErrorLoop(
            _("The agent did not come to an end"),
            _("it used all {n} steps of a turn without a reply").format(n=self._manner.max_steps),
        )

    async def _reply(self, *, last: bool) -> ModelReply:
        """A reply with text or calls; after an empty one the model is asked again, once a turn."""
        tools, may_call = self._tools, True
        if last:
            self._thread.user(self._say(Note.LAST_STEP))
            tools, may_call = (self._manner.own_tools or tools), bool(self._manner.own_tools)
        while True:
            reply = await ask_model(
                self._manner.client, self._thread, self._desk, tools, may_call=may_call
            )
            if not may_call:
                reply = reply.model_copy(update={"tool_calls": ()})
            if reply.text.strip() or reply.tool_calls:
                return reply
            if self._was_empty:
                raise EmptyReply(_("The agent replied with nothing"), _("also when asked again"))
            self._was_empty = True
            self._thread.user(self._say(Note.EMPTY))

    async def _answers(self, calls: Sequence[ToolCall], over: ToolCall | None) -> list[ToolAnswer]:
        """An answer to each call, in order. Those that reach the world are made at the same time."""
        made: list[asyncio.Task[ToolAnswer]] = []
        answers: list[ToolAnswer | asyncio.Task[ToolAnswer]] = []
        for call in calls:
            refusal = self._refusal(call, over)
            if refusal:
                answers.append(refusal)
                continue
            self._calls_left -= 1
            # Tasks start in the order in which they are made: this fixes each call's step number.
            made.append(asyncio.create_task(self._desk.call_tool(call)))
            answers.append(made[-1])
        # All are waited for, also when one fails: none may still be recording when the trial ends.
        for outcome in await asyncio.gather(*made, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        return [
            answer.result() if isinstance(answer, asyncio.Task) else answer for answer in answers
        ]

    def _refusal(self, call: ToolCall, over: ToolCall | None) -> ToolAnswer | None:
        if over is not None:
            note = Note.DELIVERED if call is over else Note.NOT_CARRIED_OUT
            return ToolAnswer(text=self._say(note))
        problem = complaint(call, self._tools, self._manner.language)
        if not problem and ending(call):
            problem = self._say(Note.NOTHING_SAID)
        if not problem and self._calls_left <= 0:
            problem = self._say(Note.NO_MORE_CALLS)
        return ToolAnswer(text=problem, ok=False) if problem else None

    def _ends(self, call: ToolCall) -> bool:
        found = ending(call) if self._manner.own_tools else None
        return bool(found and found[1] and not complaint(call, self._tools, self._manner.language))

    def _count_errors(self, answers: Sequence[ToolAnswer]) -> None:
        """Equal errors in one reply count once: the model had no chance to learn from the first."""
        for error in {answer.text for answer in answers if not answer.ok}:
            self._errors[error] += 1
            if self._errors[error] >= SAME_ERROR_LIMIT:
                raise ErrorLoop(_("The agent keeps making the same mistake"), one_line(error, 200))

    def _say(self, note: Note) -> str:
        return say(self._manner.language, note)


def _limits(desk: Desk) -> Limits:
    started = (e.body for e in desk.log if isinstance(e.body, TrialStarted))
    return next((body.limits for body in started), Limits())
