"""The chat messages of a trial, rebuilt from its log: what the agent's model was told and said, in order.

The log keeps what was said and done, and of prompts the hash of each template. So the system message is the
template's own text, without what was filled in for a task. What helpers of a team said among themselves is in
their calls' answers; what the user's and the world's models were asked is not part of this conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from cuecard.core.events import AgentSpoke, Event, ModelReplied, ToolAnswered, UserSpoke
from cuecard.core.parts import ToolCall
from cuecard.core.tasks.base import Frozen

Role = Literal["system", "user", "assistant", "tool"]
_OWN = ("agent", "conclusion")


class Call(Frozen):
    """A tool call with an id that no other call of the conversation has."""

    id: str
    name: str
    arguments: dict[str, JsonValue] = {}
    broken: str = ""


class ChatMessage(Frozen):
    """`seq`: the event that it comes from, None for a prompt. `call_id` and `name`: of the call that a tool's
    message answers; not `ok`: the call was refused.
    """

    role: Role
    content: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""
    ok: bool = True
    seq: int | None = None
    model: str = ""


def chat_of(events: Sequence[Event], prompts: Mapping[str, str]) -> tuple[ChatMessage, ...]:
    """The conversation of a course. `prompts`: kept texts by hash."""
    thread = _Thread(prompts)
    for event in events:
        match event.body:
            case UserSpoke() as spoke:
                thread.user(spoke, event.seq)
            case ModelReplied(scope="") as replied if replied.part in _OWN:
                thread.replied(replied, event.seq)
            case ToolAnswered(scope="") as answered if answered.part in _OWN:
                thread.answered(answered, event.seq)
            case AgentSpoke() as spoke:
                thread.spoke(spoke, event.seq)
            case _:
                pass
    return tuple(thread.messages)


def as_openai(message: ChatMessage) -> dict[str, JsonValue]:
    """The message as the chat API spells it, with `reasoning_content` where there was reasoning."""
    data: dict[str, JsonValue] = {"role": message.role, "content": message.content}
    if message.calls:
        data["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_of(call)},
            }
            for call in message.calls
        ]
    if message.reasoning:
        data["reasoning_content"] = message.reasoning
    if message.role == "tool":
        data["tool_call_id"] = message.call_id
        data["name"] = message.name
    return data


def arguments_of(call: Call | ToolCall) -> str:
    """A call's arguments as JSON, or as they were written where that was none."""
    return call.broken or json.dumps(call.arguments, ensure_ascii=False)


class _Thread:
    def __init__(self, prompts: Mapping[str, str]) -> None:
        self.messages: list[ChatMessage] = []
        self._prompts = prompts
        self._ids: set[str] = set()
        self._asked = ""
        # The calls of the last reply that have no answer yet, and where that reply stands.
        self._open: list[Call] = []
        self._reply: int | None = None

    def user(self, spoke: UserSpoke, seq: int) -> None:
        self._turned()
        if spoke.reply.text:
            self.messages.append(ChatMessage(role="user", content=spoke.reply.text, seq=seq))

    def replied(self, replied: ModelReplied, seq: int) -> None:
        self._prompted(replied)
        reply = replied.reply
        calls = tuple(self._named(call) for call in reply.tool_calls)
        self._open, self._reply = list(calls), len(self.messages)
        self.messages.append(
            ChatMessage(
                role="assistant",
                content=reply.text,
                reasoning=reply.reasoning,
                calls=calls,
                seq=seq,
                model=reply.model or replied.model,
            )
        )

    def answered(self, answered: ToolAnswered, seq: int) -> None:
        call = self._answers(answered.call) or self._added(answered.call, seq)
        self.messages.append(
            ChatMessage(
                role="tool",
                content=answered.answer.text,
                call_id=call.id,
                name=call.name,
                ok=answered.answer.ok,
                seq=seq,
            )
        )

    def spoke(self, spoke: AgentSpoke, seq: int) -> None:
        text = spoke.reply.text
        last = self.messages[-1] if self.messages else None
        # Who answers on a model has said it already, perhaps among thoughts and tags.
        if last is None or last.role != "assistant" or text.strip() not in last.content:
            self.messages.append(ChatMessage(role="assistant", content=text, seq=seq))
        self._turned()

    def _turned(self) -> None:
        self._open, self._reply = [], None

    def _prompted(self, replied: ModelReplied) -> None:
        """The prompt that this call was made with, where it is kept and has not been told yet."""
        if replied.prompt in ("", self._asked):
            return
        text = self._prompts.get(replied.prompt)
        self._asked = replied.prompt
        if text is None:
            return
        if replied.part == "conclusion":
            self.messages.append(ChatMessage(role="user", content=text))
        elif not any(message.role == "system" for message in self.messages):
            self.messages.insert(0, ChatMessage(role="system", content=text))

    def _answers(self, call: ToolCall) -> Call | None:
        """Which call of the last reply is answered: by its id, by what it says, by its name."""
        tests: tuple[Callable[[Call], bool], ...] = (
            lambda asked: bool(call.id) and (asked.id, asked.name) == (call.id, call.name),
            lambda asked: (asked.name, asked.arguments) == (call.name, call.arguments),
            lambda asked: asked.name == call.name,
        )
        for test in tests:
            found = next((place for place, asked in enumerate(self._open) if test(asked)), None)
            if found is not None:
                return self._open.pop(found)
        return None

    def _added(self, call: ToolCall, seq: int) -> Call:
        """A call that stands in no reply as such: written in its text, or made by code."""
        named = self._named(call)
        if self._reply is None:
            self._reply = len(self.messages)
            self.messages.append(ChatMessage(role="assistant", content="", seq=seq))
        reply = self.messages[self._reply]
        self.messages[self._reply] = reply.model_copy(update={"calls": (*reply.calls, named)})
        return named

    def _named(self, call: ToolCall) -> Call:
        id_, n = call.id, len(self._ids)
        while not id_ or id_ in self._ids:
            id_, n = f"call_{n}", n + 1
        self._ids.add(id_)
        return Call(id=id_, name=call.name, arguments=call.arguments, broken=call.broken)
