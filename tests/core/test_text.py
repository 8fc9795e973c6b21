from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.text import (
    contains_term,
    for_display,
    is_cjk,
    normalise,
    one_line,
    slug,
    storable,
)

anything = st.text(
    st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x07[]m\\\u202e\u2066\x00\t\r\n;0")),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\done", "done"),
        ("\x9b2Jgone", "gone"),
        ("bell\x07 null\x00", "bell\ufffd null\ufffd"),
        ("a\u202eb\u2066c\u200f", "abc"),
        ("a\tb", "a   b"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("[red]no markup[/]", "[red]no markup[/]"),
        ("汉字 and é", "汉字 and é"),
    ],
)
def test_display_holds_nothing_a_terminal_would_do(text: str, shown: str) -> None:
    assert for_display(text) == shown


@settings(max_examples=examples(150))
@given(anything)
def test_display_never_keeps_a_control(text: str) -> None:
    shown = for_display(text)
    controls = [c for c in shown if unicodedata.category(c) == "Cc" and c != "\n"]
    assert controls == []
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    assert for_display(shown) == shown


@settings(max_examples=examples(60))
@given(anything, st.integers(1, 20))
def test_folding_changes_no_text_but_its_lines(text: str, width: int) -> None:
    folded = for_display(text, max_line=width)
    assert all(len(line) <= width for line in folded.split("\n"))
    assert folded.replace("\n", "") == for_display(text).replace("\n", "")


@settings(max_examples=examples(60))
@given(anything, st.integers(1, 30))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line.splitlines()) <= 1
    assert len(line) <= limit
    assert line == line.strip()


def test_one_line_marks_what_it_cut() -> None:
    assert one_line("a  b\n c") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("  The  End. ", "the end"),
        ("ＡＢＣ１２３", "abc123"),
        ("《红楼梦》。", "红楼梦"),
        ("Straße", "STRASSE"),
        ("**bold**", "bold"),
        ("“quoted”", "quoted"),
    ],
)
def test_normalised_texts_compare_equal(left: str, right: str) -> None:
    assert normalise(left) == normalise(right)


@settings(max_examples=examples(60))
@given(st.text(max_size=30))
def test_normalising_cases_alike(text: str) -> None:
    assert normalise(f"  {text}\n") == normalise(text)


@pytest.mark.parametrize(
    ("text", "term", "found"),
    [
        ("the tart is here", "art", False),
        ("art is here", "art", True),
        ("state-of-the-art.", "ART", True),
        ("price: 3000 EUR", "300", False),
        ("我的预算是三千", "预算", True),
        ("预算", "预算是", False),
        ("用USB接口", "usb", True),
        ("C++ code", "c++", True),
        ("anything", "", False),
        ("anything", " . ", False),
    ],
)
def test_terms(text: str, term: str, found: bool) -> None:
    assert contains_term(text, term) is found


@settings(max_examples=examples(60))
@given(st.text(max_size=20), st.text(max_size=10))
def test_terms_are_never_patterns(text: str, term: str) -> None:
    contains_term(text, term)


def test_cjk() -> None:
    assert is_cjk("a 汉 b")
    assert not is_cjk("kana かな, é")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A b/c", "a-b-c"),
        ("../etc/passwd", "etc-passwd"),
        ("节气 一览", "节气-一览"),
        ("", "task"),
        ("...", "task"),
    ],
)
def test_slugs(text: str, expected: str) -> None:
    assert slug(text) == expected


@settings(max_examples=examples(60))
@given(st.text(max_size=40))
def test_slugs_are_safe_names(text: str) -> None:
    assert re.fullmatch(r"[0-9a-z\u3400-\u9fff._\-]+", slug(text))
    assert slug(text)[0] not in ".-"


@settings(max_examples=examples(100))
@given(st.text(st.characters(exclude_categories=[]), max_size=30))
def test_storable_text_can_be_stored(text: str) -> None:
    kept = storable(text)
    kept.encode()
    assert "\0" not in kept
    assert storable(kept) == kept


def test_storable_keeps_what_is_fine_and_joins_pairs() -> None:
    assert storable("a汉😀\u2028\x1b") == "a汉😀\u2028\x1b"
    assert storable("\ud83d\ude00") == "😀"
    assert storable("a\ud83d") == "a\ufffd"
    assert storable("a\0b") == "a\ufffdb"
