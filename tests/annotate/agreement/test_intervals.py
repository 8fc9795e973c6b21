"""Intervals against exact distributions, and what must hold for any ratings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import comb
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    cohen_coefficient,
    fleiss_coefficient,
    percent_coefficient,
)
from cuecard.annotate.agreement.intervals import reach, wilson, with_intervals
from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.tables.table import Coefficient, Statistic, pooled, share

DOMAIN = ("x", "y", "z")
Row = Sequence[str | None]


def ratings_of(table: Sequence[Row], domain: Sequence[str] = DOMAIN) -> Ratings:
    return Ratings.from_rows(
        (
            (str(item), str(rater), label)
            for item, row in enumerate(table)
            for rater, label in enumerate(row)
        ),
        domain=domain,
    )


def coefficients_of(ratings: Ratings) -> tuple[Coefficient, ...]:
    return (
        percent_coefficient(ratings),
        cohen_coefficient(ratings),
        fleiss_coefficient(ratings),
        ac1_coefficient(ratings),
    )


def binomial_ends(n: int, p: float) -> tuple[float, float]:
    """The exact ends of the bootstrap of a share p of n: points of Binomial(n, p), as far out as n groups ask."""
    outside = NormalDist().cdf(-reach(n))
    ends: list[float] = []
    for tail in (outside, 1 - outside):
        below, k = comb(n, 0) * (1 - p) ** n, 0
        while below < tail:
            k += 1
            below += comb(n, k) * p**k * (1 - p) ** (n - k)
        ends.append(k / n)
    return ends[0], ends[1]


@pytest.mark.parametrize("each", [1, 3])
def test_a_share_is_resampled_by_group(each: int):
    """Groups that say the same throughout count once, however many items they have."""
    flags = [True, True, False, True, False] * 2
    (found,) = with_intervals(
        [share("agree", [flag for flag in flags for _ in range(each)])],
        [group for group in "abcdefghij" for _ in range(each)],
        resamples=8000,
    )
    assert (found.value, found.n) == (pytest.approx(0.6), 10 * each)
    assert found.interval == pytest.approx(binomial_ends(10, 0.6))


def test_few_groups_reach_further():
    """Student's t as every table has it, exact and beyond where it is computed exactly."""
    for freedom, expected in ((1, 12.7062), (2, 4.3027), (9, 2.2622), (30, 2.0423), (500, 1.9647)):
        assert t_quantile(0.975, freedom) == pytest.approx(expected, abs=5e-5)
        assert t_quantile(0.025, freedom) == pytest.approx(-expected, abs=5e-5)
    assert reach(5) == pytest.approx(2.7764 * (5 / 4) ** 0.5, abs=1e-4)
    assert reach(10**6) == pytest.approx(1.96, abs=1e-3)
    with pytest.raises(ValueError, match="degree"):
        t_quantile(0.975, 0)


@pytest.mark.parametrize("kinds", [False, True])
def test_both_ways_of_drawing_follow_the_binomial(kinds: bool):
    """Many groups of two kinds, and as many that all differ though their shares do not."""
    flags = [number % 10 < 7 for number in range(400)]
    agreeing = share("agree", flags)
    padding = share("other", flags)
    if not kinds:
        padding.terms[:, 0] = range(400)
    found = with_intervals([agreeing, padding], resamples=4000)[0]
    assert found.interval == pytest.approx(binomial_ends(400, 0.7), abs=0.006)


def test_where_resampling_cannot_judge():
    same = ratings_of([("x", "x"), ("y", "y")] * 10)
    percent, kappa, _fleiss, ac1 = with_intervals(coefficients_of(same))
    assert percent.value == kappa.value == ac1.value == 1
    assert percent.interval == wilson(1, 20)
    assert percent.low == pytest.approx(0.8389, abs=5e-5)
    assert (kappa.interval, kappa.no_interval) == (None, "no resample differs")
    few = with_intervals(coefficients_of(same), ["a", "b", "c", "d"] * 5)
    assert few[0].interval == wilson(1, 4)
    assert few[1].no_interval == "fewer than 5 groups"
    rare = ratings_of([("x", "x")] * 9 + [("x", "y")])
    kappa = with_intervals([cohen_coefficient(rare)])[0]
    assert (kappa.value, kappa.no_interval) == (0, "undefined in many resamples")
    one = ratings_of([("x", "x")] * 9)
    kappa = with_intervals([cohen_coefficient(one)])[0]
    assert (kappa.value, kappa.reason) == (None, "only one category used")
    assert kappa.interval is None
    nothing = with_intervals(coefficients_of(ratings_of([])), [])
    assert all(statistic.reason for statistic in nothing)
    with pytest.raises(ValueError, match="same items"):
        with_intervals([cohen_coefficient(one)], ["a"])


