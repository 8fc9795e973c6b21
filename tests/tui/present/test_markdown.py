from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from budget import examples
from cuecard.annotate.authoring.session import guidelines
from cuecard.core.i18n import LANGUAGES
from cuecard.core.tasks.gold import FAMILIES
from cuecard.tui.present.entries import Segments, markdown_lines, segments_of
from cuecard.tui.present.markdown import blocks_of, laid_out

PARTS = (
    "# Heading", "words and *more* words", "中文，一二三。", "- item", "  - nested", "1. one",
    "2) two", "> quote", "```python", "```", "    code", "| a | b |", "|---|--:|", "| 1 | 中 |", "---",
    "===", "", "", "  ", "`tick", "[a](http://x.org)", "\x1b[31mred", "word " * 300, "x" * 2500, "~~~",
    "- item\n" * 300, "| r | s |\n" * 300, "  - deep\n" * 400,
)  # fmt: skip


def plain(markdown: str, width: int = 40) -> list[str]:
    return ["".join(piece.text for piece in row) for row in markdown_lines(markdown, width)]


def tones(markdown: str) -> dict[str, str]:
    lines = markdown_lines(markdown, 200)
    return {piece.text: piece.tone for line in lines for piece in line if piece.tone != "plain"}


def test_headings_lists_and_emphasis_are_laid_out() -> None:
    text = "# One\n\nSome **bold** words\nand more.\n- first *thing* here\n  goes on\n  1. deep\n- 2 * 3 * 4\n\n1. `code`"
    assert plain(text, 18) == [
        "One",
        "",
        "Some bold words",
        "and more.",
        "• first thing here",
        "  goes on",
        "  1. deep",
        "• 2 * 3 * 4",
        "",
        "1. code",
    ]
    found = tones(text)
    assert (found["bold"], found["thing"], found["code"]) == ("strong", "emph", "code")


def test_quotes_code_rules_and_links() -> None:
    text = "> one\n>\n> - two\n\n```py\nif  x:\n    y[0]\n```\n***\nsee [it](http://a.org)"
    assert plain(text, 30) == [
        "▏ one",
        "▏",
        "▏ • two",
        "",
        "  if  x:",
        "      y[0]",
        "",
        "─" * 30,
        "see it (http://a.org)",
    ]
    assert plain("<https://a.org/> ![map](m.png)", 60) == ["https://a.org/ map (m.png)"]


def test_a_table_has_columns_that_fit_and_wide_characters_stand_right() -> None:
    table = "| City | 人口 |\n|:--|--:|\n| 大阪 | 2,700,000 |\n| Kyoto *old* | 14 |"
    assert plain(table) == [
        "City      │      人口",
        "──────────┼──────────",
        "大阪      │ 2,700,000",
        "Kyoto old │        14",
    ]
    narrow = plain(table, 17)
    assert max(map(cell_len, narrow)) <= 17
    assert len({row.index("│") for row in narrow if row.isascii() and "│" in row}) <= 1


def test_a_table_too_wide_for_columns_lists_its_cells() -> None:
    names = [f"column {n}" for n in range(9)]
    table = f"|{'|'.join(names)}|\n|{'-|' * 9}\n|{'|'.join('abcdefghi')}|\n"
    rows = plain(table, 24)
    assert rows[:2] == ["column 0: a", "column 1: b"]
    assert len(rows) == 9


def test_nothing_of_a_text_reaches_the_terminal_but_its_words() -> None:
    hostile = "\x1b]8;;http://evil\x07a\x1b]8;;\x07 &#27;[2J &#x202e;x [b](http://e\u202e) `\x1b[31m` <b>c</b>\n\n```\n\x9b31m\n```"
    text = "\n".join(plain(hostile, 80))
    assert not any(char in text for char in "\x1b\x07\x9b\u202e")
    assert "<b>c</b>" in text


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=14), st.randoms(use_true_random=False))
def test_a_text_that_grows_is_the_text(parts: list[str], chance: random.Random) -> None:
    text = "\n".join(parts)
    growing, at = Segments(), 0
    closed = 0
    while at < len(text):
        step = chance.choice((1, 3, 50, 700))
        growing.add(text[at : at + step])
        at += step
        assert len(growing.closed) >= closed, "what is closed stays"
        closed = len(growing.closed)
    last = growing.open
    assert [*growing.closed, *([last] if last else [])] == segments_of(text)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(PARTS[:12]), max_size=14), st.sampled_from([17, 40]))
def test_segments_say_what_the_parser_says_of_the_whole(parts: list[str], width: int) -> None:
    text = "\n\n".join(f"{part}\n" for part in parts if part not in ("```", "```python"))
    assert plain(text, width) == [
        "".join(piece.text for piece in row) for row in laid_out(blocks_of(text), width)
    ]


HOSTILE = {
    "one word": "a" * 300_000,
    "one Chinese line": "词" * 100_000,
    "quotes": ">" * 3000 + "x",
    "brackets": "[" * 9_000,
    "images": "![a" * 3_000,
    "stars": "*a **b " * 3_000,
    "bars": "|" * 20_000,
    "columns": "|" + "a|" * 500 + "\n|" + "-|" * 500 + "\n" + "|b" * 3_000,
    "lists": "".join(" " * 2 * i + "- x\n" for i in range(100)),
    "rows": "| a | b |\n|--|--|\n" + "| c | d |\n" * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_cut_into_bounded_work(name: str) -> None:
    text = HOSTILE[name]
    assert max(len(segment.text) for segment in segments_of(text)) < 9_000
    rows = markdown_lines(text[:30_000], 60)
    assert all(cell_len("".join(piece.text for piece in row)) <= 60 for row in rows)


def test_lists_deeper_than_the_parser_goes_are_shown_as_they_stand() -> None:
    text = "".join(" " * 2 * i + f"- x{i}\n" for i in range(30))
    assert "- x29" in "\n".join(plain(text, 90))


def test_a_long_table_goes_on_with_its_header() -> None:
    text = "| Name | Year |\n|--|--|\n" + "| Moriondo | 1884 |\n" * 400
    rows = plain(text)
    assert sum(row.startswith("Name") for row in rows) == len(segments_of(text)) > 1
    assert sum(row.startswith("Moriondo") for row in rows) == 400


@pytest.mark.parametrize("width", [20, 43, 76])
def test_the_guidelines_fit(width: int) -> None:
    for family in FAMILIES:
        for language in LANGUAGES:
            rows = plain(guidelines(family, language), width)
            assert max(map(cell_len, rows)) <= width
            assert not any("**" in row or row.startswith("#") for row in rows)
