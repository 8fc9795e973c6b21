"""Coefficients against published examples, and laws that they must obey."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    brennan_prediger_coefficient,
    cohen_coefficient,
    fleiss_coefficient,
    percent_coefficient,
    scott_coefficient,
)
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.linearisation import linearised, standard_error
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import against_reference
from cuecard.annotate.agreement.scales import (
    Level,
    ac2_coefficient,
    alpha_coefficient,
    weighted_kappa_coefficient,
)
from cuecard.core.errors import CuecardError

N = None
# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four coders, twelve units.
FOUR_CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
# SAS, PROC FREQ, example of the kappa statistics: two dermatologists on the skin of 88 patients, four grades.
SKIN = [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]]
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def from_coders(table: list[list[int | None]]) -> Ratings:
    return Ratings.from_rows(
        (f"{unit:02}", f"coder {coder}", None if value is None else str(value))
        for coder, row in enumerate(table)
        for unit, value in enumerate(row)
    )


def from_matrix(matrix: list[list[int]]) -> Ratings:
    cells = [(i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) for _ in range(n)]
    rows = [
        (str(n), "ab"[side], str(cell[side])) for n, cell in enumerate(cells) for side in (0, 1)
    ]
    domain = [str(label) for label in range(len(matrix))]
    return Ratings.from_rows(rows, domain=domain)


@pytest.mark.parametrize(
    ("level", "value"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_four_coders(level: Level, value: float) -> None:
    statistic = alpha_coefficient(from_coders(FOUR_CODERS), level).statistic
    assert statistic.value == pytest.approx(value, abs=5e-4)
    assert statistic.n == 11


def test_gwets_abstractors() -> None:
    ratings = from_matrix(ABSTRACTORS)
    assert cohen_coefficient(ratings).statistic.value == pytest.approx(0.7964, abs=5e-5)
    assert scott_coefficient(ratings).statistic.value == pytest.approx(0.7962, abs=5e-5)
    assert ac1_coefficient(ratings).statistic.value == pytest.approx(0.8493, abs=5e-5)
    assert brennan_prediger_coefficient(ratings).statistic.value == pytest.approx(0.8350, abs=5e-5)
    assert alpha_coefficient(ratings).statistic.value == pytest.approx(0.7973, abs=5e-5)
    # Standard errors as irrCAC prints them, which divides by n where the sample's variance has n - 1.
    smaller = (99 / 100) ** 0.5
    for coefficient, error in (
        (percent_coefficient, 0.03129),
        (cohen_coefficient, 0.05891),
        (ac1_coefficient, 0.04321),
    ):
        found = standard_error(coefficient(ratings))
        assert found is not None
        assert found * smaller == pytest.approx(error, abs=2e-5)


@pytest.mark.parametrize(
    ("matrix", "kappa", "pabak", "ac1"),
    [([[40, 9], [6, 45]], 0.70, 0.70, None), ([[80, 10], [5, 5]], 0.32, 0.70, 0.808)],
)
def test_feinstein_and_cicchettis_paradox(
    matrix: list[list[int]], kappa: float, pabak: float, ac1: float | None
) -> None:
    ratings = from_matrix(matrix)
    assert cohen_coefficient(ratings).statistic.value == pytest.approx(kappa, abs=5e-3)
    assert brennan_prediger_coefficient(ratings).statistic.value == pytest.approx(pabak, abs=1e-12)
    if ac1 is not None:
        assert ac1_coefficient(ratings).statistic.value == pytest.approx(ac1, abs=5e-4)


def test_the_skin_conditions() -> None:
    ratings = from_matrix(SKIN)
    assert cohen_coefficient(ratings).statistic.value == pytest.approx(0.3449, abs=5e-5)
    assert weighted_kappa_coefficient(ratings).statistic.value == pytest.approx(0.5082, abs=5e-5)


def test_a_judge_against_people() -> None:
    found = {c.name: c.statistic for c in against_reference(from_matrix([[80, 10], [5, 5]]))}
    assert found["precision:0"].value == pytest.approx(80 / 90)
    assert found["recall:0"].value == pytest.approx(80 / 85)
    assert found["f1:0"].value == pytest.approx(160 / 175)
    assert found["precision:1"].n == 10
    assert found["balanced_accuracy"].value == pytest.approx((80 / 85 + 5 / 15) / 2)
    assert found["mcc"].value == pytest.approx((80 * 5 - 10 * 5) / (90 * 10 * 85 * 15) ** 0.5)
    one = {c.name: c.statistic for c in against_reference(from_matrix([[7, 0], [0, 0]]))}
    assert one["precision:0"].value == 1
    assert one["recall:1"].reason == "the reference never has this label"
    assert one["mcc"].reason == "only one category used"
    assert against_reference(from_coders(FOUR_CODERS)) == ()


def test_what_is_undefined_says_why() -> None:
    same = from_matrix([[7, 0], [0, 0]])
    for statistic in (
        cohen_coefficient(same).statistic,
        scott_coefficient(same).statistic,
        alpha_coefficient(same).statistic,
    ):
        assert (statistic.value, statistic.reason) == (None, "only one category used")
    assert (
        brennan_prediger_coefficient(same).statistic.value
        == ac1_coefficient(same).statistic.value
        == 1
    )
    only = Ratings.from_rows([("1", "a", "x"), ("1", "b", "x")])
    assert brennan_prediger_coefficient(only).statistic.reason == "only one label is possible"
    assert scott_coefficient(from_coders(FOUR_CODERS)).statistic.reason == "not exactly two raters"
    with pytest.raises(CuecardError, match="not numbers"):
        alpha_coefficient(only, "interval")
    signed = Ratings.from_rows([("1", "a", "-1"), ("1", "b", "2")])
    with pytest.raises(CuecardError, match="negative"):
        alpha_coefficient(signed, "ratio")


tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(["0", "1", "2", "3", None]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=14,
    )
)


def from_table(table: list[list[str | None]]) -> Ratings:
    return Ratings.from_rows(
        (
            (f"{item:02}", f"r{rater}", label)
            for item, row in enumerate(table)
            for rater, label in enumerate(row)
        ),
        domain=("0", "1", "2", "3"),
    )


@settings(max_examples=examples(60), deadline=None)
@given(tables)
def test_laws(table: list[list[str | None]]) -> None:
    ratings = from_table(table)
    coefficients = [
        percent_coefficient(ratings),
        cohen_coefficient(ratings),
        scott_coefficient(ratings),
        fleiss_coefficient(ratings),
        ac1_coefficient(ratings),
        brennan_prediger_coefficient(ratings),
        weighted_kappa_coefficient(ratings),
        ac2_coefficient(ratings),
        *(alpha_coefficient(ratings, level) for level in get_args(Level)),
    ]
    for coefficient in coefficients:
        statistic = coefficient.statistic
        assert (statistic.value is None) == bool(statistic.reason)
        if statistic.value is not None:
            assert statistic.value <= 1 + 1e-9
            doubled = coefficient.weighted(coefficient.terms[:, 0] * 0 + 2).statistic
            # Alpha alone corrects for the number of ratings.
            if not coefficient.name.startswith("alpha"):
                assert doubled.value == pytest.approx(statistic.value)
    # Several names of one thing.
    assert ac2_coefficient(ratings, "identity").statistic.value == approx(
        ac1_coefficient(ratings).statistic.value
    )
    if len(ratings.raters) == 2:
        identity = weighted_kappa_coefficient(ratings, "identity").statistic.value
        assert identity == approx(cohen_coefficient(ratings).statistic.value)
        paired = [row for row in table if N not in row]
        if paired:
            both = from_table(paired)
            assert scott_coefficient(both).statistic.value == approx(
                fleiss_coefficient(both).statistic.value
            )
    # Alpha is Fleiss' kappa up to a correction for small samples, where nobody left a gap.
    full = [row for row in table if N not in row]
    if full and (kappa := fleiss_coefficient(from_table(full)).statistic.value) is not None:
        ratings_in_all = len(full) * len(full[0])
        corrected = 1 - (1 - kappa) * (ratings_in_all - 1) / ratings_in_all
        assert alpha_coefficient(from_table(full)).statistic.value == pytest.approx(corrected)


def approx(value: float | None) -> object:
    return None if value is None else pytest.approx(value)


def test_perfect_agreement_is_one() -> None:
    ratings = from_matrix([[5, 0, 0], [0, 4, 0], [0, 0, 3]])
    for level in get_args(Level):
        assert alpha_coefficient(ratings, level).statistic.value == pytest.approx(1)
    for value in (
        cohen_coefficient,
        scott_coefficient,
        ac1_coefficient,
        ac2_coefficient,
        weighted_kappa_coefficient,
        brennan_prediger_coefficient,
    ):
        assert value(ratings).statistic.value == pytest.approx(1)


def test_intervals_by_three_roads_are_near_each_other() -> None:
    ratings = from_matrix(ABSTRACTORS)
    coefficients = [
        cohen_coefficient(ratings),
        ac1_coefficient(ratings),
        alpha_coefficient(ratings),
    ]
    plain = with_intervals(coefficients)
    corrected = with_intervals(coefficients, method="bca")
    for one, two, three in zip(plain, corrected, map(linearised, coefficients), strict=True):
        ends = [one.interval, two.interval, three.interval]
        for end in (0, 1):
            values = [found[end] for found in ends if found is not None]
            assert len(values) == 3
            assert max(values) - min(values) < 0.04
    groups = [str(index // 25) for index in range(100)]
    assert linearised(coefficients[0], groups).interval is not None
    assert linearised(coefficients[0], ["one"] * 100).no_interval == "fewer than 2 groups"
    with pytest.raises(ValueError, match="weight for each"):
        coefficients[0].weighted(coefficients[0].terms[:3, 0])