def test_pooled_is_the_coefficient_of_all_items_together():
    first = [("x", "x"), ("x", "y"), ("y", "y"), ("z", "z")]
    second = [("y", "x"), ("y", "y"), (None, "x"), ("x", "x")]
    parts = zip(*(coefficients_of(ratings_of(rows)) for rows in (first, second)), strict=True)
    together = coefficients_of(ratings_of([*first, *second]))
    for part, whole in zip(parts, together, strict=True):
        assert pooled(part).statistic == whole.statistic.model_copy(
            update={"value": pytest.approx(whole.statistic.value)}
        )


TABLES = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.tuples(*[st.sampled_from(["x", "y", "z", None])] * raters), min_size=1, max_size=12
    )
)


def lowest(statistic: Statistic, table: Sequence[Row], groups: Sequence[int] = ()) -> float:
    """Items rated once tell Fleiss' kappa of chance but not of agreement, so of n items it may go to -n. A resample of
    `groups` may draw the largest each time, and so hold more items than the table.
    """
    once = any(len(row) - row.count(None) == 1 for row in table)
    if statistic.name == "percent":
        return 0
    if statistic.name != "fleiss_kappa" or not once:
        return -1
    of = Counter(groups)
    return -max(len(table), len(of) * max(of.values(), default=0)) - 1


def close(one: Statistic, two: Statistic) -> bool:
    ends = zip((one.value, *(one.interval or ())), (two.value, *(two.interval or ())), strict=True)
    same = all(a == b or a == pytest.approx(b, abs=1e-9) for a, b in ends)
    return same and (one.n, one.reason, one.no_interval) == (two.n, two.reason, two.no_interval)


@given(TABLES, st.integers(0, 99))
@settings(max_examples=examples(25), deadline=None)
def test_what_holds_for_any_ratings(table: list[Row], number: int):
    shuffler = random.Random(number)
    groups = [shuffler.randrange(8) for _row in table]

    def figures(rows: Sequence[Row], of: Sequence[int], domain: Sequence[str] = DOMAIN):
        return with_intervals(coefficients_of(ratings_of(rows, domain)), of, resamples=200)

    found = figures(table, groups)
    for statistic in found:
        assert (statistic.value is None) == bool(statistic.reason)
        if statistic.value is None:
            assert statistic.interval is None
            continue
        assert lowest(statistic, table) - 1e-9 <= statistic.value <= 1 + 1e-9
        assert bool(statistic.interval) != bool(statistic.no_interval)
        if statistic.interval:
            low, high = statistic.interval
            assert lowest(statistic, table, groups) - 1e-9 <= low <= high <= 1 + 1e-9
    order = list(range(len(table)))
    shuffler.shuffle(order)
    moved = figures([table[i] for i in order], [groups[i] for i in order])
    assert all(map(close, found, moved))
    # Groups are drawn in the order of what they add, which names of labels and sides decide.
    swapped = figures([row[::-1] for row in table], groups)
    rename = dict(zip("xyz", "zxy", strict=True))
    renamed = figures([[label and rename[label] for label in row] for row in table], groups)
    for one, *others in zip(found, swapped, renamed, strict=True):
        for two in others:
            assert (two.n, two.reason) == (one.n, one.reason)
            assert two.value == (one.value if one.value is None else pytest.approx(one.value))
    perfect = figures([[row[0]] * len(row) for row in table], groups)
    assert all(s.value is None or s.value == pytest.approx(1) for s in perfect)
