"""What a server of the Responses API answers, whole or streamed, for `openai_server.OpenAIServer`."""

from __future__ import annotations

import json
from typing import Any

import openai_server as fake

REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Look it up."}],
    "encrypted_content": "gAAA",
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Let me see."}],
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "search",
    "arguments": '{"query": "espresso"}',
}
USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 3},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 5},
}


def response(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"id": "resp_1", "object": "response", "status": "completed", "error": None}
    return {**base, "model": "scripted-1", "output": list(items), "usage": USAGE, **more}


def streamed(*items: dict[str, Any], **more: Any) -> fake.Reply:
    """The events that OpenAI's server sends for these items."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"error": None}}]
    for place, item in enumerate(items):
        at = {"output_index": place}
        bare = {**item, "arguments": "", "content": [], "summary": []}
        events.append({"type": "response.output_item.added", **at, "item": bare})
        kind, text = {
            "message": ("response.output_text.delta", text_of(item)),
            "reasoning": ("response.reasoning_summary_text.delta", "Look it up."),
            "function_call": ("response.function_call_arguments.delta", item.get("arguments", "")),
        }[item["type"]]
        pieces = [text[n : n + 4] for n in range(0, len(text), 4)]
        events += [{"type": kind, **at, "delta": piece} for piece in pieces]
        events.append({"type": "response.output_item.done", **at, "item": item})
    last = response(*items, **more)
    events.append({"type": f"response.{last['status']}", "response": last})
    chunks = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
    return fake.raw_stream(*chunks)


def whole(*items: dict[str, Any], **more: Any) -> fake.Reply:
    return fake.json_reply(response(*items, **more))


def message(text: str) -> dict[str, Any]:
    return {**MESSAGE, "content": [{"type": "output_text", "text": text}]}


def text_of(item: dict[str, Any]) -> str:
    return "".join(part["text"] for part in item.get("content", []))
