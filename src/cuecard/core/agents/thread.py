"""The messages that a model is sent, rebuilt from the log if need be, and compacted to fit its context."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from cuecard.core.agents.briefing import Note, estimate, say, shortened
from cuecard.core.agents.calling import OVERFLOW, DecodedReply, Wire, performing, split_thoughts
from cuecard.core.config import Prompt
from cuecard.core.engine.messages import Compaction, ToolCall, Usage
from cuecard.core.engine.step_context import StepContext
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.tasks.models import TaskLanguage

# The factor by which a server's token count may differ from our estimate before it is ignored.
_MIN_SCALE, _MAX_SCALE = 0.5, 4.0


@dataclass(eq=False)
class Block:
    """Messages that are kept or dropped together: the user's words, or a reply with the answers to its calls.
    `requests`: the user's own words in it. `head`: it replaces messages that were cut.
    """

    messages: list[wire.ChatMessage]
    requests: tuple[str, ...] = ()
    head: bool = False
    weight: int = field(default=0)

    def __post_init__(self) -> None:
        self.weight = sum(map(_weight, self.messages))


class Thread:
    """A growing list of messages. Two user messages in a row are joined, as some servers require; each tool call gets an
    id that is unique in the thread, whatever ids the model gave.

    `overhead`: estimated tokens of what is sent besides the messages. `notes`: what the model noted; `requests` and
    `summary`: what is kept of messages that were cut.
    """

    def __init__(self, system: str, wire_: Wire, overhead: int = 0) -> None:
        self.notes: list[str] = []
        self.requests: list[str] = []
        self.summary = ""
        self._wire = wire_
        self._system = wire.system(system)
        self._fixed = overhead + estimate(system)
        self._messages = [self._system]
        self._blocks: list[Block] = []
        self._ids: set[str] = set()
        self._weight = 0
        self._counted = 0
        self._since = 0
        self._scale = 1.0

    @property
    def messages(self) -> list[wire.ChatMessage]:
        return list(self._messages)

    @property
    def blocks(self) -> Sequence[Block]:
        return self._blocks

    @property
    def tokens(self) -> int:
        """Tokens of the next prompt: the server's last count, and an estimate of what was added since."""
        if self._counted:
            return self._counted + round(self._since * self._scale)
        return round((self._fixed + self._weight) * self._scale)

    def units(self, tokens: int) -> int:
        """`tokens` by the server's count, converted to the scale of our estimates."""
        return int(tokens / self._scale)

    def fork(self) -> Thread:
        """An independent copy of this thread."""
        twin = copy(self)
        twin.notes, twin.requests = list(self.notes), list(self.requests)
        twin._messages, twin._blocks = list(self._messages), list(self._blocks)
        twin._ids = set(self._ids)
        return twin

    def user(self, text: str, *, request: bool = False) -> None:
        """Add the user's words (`request`), or a message of the program itself."""
        if text.strip():
            self._add(Block([wire.user(text)], (text,) if request else ()))

    def said(self, text: str) -> None:
        """Add a reply of which only the words are known."""
        self.reply(DecodedReply(text, written=text))

    def reply(self, spoken: DecodedReply) -> list[str]:
        """Add a reply; returns the ids of its calls."""
        ids = [self._id(call) for call in spoken.calls]
        self.count(spoken.usage)
        self._add(Block([self._wire.reply(spoken, ids)]))
        if spoken.usage.prompt:
            self._counted += spoken.usage.completion
            self._since = 0
        return ids

    def count(self, usage: Usage) -> None:
        """Use the server's token count for the length of the present prompt, if it gave one."""
        if usage.prompt:
            scale = usage.prompt / max(self._fixed + self._weight, 1)
            self._scale = min(max(scale, _MIN_SCALE), _MAX_SCALE)
            self._counted, self._since = usage.prompt, 0

    def results(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add the answers to the calls of the last reply."""
        block = self._blocks[-1]
        for message in self._wire.results(ids, texts):
            weight = _weight(message)
            block.messages.append(message)
            block.weight += weight
            self._push(message, weight)

    def replace(self, front: Sequence[Block], kept: int) -> None:
        """Replace all but the last `kept` messages by `front`."""
        tail = self._blocks[len(self._blocks) - self.tail_of(kept) :]
        self._rebuild([*front, *tail])

    def shorten(self, budget: int, language: TaskLanguage) -> None:
        """Cut the longest answers to calls so that all of them take about `budget` estimated tokens."""
        answers = [(b, i) for b in self._blocks for i in range(1, len(b.messages))]
        texts = [str(b.messages[i]["content"]) for b, i in answers]
        changed = {id(b): Block(list(b.messages), b.requests, b.head) for b, _ in answers}
        for (block, i), text in zip(answers, shortened(texts, budget, language), strict=True):
            new = changed[id(block)]
            new.messages[i] = {**new.messages[i], "content": text}
        for block in changed.values():
            block.weight = sum(map(_weight, block.messages))
        self._rebuild([changed.get(id(b), b) for b in self._blocks])

    def tail_of(self, messages: int) -> int:
        """How many blocks at the end hold this many messages."""
        blocks = 0
        while messages > 0 and blocks < len(self._blocks):
            blocks += 1
            messages -= len(self._blocks[-blocks].messages)
        return blocks

    def _rebuild(self, blocks: list[Block]) -> None:
        self._messages, self._blocks, self._weight = [self._system], [], 0
        for block in blocks:
            self._add(block)
        self._counted = self._since = 0

    def _add(self, block: Block) -> None:
        self._blocks.append(block)
        first, *others = block.messages
        self._push(first, block.weight)
        for message in others:
            self._push(message, 0)

    def _push(self, message: wire.ChatMessage, weight: int) -> None:
        """Send this message after the others."""
        last = self._messages[-1]
        if message["role"] == last["role"] == "user":
            self._messages[-1] = wire.user(f"{last['content']}\n\n{message['content']}")
        else:
            self._messages.append(message)
        self._weight += weight
        self._since += weight

    def _id(self, call: ToolCall) -> str:
        id_ = call.id if call.id and call.id not in self._ids else f"call_{len(self._ids)}"
        while id_ in self._ids:
            id_ += "x"
        self._ids.add(id_)
        return id_


def _weight(message: wire.ChatMessage) -> int:
    """Estimated tokens of a message."""
    weight = estimate(str(message["content"])) + 4
    if calls := message.get("tool_calls"):
        weight += estimate(str(calls))
    return weight


# Shares of the limit: the answers to one reply's calls; the messages that stay (`window` keeps more of them, since it
# keeps nothing else); what is summarised at once; the user's requests; the notes.
_RESULTS, _STAYS, _WINDOW, _SUMMARISED, _REQUESTS, _NOTES = 0.5, 0.5, 0.7, 0.6, 0.25, 0.1
_SUMMARY_ATTEMPTS = 2
_WORDS = (100, 1500)


@dataclass(frozen=True)
class PromptLimit:
    """The limit of a prompt, and how messages are compacted when it would be exceeded.

    `limit`: tokens of a prompt. `keep`: messages that stay as they are, if they fit. `ask`: the prompt that asks for a
    summary; `stand`: the template of the message that replaces what was cut.
    """

    strategy: Literal["summary", "window"]
    limit: int
    keep: int
    ask: Prompt
    stand: Prompt


class Compactor:
    """Compacts `thread` during one turn. Its decisions depend only on what is recorded, so that a turn that is played
    again is compacted at the same places in the same way.
    """

    def __init__(
        self,
        client: ChatClient,
        reach: PromptLimit,
        language: TaskLanguage,
        thread: Thread,
        context: StepContext,
    ) -> None:
        self._client = client
        self._reach = reach
        self._language: TaskLanguage = language
        self._thread = thread
        self._context = context
        self._made = 0

    async def make_room(self) -> None:
        """Cut the thread if the next prompt would be too long. Raises `ModelCallError`."""
        if self._thread.tokens > self._reach.limit:
            await self._compact(self._reach.limit, self._reach.keep, hard=False)

    async def make_more_room(self) -> None:
        """Cut the thread to half, after the server refused it as too long. Raises `ModelCallError`."""
        limit = min(self._reach.limit, self._thread.tokens) // 2
        await self._compact(limit, 1, hard=True)
        self._thread.shorten(int(self._thread.units(limit) * _RESULTS), self._language)

    def fitted(self, results: Sequence[str]) -> list[str]:
        """The answers to a reply's calls, cut to what the model can take."""
        budget = int(self._thread.units(self._reach.limit) * _RESULTS)
        return shortened(results, budget, self._language)

    async def _compact(self, limit: int, keep: int, *, hard: bool) -> None:
        """Compact to `limit` tokens. `hard`: even if no message can be left out, since answers will be cut."""
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
        mark = await self._context.mark(
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
        """The message that replaces those that were cut; none if there is nothing to say."""
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
        """The model's own summary of the older messages; "" if it gave none."""
        lines = _lines(self._thread.summary, older, self._language)
        context = self._context.scope(f"compaction/{self._made}")
        few, many = _WORDS
        system = wire.system(self._reach.ask.render(words=str(min(max(units // 12, few), many))))
        budget = int(units * _SUMMARISED)
        for _attempt in range(_SUMMARY_ATTEMPTS):
            told = "\n\n".join(shortened(lines, budget, self._language))
            perform = performing(self._client, [system, wire.user(told)], overflow=True)
            reply = await context.call_model(
                self._client.config.model, perform, prompt=self._reach.ask.hash
            )
            _thoughts, text = split_thoughts(reply.text)
            if text and reply.finish_reason != OVERFLOW:
                (fit,) = shortened([text], int(units * _REQUESTS), self._language)
                return fit
            budget //= 3
        return ""


def _pinned(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that the strategy `window` never leaves out: the user's first and last words."""
    asked = [block for block in blocks if block.requests]
    return [block for i, block in enumerate(asked) if i in (0, len(asked) - 1)]


def _tail(blocks: Sequence[Block], keep: int, budget: int, most: int) -> int:
    """How many blocks at the end stay: as many as fit `budget` and, until `keep` messages are reached, `most`; the last
    one in any case. With equal bounds never more than `keep` messages.
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
    """The older messages as lines of text, for a summary."""
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
