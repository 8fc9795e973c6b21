"""A model of no wit but of good manners: what it answers follows from the messages alone.

As an agent it searches once for the user's words, then repeats what it found, and hands in what its
conclusion asks for. So two runs over it have the same logs, however they were disturbed.

As a program it serves on loopback and logs, one JSON object a line, what was asked and what was done:

    python scripted_brain.py LOG [FAULTS] [DELAY]    prints its port; FAULTS: share of calls that fail
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openai_server import (
    OpenAIServer,
    Reply,
    Request,
    body_reply,
    busy,
    drop,
    error,
    event,
    raw_stream,
    whole,
)

_CONCLUSIONS: dict[str, Callable[[str], str]] = {
    "head, relation, tail": lambda found: json.dumps(
        [{"head": "Found", "relation": "says", "tail": found[:80]}]
    ),
    "Markdown table": lambda found: "| A | B |\n| --- | --- |\n| 1 | 2 |",
    "Final answer": lambda found: f"Final answer: {found[:60]}",
    "三元组": lambda found: json.dumps([{"head": "查到", "relation": "内容", "tail": found[:80]}]),
    "Markdown 表格": lambda found: "| 甲 | 乙 |\n| --- | --- |\n| 1 | 2 |",
    "最终答案": lambda found: f"最终答案：{found[:60]}",
}


def brain(request: Request) -> Reply:
    """One whole completion."""
    message = thought(request.messages, request.tools)
    return whole(message, "tool_calls" if message.get("tool_calls") else "stop")


def thought(messages: list[dict[str, Any]], tools: list[str]) -> dict[str, Any]:
    last = messages[-1]
    said = str(last.get("content") or "")
    if last["role"] == "user":
        for sign, hand_in in _CONCLUSIONS.items():
            if sign in said:
                return {"role": "assistant", "content": hand_in(_found(messages))}
        if "search" in tools:
            return _calls("search", query=said[-200:])
    words = f"What I know: {_found(messages)[:300]}"
    if "answer" in tools:
        return _calls("answer", answer=words)
    return {"role": "assistant", "content": words}


def _found(messages: list[dict[str, Any]]) -> str:
    answers = [str(m["content"]) for m in messages if m["role"] == "tool"]
    return " ".join((answers or ["nothing yet"])[-1].split())


def _calls(name: str, **arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": "c0", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def mark_of(request: Request) -> str:
    """The same for the same conversation."""
    told = json.dumps([request.messages, request.tools], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class Faulty:
    """`brain`, except that a share of the calls fails in one of five ways, chosen by the conversation
    and by how often it was asked, not by time.
    """

    def __init__(self, share: float, seed: int = 0) -> None:
        self._share = share
        self._seed = seed
        self._asked: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        mark = mark_of(request)
        self._asked[mark] += 1
        dice = random.Random(f"{self._seed} {mark} {self._asked[mark]}")
        if dice.random() >= self._share:
            return brain(request)
        kind = dice.choice(("429", "500", "malformed", "truncated", "dropped"))
        self.faults[kind] += 1
        match kind:
            case "429":
                return busy("0")
            case "500":
                return error(500)
            case "malformed":
                return body_reply(b'{"choices": [{"mess', "application/json")
            case "truncated":
                piece = event({"choices": [{"index": 0, "delta": {"content": "What I"}}]})
                return raw_stream(piece, cut=True)
            case _:
                return drop()


class Logged:
    """A script that writes down each request before it answers, and each answer after its delay."""

    def __init__(self, script: Callable[[Request], Reply], log: Path, delay: float) -> None:
        self._script = script
        self._log = log
        self._delay = delay

    async def __call__(self, request: Request) -> Reply:
        reply = self._script(request)
        await asyncio.sleep(self._delay)
        line = {"n": request.number, "mark": mark_of(request), "status": reply.status}
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return reply


async def _serve(log: Path, faults: float, delay: float) -> None:
    script: Callable[[Request], Reply] = Faulty(faults) if faults else brain
    async with OpenAIServer(Logged(script, log, delay)) as server:
        print(server.url.split(":")[-1].split("/")[0], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    shares = [float(word) for word in sys.argv[2:]]
    asyncio.run(_serve(Path(sys.argv[1]), *[*shares, 0.0, 0.0][:2]))
