"""Statistics against published examples and against slow definitions."""

from __future__ import annotations

from itertools import combinations
from random import Random

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
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import agreement_table
from cuecard.annotate.agreement.tables import confusion_matrix, prevalence
from cuecard.core.errors import CuecardError

# Fleiss (1971) as tabulated in the usual worked example: 10 items, 14 raters, 5 categories.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def from_counts(counts: list[list[int]]) -> Ratings:
    rows = []
    for item, row in enumerate(counts):
        given = [str(label) for label, times in enumerate(row) for _ in range(times)]
        rows += [(str(item), f"r{rater}", label) for rater, label in enumerate(given)]
    return Ratings.from_rows(rows)


def from_matrix(matrix: list[list[int]]) -> Ratings:
    cells = [(i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) for _ in range(n)]
    rows = []
    for item, (left, right) in enumerate(cells):
        rows += [(str(item), "a", str(left)), (str(item), "b", str(right))]
    return Ratings.from_rows(rows)


def test_fleiss_worked_example():
    statistic = fleiss_coefficient(from_counts(FLEISS)).statistic
    assert statistic.value == pytest.approx(0.210, abs=5e-4)
    assert statistic.n == 10
    assert percent_coefficient(from_counts(FLEISS)).statistic.value == pytest.approx(
        0.378, abs=5e-4
    )


# The worked examples of Gwet's Handbook (4th ed., 2014), with the figures that his R package irrCAC prints.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
SIX_RATERS = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
]
FOUR_RATERS = "11.1 2232 3333 3333 2222 1234 4444 1121 2222 .555 ..11 ..3."


def four_raters() -> Ratings:
    return Ratings.from_rows(
        (str(item), str(rater), None if label == "." else label)
        for item, row in enumerate(FOUR_RATERS.split())
        for rater, label in enumerate(row)
    )


@pytest.mark.parametrize(
    ("ratings", "percent", "fleiss", "ac1"),
    [
        (from_matrix(ABSTRACTORS), 0.89, 0.7962, 0.8493),
        (from_counts(SIX_RATERS), 0.5511, 0.4139, 0.4448),
        (four_raters(), 0.8182, 0.7612, 0.7754),
        (from_matrix([[80, 10], [5, 5]]), 0.85, 0.3143, 0.8080),
    ],
)
def test_gwet_worked_examples(ratings: Ratings, percent: float, fleiss: float, ac1: float):
    assert percent_coefficient(ratings).statistic.value == pytest.approx(percent, abs=5e-5)
    assert fleiss_coefficient(ratings).statistic.value == pytest.approx(fleiss, abs=5e-5)
    assert ac1_coefficient(ratings).statistic.value == pytest.approx(ac1, abs=5e-5)


