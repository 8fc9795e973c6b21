"""The messages that a model sees, built the same way every time from what is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from cuecard.core.events import Event, ModelReplied, ToolAnswered
from cuecard.core.llm import wire
from cuecard.core.marks import Mark
from cuecard.core.parts import ModelReply, ToolAnswer, ToolCall, ToolSpec


class Thread:
    """A growing list of messages. Two user messages in a row become one, which some servers insist
    on; each tool call gets an id that is unique in the thread, whatever ids the model gave.
    """

    def __init__(self, system: str) -> None:
        self._messages = [wire.system(system)]
        self._ids: set[str] = set()

    @property
    def messages(self) -> list[wire.ChatMessage]:
        return list(self._messages)

    def rewind(self, messages: Sequence[wire.ChatMessage]) -> None:
        """Go back to the messages as they were."""
        self._messages = list(messages)

    def user(self, text: str) -> None:
        if not text.strip():
            return
        last = self._messages[-1]
        if last["role"] == "user":
            self._messages[-1] = wire.user(f"{last['content']}\n\n{text}")
        else:
            self._messages.append(wire.user(text))

    def assistant(self, text: str, calls: Sequence[ToolCall] = ()) -> list[str]:
        """Add a reply; returns the ids of its calls."""
        ids = [self._id(call) for call in calls]
        self._messages.append(wire.assistant(text, list(zip(ids, calls, strict=True))))
        return ids

    def tool(self, id_: str, text: str) -> None:
        self._messages.append(wire.tool_answer(id_, text))

    def _id(self, call: ToolCall) -> str:
        id_ = call.id if call.id and call.id not in self._ids else f"call_{len(self._ids)}"
        while id_ in self._ids:
            id_ += "x"
        self._ids.add(id_)
        return id_


class NotRecorded(LookupError):
    """The log does not hold this step: the turn was played by someone else."""


class PastTurn:
    """A `Desk` that hands back one recorded turn of the agent, step by step, and does nothing."""

    def __init__(self, log: Sequence[Event], turn: int, tools: tuple[ToolSpec, ...]) -> None:
        self.log = tuple(log)
        self.tools = tools
        self._replies: dict[int, ModelReply] = {}
        self._answers: dict[int, ToolAnswered] = {}
        self._model_step = self._tool_step = 0
        for body in (event.body for event in log):
            if isinstance(body, ModelReplied) and (body.part, body.turn) == ("agent", turn):
                self._replies[body.step] = body.reply
            elif isinstance(body, ToolAnswered) and (body.part, body.turn) == ("agent", turn):
                self._answers[body.step] = body

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        """Raises `NotRecorded`."""
        step, self._model_step = self._model_step, self._model_step + 1
        if step not in self._replies:
            raise NotRecorded
        return self._replies[step]

    async def call_tool(self, call: ToolCall) -> ToolAnswer:
        """Raises `NotRecorded`, also when the recorded call was another one."""
        step, self._tool_step = self._tool_step, self._tool_step + 1
        past = self._answers.get(step)
        if past is None or past.call.name != call.name or past.call.arguments != call.arguments:
            raise NotRecorded
        return past.answer

    async def mark(self, mark: Mark) -> Mark:
        return mark

    def scope(self, name: str) -> PastTurn:
        raise NotRecorded(name)

    def stream(self, text: str) -> None:
        pass
