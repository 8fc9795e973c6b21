from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.core.families.common import parse_prediction
from cuecard.core.families.registry import CORE
from cuecard.core.predictions import (
    AnswerPrediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.tasks.gold import FAMILIES, Family

T1 = {"head": "Ada", "relation": "wrote", "tail": "Notes"}
T2 = {"head": "Notes", "relation": "on", "tail": "Engine"}
ADA = ("Ada", "wrote", "Notes")
NOTES = ("Notes", "on", "Engine")


def triples(text: str) -> list[tuple[str, str, str]] | None:
    found = parse_prediction("graph", text)
    assert found.raw == text
    if isinstance(found, TriplesPrediction):
        return [(t.head, t.relation, t.tail) for t in found.triples]
    assert isinstance(found, UnusablePrediction)
    assert found.reason
    return None


def table(text: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    found = parse_prediction("table", text)
    assert found.raw == text
    if isinstance(found, TablePrediction):
        assert all(len(row) == len(found.columns) for row in found.rows)
        return found.columns, list(found.rows)
    assert isinstance(found, UnusablePrediction)
    assert found.reason
    return None


def answer(text: str, family: Family = "facts") -> str | None:
    found = parse_prediction(family, text)
    assert found.raw == text
    return found.answer if isinstance(found, AnswerPrediction) else None


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([T1, T2]),
        f"Here you are [1]:\n```json\n{json.dumps([T1, T2], indent=2)}\n```\nSources: [2], [3].",
        f"Bare {json.dumps([T1, T2])} in a sentence [4].",
        json.dumps({"triples": [T1, T2], "sources": [{"url": "u"}]}),
        json.dumps([["Ada", "wrote", "Notes"], ["Notes", "on", "Engine"]]),
        json.dumps([{"subject": "Ada", "predicate": "wrote", "object": "Notes"}, T2]),
        json.dumps([{"头": "Ada", "关系": "wrote", "尾": "Notes"}, T2], ensure_ascii=False),
        json.dumps([{"头实体": "Ada", "关系": "wrote", "尾实体": "Notes"}, T2]),
        json.dumps(
            [{"Head Entity": "Ada", "Relation_Type": "wrote", "tail_entity": " Notes "}, T2]
        ),
        json.dumps(
            [{"head": {"name": "Ada", "id": 1}, "relation": "wrote", "tail": ["Notes"]}, T2]
        ),
        f"<think>[{json.dumps(T1)}] hmm</think>\n{json.dumps([T1, T2])}",
        f"Draft: {json.dumps([T2])}\n\nFinal: {json.dumps([T1, T2])}",
        '[{"head": "...", "relation": "...", "tail": "..."}]' + json.dumps([T1, T2]),
        json.dumps([T1, T2]) + '\nFormat: [{"head": "<name>", "relation": "...", "tail": "…"}]',
        json.dumps(T1) + "\n" + json.dumps(T2) + "\n",
        str([T1, T2]) + ",",
        json.dumps([T1, T2]).replace("}]", "},]"),
        json.dumps([T1, T2]).replace("}, {", "} {"),
        json.dumps([T1, T2])[:-1] + ', {"head": "cut", "relation": "o',
        json.dumps([T1, T2])[:-1] + ', {"head": "cut", "relation": "off"',
        "```json\n" + json.dumps([T1, T2])[:-1] + "\n```",
        json.dumps([T1, T2]).replace('"', "”"),
        "[" * 5 + " what? " + json.dumps([T1, T2]),
    ],
)
def test_triples_however_they_are_written(text: str) -> None:
    assert triples(text) == [ADA, NOTES]


def test_the_last_complete_array_wins_over_a_broken_one() -> None:
    text = f"{json.dumps([T1])} and then {json.dumps([T2])} and {json.dumps([T1, T2])[:-20]}"
    assert triples(text) == [NOTES]


def test_triples_are_kept_as_predicted() -> None:
    entries = [T1, T1, {"head": "x", "relation": "y"}, {"head": 3, "relation": True, "tail": None}]
    assert triples(json.dumps([*entries, {"note": "none"}, "x", 5])) == [
        ADA,
        ADA,
        ("x", "y", ""),
        ("3", "true", ""),
    ]


def test_an_empty_array_is_a_prediction_of_nothing() -> None:
    assert triples("[]") == []
    assert triples("```json\n[ ]\n```") == []


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "I could not find anything.", "See [1] and [2].", "[1, 2, 3]", '[{"a": 1}]',
     '[{"source": "u", "target": "v"}]', '[["only", "two"]]', "[[1, 2, 3], [4, 5, 6]]", "{}", "[{",
     '{"head": "a"}', '[{"head": "...", "relation": "...", "tail": "..."}]'],
)  # fmt: skip
def test_no_triples(text: str) -> None:
    assert triples(text) is None


