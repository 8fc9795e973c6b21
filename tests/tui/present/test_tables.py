"""Figures of results in narrow tables: rounded where room is scarce, and drawn only on one scale."""

from __future__ import annotations

from typing import cast

from cuecard.core.tables.table import Cell, Statistic, Table
from cuecard.tui.grid.cells import GridCell, cut
from cuecard.tui.present.tables import cell_in_full, name_at, on_one_scale, plot_lines, table_rows


def cell(text: str, value: float, low: float, high: float) -> Cell:
    return Cell(text, statistic=Statistic(name="x", value=value, n=9, low=low, high=high))


def table(*cells: Cell) -> Table:
    line = (Cell("a line"), *cells)
    return Table("results", "title", ("What", *("x" for _cell in cells)), (line,))


SHARE = cell("0.812 [0.771, 0.850]", 0.812, 0.771, 0.85)
DIFFERENCE = cell("-0.100 [-0.296, +0.040]", -0.1, -0.296, 0.04)
PERCENT = cell("8.3 [2.1, 15.6] (24)", 0.083, 0.021, 0.156)
TOKENS = cell("4,120 [3,900, 4,500]", 4120, 3900, 4500)


def texts(room: int) -> list[str]:
    _columns, rows = table_rows(table(SHARE, DIFFERENCE, PERCENT, TOKENS), room)
    return [each.text for each in rows[0] if isinstance(each, GridCell)]


def test_intervals_take_less_room_in_a_narrow_table() -> None:
    assert texts(120) == [
        "a line",
        "0.812 [.771 .850]",
        "-0.100 [-.296 +.040]",
        "8.3 [2.1 15.6] (24)",
        "4,120 [3,900 4,500]",
    ]
    assert texts(80) == [
        "a line",
        "0.812 [.77 .85]",
        "-0.100 [-.30 +.04]",
        "8.3 [2 16] (24)",
        "4,120 [3,900 4,500]",
    ]


def test_only_figures_of_one_scale_are_drawn_together() -> None:
    assert on_one_scale(table(SHARE, DIFFERENCE, PERCENT))
    assert not on_one_scale(table(SHARE, TOKENS))
    assert on_one_scale(table(TOKENS))
    assert not on_one_scale(table(Cell("7", value=7.0)))
    axis, line = plot_lines(table(SHARE), 40, 5)
    assert axis.startswith("        0.7")
    assert line.startswith("a line  ")
    assert "├" in line


def test_names_are_drawn_without_what_a_terminal_would_act_on() -> None:
    hostile = cell("0.5 [0.4, 0.6]", 0.5, 0.4, 0.6)
    one = Table("results", "t", ("What", "\x1b[31mred"), ((Cell("a\x1b]0;x\x07\nb"), hostile),))
    lines = plot_lines(one, 60, 5)
    assert not any(mark in "".join(lines) for mark in ("\x1b", "\x07", "\n"))


def test_long_names_end_with_an_ellipsis_and_say_once_what_all_lines_are_of() -> None:
    name = "an agent whose name is longer than its column"
    alone = Table("results", "t", ("Agent", "F1"), ((Cell(name), SHARE),))
    _axis, line = plot_lines(alone, 90, 5)
    assert line.startswith("an agent whose name is longer than its…  ")
    counted = Table("results", "t", ("Agent", "Place", "F1"), ((Cell("beta"), Cell("1"), SHARE),))
    assert plot_lines(counted, 90, 5)[1].startswith("beta  ")


def test_lines_of_one_name_are_drawn_with_their_other_words_and_columns_to_their_ends() -> None:
    lines = [("an agent with a long name", by, SHARE, SHARE) for by in ("people", "a model")]
    _axis, first, second, third, _last = plot_lines(
        Table.of("", ("Agent", "By", "Task", "World"), lines), 90, 5
    )
    assert first.startswith("an agent with a long name · peop… · Task  ")
    assert second.startswith("an agent with a long name · peo… · World  ")
    assert third.startswith("an agent with a long name · a mo… · Task  ")


def test_the_cell_that_names_its_line_is_told_once() -> None:
    one = table(SHARE)
    assert cell_in_full(name_at(one, 0, 0, plotted=False), one.lines[0][0]) == ["a line"]


def test_a_rate_told_in_words_has_its_interval_as_figures_have() -> None:
    rate = Table("results", "t", ("What", "in 100"), ((Cell("early"), Cell("6.9 [0.0, 49.0]")), (Cell("[a, b]"), Cell("x [a, b]"))))  # fmt: skip
    _columns, rows = table_rows(rate, 120)
    assert [row[1].text for row in rows if isinstance(row[1], GridCell)] == ["6.9 [0.0 49.0]", "x [a, b]"]  # fmt: skip


def test_lines_that_begin_alike_are_told_apart_and_headings_are_whole_where_there_is_room() -> None:
    names = [f"offline:forgetful (baseline) · {judge}" for judge in ("lexical", "lexical:noisy")]
    alike = Table.of("", ("Agent", "F1"), [(name, "0.5") for name in names])
    columns, rows = table_rows(alike, 80)
    shown = {cut(str(cast(GridCell, row[0]).text), columns[0].width) for row in rows}
    assert len(shown) == 2
    long = "judge lexical:noisy (baseline)"
    columns, _rows = table_rows(Table.of("", ("Statistic", long), [("kappa", "0.5")]), 80)
    assert columns[1].width == len(long)
    several = Table.of("", ("Statistic", *[long] * 4), [("kappa", *["0.5"] * 4)])
    columns, _rows = table_rows(several, 80)
    assert all(column.width < len(long) for column in columns[1:])
