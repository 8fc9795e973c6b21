"""Keeping a conversation within what a model can read; the log keeps everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from cuecard.core.agents.calling import OVERFLOW, performing
from cuecard.core.agents.measuring import shortened
from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tagged import split_thoughts
from cuecard.core.agents.thread import Block, Thread
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.marks import Compaction
from cuecard.core.parts import Desk
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage

# Parts of what fits: the answers to one reply's calls; the messages that stay, of which `window`
# keeps more, as it keeps nothing else; what is summarised at once; the user's requests; the notes.
_RESULTS, _STAYS, _WINDOW, _SUMMARISED, _REQUESTS, _NOTES = 0.5, 0.5, 0.7, 0.6, 0.25, 0.1
_SUMMARY_ATTEMPTS = 2
_WORDS = (100, 1500)


@dataclass(frozen=True)
class Reach:
    """How much a model can take in, and what is done when a prompt would be longer.

    `limit`: tokens of a prompt. `keep`: messages that stay as they are, if they fit. `ask`: the prompt
    that asks for a summary; `stand`: the one that stands for what was cut.
    """

    strategy: Literal["summary", "window"]
    limit: int
    keep: int
    ask: Prompt
    stand: Prompt


class Compactor:
    """Makes room in `thread` during one turn. Whatever it decides follows from what is recorded, so a
    turn that is played again is cut at the same places in the same way.
    """

    def __init__(
        self, client: ChatClient, reach: Reach, language: TaskLanguage, thread: Thread, desk: Desk
    ) -> None:
        self._client = client
        self._reach = reach
        self._language: TaskLanguage = language
        self._thread = thread
        self._desk = desk
        self._made = 0

    async def make_room(self) -> None:
        """Cut the thread if the next prompt would be too long. Raises `ModelCallError`."""
        if self._thread.tokens > self._reach.limit:
            await self._compact(self._reach.limit, self._reach.keep, hard=False)

    async def make_more_room(self) -> None:
        """Cut the thread to half: the server says that it is too long. Raises `ModelCallError`."""
        limit = min(self._reach.limit, self._thread.tokens) // 2
        await self._compact(limit, 1, hard=True)
        self._thread.shorten(int(self._thread.units(limit) * _RESULTS), self._language)

    def fitted(self, results: Sequence[str]) -> list[str]:
        """The answers to a reply's calls as the model is to see them."""
        budget = int(self._thread.units(self._reach.limit) * _RESULTS)
        return shortened(results, budget, self._language)

    async def _compact(self, limit: int, keep: int, *, hard: bool) -> None:
        """`hard`: also where no message can be left out, since answers will be cut."""
        thread, strategy = self._thread, self._reach.strategy
        units = thread.units(limit)
        front = _pinned(thread.blocks) if strategy == "window" else []
        movable = [b for b in thread.blocks if not b.head and b not in front[:1]]
        budget, most = (_STAYS, _STAYS) if strategy == "summary" else (_WINDOW, 1)
        at = len(movable) - _tail(movable, keep, int(units * budget), int(units * most))
        older, staying = movable[:at], movable[at:]
        front = [block for block in front if block not in staying]
        older = [block for block in older if block not in front]
        if not older and not hard:
            return
        summary = await self._summary(older, units) if older and strategy == "summary" else ""
        mark = await self._desk.mark(
            Compaction(
                strategy=strategy,
                before=thread.tokens,
                limit=limit,
                kept=_messages(staying),
                dropped=_messages(older),
                summary=summary,
            )
        )
        assert isinstance(mark, Compaction)
        self._made += 1
        if older and strategy == "summary":
            thread.requests += [request for block in older for request in block.requests]
            thread.summary = mark.summary
        thread.replace([*front[:1], *self._head(units), *front[1:]], mark.kept)

    def _head(self, units: int) -> list[Block]:
        """What stands for the messages that were cut."""
        thread = self._thread
        none = say(self._language, Note.NONE)
        requests = shortened(thread.requests, int(units * _REQUESTS), self._language)
        notes = shortened(thread.notes, int(units * _NOTES), self._language)
        if not requests and not notes and not thread.summary:
            return []
        text = self._reach.stand.render(
            requests=_numbered(requests) or none,
            summary=thread.summary or none,
            notes=_numbered(notes) or none,
        )
        return [Block([wire.user(text)], head=True)]

    async def _summary(self, older: Sequence[Block], units: int) -> str:
        """The model's own words for the older messages; empty if it has none."""
        lines = _lines(self._thread.summary, older, self._language)
        desk = self._desk.scope(f"compaction/{self._made}")
        few, many = _WORDS
        system = wire.system(self._reach.ask.render(words=str(min(max(units // 12, few), many))))
        budget = int(units * _SUMMARISED)
        for _attempt in range(_SUMMARY_ATTEMPTS):
            told = "\n\n".join(shortened(lines, budget, self._language))
            perform = performing(self._client, [system, wire.user(told)], overflow=True)
            reply = await desk.call_model(
                self._client.config.model, perform, prompt=self._reach.ask.hash
            )
            _thoughts, text = split_thoughts(reply.text)
            if text and reply.finish_reason != OVERFLOW:
                (fit,) = shortened([text], int(units * _REQUESTS), self._language)
                return fit
            budget //= 3
        return ""


def _pinned(blocks: Sequence[Block]) -> list[Block]:
    """What a window never leaves out: what the user said first and last."""
    asked = [block for block in blocks if block.requests]
    return [block for i, block in enumerate(asked) if i in (0, len(asked) - 1)]


def _tail(blocks: Sequence[Block], keep: int, budget: int, most: int) -> int:
    """How many blocks stay: as many as fit the budget and, until `keep` messages are reached, `most`;
    the last one in any case. With equal bounds never more than `keep` messages.
    """
    count = messages = weight = 0
    for block in reversed(blocks):
        weight += block.weight
        room = most if messages < keep else budget if most > budget else 0
        if count and weight > room:
            break
        count += 1
        messages += len(block.messages)
    return count


def _messages(blocks: Sequence[Block]) -> int:
    return sum(len(block.messages) for block in blocks)


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{i}. {text}" for i, text in enumerate(texts, 1))


def _lines(summary: str, blocks: Sequence[Block], language: TaskLanguage) -> list[str]:
    """The older conversation as a reader sees it."""
    roles = {
        "user": say(language, Note.ROLE_USER),
        "assistant": say(language, Note.ROLE_ASSISTANT),
        "tool": say(language, Note.ROLE_TOOL),
    }
    lines = [f"{say(language, Note.ROLE_SUMMARY)}\n{summary}"] if summary else []
    for message in (message for block in blocks for message in block.messages):
        calls = message.get("tool_calls")
        made = [f"-> {_call(call)}" for call in calls] if isinstance(calls, list) else []
        text = "\n".join([str(message["content"]), *made]).strip()
        lines.append(f"{roles[str(message['role'])]}\n{text}")
    return lines


def _call(call: JsonValue) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return f"{function['name']} {function['arguments']}" if isinstance(function, dict) else ""
