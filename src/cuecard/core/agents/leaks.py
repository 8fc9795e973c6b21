"""Tool calls that a model wrote into its text instead of making them.

Each family of models has its own marks for calls; where a server does not know them, they end up in
the text. Behind a mark, whatever reads as a call is one. Without a mark, only calls of known tools
with which the text ends: a reply may also speak of calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cuecard.core.agents.written_calls import CallReader, Written
from cuecard.core.parts import ToolCall, ToolSpec

# Hermes, Qwen, GLM, MiniMax; Llama; Phi, Granite; Kimi; DeepSeek; Mistral; gpt-oss; Claude.
_MARK = re.compile(
    r"(?<!`)(?:"
    r"<(?:\w+:)?tool_calls?>|<\|tool_calls?\|>|<\|tool_calls?_(?:section_)?begin\|>"
    r"|<｜tool▁calls?▁begin｜>|<｜DSML｜|\[TOOL_CALLS\]|<\|python_tag\|>|<\|action_start\|>"
    r"|<function=|<function_calls?>|<invoke name=|(?:<\|channel\|>\s*)?commentary to="
    r")",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"[\s,;\[\]()`]*+(?:(?:json|python|tool_code|tool_call|<\|\w+\|>)[\s,;\[\]`]*+)?"
)
_FENCE = re.compile(r"[ \t]*```[ \t]*\w*")


class Leak(NamedTuple):
    """`before`: what the text says before its first call; `end`: where the last one ends."""

    before: str
    calls: tuple[ToolCall, ...]
    end: int


def leaked_calls(text: str, tools: Sequence[ToolSpec], *, cut: bool = False) -> Leak | None:
    """The calls in `text`, or None if it holds none. Those behind a mark may be broken, or name a
    tool that does not exist. `cut`: the text ran out of tokens.
    """
    mark = _MARK.search(text)
    if mark:
        found = CallReader(text, tools, marked=True, cut=cut).calls(mark.start())
        if found:
            return Leak(text[: mark.start()].strip(), _calls(found), found[-1].end)
    if not any(spec.name in text for spec in tools):
        return None
    found = _last_ones(text, CallReader(text, tools, marked=False, cut=cut).calls(0))
    before = _before(text, found[0].start) if found else None
    return None if before is None else Leak(before, _calls(found), found[-1].end)


def _before(text: str, start: int) -> str | None:
    """What stands above the line on which the calls begin; None if something stands on it."""
    head = text[:start].rstrip("[ \t").removesuffix("print(").rstrip(" \t")
    above = head.rstrip()
    rest, _, line = above.rpartition("\n")
    if _FENCE.fullmatch(line):
        return rest.strip()
    return above if not head or head.endswith("\n") else None


def _last_ones(text: str, found: Sequence[Written]) -> list[Written]:
    """The run of calls at the very end, with nothing said between or after them."""
    run: list[Written] = []
    end = len(text)
    for call in reversed(found):
        if not _BETWEEN.fullmatch(text, call.end, end):
            break
        run.insert(0, call)
        end = call.start
    return run


def _calls(found: Sequence[Written]) -> tuple[ToolCall, ...]:
    return tuple(written.call for written in found)
