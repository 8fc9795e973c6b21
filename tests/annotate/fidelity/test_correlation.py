"""Rank correlations: against SciPy, in resamples, by hand; and how many sessions they take."""

from __future__ import annotations

import warnings
from importlib import import_module
from math import atanh, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.agreement.intervals import drawn_groups
from cuecard.annotate.fidelity.correlation import (
    _kendall,  # pyright: ignore[reportPrivateUsage]
    _Sample,  # pyright: ignore[reportPrivateUsage]
    _spearman,  # pyright: ignore[reportPrivateUsage]
    design_effect,
    detectable,
    intraclass,
    rank_correlations,
    sessions_needed,
)
from cuecard.annotate.fidelity.decisions import chrf

SESSIONS = st.lists(
    st.tuples(st.integers(1, 7), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=14
)


def oracle(x, y) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stats = import_module("scipy.stats")
        return float(stats.spearmanr(x, y)[0]), float(stats.kendalltau(x, y)[0])


@settings(max_examples=examples(40), deadline=None)
@given(SESSIONS)
def test_as_scipy_in_the_sample_and_in_every_resample(sessions):
    x, y, tasks = (list(column) for column in zip(*sessions, strict=True))
    found = rank_correlations(x, y, tasks, resamples=20)
    for statistic, wanted in zip((found.spearman, found.kendall), oracle(x, y), strict=True):
        assert statistic.n == len(x)
        if isnan(wanted):
            assert statistic.reason in ("all answers are the same", "all scores are the same")
        else:
            assert statistic.value == pytest.approx(wanted, abs=1e-12)
    drawn = drawn_groups(len(set(tasks)), resamples=6, seed=1)
    sample = _Sample.of(x, y, tasks)
    values = zip(*(of(sample, drawn, within=False) for of in (_spearman, _kendall)), strict=True)
    by_task: dict[int, list[tuple[int, int]]] = {}
    for a, b, task in zip(x, y, tasks, strict=True):
        by_task.setdefault(task, []).append((a, b))
    ordered = sorted(sorted(part) for part in by_task.values())
    for row, (rho, tau) in zip(drawn.astype(int), values, strict=True):
        again = [pair for times, part in zip(row, ordered, strict=True) for pair in part * times]
        # A pair of copies of one session is tied on both sides, and counts nowhere in tau-b.
        wanted = oracle([a for a, _b in again], [b for _a, b in again])
        assert rho == pytest.approx(wanted[0], abs=1e-9, nan_ok=True)
        assert tau == pytest.approx(wanted[1], abs=1e-9, nan_ok=True)


def test_within_tasks_by_hand():
    # Task a is scored higher throughout; within each task the answers run against the scores.
    x, y, tasks = [5, 6, 7, 1, 2, 3], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], list("aaabbb")
    found = rank_correlations(x, y, tasks)
    # Ranks 4 5 6 1 2 3 and 6 5 4 3 2 1: sum of squared differences 16.
    assert found.spearman.value == pytest.approx(1 - 6 * 16 / (6 * 35))
    # 9 pairs between tasks agree, 6 within disagree.
    assert found.kendall.value == pytest.approx((9 - 6) / 15)
    assert (found.spearman_within.value, found.kendall_within.value) == (-1, -1)
    assert found.spearman.no_interval == "fewer than 5 groups"
    # A task with one session tells nothing of within.
    more = rank_correlations([*x, 4], [*y, 0.5], [*tasks, "c"])
    assert (more.spearman.n, more.spearman_within.n) == (7, 6)
    assert more.kendall_within.value == -1


def test_undefined_with_a_reason():
    none = rank_correlations([], [], [])
    assert none.spearman.reason == "fewer than 3 sessions"
    assert none.kendall_within.reason == "no task has two sessions"
    same = rank_correlations([4, 4, 4], [0.1, 0.2, 0.3], "abc")
    assert same.spearman.reason == "all answers are the same"
    assert rank_correlations([1, 2, 3], [0, 0, 0], "abc").kendall.reason == (
        "all scores are the same"
    )
    apart = rank_correlations([1, 1, 2, 2], [0.1, 0.2, 0.3, 0.4], "aabb")
    assert apart.kendall.defined
    assert apart.kendall_within.reason == "nothing differs within a task"
    with pytest.raises(ValueError, match="same sessions"):
        rank_correlations([1], [1], [])


def test_the_order_of_sessions_changes_nothing():
    rng = np.random.default_rng(3)
    x = rng.integers(1, 8, 40).tolist()
    y = [a / 7 + noise for a, noise in zip(x, rng.normal(size=40), strict=True)]
    tasks = rng.integers(0, 9, 40).tolist()
    found = rank_correlations(x, y, tasks, resamples=200)
    assert found.spearman.interval is not None
    turned = rng.permutation(40)
    assert (
        rank_correlations(
            [x[i] for i in turned],
            [y[i] for i in turned],
            [f"task {tasks[i]}" for i in turned],
            resamples=200,
        )
        == found
    )


def test_sessions_needed_by_hand():
    # z of 0.975 and 0.8: 1.959964 + 0.841621 = 2.801585; atanh 0.3 = 0.309520.
    reach = 2.801585 / atanh(0.3)
    assert 3 + 1.045 * reach**2 == pytest.approx(88.61, abs=0.01)
    assert 4 + 0.437 * reach**2 == pytest.approx(39.80, abs=0.01)
    assert [sessions_needed(r) for r in (0.1, 0.3, 0.5, -0.3)] == [787, 89, 33, 89]
    assert [sessions_needed(r, kind="kendall") for r in (0.1, 0.3, 0.5)] == [345, 40, 16]
    assert sessions_needed(0.3, power=0.9) == 118
    assert sessions_needed(0.3, alpha=0.01) == 131
    for n in (10, 40, 200):
        for kind in ("spearman", "kendall"):
            found = detectable(n, kind=kind)
            assert found is not None
            assert sessions_needed(found, kind=kind) == n
            assert sessions_needed(found - 1e-6, kind=kind) == n + 1
    assert detectable(3) is None
    for wrong in ((1.0, 0.8, 0.05), (0.0, 0.8, 0.05), (0.3, 1.0, 0.05), (0.3, 0.8, 0.0)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            sessions_needed(*wrong)


def test_what_sessions_of_one_task_are_worth():
    tasks = ["a", "a", "b", "b"]
    # Nothing differs within: all variance lies between.
    assert intraclass([1, 1, 5, 5], tasks) == 1
    # Mean squares 9 between and 2 within, groups of two.
    assert intraclass([0, 2, 3, 5], tasks) == pytest.approx((9 - 2) / (9 + 2))
    assert design_effect([1, 1, 5, 5], [0, 2, 3, 5], tasks) == pytest.approx(1 + 7 / 11)
    assert design_effect([1, 2, 3], [3, 2, 1], "abc") == 1
    assert design_effect([1, 1, 1], [3, 2, 1], "aab") is None
    assert design_effect([], [], []) is None
    assert intraclass([1, 2], "aa") is None


def test_chrf_by_hand():
    # Of three, two and one n-grams 2, 1 and 0 are shared.
    assert chrf("abc", "abd") == pytest.approx((2 / 3 + 1 / 2) / 3)
    # Precision 1, recall 1/2 and 1/3: beta 2 weighs recall.
    assert chrf("ab", "ab cd") == pytest.approx(5 * (5 / 12) / (4 + 5 / 12))
    assert chrf("先查 立春", "先查立春") == 1
    assert chrf("abc", "xyz") == 0
    assert chrf("", "a") is None
    assert chrf("a", " ") is None
