"""Rates corrected by labels from elsewhere: known answers, where they are undefined or doubtful, and that they hold."""

from __future__ import annotations

import numpy as np
import pytest

from cuecard.annotate.labelling.calibrating import (
    JudgeErrors,
    corrected_rate,
    true_items_to_label,
    uncut_interval,
)


def errors(q0: float, q1: float, m0: float, m1: float) -> JudgeErrors:
    return JudgeErrors(specificity=q0, sensitivity=q1, false=m0, true=m1)


@pytest.mark.parametrize(
    ("p", "n", "judge", "known"),
    [
        (0.8, 1000, errors(0.9, 0.85, 100, 100), (0.9333, 0.8523, 1)),
        (0.3, 500, errors(0.95, 0.9, 60, 140), (0.2941, 0.2082, 0.3552)),
        (0.55, 400, errors(0.7, 0.8, 50, 50), (0.5, 0.2985, 0.7010)),
    ],
)
def test_known_answers(
    p: float, n: int, judge: JudgeErrors, known: tuple[float, float, float]
) -> None:
    found = corrected_rate("recall", p, n, judge).corrected
    assert (found.value, found.low, found.high) == pytest.approx(known, abs=5e-5)


def test_the_interval_is_cut_at_the_end_only() -> None:
    assert uncut_interval(0.8, 1000, errors(0.9, 0.85, 100, 100)) == pytest.approx(
        (0.852271, 1.045124), abs=1e-6
    )


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (errors(0.6, 0.5, 100, 100), "hardly tells"),
        (errors(1, 1, 0, 100), "no false items"),
        (errors(1, 1, 100, 0), "no true items"),
        # Raw it looks well; smoothed by two items nothing is left of it.
        (errors(0.3, 1, 100, 0.5), "hardly tells"),
    ],
)
def test_where_it_is_undefined(judge: JudgeErrors, why: str) -> None:
    found = corrected_rate("recall", 0.5, 100, judge).corrected
    assert found.value is None
    assert why in found.reason


def test_a_rate_at_a_bound_warns() -> None:
    judge = errors(0.9, 0.9, 100, 100)
    assert "next to nothing" in corrected_rate("recall", 1, 50, judge).warning
    assert "errs otherwise" in corrected_rate("recall", 0.05, 50, judge).warning
    assert not corrected_rate("recall", 0.5, 50, judge).warning


def test_where_to_label_next() -> None:
    many = 1e9
    assert true_items_to_label(0.4, errors(0.9, 0.9, many, many), 200) == pytest.approx(80)
    assert true_items_to_label(0.4, errors(0.95, 0.8, many, many), 200) == pytest.approx(
        114.29, abs=0.005
    )


def test_intervals_hold_the_true_rate() -> None:
    rng = np.random.default_rng(7)
    theta, q0, q1, n, m0, m1 = 0.3, 0.9, 0.85, 500, 100, 100
    held = 0
    for _study in range(1000):
        p = rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0)) / n
        judge = errors(rng.binomial(m0, q0) / m0, rng.binomial(m1, q1) / m1, m0, m1)
        low, high = corrected_rate("recall", p, n, judge).corrected.interval or (1, 0)
        held += low <= theta <= high
    assert 930 <= held <= 970
