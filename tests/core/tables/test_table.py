"""What a table is built of, and what docs/tables.md shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuecard.core.tables.table import Cell, Statistic, Table, cell, difference
from cuecard.core.tables.texts import remarks_of

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"
F1 = Statistic(name="f1", value=0.6125, n=8, low=0.55, high=0.6725)


def between(value: float, low: float, high: float) -> Statistic:
    return Statistic(name="f1", value=value, n=8, low=low, high=high)


def test_a_cell_is_made_of_what_it_shows():
    table = Table.of("T", ("a", "b", "c", "d", "e"), [("x", 1200, F1, None, Cell("y"))])
    assert table.view == "results"
    (line,) = table.lines
    assert [each.text for each in line] == ["x", "1,200", "0.613 [0.550, 0.672]", "–", "y"]
    assert [each.number for each in line] == [None, 1200, 0.6125, None, None]
    assert [each.is_figure for each in line] == [False, True, True, False, False]
    behind = cell(F1, "place", [3, 4])
    assert (behind.place, behind.trials, behind.statistic) == ("place", (3, 4), F1)


@pytest.mark.parametrize(
    ("statistic", "text"),
    [
        (between(0.1, 0.031, 0.204), "+0.100 [+0.031, +0.204]*"),
        (between(-0.1, -0.204, -0.031), "-0.100 [-0.204, -0.031]*"),
        (between(0.1, -0.031, 0.204), "+0.100 [-0.031, +0.204]"),
        (between(0.1, 0.0, 0.204), "+0.100 [0.000, +0.204]"),
        (Statistic(name="f1", value=-0.0001, n=1), "0.000"),
        (Statistic(name="f1", value=None, n=0, reason="none"), "–"),
        (None, "–"),
    ],
)
def test_a_difference_has_its_sign_and_a_star_where_its_interval_does_not_hold_zero(
    statistic: Statistic | None, text: str
):
    assert difference(statistic).text == text


def test_what_the_star_says_stands_below_once():
    apart, level = difference(between(0.1, 0.03, 0.2)), difference(between(0.1, -0.03, 0.2))
    told = remarks_of(Table.of("T", ("a", "b"), [("x", apart), ("y", apart), ("z", level)]))
    assert told == ("* The interval of the difference does not hold zero.",)
    assert remarks_of(Table.of("T", ("a", "b"), [("z", level)])) == ()
    assert difference(between(0.1, 0.03, 0.2), percent=True).text == "+10.0 [+3.0, +20.0]*"
    assert difference(between(9.0, 4.0, 12.0), "+9 [+4, +12]").text == "+9 [+4, +12]*"
    assert not cell(between(0.1, 0.03, 0.2)).apart


def test_the_example_of_the_page_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]):
    blocks = re.findall(r"^```(?:python)?\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M)
    exec(blocks[0], {})
    assert capsys.readouterr().out == blocks[1]
