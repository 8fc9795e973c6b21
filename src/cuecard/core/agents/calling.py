"""How an agent calls its model, with tool calls as the server's own structures or as tags in the text."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from cuecard.core.agents.briefing import ANSWER
from cuecard.core.agents.written_calls import leaked_calls
from cuecard.core.engine.messages import ModelReply, ToolCall, ToolSpec, Usage
from cuecard.core.errors import ModelCallError
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.wire import ChatMessage

OVERFLOW = "context_overflow"
"""The `finish_reason` of a reply that the server refused because the messages were too long."""


def performing(
    client: ChatClient,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec] = (),
    on_text: Callable[[str], None] | None = None,
    *,
    may_call: bool = True,
    overflow: bool = False,
) -> Callable[[], Awaitable[ModelReply]]:
    """A function that makes the model call. With `overflow`, messages that are too long for the server give an empty
    reply with the finish reason `OVERFLOW`: it is recorded, so that a resumed trial shortens at the same place.
    """

    async def perform() -> ModelReply:
        try:
            return await client.chat(messages, tools, on_text, may_call=may_call)
        except ModelCallError as error:
            if overflow and error.context_overflow:
                return ModelReply(finish_reason=OVERFLOW, model=client.config.model)
            raise

    return perform


_NOTHING = Usage()

OnText = Callable[[str], None]


@dataclass(frozen=True)
class DecodedReply:
    """A decoded reply of a model. `text`: what is said to the user; `written`: its own text as the model sees it later;
    `cut`: it ran out of tokens before its end; `carried`: reasoning that goes back to the server as it came.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    written: str = ""
    cut: bool = False
    usage: Usage = _NOTHING
    carried: tuple[dict[str, JsonValue], ...] = ()


class Wire(Protocol):
    """How tool calls are transmitted: decodes replies, and encodes replies and tool results as messages."""

    @property
    def native(self) -> bool:
        """Whether requests contain the tools' specifications."""
        ...

    def decode(
        self, reply: ModelReply, tools: Sequence[ToolSpec], *, may_call: bool
    ) -> DecodedReply: ...

    def reply(self, spoken: DecodedReply, ids: Sequence[str]) -> wire.ChatMessage:
        """The model's reply as a message; `ids`: those of its calls."""
        ...

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> list[wire.ChatMessage]: ...

    def shown(self, on_text: OnText) -> OnText:
        """A function that takes pieces of a reply as they come and passes on to `on_text` what the user may see."""
        ...


class NativeWire:
    """Tool calls as the server's own structures; calls that the model wrote into its text are found there too."""

    native = True

    def decode(
        self, reply: ModelReply, tools: Sequence[ToolSpec], *, may_call: bool
    ) -> DecodedReply:
        text, calls = reply.text, reply.tool_calls
        cut = reply.finish_reason == "length"
        if not may_call:
            calls = ()
        elif not calls and (leak := leaked_calls(text, tools, cut=cut)):
            text, calls = leak.before, leak.calls
        # Thoughts that are not sent back to the server do not count for later prompts.
        usage = reply.usage
        if usage.reasoning and not reply.carried:
            left = max(usage.completion - usage.reasoning, 0)
            usage = usage.model_copy(update={"completion": left})
        return DecodedReply(text, calls, text, cut, usage, reply.carried)

    def reply(self, spoken: DecodedReply, ids: Sequence[str]) -> wire.ChatMessage:
        return wire.assistant(
            spoken.written, list(zip(ids, spoken.calls, strict=True)), spoken.carried
        )

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> list[wire.ChatMessage]:
        return [wire.tool_answer(id_, text) for id_, text in zip(ids, texts, strict=True)]

    def shown(self, on_text: OnText) -> OnText:
        return on_text


NATIVE = NativeWire()


