"""What a grid is made of: widths, places, cells, the cursor, the scrollbar, candidates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from budget import examples
from cuecard.tui.grid.cell_input import Candidates, pasted_line
from cuecard.tui.grid.cells import (
    PADDING,
    GridColumn,
    ListSource,
    Runs,
    add_styled,
    aligned,
    fitted,
    measured,
)
from cuecard.tui.grid.lines import THUMB, GridCursor, Layout, ScrollBar

columns = st.lists(
    st.builds(
        GridColumn,
        label=st.just("x"),
        width=st.integers(1, 30),
        grow=st.integers(0, 3),
        hidden_below=st.sampled_from((0, 0, 40, 90)),
        most=st.sampled_from((0, 0, 12, 40)),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(50))
@given(columns, st.integers(0, 160), st.integers(0, 50))
def test_columns_take_what_room_there_is_and_never_less_than_they_need(
    given_columns: list[GridColumn], room: int, wanted: int
) -> None:
    widths = fitted(given_columns, room, dict.fromkeys(range(len(given_columns)), wanted))
    shown = [i for i, column in enumerate(given_columns) if room >= column.hidden_below]
    assert list(widths) == shown
    assert all(widths[i] >= given_columns[i].width for i in shown)
    taken = sum(widths.values()) + 2 * PADDING * len(shown)
    least = sum(given_columns[i].width for i in shown) + 2 * PADDING * len(shown)
    assert taken <= max(room, least)
    if least <= room and any(given_columns[i].grow for i in shown):
        assert taken == room


@settings(max_examples=examples(50))
@given(columns, st.integers(20, 160), st.integers(0, 3), st.integers(0, 60), st.data())
def test_every_column_can_be_scrolled_into_view(
    given_columns: list[GridColumn], room: int, fixed: int, scroll: int, data: st.DataObject
) -> None:
    layout = Layout.of(lambda left: fitted(given_columns, left), room, digits=3, fixed=fixed)
    if not layout.widths:
        return
    column = data.draw(st.sampled_from(list(layout.widths)))
    left = layout.scroll_for(column, layout.stop(scroll))
    assert left == layout.stop(left)
    span = layout.span(column, left)
    space = room - layout.pinned
    if layout.widths[column] + 2 * PADDING <= space:
        assert span is not None
        assert span[1] - span[0] == layout.widths[column]
        assert layout.column_at(span[0], left) == column


def test_only_some_rows_are_measured() -> None:
    asked: list[int] = []

    class ComparisonOutcome(ListSource):
        def cells(self, row: int) -> list[str]:
            asked.append(row)
            return ["北京" * (row % 4), "plain"]

    source = ComparisonOutcome([()] * 10_000)
    assert measured(source, (GridColumn("a", 2, most=30), GridColumn("b", 2))) == {0: 12}
    assert len(asked) < 500


@pytest.mark.parametrize(
    ("text", "width", "right", "shown"),
    [
        ("Keio", 6, False, "Keio  "),
        ("12", 4, True, "  12"),
        ("早稲田大学", 6, False, "早稲… "),
        ("早稲田大学", 7, False, "早稲田…"),
        ("two\nlines\tand  tabs", 20, False, "two lines and tabs  "),
        ("\x1b[31mred\x1b[0m\x07", 5, False, "red� "),
        ("[b]bold[/b]", 11, False, "[b]bold[/b]"),
        ("abc", 0, False, ""),
        ("x" * 100_000, 4, False, "xxx…"),
    ],
)
def test_a_cell_is_one_line_of_its_width(text: str, width: int, right: bool, shown: str) -> None:
    assert aligned(text, width, right=right) == shown


@settings(max_examples=examples(50))
@given(st.text(max_size=40), st.integers(0, 20))
def test_any_text_fills_its_cell_exactly(text: str, width: int) -> None:
    assert cell_len(aligned(text, width)) == width
    assert cell_len(aligned(text, width, tail=True)) == width


def test_of_names_that_end_differently_the_ends_are_shown() -> None:
    assert aligned("offline:wordy", 8) == "offline…"
    assert aligned("offline:wordy", 8, tail=True) == "…e:wordy"
    assert aligned("short", 8, tail=True) == "short   "
    assert aligned("代理：甲乙", 6, tail=True) == "…甲乙 "


def test_a_styled_cell_keeps_its_colours_and_its_width() -> None:
    for text in (Text("◆ graph", "#ff0000"), Text.assemble(("早稲田", "bold"), "\nx")):
        runs = Runs()
        add_styled(runs, text, 6, right=True, base=Style(), console=Console())
        strip = runs.strip()
        assert strip.cell_length == 6 == cell_len(strip.text)
        assert any(segment.style and segment.style != Style() for segment in strip)
        assert "\n" not in strip.text


def test_marks_follow_the_cursor() -> None:
    cursor = GridCursor(rows=5, row=2)
    cursor.toggle()
    cursor.go(0)
    cursor.extend(1)
    assert (cursor.row, cursor.marked) == (1, {0, 1, 2})
    cursor.extend(-1)
    assert cursor.marked == {0, 2}
    cursor.toggle_all()
    assert len(cursor.marked) == 5
    cursor.go(4)
    cursor.resize(3)
    assert (cursor.row, cursor.marked) == (2, {0, 1, 2})
    cursor.toggle_all()
    assert not cursor.marked
    empty = GridCursor()
    empty.extend(1)
    empty.toggle()
    assert (empty.row, empty.marked) == (0, frozenset())


@settings(max_examples=examples(50))
@given(st.integers(1, 20_000), st.integers(1, 60), st.integers(0, 20_000))
def test_the_scrollbar_is_at_an_end_only_when_the_rows_are(rows: int, page: int, top: int) -> None:
    most = max(0, rows - page)
    bar = ScrollBar(rows, page, min(top, most))
    thumb = [line for line in range(page) if bar.part(line) == THUMB]
    assert bool(thumb) == (rows > page)
    if thumb and page - len(thumb) > 1:
        assert (thumb[0] == 0) == (bar.top == 0)
        assert (thumb[-1] == page - 1) == (bar.top == most)
        assert bar.top_at(0) == 0
        assert bar.top_at(page) == most


def test_candidates_begin_with_then_hold_what_is_typed() -> None:
    known = Candidates(("Old Keio", "Keio", "Keio University", "慶應ＫＥＩＯ", "Waseda"))
    assert known.matching("ke") == ["Keio", "Keio University", "Old Keio", "慶應ＫＥＩＯ"]
    assert known.matching("Keio") == ["Keio University", "Old Keio", "慶應ＫＥＩＯ"]
    assert known.matching("", limit=2) == ["Old Keio", "Keio"]
    assert Candidates().matching("a") == []


def test_what_is_pasted_into_a_cell_is_one_line() -> None:
    assert pasted_line("a\r\nb\tc\n\x1b[2Jd\n") == "a b   c d"
