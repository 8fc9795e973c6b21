"""How tool calls travel: as the server's own structures, or written into the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cuecard.core.agents.leaks import leaked_calls
from cuecard.core.llm import wire
from cuecard.core.parts import ModelReply, ToolCall, ToolSpec, Usage

_NOTHING = Usage()

OnText = Callable[[str], None]


@dataclass(frozen=True)
class Spoken:
    """A model's reply as understood. `text`: what is said to the user; `written`: what the model is
    shown as its own words later; `cut`: it ran out of tokens before its end.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    written: str = ""
    cut: bool = False
    usage: Usage = _NOTHING


class Wire(Protocol):
    """Turns replies into what was meant, and what happened into messages."""

    @property
    def native(self) -> bool:
        """Whether requests carry the tools."""
        ...

    def decode(self, reply: ModelReply, tools: Sequence[ToolSpec], *, may_call: bool) -> Spoken: ...

    def reply(self, spoken: Spoken, ids: Sequence[str]) -> wire.ChatMessage:
        """The model's own message; `ids` of its calls."""
        ...

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> list[wire.ChatMessage]: ...

    def shown(self, on_text: OnText) -> OnText:
        """Takes pieces of a reply as they come, and hands on what the user may see of them."""
        ...


class NativeWire:
    """Tool calls by the server's own means; those that leaked into the text are taken from there."""

    native = True

    def decode(self, reply: ModelReply, tools: Sequence[ToolSpec], *, may_call: bool) -> Spoken:
        text, calls = reply.text, reply.tool_calls
        cut = reply.finish_reason == "length"
        if not may_call:
            calls = ()
        elif not calls and (leak := leaked_calls(text, tools, cut=cut)):
            text, calls = leak.before, leak.calls
        # A server does not get thoughts sent back: they do not count as part of what follows.
        usage = reply.usage
        if usage.reasoning:
            left = max(usage.completion - usage.reasoning, 0)
            usage = usage.model_copy(update={"completion": left})
        return Spoken(text, calls, text, cut, usage)

    def reply(self, spoken: Spoken, ids: Sequence[str]) -> wire.ChatMessage:
        return wire.assistant(spoken.written, list(zip(ids, spoken.calls, strict=True)))

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> list[wire.ChatMessage]:
        return [wire.tool_answer(id_, text) for id_, text in zip(ids, texts, strict=True)]

    def shown(self, on_text: OnText) -> OnText:
        return on_text


NATIVE = NativeWire()