_TAG = re.compile(r"(?<!`)<(think(?:ing)?|tool_call|answer)>", re.IGNORECASE)
_ACTION = re.compile(r"(?<!`)<(tool_call|answer)>", re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ANSWER_END = re.compile(r"```|</answer>", re.IGNORECASE)
_STRAY = re.compile(r"</?(?:answer|tool_call|tool_response|think(?:ing)?)>", re.IGNORECASE)
_HALF_TAG = re.compile(r"</?[a-z_]*\Z", re.IGNORECASE)


class TaggedWire:
    """A `Wire` that writes tool calls and results as tagged text, for models without native tool calls."""

    native = False

    def decode(
        self, reply: ModelReply, tools: Sequence[ToolSpec], *, may_call: bool
    ) -> DecodedReply:
        thoughts, said = split_thoughts(reply.text)
        thoughts = "\n".join(part for part in (reply.reasoning.strip(), thoughts) if part)
        cut = reply.finish_reason == "length"
        if may_call and reply.tool_calls:  # Some servers take the calls out of the text themselves.
            made = "\n".join(map(_as_text, reply.tool_calls))
            written = _with_thoughts(thoughts, f"{said}\n{made}".strip())
            return DecodedReply(said, reply.tool_calls, written, cut, reply.usage)
        action = _ACTION.search(said)
        answered = action is not None and action[1].lower() == "answer"
        if not answered and may_call and (leak := leaked_calls(said, tools, cut=cut)):
            written = _with_thoughts(thoughts, _closed(said[: leak.end]))
            return DecodedReply(leak.before, leak.calls, written, cut, reply.usage)
        final = next((m for m in _ACTION.finditer(said) if m[1].lower() == "answer"), None)
        text = _answer(said, final.end()) if final else _STRAY.sub("", said).strip()
        if not text:
            return DecodedReply(written=reply.text, cut=cut, usage=reply.usage)
        written = _with_thoughts(thoughts, f"<answer>\n{text}\n</answer>")
        calls: tuple[ToolCall, ...] = ()
        if final and may_call and any(spec.name == ANSWER.name for spec in tools):
            calls = (ToolCall(name=ANSWER.name, arguments={"answer": text}),)
        return DecodedReply(text, calls, written, cut, reply.usage)

    def reply(self, spoken: DecodedReply, ids: Sequence[str]) -> wire.ChatMessage:
        return wire.assistant(spoken.written)

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> list[wire.ChatMessage]:
        # A page that contains the closing tag must not end the block of results.
        safe = (text.replace("</tool_response", "<\\/tool_response") for text in texts)
        told = (f"<tool_response>\n{text}\n</tool_response>" for text in safe)
        return [wire.user("\n".join(told))]

    def shown(self, on_text: OnText) -> OnText:
        return AnswerOnly(on_text)


TAGGED = TaggedWire()


def list_of(tools: Sequence[ToolSpec]) -> str:
    """The tools for a prompt, each as one line of JSON."""
    return "\n".join(
        json.dumps(
            {"name": t.name, "description": t.description, "parameters": t.parameters},
            ensure_ascii=False,
        )
        for t in tools
    )


def split_thoughts(text: str) -> tuple[str, str]:
    """The thoughts at the beginning of a reply, and the rest. Thoughts without an end tag end at the first call or
    answer; without a begin tag they begin at the start.
    """
    thoughts: list[str] = []
    first, end = _TAG.search(text), _THOUGHTS_END.search(text)
    if end and not (first and first.start() < end.start() and first[1].lower() != "tool_call"):
        thoughts.append(text[: end.start()])
        text = text[end.end() :]
    said, at = list[str](), 0
    while (tag := _TAG.search(text, at)) and tag[1].lower().startswith("think"):
        end = _THOUGHTS_END.search(text, tag.end())
        action = None if end else _ACTION.search(text, tag.end())
        inner = end.start() if end else action.start() if action else len(text)
        thoughts.append(text[tag.end() : inner])
        said.append(text[at : tag.start()])
        at = end.end() if end else inner
    said.append(text[at:])
    return "\n".join(t.strip() for t in thoughts if t.strip()), "".join(said).strip()


def _answer(text: str, start: int) -> str:
    """The answer that begins at `start`; an end tag within a block of code is part of it."""
    fenced = False
    first = -1
    for mark in _ANSWER_END.finditer(text, start):
        if mark[0] == "```":
            fenced = not fenced
        elif not fenced:
            return text[start : mark.start()].strip()
        elif first < 0:
            first = mark.start()
    return _HALF_TAG.sub("", text[start : first if first >= 0 else len(text)]).strip()


def _as_text(call: ToolCall) -> str:
    arguments: object = call.broken or call.arguments
    made = json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>{made}</tool_call>"


def _closed(text: str) -> str:
    opened, closed = text.rfind("<tool_call>"), text.rfind("</tool_call>")
    return f"{text}</tool_call>" if opened > closed else text


def _with_thoughts(thoughts: str, text: str) -> str:
    return f"<think>\n{thoughts}\n</think>\n{text}" if thoughts else text


class AnswerOnly:
    """Streams the text of the first answer, as soon as it is certain to belong to it."""

    _LONGEST = len("</thinking>")

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._held = ""
        self._inside = ""
        self._begun = False

    def __call__(self, piece: str) -> None:
        if self._inside in ("over", "tool_call"):
            return
        self._held += piece
        while self._step():
            pass

    def _step(self) -> bool:
        """Process the next tag in the buffered text; False if there is none yet."""
        if not self._inside:
            tag = _TAG.search(self._held)
            if tag is None:
                # Half a tag may stand at the end; a whole one is quoted, as the mark before it tells.
                at = self._held.rfind("<", -self._LONGEST)
                self._held = self._held[max(at - 1, 0) if at >= 0 else -1 :]
                return False
            self._inside, self._held = tag[1].lower(), self._held[tag.end() :]
            return self._inside != "tool_call"
        close = f"</{self._inside}>"
        at = self._held.lower().find(close)
        certain = at if at >= 0 else len(self._held) - _overlap(self._held.lower(), close)
        if self._inside == "answer":
            self._show(self._held[:certain])
        self._held = self._held[certain:] if at < 0 else self._held[at + len(close) :]
        if at >= 0:
            self._inside = "over" if self._inside == "answer" else ""
        return at >= 0 and not self._inside

    def _show(self, text: str) -> None:
        if not self._begun:
            text = text.lstrip()
        if text:
            self._begun = True
            self._on_text(text)


def _overlap(text: str, close: str) -> int:
    """How much of `close` the text may already end with."""
    return next(
        (n for n in range(min(len(text), len(close) - 1), 0, -1) if text.endswith(close[:n])), 0
    )
