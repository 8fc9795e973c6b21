"""Allocation, the number of labels for an interval, and chances of active draws: known answers, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.estimation.allocation import (
    UNKNOWN_ICC,
    active_chances,
    intraclass_correlation,
    labels_for_half_width,
    labels_needed,
    neyman,
    spread_of_pilot,
    vote_uncertainty,
)

strata = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.integers(0, 60), st.sampled_from([0.0, 0.05, 0.2, 0.5])),
    min_size=1,
)


def test_labels_go_where_there_is_much_to_be_corrected() -> None:
    assert neyman({"a": 400, "b": 100}, {"a": 0.2, "b": 0.4}, 60) == {"a": 40, "b": 20}


def test_what_exceeds_a_small_stratum_goes_to_the_others() -> None:
    found = neyman({"a": 10, "b": 300, "c": 100}, {"a": 0.5, "b": 0.01, "c": 0.01}, 60)
    assert found == {"a": 10, "b": 38, "c": 12}


def test_each_stratum_has_five_as_far_as_it_goes() -> None:
    found = neyman({"a": 1000, "b": 40, "c": 3}, {"a": 0.5, "b": 0.01, "c": 0.01}, 50)
    assert found == {"a": 42, "b": 5, "c": 3}
    assert neyman({"a": 90, "b": 9, "c": 9}, {"a": 0.5, "b": 0.1, "c": 0.1}, 6) == {
        "a": 2,
        "b": 2,
        "c": 2,
    }


@settings(max_examples=examples(200), deadline=None)
@given(strata, st.integers(0, 250))
def test_an_allocation_gives_all_and_fits(found: dict[str, tuple[int, float]], n: int) -> None:
    sizes = {name: size for name, (size, _spread) in found.items()}
    given_ = neyman(sizes, {name: spread for name, (_size, spread) in found.items()}, n)
    assert sum(given_.values()) == min(n, sum(sizes.values()))
    assert all(0 <= given_[name] <= size for name, size in sizes.items())
    if n >= sum(min(5, size) for size in sizes.values()):
        assert all(given_[name] >= min(5, size) for name, size in sizes.items())


def test_a_pilot_tells_the_spread() -> None:
    assert spread_of_pilot(0, 0) == 0.5
    assert spread_of_pilot(8, 1) == pytest.approx(0.4)


def test_labels_for_a_half_width() -> None:
    both = [(400, 0.2), (100, 0.4)]
    assert labels_for_half_width(0.05, both) == pytest.approx(73.96, abs=0.005)
    assert labels_for_half_width(0.05, both, deff=2) == pytest.approx(147.92, abs=0.01)
    assert labels_for_half_width(0.001, both, deff=3) == 500
    with pytest.raises(ValueError, match="above 0"):
        labels_for_half_width(0, both)


def test_units_of_a_task_repeat_each_other() -> None:
    both = [(400, 0.2), (100, 0.4)]
    assert labels_needed(0.05, both, tasks=20, correlation=0).n == 74
    unknown = labels_needed(0.05, both, tasks=20)
    assert (unknown.known, unknown.correlation) == (False, UNKNOWN_ICC)
    # n = 73.96 (1 + (n / 20 - 1) .1)
    assert unknown.n == 106
    assert labels_needed(0.01, both, tasks=20, correlation=0.5).n is None


def test_intraclass_correlation() -> None:
    # Two tasks with means 1 and 4: MSB = 9, MSW = 1; (9 - 1) / (9 + 1).
    spread = 0.5**0.5
    values = [1 - spread, 1 + spread, 4 - spread, 4 + spread]
    assert intraclass_correlation(values, "aabb") == pytest.approx(0.8)
    assert intraclass_correlation([0, 1, 0, 1], "aabb") == 0
    assert intraclass_correlation([0, 1], "ab") is None
    assert intraclass_correlation([1, 1, 1, 1], "aabb") is None


def test_chances_of_an_active_draw() -> None:
    doubts = [0.5, 0.5, 0.3, 0.1, 0.1, 0]
    assert active_chances(doubts, 3) == pytest.approx([0.9, 0.9, 0.58, 0.26, 0.26, 0.1])
    assert active_chances(doubts, 4) == pytest.approx(
        [1, 1, 0.966667, 0.433333, 0.433333, 0.166667], abs=1e-6
    )
    assert active_chances([0, 0, 0, 0], 1) == [0.25] * 4


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.1, 0.4, 0.5]), min_size=1, max_size=60), st.integers(1, 70))
def test_chances_sum_to_what_was_asked_for(doubts: list[float], n: int) -> None:
    chances = active_chances(doubts, n)
    assert all(0 < chance <= 1 for chance in chances)
    assert sum(chances) == pytest.approx(min(n, len(doubts)))


def test_judges_that_differ_leave_doubt() -> None:
    assert vote_uncertainty([True, False]) == 0.5
    assert vote_uncertainty([True, True, False]) == pytest.approx(0.4714, abs=1e-4)
    assert vote_uncertainty([True]) == vote_uncertainty([]) == 0
