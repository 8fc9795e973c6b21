"""Rank sets, shares of first and Holm's p: known answers, ties, edge cases, and a small simulation of coverage."""

import numpy as np
import pytest

from cuecard.annotate.estimation.ranks import FEWEST_TASKS, Ranks, holm, ranks

Values = dict[str, dict[str, float]]


def of(table: list[list[float]]) -> Values:
    """Agents a, b, … in rows."""
    return {
        chr(97 + at): {f"{t:03}": float(v) for t, v in enumerate(row)}
        for at, row in enumerate(table)
    }


def sets(found: Ranks) -> dict[str, tuple[int | None, int | None]]:
    return {one.name: (one.best, one.worst) for one in found.agents}


def test_two_that_are_not_told_apart_above_a_third() -> None:
    rng = np.random.default_rng(1)
    hard = rng.normal(0, 0.1, 20)
    found = ranks(
        of([list(0.5 + gap + hard + rng.normal(0, 0.08, 20)) for gap in (0.03, 0.0, -0.3)])
    )
    assert sets(found) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert [[one.name for one in group] for group in found.groups] == [["a", "b"], ["c"]]
    assert sum(one.first or 0 for one in found.agents) == pytest.approx(1)


def test_lower_is_better_turns_ranks_around() -> None:
    values = of(
        [[0.1 + 0.01 * (t % 3) for t in range(12)], [0.9 - 0.01 * (t % 5) for t in range(12)]]
    )
    assert sets(ranks(values)) == {"a": (2, 2), "b": (1, 1)}
    assert sets(ranks(values, lower_is_better=True)) == {"a": (1, 1), "b": (2, 2)}


def test_equal_values_are_tied_and_a_constant_gap_is_decided() -> None:
    row = [0.1 * (t % 4) for t in range(10)]
    found = ranks(of([row, row, [v + 0.2 for v in row]]))
    assert sets(found) == {"a": (2, 3), "b": (2, 3), "c": (1, 1)}
    assert [pair.decided for pair in found.pairs] == [False, True, True]
    assert {one.name: one.first for one in found.agents} == {"a": 0, "b": 0, "c": 1}


def test_names_order_a_group_and_not_means() -> None:
    rng = np.random.default_rng(2)
    found = ranks(of([list(rng.normal(0.5 + gap, 0.5, 12)) for gap in (0.0, 0.02, 0.04)]))
    assert [one.name for one in found.agents] == ["a", "b", "c"]
    assert len(found.groups) == 1


def test_few_tasks_or_one_agent_have_no_rank_sets() -> None:
    found = ranks(of([[0.1] * 9, [0.9] * 9]))
    assert found.reason
    assert sets(found) == {"a": (None, None), "b": (None, None)}
    assert len(found.groups) == 1
    assert ranks(of([[0.1] * 12])).reason
    assert ranks({}).groups == ()
    assert FEWEST_TASKS == 10


def test_only_complete_tasks_count() -> None:
    values = of([[0.1] * 12, [0.9] * 12])
    del values["a"]["000"]
    found = ranks(values)
    assert (found.tasks, found.left_out) == (11, 1)


def test_against_one_base_intervals_are_not_wider() -> None:
    rng = np.random.default_rng(3)
    values = of([list(rng.normal(0.5, 0.2, 20)) for _ in range(5)])
    every = {(p.left, p.right): p for p in ranks(values).pairs}
    few = ranks(values, "a").pairs
    assert len(few) == 4
    assert all(
        p.high - p.low <= every[p.left, p.right].high - every[p.left, p.right].low for p in few
    )


def test_estimates_from_few_labels_have_wider_intervals() -> None:
    rng = np.random.default_rng(7)
    values = {
        name: {str(t): float(rng.normal(at, 1)) for t in range(20)} for at, name in enumerate("ab")
    }
    (plain,), (wide,) = ranks(values).pairs, ranks(values, widening=1.5).pairs
    assert wide.high - wide.low == pytest.approx(1.5 * (plain.high - plain.low))
    assert wide.difference == plain.difference


def test_all_sets_hold_at_once() -> None:
    rng = np.random.default_rng(4)
    right = 0
    for _ in range(150):
        values = rng.normal(0, 0.2, (1, 10)) + rng.normal(0.5, 0.15, (4, 10))
        right += all(
            each == (1, 4) for each in sets(ranks(of(values.tolist()), resamples=500)).values()
        )
    assert right >= 0.92 * 150


def test_holm() -> None:
    # Here, because every worker loads every module of tests.
    from statsmodels.stats.multitest import multipletests

    given = [0.01, 0.04, 0.03, 0.005]
    assert holm(given) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm(given) == pytest.approx(tuple(multipletests(given, method="holm")[1]))
    assert holm([0.04, None, 0.03]) == pytest.approx((0.06, None, 0.06))
    assert holm([]) == ()
