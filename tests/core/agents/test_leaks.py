from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.agents.written_calls import leaked_calls
from cuecard.core.engine.messages import ToolSpec

SEARCH = ToolSpec(
    name="search",
    description="",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "topn": {"type": "integer"}},
        "required": ["query"],
    },
)
VISIT = ToolSpec(name="visit_page", description="", parameters={"type": "object"})
TOOLS = (SEARCH, VISIT)
ARGS = '{"query": "lamp"}'


def found(text: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    leak = leaked_calls(text, TOOLS, **more)
    return [(call.name, dict(call.arguments)) for call in leak.calls] if leak else []


@pytest.mark.parametrize(
    "text",
    [
        f'<tool_call>\n{{"name": "search", "arguments": {ARGS}}}\n</tool_call>',
        f'I will look.\n<tool_call>{{"name": "search", "arguments": {ARGS}}}',
        f'<tool_call>[{{"name": "search", "parameters": {ARGS}}}]</tool_call>',
        f'<|tool_call|>[{{"name": "search", "arguments": {ARGS}}}]<|/tool_call|>',
        f'<|python_tag|>{{"name": "search", "parameters": {ARGS}}}<|eom_id|>',
        f'[TOOL_CALLS][{{"name": "search", "arguments": {ARGS}}}]',
        f"[TOOL_CALLS]search[ARGS]{ARGS}",
        f"[TOOL_CALLS]search{ARGS}",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
        f"<|tool_call_argument_begin|>{ARGS}<|tool_call_end|><|tool_calls_section_end|>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n"
        f"```json\n{ARGS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{ARGS}<｜tool▁call▁end｜>",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n'
        '<｜DSML｜parameter name="query" string="true">lamp</｜DSML｜parameter>\n</｜DSML｜invoke>',
        "<tool_call>\n<function=search>\n<parameter=query>\nlamp\n</parameter>\n</function>\n"
        "</tool_call>",
        f"<function=search>{ARGS}</function>",
        '<function_calls><invoke name="search"><parameter name="query">lamp</parameter></invoke>'
        "</function_calls>",
        '<minimax:tool_call><invoke name="search"><parameter name="query">lamp</parameter>',
        "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>lamp</arg_value>\n</tool_call>",
        "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary"
        f" to=functions.search <|constrain|>json<|message|>{ARGS}<|call|>",
        f'```json\n{{"name": "search", "arguments": {ARGS}}}\n```',
        f'Let me see.\n\n```\n{{"tool": "search", "args": {ARGS}}}\n```\n',
        f'{{"name": "search", "parameters": {ARGS}}}',
        f'{{"type": "function", "function": {{"name": "search", "arguments": {ARGS}}}}}',
        '{"name": "search", "arguments": "{\\"query\\": \\"lamp\\"}"}',
        '{"name": "search", "query": "lamp"}',
        f"functions.search({ARGS})",
        f"I need this:\nsearch({ARGS})",
        'search(query="lamp")',
        "[search(query='lamp')]",
        '```tool_code\nprint(default_api.search(query="lamp"))\n```',
        'search("lamp")',
        "{'name': 'search', 'arguments': {'query': 'lamp',}}",
    ],
)
def test_every_notation_is_read(text: str) -> None:
    assert [(n.rpartition(".")[2], a) for n, a in found(text)] == [("search", {"query": "lamp"})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I searched and found the lamp.",
        "You could call search({...}) for that, which is what I did.",
        f"First I ran\nsearch({ARGS})\nand then I found that it was built in 1884.",
        f"I called search({ARGS})",
        '{"name": "Angelo Moriondo", "arguments": {"city": "Turin"}}',
        '```json\n[{"head": "lamp", "relation": "name", "tail": "search"}]\n```',
        "Use the `<tool_call>` tag.",
        "the tags <tool_call> and </tool_call> are special",
    ],
)
def test_speaking_of_calls_is_not_calling(text: str) -> None:
    assert leaked_calls(text, TOOLS) is None


def test_several_calls_and_what_is_said_before_them() -> None:
    one = '<tool_call>{"name": "search", "arguments": {"query": "a </tool_call> b"}}</tool_call>'
    two = '<tool_call>{"name": "visit_page", "arguments": {"urls": ["x"]}}</tool_call>'
    leak = leaked_calls(f"Two things.\n{one}\n{two}", TOOLS)
    assert leak
    assert leak.before == "Two things."
    assert [dict(call.arguments) for call in leak.calls] == [
        {"query": "a </tool_call> b"},
        {"urls": ["x"]},
    ]


def test_results_that_a_model_made_up_end_the_calls() -> None:
    call = f'<tool_call>{{"name": "search", "arguments": {ARGS}}}</tool_call>'
    text = f"{call}\n<tool_response>It is brass.</tool_response>\n{call}"
    leak = leaked_calls(text, TOOLS)
    assert leak
    assert len(leak.calls) == 1
    assert text[: leak.end].count("tool_response") == 0


def test_broken_calls_are_mended_or_told() -> None:
    assert found('<tool_call>{"name": "search", "arguments": {"query": "lamp"</tool_call>') == [
        ("search", {"query": "lamp"})
    ]
    assert found('<tool_call>{"name": "search", "arguments": {"query": "la', cut=True) == [
        ("search", {})
    ]
    leak = leaked_calls('<tool_call>{"name": "search", "arguments": {"query": "la', TOOLS, cut=True)
    assert leak
    assert leak.calls[0].broken
    unknown = leaked_calls('<tool_call>{"name": "serch", "arguments": {}}</tool_call>', TOOLS)
    assert unknown
    assert unknown.calls[0].name == "serch"


def test_values_have_the_types_that_the_tool_wants() -> None:
    text = (
        "<function=search><parameter=query>2020</parameter><parameter=topn>3</parameter></function>"
    )
    assert found(text) == [("search", {"query": "2020", "topn": 3})]
    assert found("search('it\\'s', topn=3)") == [("search", {"query": "it's", "topn": 3})]


PIECES = [
    "<tool_call>", "</tool_call>", "{", "}", '"name"', ":", '"search"', '"arguments"', ",", "search",
    "(", ")", "\n", " ", "```", "json", "<answer>", "<function=", ">", "query=", "'", '"', "\\",
    "[TOOL_CALLS]", "<｜tool▁sep｜>", ":0", "<|", "[", "]", "functions.", "<arg_key>", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.booleans())
def test_no_text_breaks_it(text: str, cut: bool) -> None:
    leak = leaked_calls(text, TOOLS, cut=cut)
    assert leak is None or (leak.calls and leak.end <= len(text))


@pytest.mark.parametrize(
    "unit", ["\n", " ", "search ", "{", '{"name":', "a", "<tool_call>", "search(", "(", "'", "```"]
)
def test_long_texts_are_read_in_passing(unit: str) -> None:
    for start in ("<tool_call>search", "search"):
        leak = leaked_calls(start + unit * 20_000, TOOLS)  # Quadratic reading would take minutes.
        assert leak is None or len(leak.calls) <= 64
