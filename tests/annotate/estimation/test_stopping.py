"""The betting confidence sequence: known answers, that it holds however often it is looked at, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cuecard.annotate.estimation.stopping import (
    BettingSequence,
    CorrectedSequence,
    StratumBounds,
    decided,
    labels_to_go,
)

ROUND = (1, 1, 0, 1, 1, 1, 0, 1, 1, 1)


@pytest.mark.parametrize(
    ("size", "known"),
    [
        (None, {10: (0.361, 1), 20: (0.497, 0.983), 40: (0.592, 0.943)}),
        (50, {10: (0.396, 0.96), 20: (0.555, 0.92), 40: (0.685, 0.84)}),
    ],
)
def test_known_answers(size: int | None, known: dict[int, tuple[float, float]]) -> None:
    sequence = BettingSequence(size)
    for t in range(1, 41):
        sequence.add(ROUND[(t - 1) % 10])
        if t in known:
            low, high = sequence.holds()
            assert (float(low), float(high)) == pytest.approx(known[t], abs=1e-9)


def test_all_looks_together_hold_the_truth() -> None:
    rng = np.random.default_rng(5)
    values = np.repeat([0.0, 0.5, 1.0], [2, 83, 15])
    orders = rng.permuted(np.tile(values, (300, 1)), axis=1)
    sequence = BettingSequence(100, fractions=2, orders=300)
    out = np.zeros(300, dtype=bool)
    for t in range(99):
        sequence.add(orders[:, t])
        low, high = sequence.ends()
        out |= (low > values.mean() + 1e-9) | (high < values.mean() - 1e-9)
    assert out.mean() <= 0.05


def test_when_all_are_labelled_the_mean_is_known() -> None:
    sequence = BettingSequence(7)
    for value in (1, 0, 0, 1, 0, 1, 1):
        sequence.add(value)
    assert sequence.interval == pytest.approx((4 / 7, 4 / 7))
    with pytest.raises(ValueError, match="more values"):
        sequence.add(1)
    with pytest.raises(ValueError, match="outside"):
        BettingSequence(None).add(1.01)


def test_several_orders_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(3)
    orders = rng.random((4, 30))
    together = BettingSequence(60, orders=4)
    alone = [BettingSequence(60) for _order in orders]
    for t in range(30):
        together.add(orders[:, t])
        for sequence, order in zip(alone, orders, strict=True):
            sequence.add(float(order[t]))
    low, high = together.ends()
    assert np.array([s.interval for s in alone]) == pytest.approx(np.column_stack([low, high]))


def test_strata_are_weighted_and_share_the_level() -> None:
    strata = {
        "yes": StratumBounds.of({1.0: 80}, 100),
        "no": StratumBounds.of({0.0: 20}, 100),
    }
    assert (strata["yes"].low, strata["yes"].high) == (-1, 0)
    sequence = CorrectedSequence(strata)
    assert sequence.interval == pytest.approx((0, 1))
    assert sequence.estimate is None
    for n in range(80):
        sequence.add("yes", -1.0 if n % 8 == 0 else 0.0)
    for n in range(20):
        sequence.add("no", 1.0 if n % 4 == 0 else 0.0)
    # 70 of the 80 and 5 of the 20 are right by people.
    assert sequence.estimate == pytest.approx(0.75)
    assert sequence.interval == pytest.approx((0.75, 0.75))


def test_no_share_is_beyond_what_a_share_can_be() -> None:
    """A judge that says no of many leaves room for what is no share: people less the judge's may be -1."""
    units = StratumBounds.of({0.0: 9, 1.0: 1}, 20)
    other = StratumBounds.of({1.0: 10}, 20)
    sequence = CorrectedSequence({"no": units, "yes": other}, known=0.0)
    for stratum in ("no", "yes") * 3:
        sequence.add(stratum, 0.0)
    low, high = sequence.interval
    assert (low, high) == pytest.approx((0.15, 1.0), abs=0.2)
    assert 0 <= low <= high <= 1


def test_a_judge_that_says_the_same_of_all_costs_nothing() -> None:
    alike, trusted = StratumBounds.of({1.0: 50}, 50), StratumBounds.of({1.0: 50}, 50, trust=0)
    one, other = CorrectedSequence({"": alike}), CorrectedSequence({"": trusted})
    for n in range(30):
        one.add("", -1.0 if n % 5 == 0 else 0.0)
        other.add("", 0.0 if n % 5 == 0 else 1.0)
    assert one.interval == pytest.approx(other.interval)


def test_how_many_labels_more() -> None:
    sequence = CorrectedSequence({"": StratumBounds.of({0.0: 150, 1.0: 150}, 300)})
    for n in range(40):
        sequence.add("", -1.0 if n % 10 == 0 else 0.0)

    def narrow(found: Sequence[CorrectedSequence]) -> bool:
        return found[0].half_width <= 0.1

    rest = [(0, "")] * 260
    ahead = labels_to_go([sequence], rest, narrow)
    assert ahead is not None
    assert 10 < ahead < 200
    assert labels_to_go([sequence], rest[:5], narrow) is None
    assert labels_to_go([sequence], rest, lambda _found: True) == 0
    assert sequence.labelled == 40


def test_two_agents_are_told_apart_by_their_own_intervals() -> None:
    units = StratumBounds.of({1.0: 200}, 200)
    good, bad = (CorrectedSequence({"": units}, level=0.025) for _agent in range(2))
    assert not decided(good, bad)
    for n in range(60):
        good.add("", 0.0)
        bad.add("", -1.0 if n % 2 else 0.0)
    assert decided(good, bad)
