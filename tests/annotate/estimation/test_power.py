"""Power and plans: known answers, scipy's noncentral t, and the cheapest design against trying all."""

from dataclasses import replace

import pytest

from cuecard.annotate.estimation.power import (
    Design,
    Noise,
    Prices,
    cheapest,
    designs_for,
    floor_of,
    noncentral_t,
    power_of,
    smallest_difference,
    tasks_for,
)


@pytest.mark.parametrize(
    ("tasks", "samples", "at", "e", "variance", "delta"),
    [
        (30, 3, 0.01, 0.06, 0.002, 0.129666),
        (100, 1, 0.02, 0.15, 0.0034, 0.164986),
        (20, 4, 0.02, 0.1, 0.0045, 0.198159),
    ],
)
def test_the_smallest_difference(
    tasks: int, samples: int, at: float, e: float, variance: float, delta: float
) -> None:
    noise, design = Noise(at, e), Design(tasks, samples)
    assert noise.variance(design) == pytest.approx(variance)
    seen = smallest_difference(noise, design)
    assert seen == pytest.approx(delta, abs=1e-6)
    assert power_of(seen or 0, variance, tasks) == pytest.approx(0.8, abs=3e-4)


def test_the_noncentral_t_is_scipys() -> None:
    from scipy.stats import nct  # Every worker loads every module of tests.

    for freedom in (1, 2, 3, 7, 29, 400, 5000):
        for t in (-12.7, -1.9, 0.0, 0.5, 2.1, 4.3):
            for shift in (0.0, 0.7, 2.8, 9.0):
                theirs = float(nct.cdf(t, freedom, shift))
                # scipy's own has no value in some far tails.
                if theirs == theirs:
                    assert noncentral_t(t, freedom, shift) == pytest.approx(theirs, abs=1e-9)


def test_no_difference_is_found_by_chance_alone() -> None:
    assert power_of(0, 0.002, 30) == pytest.approx(0.05)
    assert power_of(0.1, 0, 30) == 1
    assert smallest_difference(Noise(0.01, 0.06), Design(1)) is None


def test_single_samples_alone_can_be_planned_where_samples_are_not_told_apart() -> None:
    noise = Noise(0.05, None)
    assert smallest_difference(noise, Design(20)) is not None
    assert smallest_difference(noise, Design(20, samples=2)) is None
    assert [each.samples for each in designs_for(noise, 0.1, Design(1))] == [1]


def test_users_and_judges_set_a_floor() -> None:
    noise = Noise(0.01, 0.06, user=0.004, user_task=0.01, judge=0.001, judge_task=0.01)
    design = Design(30, 2, users=3, judges=2)
    by_hand = 2 * (0.01 / 30 + 0.06 / 180 + 0.004 / 3 + 0.01 / 90 + 0.001 / 2 + 0.01 / 60)
    assert noise.variance(design) == pytest.approx(by_hand)
    floor = floor_of(noise, design)
    assert tasks_for(noise, 0.9 * floor, design) is None
    assert tasks_for(noise, 1.2 * floor, design) is not None


def test_the_cheapest_is_what_trying_all_finds() -> None:
    noise, prices = Noise(0.01, 0.06), Prices(task=30, trial=0.5, judgement=0.1, agents=3)
    found = cheapest(designs_for(noise, 0.1, Design(1)), prices)
    assert found is not None
    # Of those with as many samples the first is the cheapest.
    every = [
        next(
            Design(tasks, samples)
            for tasks in range(2, 300)
            if (smallest_difference(noise, Design(tasks, samples)) or 1) <= 0.1
        )
        for samples in range(1, 21)
    ]
    assert prices.cost(found) == min(map(prices.cost, every))
    assert smallest_difference(noise, replace(found, tasks=found.tasks - 1)) > 0.1  # type: ignore[operator]
    assert cheapest((), prices) is None