TABLE = "| A | B |\n| --- | :-: |\n| 1 | 2 |\n| 3 | 4 |\n"
FOUND = (("A", "B"), [("1", "2"), ("3", "4")])


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        f"Here:\n\n```markdown\n{TABLE}```\nDone.",
        f"```markdown{{数据内容}}```\n```markdown\n{TABLE}```",
        f"```markdown\n{{a placeholder}}\n```\n```markdown\n{TABLE}```",
        f"```\n{TABLE}```",
        f"~~~md\n{TABLE}~~~",
        TABLE.replace("\n", "\r\n"),
        "A | B\n---|---\n1 | 2\n3 | 4",
        "| A | B |\n| 1 | 2 |\n| 3 | 4 |",
        "> " + TABLE.strip().replace("\n", "\n> "),
        "   " + TABLE.strip().replace("\n", "\n   "),
        TABLE.replace("| A | B |", "| **A** | `B` |"),
        TABLE.replace("| 3 | 4 |", "|  |  |\n| --- | --- |\n| 3 | 4 |"),
        "Title | of\n" + TABLE,
        f"a|b in prose\n\n{TABLE}\n\nx|y",
        f"| small |\n|---|\n| 1 |\n\n{TABLE}",
        f"{TABLE}\nLegend:\n| k |\n|---|\n",
        f"<think>\n| T |\n|--|\n| 9 |\n| 9 |\n| 9 |\n</think>\n{TABLE}",
        f"| D | E | F |\n|---|---|---|\n| 1 | 2 | 3 |\n\n{TABLE}",
        f"| X |\n|---|\n| 1 |\n| 2 |\n| 3 |\n| 4 |\n\n```markdown\n{TABLE}```",
    ],
)
def test_tables_however_they_are_written(text: str) -> None:
    assert table(text) == FOUND


def test_cells_are_cleaned_and_rows_made_even() -> None:
    text = (
        "| Name | Note | n |\n|:--|:--:|--:|\n"
        r"| a \| b | x<br>y<BR/> z | 1 |" + "\n"
        "| short |\n"
        "| long | 2 | 3 | 4 | 5 |\n"
        "| R&amp;D | http://e.org/?a=1&copy=2 | &#8211; |\n"
        "| | blank first | |\n"
    )
    assert table(text) == (
        ("Name", "Note", "n"),
        [
            ("a | b", "x y z", "1"),
            ("short", "", ""),
            ("long", "2", "3"),
            ("R&D", "http://e.org/?a=1&copy=2", "–"),
            ("", "blank first", ""),
        ],
    )


def test_of_several_tables_the_last_large_one_is_meant() -> None:
    def rows(label: str, n: int) -> str:
        return f"| {label} |\n|---|\n" + "".join(f"| {label}{i} |\n" for i in range(n))

    found = table(f"{rows('draft', 10)}\ntext\n\n{rows('final', 8)}\ntext\n\n{rows('sum', 2)}")
    assert found is not None
    assert found[0] == ("final",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \t\n"])
@pytest.mark.parametrize("blanks", [0, 1, 2])
def test_blank_lines_within_a_fence_end_no_table(blanks: int, end: str) -> None:
    lines = TABLE.strip().split("\n")
    apart = ("\n" + end * blanks).join(lines)
    for fence in ("```markdown", "```", "~~~md"):
        text = f"Here it is:\n\n{fence}\n{apart}\n{fence[:3]}\n"
        assert table(text) == FOUND
        assert table(text.replace("\n", "\r\n").replace("\r\r", "\r")) == FOUND


def test_a_new_header_begins_a_new_table_within_a_fence() -> None:
    other = "| C | D |\n|---|---|\n| 5 | 6 |\n"
    for apart in ("", "\n", "\n\n"):
        assert table(f"```markdown\n{other}{apart}{TABLE}```") == FOUND
        assert table(f"```markdown\n{TABLE}{apart}{other}```") == (("C", "D"), [("5", "6")])
        assert (
            table(f"```markdown\n{other.replace(chr(10), chr(10) * 2)}{apart}{TABLE}```") == FOUND
        )


def test_outside_of_a_fence_a_blank_line_ends_a_table_but_for_its_header() -> None:
    assert table(TABLE.replace("| 3 | 4 |", "\n| 3 | 4 |")) == (("A", "B"), [("1", "2")])
    assert table(TABLE.replace("\n| -", "\n\n| -", 1)) == FOUND
    assert table(TABLE.replace("\n| -", "\n\n\n| -", 1)) != FOUND


def test_rules_between_rows_and_at_the_end_are_no_headers() -> None:
    rule = "|---|---|\n"
    grid = rule.join(f"{line}\n" for line in ("", "| A | B |", "| 1 | 2 |", "| 3 | 4 |", ""))
    assert table(f"```\n{grid}```") == FOUND
    assert table(f"{TABLE}{rule}") == FOUND


def test_a_table_without_rows_is_an_empty_table() -> None:
    assert table("| A | B |\n|---|---|\n") == (("A", "B"), [])


@pytest.mark.parametrize(
    "text", ["", "no table", "a | b", "|", "||||", "|---|---|", "-----\n-----", "| | |\n|---|---|\n| 1 | 2 |"]
)  # fmt: skip
def test_no_table(text: str) -> None:
    assert table(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", "42"),
        ("Reasoning.\n\nMore.\n\n42 days\n\n", "42 days"),
        ("<answer>42</answer>", "42"),
        ("<answer>no</answer> wait <Answer >\n 42 \n</ANSWER> bye", "42"),
        ("<answer>41</answer><answer></answer>", "41"),
        ("so <answer>42", "42"),
        ("Final answer: 42\nbecause", "42"),
        ("**Final Answer:** 42", "42"),
        ("**Final answer: 42**", "42"),
        ("## Final answer\n\n42\n\nSources follow.", "42"),
        ("The answer is 42", "42"),
        ("I think. Final answer: 42", "42"),
        ("最终答案：二十五天\n说明", "二十五天"),
        ("**最终答案**：25 天", "25 天"),
        ("答案是25天", "25天"),
        ("经计算，最终答案：25 天", "25 天"),
        ("Final answer: 41\n\nFinal answer: 42", "42"),
        ("<think>Final answer: 41</think>42", "42"),
        ("**42**", "42"),
        ("**A** and **B**", "**A** and **B**"),
        ("__init__", "__init__"),
        ("", None),
        (" \n ", None),
    ],
)
def test_answers(text: str, expected: str | None) -> None:
    assert answer(text) == expected
    assert answer(text, "checkpoints") == expected


