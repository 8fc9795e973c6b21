"""Long trials of a model agent: a user with many lines, a world with long answers, a server that counts."""

from __future__ import annotations

import json
from collections.abc import Callable

import openai_server as fake
from cuecard.core.engine.messages import (
    Dialogue,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    UserReply,
)
from cuecard.core.engine.step_context import StepContext, WorldContext
from cuecard.core.worlds.closed import SEARCH
from openai_server import Reply, Request
from react_bench import TRIPLES, concluding

NOTES = "The user wants lamps. Found: lamp 0 is brass (query: lamp 0)."


class LongUser:
    """Has so many requests, one a turn."""

    ref = PlayerRef(name="long", kind="scripted")

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def open(self, context: StepContext) -> UserReply:
        return UserReply(text="Request 0: tell me about lamp 0.")

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        number = len(dialogue.of("user"))
        if number >= self._turns:
            return UserReply(text="Thank you.", done=True)
        return UserReply(text=f"Request {number}: tell me about lamp {number}.")


class WordyWorld:
    """Answers each search with so many characters."""

    ref = PlayerRef(name="wordy", kind="closed")
    tools: tuple[ToolSpec, ...] = (SEARCH,)

    def __init__(self, chars: int) -> None:
        self._chars = chars

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        query = call.arguments["query"]
        return ToolAnswer(text=f"{query} is brass. ".ljust(self._chars, "x"))


def length_of(request: Request) -> int:
    """Tokens of a request, as this server counts them."""
    return len(json.dumps(request.body["messages"])) // 4


def summarising(request: Request) -> bool:
    """Whether the request asks for a summary."""
    return "about to be cut away" in request.messages[0]["content"]


def counting(inner: Callable[[Request], Reply], limit: int = 0) -> Callable[[Request], Reply]:
    """A server that refuses requests of more than `limit` tokens."""

    def script(request: Request) -> Reply:
        if limit and length_of(request) > limit:
            return fake.error(400, "too long", "context_length_exceeded")
        return inner(request)

    return script


def lamp_seeker(*, counts: bool = True) -> Callable[[Request], Reply]:
    """A model that searches once a turn, about what was last asked, then replies."""

    def script(request: Request) -> Reply:
        tokens = length_of(request)
        usage = {"prompt_tokens": tokens, "completion_tokens": 9} if counts else None
        if summarising(request):
            return fake.text(NOTES, usage=usage)
        if concluding(request):
            return fake.text(TRIPLES, usage=usage)
        if request.last["role"] == "tool":
            return fake.text("It is brass.", usage=usage)
        query = f"lamp {str(request.last['content']).rpartition('lamp ')[2].rstrip('.')}"
        return fake.calls(("search", {"query": query}), usage=usage)

    return script
