from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.engine.messages import ModelReply, ToolCall
from cuecard.core.llm.replies import Assembler, Malformed, read_arguments
from cuecard.core.text import storable


def reply_of(*deltas: dict[str, Any], finish: str = "stop") -> ModelReply:
    assembler = Assembler()
    for delta in deltas:
        assembler.add({"choices": [{"delta": delta}]})
    assembler.add({"choices": [{"delta": {}, "finish_reason": finish}]})
    return assembler.reply()


def piece(
    name: str | None = None, arguments: Any = None, id_: str | None = None, index: int | None = None
) -> dict[str, Any]:
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if id_ is not None:
        call["id"] = id_
    if index is not None:
        call["index"] = index
    return {"tool_calls": [call]}


def shown(reply: ModelReply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in reply.tool_calls]


A, B = {"query": "one"}, {"query": "two"}
JSON_A, JSON_B = json.dumps(A), json.dumps(B)
BOTH = [("search", A), ("search", B)]


@pytest.mark.parametrize(
    "deltas",
    [
        # Neither index nor id: a name with arguments begins a new call.
        [piece("search", JSON_A), piece("search", JSON_B)],
        # No index; the id comes once, or again with every piece.
        [
            piece("search", "", "a"),
            piece(None, JSON_A),
            piece("search", "", "b"),
            piece(None, JSON_B),
        ],
        [
            piece("search", JSON_A[:5], "a"),
            piece("search", JSON_A[5:], "a"),
            piece("search", JSON_B, "b"),
        ],
        # Every call has the index 0.
        [piece("search", JSON_A, "a", 0), piece("search", JSON_B, "b", 0)],
        [piece("search", JSON_A, None, 0), piece("search", JSON_B, None, 0)],
        # The pieces of two calls alternate, the name is repeated, or cut in two.
        [
            piece("search", JSON_A[:3], "a", 0),
            piece("search", JSON_B[:3], "b", 1),
            piece("search", JSON_A[3:], None, 0),
            piece("search", JSON_B[3:], None, 1),
        ],
        [
            piece("sea", None, "a", 0),
            piece("rch", JSON_A, None, 0),
            piece("search", JSON_B, "b", 1),
        ],
        # Arguments as an object, or encoded twice.
        [piece("search", A, "a", 0), piece("search", json.dumps(JSON_B), "b", 1)],
        # Indices that do not begin at 0.
        [piece("search", JSON_A, "a", 1), piece("search", JSON_B, "b", 7)],
    ],
)
def test_careless_servers(deltas: list[dict[str, Any]]) -> None:
    assert shown(reply_of(*deltas)) == BOTH


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("{}", {}),
        (" { } ", {}),
        ("{'query': 'one',}", A),
        ('{"query": "one"', A),
        ('```json\n{"query": "one"}\n```', A),
        ('{"n": NaN}', {"n": "nan"}),
        ('{"n": 1e999}', {"n": "inf"}),
    ],
)
def test_arguments_are_mended(text: str, expected: dict[str, Any]) -> None:
    assert read_arguments(text) == (expected, "")


DEEP_LIST, DEEP_OBJECT = "[" * 50_000, '{"a":' * 300 + "1" + "}" * 300


@pytest.mark.parametrize(
    "text",
    [
        "one",
        "[1, 2]",
        "null",
        "42",
        '"one"',
        pytest.param(DEEP_LIST, id="a deep list"),
        pytest.param(DEEP_OBJECT, id="a deep object"),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_broken(text: str) -> None:
    assert read_arguments(text) == ({}, text)


def test_a_call_cut_off_by_the_token_limit_is_not_mended() -> None:
    deltas = [piece("search", JSON_A, "a", 0), piece("search", '{"query": "tw', "b", 1)]
    first, second = reply_of(*deltas, finish="length").tool_calls
    assert first.arguments == A
    assert second == ToolCall(name="search", id="b", broken='{"query": "tw')


def test_content_in_parts_and_refusals() -> None:
    parts = [{"type": "text", "text": "Yes"}, {"type": "thinking", "thinking": []}]
    assert reply_of({"content": parts}, {"content": ", no"}).text == "Yes, no"
    assert reply_of({"content": None, "refusal": "I will not."}).text == "I will not."


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": None},
        {"choices": "x"},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"delta": None, "finish_reason": 3}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": [None, {"function": "x"}, {}]}}]},
        {"usage": {"prompt_tokens": None, "completion_tokens": -4, "prompt_tokens_details": 1}},
    ],
)
def test_odd_chunks_do_no_harm(chunk: dict[str, Any]) -> None:
    assembler = Assembler()
    assembler.add(chunk)
    assembler.add({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]})
    assert assembler.reply().text == "ok"
    assert assembler.reply().tool_calls == ()


def test_a_count_in_every_chunk_does_not_hide_that_the_stream_broke_off() -> None:
    assembler = Assembler()
    assembler.add({"choices": [{"delta": {"content": "Hal"}}], "usage": {"prompt_tokens": 3}})
    with pytest.raises(Malformed):
        assembler.reply()


@settings(max_examples=examples(60))
@given(
    st.text(max_size=40),
    st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(-9, 9), max_size=3),
    st.lists(st.integers(1, 7), min_size=1, max_size=5),
)
def test_the_cutting_of_a_stream_does_not_matter(
    text: str, arguments: dict[str, Any], sizes: list[int]
) -> None:
    raw = json.dumps(arguments)
    deltas = [{"content": part} for part in _cut(text, sizes)]
    deltas += [piece("search", "", "a", 0)]
    deltas += [piece(None, part, None, 0) for part in _cut(raw, sizes)]
    reply = reply_of(*deltas)
    if "</think>" not in text:
        assert reply.text == storable(text)
    cleaned = {storable(k): storable(v) if isinstance(v, str) else v for k, v in arguments.items()}
    assert shown(reply) == [("search", cleaned)]
    assert ModelReply.model_validate_json(reply.model_dump_json()) == reply


def _cut(text: str, sizes: list[int]) -> list[str]:
    parts: list[str] = []
    while text:
        size = sizes[len(parts) % len(sizes)]
        parts.append(text[:size])
        text = text[size:]
    return parts