def test_ac1_by_hand():
    # p_a = 3/5; label shares (5/10, 4/10, 1/10): p_e = (25 + 24 + 9) / 100 / 2.
    matrix = [[2, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert ac1_coefficient(from_matrix(matrix)).statistic.value == pytest.approx(
        (0.6 - 0.29) / 0.71
    )


def test_one_category_where_others_were_possible():
    rows = [(str(item), rater, "pass") for item in range(4) for rater in "ab"]
    free, declared = Ratings.from_rows(rows), Ratings.from_rows(rows, domain=["pass", "fail"])
    assert ac1_coefficient(free).statistic.reason == "only one category used"
    assert ac1_coefficient(declared).statistic.value == 1
    assert cohen_coefficient(declared).statistic.reason == "only one category used"


@pytest.mark.parametrize(
    ("matrix", "kappa"),
    [
        ([[40, 9], [6, 45]], 0.70),
        ([[80, 10], [5, 5]], 0.32),
        ([[45, 15], [25, 15]], 0.1304),
        (ABSTRACTORS, 0.7964),
    ],
)
def test_cohen_worked_examples(matrix: list[list[int]], kappa: float):
    ratings = from_matrix(matrix)
    assert cohen_coefficient(ratings).statistic.value == pytest.approx(kappa, abs=5e-3)
    confusion = confusion_matrix(ratings)
    assert confusion is not None
    assert [list(row) for row in confusion.counts] == matrix
    assert confusion.n == 100


def test_undefined_carries_its_reason():
    one = Ratings.from_rows([("1", "a", "x"), ("1", "b", "x"), ("2", "a", "x"), ("2", "b", "x")])
    assert cohen_coefficient(one).statistic.reason == "only one category used"
    assert fleiss_coefficient(one).statistic.reason == "only one category used"
    assert fleiss_coefficient(one).statistic.n == 2
    assert percent_coefficient(one).statistic.value == 1.0
    three = Ratings.from_rows([("1", rater, "x") for rater in "abc"])
    assert cohen_coefficient(three).statistic.reason == "not exactly two raters"
    assert confusion_matrix(three) is None
    single = Ratings.from_rows([("1", "a", "x"), ("2", "b", "y")])
    for row in agreement_table(single).rows:
        assert row.value is None
        assert row.statistic.n == 0
        assert row.statistic.reason == "no item has two ratings"
    empty = agreement_table(Ratings.from_rows([]))
    assert all(row.value is None for row in empty.rows)


def test_missing_ratings_are_left_out():
    rows = [("1", "a", "y"), ("1", "b", "y"), ("2", "a", "n"), ("2", "b", None), ("3", "b", " ")]
    ratings = Ratings.from_rows([*rows, ("4", "a", "n"), ("4", "b", "y")], domain=["y", "n"])
    assert percent_coefficient(ratings).statistic.value == 0.5
    assert percent_coefficient(ratings).statistic.n == 2
    assert cohen_coefficient(ratings).statistic.n == 2
    assert [(p.label, p.count, p.n) for p in prevalence(ratings)] == [("y", 3, 5), ("n", 2, 5)]


def test_fleiss_with_varying_numbers_of_ratings():
    # Item agreements 1, 1/3, 1; label shares (1, 1/3, 0, 1) and (0, 2/3, 1, 0), the last of the item that
    # was rated once: P = 7/9, P_e = (7/12)^2 + (5/12)^2.
    rows = [("1", "a", "y"), ("1", "b", "y"), ("2", "a", "y"), ("2", "b", "n"), ("2", "c", "n")]
    rows += [("3", "b", "n"), ("3", "c", "n"), ("4", "a", "y")]
    expected = (7 / 12) ** 2 + (5 / 12) ** 2
    kappa = fleiss_coefficient(Ratings.from_rows(rows)).statistic
    assert kappa.value == pytest.approx((7 / 9 - expected) / (1 - expected))
    assert kappa.n == 3


def test_contradictions_are_refused():
    with pytest.raises(CuecardError, match="rater a, item 1"):
        Ratings.from_rows([("1", "a", "x"), ("1", "a", "y")])
    with pytest.raises(CuecardError, match="z is not among"):
        Ratings.from_rows([("1", "a", "z")], domain=["x", "y"])


TABLES = st.lists(
    st.lists(st.sampled_from(["x", "y", "z", None]), min_size=2, max_size=4), min_size=1, max_size=8
).filter(lambda table: len({len(row) for row in table}) == 1)


def ratings_of(table: list[list[str | None]]) -> Ratings:
    return Ratings.from_rows(
        (str(item), str(rater), label)
        for item, row in enumerate(table)
        for rater, label in enumerate(row)
    )


@given(TABLES)
@settings(max_examples=examples(60), deadline=None)
def test_percent_is_the_mean_share_of_agreeing_pairs(table: list[list[str | None]]):
    shares = []
    for row in table:
        pairs = list(combinations([label for label in row if label is not None], 2))
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
    statistic = percent_coefficient(ratings_of(table)).statistic
    assert statistic.n == len(shares)
    if shares:
        assert statistic.value == pytest.approx(sum(shares) / len(shares))
    else:
        assert statistic.value is None


@given(TABLES, st.randoms(use_true_random=False))
@settings(max_examples=examples(60), deadline=None)
def test_every_statistic_is_at_most_1_and_blind_to_order(
    table: list[list[str | None]], random: Random
):
    report = agreement_table(ratings_of(table), resamples=20)
    shuffled = list(table)
    random.shuffle(shuffled)
    other = agreement_table(ratings_of(shuffled), resamples=20)
    for left, right in zip(report.rows, other.rows, strict=True):
        one, two = left.statistic, right.statistic
        assert (one.value is None) == bool(one.reason)
        assert one.reason == two.reason
        assert one.n == two.n
        if one.value is not None:
            assert two.value == pytest.approx(one.value)
            assert one.value <= 1 + 1e-9
