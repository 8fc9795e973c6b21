from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument

from budget import examples
from cuecard.tui.present.entries import breaks, wrap
from cuecard.tui.widgets.text import PlainText


def test_latin_text_breaks_at_blanks() -> None:
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_chinese_text_breaks_between_characters_but_not_before_a_full_stop() -> None:
    assert wrap("太阳的直径。好", 10) == ["太阳的直", "径。好"]
    assert wrap("他说《红楼梦》", 6) == ["他说", "《红楼", "梦》"]


def test_latin_words_and_full_width_marks_keep_together() -> None:
    assert wrap("她叫Curie，得过奖", 10) == ["她叫", "Curie，得", "过奖"]
    assert wrap("见《Curie》一书", 9) == ["见", "《Curie》", "一书"]
    assert wrap("文件config.py很长", 8) == ["文件", "config.p", "y很长"]


def test_a_long_han_run_goes_on_in_the_line_where_it_begins() -> None:
    """Also in what Textual lays out, and in what is typed."""
    text = "Query: 太阳的直径（公里），是地球直径的多少倍？"
    wanted = ["Query: 太阳的直径", "（公里），是地球直", "径的多少倍？"]
    assert wrap(text, 18) == wanted
    assert [line.plain for line in Content(str(PlainText(text).content)).wrap(18)] == wanted
    assert WrappedDocument(Document(text), 18).lines == [wanted]


_HAN = st.text("太阳的直径，。、；：？！）》」（《「“”…a. -", min_size=1, max_size=80)


@settings(max_examples=examples(150))
@given(_HAN, st.integers(12, 40))
def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one(
    text: str, width: int
) -> None:
    cuts = breaks(text, width)
    lines = [text[start:end].rstrip() for start, end in pairwise([0, *cuts, len(text)])]
    assert all(cell_len(line) <= width for line in lines)
    for at in cuts:
        before, after = text[at - 1], text[at]
        # A blank parts the marks; what clings together and is wider than a line is cut.
        torn = re.search(r"[，。、；：？！）》」”…（《「“.]{5,}", text)
        assert (
            torn
            or (before not in "（《「“" and after not in "，。、；：？！）》」”…")
            or before == " "
        )


def test_an_indented_line_keeps_its_indent_and_an_empty_line_stays() -> None:
    assert wrap("    code\n\nnext", 20) == ["    code", "", "next"]


def test_a_line_of_ten_thousand_characters_is_cut_to_the_width() -> None:
    lines = wrap("x" * 10_000, 76)
    assert "".join(lines) == "x" * 10_000
    assert max(map(len, lines)) == 76


def test_escapes_and_controls_do_not_survive() -> None:
    shown = "".join(wrap("a\x1b[31mb\x1b]0;title\x07c\x00d\u202ee\x9b1mf", 40))
    assert shown == "abc\ufffddef"


def test_ten_thousand_combining_marks_do_not_make_one_endless_line() -> None:
    assert max(map(len, wrap("e" + "\u0301" * 10_000, 40))) <= 160


@settings(max_examples=examples(150))
@given(st.text(max_size=300), st.integers(2, 60))
def test_every_line_fits_and_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert lines
    assert all(cell_len(line) <= width for line in lines)
    from cuecard.core.text import for_display

    def bare(value: str) -> str:
        return "".join(value.split())

    assert bare("".join(lines)) == bare(for_display(text))
