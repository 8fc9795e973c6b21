"""Coefficients against other people's programs, on random tables with gaps and weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.agreement.coefficients import (
    brennan_prediger_coefficient,
    cohen_coefficient,
    fleiss_coefficient,
    scott_coefficient,
)
from cuecard.annotate.agreement.linearisation import standard_error
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import against_reference
from cuecard.annotate.agreement.scales import Level, alpha_coefficient, weighted_kappa_coefficient
from cuecard.core.tables.table import Coefficient


class Theirs(NamedTuple):
    metrics: Any
    inter_rater: Any
    krippendorff: Any


@cache
def theirs() -> Theirs:
    """Imported when they are asked: they take seconds, and every worker reads every file of tests."""
    modules = ("sklearn.metrics", "statsmodels.stats.inter_rater", "krippendorff")
    return Theirs(*map(import_module, modules))


DOMAIN = ("1", "2", "3", "5")
NUMBERS = np.array([1.0, 2.0, 3.0, 5.0])
EXAMPLES = settings(max_examples=examples(30), deadline=None)


def tables(raters: int, gaps: bool = True) -> st.SearchStrategy[np.ndarray]:
    """Items x raters of codes, -1 for a gap; raters agree more often than by chance, labels are uneven."""

    def drawn(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        items, labels = rng.integers(1, 60), rng.integers(1, 5)
        error, gap = rng.random(), 0.6 * rng.random() * gaps
        truth = rng.choice(labels, size=(items, 1), p=rng.dirichlet(np.ones(labels)))
        slips = rng.integers(labels, size=(items, raters))
        table = np.where(rng.random((items, raters)) < error, slips, truth)
        return np.where(rng.random((items, raters)) < gap, -1, table)

    return st.builds(drawn, st.integers(0, 10**6))


def ratings_of(table: np.ndarray, domain: tuple[str, ...] = DOMAIN) -> Ratings:
    items, raters = table.shape
    return Ratings(
        tuple(map(str, range(items))),
        tuple(map(str, range(raters))),
        domain,
        tuple(tuple(map(int, row)) for row in table),
    )


def agrees(coefficient: Coefficient, oracle: Callable[[], float]) -> None:
    """Within 1e-9 where both are defined."""
    ours = coefficient.statistic.value
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            theirs = float(oracle())
        except (ValueError, AssertionError, ZeroDivisionError):
            return
    if ours is not None and np.isfinite(theirs):
        assert ours == pytest.approx(theirs, abs=1e-9), coefficient.name


def oracles_of_pair(
    left: np.ndarray, right: np.ndarray, weights: np.ndarray
) -> Iterator[tuple[str, Callable[[], float]]]:
    known: dict[str, object] = {"sample_weight": weights}
    labels = list(range(len(DOMAIN)))
    yield (
        "cohen_kappa",
        lambda: theirs().metrics.cohen_kappa_score(left, right, labels=labels, **known),
    )
    # The reference comes first in scikit-learn.
    yield (
        "balanced_accuracy",
        lambda: theirs().metrics.balanced_accuracy_score(right, left, **known),
    )
    yield "mcc", lambda: theirs().metrics.matthews_corrcoef(right, left, **known)
    for name, score in (
        ("precision", theirs().metrics.precision_score),
        ("recall", theirs().metrics.recall_score),
        ("f1", theirs().metrics.f1_score),
    ):
        for code, label in enumerate(DOMAIN):
            yield (
                f"{name}:{label}",
                lambda score=score, code=code: score(
                    right, left, labels=[code], average="macro", zero_division=np.nan, **known
                ),
            )


@EXAMPLES
@given(tables(2), st.integers(0, 10**6), st.booleans())
def test_scikit_learn(table: np.ndarray, seed: int, weighted: bool) -> None:
    ratings = ratings_of(table)
    both = (table >= 0).all(axis=1)
    if not both.any():
        assert cohen_coefficient(ratings).statistic.reason == "no item has two ratings"
        return
    weights = np.random.default_rng(seed).uniform(0.1, 9, len(table))
    weights = weights if weighted else np.ones(len(table))
    ours = {
        one.name: one.weighted(weights)
        for one in (cohen_coefficient(ratings), *against_reference(ratings))
    }
    left, right = table[both].T
    for name, oracle in oracles_of_pair(left, right, weights[both]):
        agrees(ours[name], oracle)
    # scikit-learn weighs by the places of labels, so theirs are places here.
    places = ratings_of(table, ("1", "2", "3", "4"))
    for weighting in ("linear", "quadratic"):
        agrees(
            weighted_kappa_coefficient(places, weighting).weighted(weights),
            lambda weighting=weighting: theirs().metrics.cohen_kappa_score(
                left,
                right,
                labels=range(4),
                weights=weighting,
                sample_weight=weights[both],
            ),
        )


@EXAMPLES
@given(tables(2))
def test_statsmodels_on_two_raters(table: np.ndarray) -> None:
    ratings = ratings_of(table)
    both = (table >= 0).all(axis=1)
    counts = np.zeros((4, 4))
    np.add.at(counts, tuple(table[both].T), 1)
    kappa = cohen_coefficient(ratings)
    agrees(kappa, lambda: theirs().inter_rater.cohens_kappa(counts).kappa)
    agrees(
        scott_coefficient(ratings),
        lambda: theirs().inter_rater.fleiss_kappa(counts_of(table[both]), method="fleiss"),
    )
    for weighting in ("linear", "quadratic"):
        agrees(
            weighted_kappa_coefficient(ratings, weighting),
            lambda weighting=weighting: (
                theirs().inter_rater.cohens_kappa(counts, NUMBERS, wt=weighting).kappa
            ),
        )
    error, n = standard_error(kappa), int(both.sum())
    if error:
        with np.errstate(all="ignore"):
            error_of_theirs = float(theirs().inter_rater.cohens_kappa(counts).std_kappa)
        # Theirs divides by n, ours by n - 1, and takes slopes numerically.
        assert error * ((n - 1) / n) ** 0.5 == pytest.approx(error_of_theirs, rel=1e-5, abs=1e-7)


def counts_of(table: np.ndarray) -> np.ndarray:
    return np.stack([(table == code).sum(axis=1) for code in range(4)], axis=1)


@EXAMPLES
@given(st.integers(2, 5).flatmap(lambda raters: tables(raters, gaps=False)))
def test_statsmodels_on_many_raters(table: np.ndarray) -> None:
    ratings = ratings_of(table)
    counts = counts_of(table)
    agrees(fleiss_coefficient(ratings), lambda: theirs().inter_rater.fleiss_kappa(counts, "fleiss"))
    agrees(
        brennan_prediger_coefficient(ratings),
        lambda: theirs().inter_rater.fleiss_kappa(counts, "randolph"),
    )


@EXAMPLES
@given(st.integers(2, 5).flatmap(tables))
def test_krippendorff(table: np.ndarray) -> None:
    ratings = ratings_of(table)
    data = np.where(table < 0, np.nan, NUMBERS[table]).T
    for level in get_args(Level):
        agrees(
            alpha_coefficient(ratings, level),
            lambda level=level: theirs().krippendorff.alpha(
                data, value_domain=NUMBERS, level_of_measurement=level
            ),
        )