# Answers are read alike for facts and for checkpoints.
@pytest.mark.parametrize("family", ["graph", "table", "facts"])
@pytest.mark.parametrize(
    "piece",
    ["[", "[{", "[[ ", '"', '[{"a', '{"a":', "\\", "```\n", "```markdown\n", "|", "|a|\n", "|-|\n",
     "\\|", "<answer>", "</think>", "final answer:\n", "答案", "a\n\n", " ", "\n", "> ", "* ", "&", "<br",
     '[{"head": "x ', '[{"head":"a","relation":"b","tail":"c"},', "\ud800", "\0", "é"],
    ids=ascii,
)  # fmt: skip
def test_a_hundred_thousand_characters_of_anything_are_read(family: Family, piece: str) -> None:
    found = parse_prediction(family, piece * (100_000 // len(piece)))
    assert found.kind in ("triples", "table", "answer", "unusable")
    found.model_dump_json().encode()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_large_prediction_is_read_whole(family: Family) -> None:
    n = 8_000
    texts = {
        "triples": json.dumps([{**T1, "tail": "é" * 40 + str(i)} for i in range(n)]),
        "table": "| A | B |\n|---|---|\n" + "".join(f"| {'x' * 60}{i} | {i} |\n" for i in range(n)),
        "answer": "word " * 200_000 + "\n\n<answer>42</answer>",
    }
    found = parse_prediction(family, texts[CORE[family].handed_in])
    match found:
        case TriplesPrediction():
            assert len(found.triples) == n
        case TablePrediction():
            assert len(found.rows) == n
        case AnswerPrediction():
            assert found.answer == "42"
        case UnusablePrediction():
            pytest.fail(found.reason)


_NOISE = st.lists(
    st.one_of(
        st.sampled_from(
            [*strategies.ODD, "```json", "```markdown", "<answer>", "</answer>", "|---|"]
        ),
        st.sampled_from(
            [json.dumps(T1), json.dumps([T1]), "[", "]", "\ud800", "\0", "Final answer:"]
        ),
        st.text(max_size=5),
    ),
    max_size=30,
).map("".join)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FAMILIES), _NOISE)
def test_reading_never_raises_and_can_always_be_stored(family: Family, text: str) -> None:
    found = parse_prediction(family, text)
    found.model_dump_json().encode()
    assert "\0" not in found.raw


_cell = strategies.plain_names()


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(_cell, _cell, _cell), min_size=1, max_size=6), _NOISE)
def test_a_fenced_array_after_any_noise_is_found(
    expected: list[tuple[str, str, str]], noise: str
) -> None:
    array = json.dumps([dict(zip(("head", "relation", "tail"), t, strict=True)) for t in expected])
    found = parse_prediction("graph", f"{noise}\n</think>\n```json\n{array}\n```\n")
    assert isinstance(found, TriplesPrediction)
    assert [(t.head, t.relation, t.tail) for t in found.triples] == expected
