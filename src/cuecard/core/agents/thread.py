"""The messages that a model sees, built the same way every time from what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from cuecard.core.agents.measuring import estimate, shortened
from cuecard.core.agents.wires import Spoken, Wire
from cuecard.core.llm import wire
from cuecard.core.parts import ToolCall, Usage
from cuecard.core.tasks import TaskLanguage

# How far a server's count may be from ours before it is not believed.
_MIN_SCALE, _MAX_SCALE = 0.5, 4.0


@dataclass(eq=False)
class Block:
    """Messages that stay together: what the user said, or a reply with the answers to its calls.
    `requests`: the user's own words in it. `head`: it stands for what was cut.
    """

    messages: list[wire.ChatMessage]
    requests: tuple[str, ...] = ()
    head: bool = False
    weight: int = field(default=0)

    def __post_init__(self) -> None:
        self.weight = sum(map(_weight, self.messages))


class Thread:
    """A growing list of messages. Two user messages in a row become one, which some servers insist
    on; each tool call gets an id that is unique in the thread, whatever ids the model gave.

    `overhead`: estimated tokens of what is sent besides the messages. `notes`: what the model wrote
    down; `requests` and `summary`: what is left of messages that were cut.
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
        """How long the prompt would be now: by the server's last count, and an estimate of what has
        come since.
        """
        if self._counted:
            return self._counted + round(self._since * self._scale)
        return round((self._fixed + self._weight) * self._scale)

    def units(self, tokens: int) -> int:
        """Tokens of the server, as the estimates count them."""
        return int(tokens / self._scale)

    def fork(self) -> Thread:
        """A thread that goes on from here by itself."""
        twin = copy(self)
        twin.notes, twin.requests = list(self.notes), list(self.requests)
        twin._messages, twin._blocks = list(self._messages), list(self._blocks)
        twin._ids = set(self._ids)
        return twin

    def user(self, text: str, *, request: bool = False) -> None:
        """Add what the user said (`request`), or a word of the harness."""
        if text.strip():
            self._add(Block([wire.user(text)], (text,) if request else ()))

    def said(self, text: str) -> None:
        """Add a reply of which only the words are known."""
        self.reply(Spoken(text, written=text))

    def reply(self, spoken: Spoken) -> list[str]:
        """Add a reply; returns the ids of its calls."""
        ids = [self._id(call) for call in spoken.calls]
        self.count(spoken.usage)
        self._add(Block([self._wire.reply(spoken, ids)]))
        if spoken.usage.prompt:
            self._counted += spoken.usage.completion
            self._since = 0
        return ids

    def count(self, usage: Usage) -> None:
        """Take the server's word for the length of the prompt as it stands, if it counts."""
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
        """Put `front` in the place of all but the last `kept` messages."""
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
        """How many blocks, from the end, hold so many messages."""
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
