"""Everything that exports include of one trial: its log, its chat messages, its judgements, and its task's gold."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Literal

from pydantic import JsonValue, SkipValidation

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    ModelReplied,
    Termination,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import PlayerRef, ToolCall, Usage
from cuecard.core.engine.trial import prediction_of
from cuecard.core.families.common import parse_prediction
from cuecard.core.families.registry import CORE, family_of
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Task
from cuecard.core.verdicts import Item, Judgement, Measure


class Judged(Frozen):
    """A judge's newest judgement of the trial, and the measures that follow from it."""

    judgement: Judgement
    measures: tuple[Measure, ...]

    def value(self, name: str) -> float | None:
        return next((m.value for m in self.measures if m.name == name), None)


class Payment(Frozen):
    """What one payer's calls of one model have cost over all attempts; `cost` is None where none had a price."""

    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None


class Trajectory(Frozen):
    """A trial that has ended, on `task` as it was in `revision`. `events`: its effective log with all texts; `takes`: the
    number of attempts. `prompts`: texts of the prompts used, by hash, as far as they are stored.
    """

    run: str
    run_uid: str
    uid: str
    task: SkipValidation[Task]
    revision: int
    revision_hash: str
    sample: int
    seed: int
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    termination: Termination
    detail: str = ""
    created_at: datetime
    ended_at: datetime
    events: tuple[Event, ...]
    takes: int = 1
    judged: tuple[Judged, ...] = ()
    payments: tuple[Payment, ...] = ()
    prompts: dict[str, str] = {}

    @property
    def family(self) -> Family:
        return self.task.family

    @cached_property
    def prediction(self) -> Prediction:
        return prediction_of(self.events)

    @cached_property
    def response(self) -> str:
        """What was handed in, as a text from which `parse_prediction` reads the same; the agent's own words
        where they do.
        """
        return response_of(self.family, self.prediction)


def response_of(family: Family, prediction: Prediction) -> str:
    """A text from which `parse_prediction` reads this prediction: the agent's own, if it does, else an equivalent one."""
    if isinstance(prediction, UnusablePrediction):
        # A text that can be parsed by now would score.
        return prediction.raw if reads_as(family, prediction.raw, prediction) else ""
    written = (prediction.raw, *prediction.spellings)
    return next((text for text in written[:-1] if reads_as(family, text, prediction)), written[-1])


def reads_as(family: Family, text: str, prediction: Prediction) -> bool:
    """Whether `text` parses to the same prediction; for an unusable one, whether `text` is unusable too."""
    found = parse_prediction(family, text)
    if isinstance(prediction, UnusablePrediction):
        return found.kind == prediction.kind
    return found.model_copy(update={"raw": ""}) == prediction.model_copy(update={"raw": ""})


Role = Literal["system", "user", "assistant", "tool"]
_OWN = ("agent", "conclusion")


class Call(Frozen):
    """A tool call with an id that no other call of the conversation has."""

    id: str
    name: str
    arguments: dict[str, JsonValue] = {}
    broken: str = ""


class ChatMessage(Frozen):
    """One message of the conversation. `seq`: of the event that it comes from, None for a prompt. `call_id`, `name`: of
    the call that a tool's message answers; `ok` is false if that call was refused.
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
    """The conversation of an effective log. `prompts`: kept texts by hash."""
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
    """A call's arguments as JSON, or as the model wrote them if that was no JSON."""
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


MEASURES = CORE.each(lambda family: family.measures)
"""What tells how good a trial was, by family; the first is the one that stands for it."""


def target_of(task: Task) -> str | tuple[str, ...]:
    """The accepted answers; of a graph or table all its triples or rows, one a line."""
    return family_of(task).target(task.gold)


def item_text(task: Task, item: Item) -> str:
    """What a gold item says; its key where the task has none such."""
    try:
        return family_of(task).item_text(task.gold, item)
    except (LookupError, ValueError):
        return item.key
