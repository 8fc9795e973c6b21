"""Intervals in characters, by position."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.tables.table import Statistic, compact
from cuecard.tui.present.tables import Axis, axis_for, drawn


def of(value: float | None, low: float | None = None, high: float | None = None) -> Statistic:
    reason = "" if value is not None else "none"
    return Statistic(name="x", value=value, n=1, low=low, high=high, reason=reason)


def test_a_line_is_read_by_its_place() -> None:
    axis = Axis(0, 1, 21)
    assert drawn(of(0.5, 0.25, 0.75), axis) == "     ├────●────┤     "
    assert drawn(of(1), axis) == " " * 20 + "●"
    assert drawn(of(None), axis) == " " * 21
    assert drawn(of(0.5), Axis(-1, 1, 21)).index("┊") == 10
    assert drawn(of(0, -0.5, 0.8), Axis(-1, 1, 21))[10] == "●"
    assert drawn(of(0.2, -0.5, 0.8), Axis(-1, 1, 21))[10] == "┼"
    assert Axis(-1, 3, 41).head.index("0") == Axis(-1, 3, 41).place(0)
    assert axis.head == "0────────0.5────────1"
    assert (axis_for([of(0.62, 0.4, 0.9)], 30).low, axis_for([of(0.3)], 30).high) == (0.4, 0.4)
    assert compact(of(-0.155, -0.246, 0.055), 2) == "-0.155 [-.25 .06]"
    assert compact(of(1, 1, 1)) == "1.000 [1.000 1.000]"


@settings(max_examples=examples(40))
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3), st.integers(1, 80))
def test_every_line_is_as_wide_as_its_axis(ends: list[float], width: int) -> None:
    low, value, high = sorted(ends)
    statistic = of(value, low, high)
    axis = axis_for([statistic], width)
    line = drawn(statistic, axis)
    assert len(line) == axis.width == len(axis.head)
    assert line.count("●") == 1


def test_axes_of_counts_and_of_small_sums_end_at_round_numbers() -> None:
    tokens = axis_for([of(294_740.0, 280_100.0, 301_000.0)], 40)
    assert (tokens.low, tokens.high) == (280_000, 310_000)
    cost = axis_for([of(0.0041, 0.0035, 0.0052)], 40)
    assert (cost.low, cost.high) == (0.003, 0.006)
