"""Tables of agreement: what is in them, by hand, and what they say where there is nothing to say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.agreement.coefficients import ac1_coefficient, cohen_coefficient
from cuecard.annotate.agreement.ratings import Ratings, most_said
from cuecard.annotate.agreement.report import (
    agreement_table,
    ceiling_table,
    compare_judges,
    reference_table,
)
from cuecard.annotate.agreement.scales import Level
from cuecard.annotate.agreement.tables import AgreementTable, Row
from cuecard.core.errors import CuecardError

DOMAIN = ("covered", "not covered")
Cells = Sequence[Sequence[int]]


def from_matrix(matrix: Cells, domain: Sequence[str] = DOMAIN) -> Ratings:
    """`matrix[i][j]` items that the judge gave label i and the person j."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) for _ in range(n)]
    items = tuple(map(str, range(len(cells))))
    return Ratings(items, ("judge", "ana"), tuple(domain), tuple(cells))


def from_columns(**columns: str) -> Ratings:
    """A letter for each item: c covered, n not covered, . missing."""
    rows = zip(*columns.values(), strict=True)
    codes = tuple(tuple("cn".find(letter) for letter in row) for row in rows)
    return Ratings(tuple(map(str, range(len(codes)))), tuple(columns), DOMAIN, codes)


def by_label(table: AgreementTable) -> dict[str | None, tuple[float | None, ...]]:
    return {
        row.label: tuple(one and one.value for one in (row.first, row.reference, row.either))
        for row in table.label_rows
    }


def test_overall_covered_not_covered():
    table = agreement_table(from_matrix([[80, 10], [5, 5]]), [i // 4 for i in range(100)])
    assert by_label(table) == {
        None: (0.85, 0.85, 0.85),
        "covered": (80 / 90, pytest.approx(80 / 85), pytest.approx(160 / 175)),
        "not covered": (0.5, pytest.approx(1 / 3), pytest.approx(10 / 25)),
    }
    assert (table.items, table.paired, table.ratings, table.groups) == (100, 100, 200, 25)
    assert table.value("brennan_prediger") == pytest.approx(0.7)
    assert [(p.count, p.share) for p in table.prevalence] == [(175, 0.875), (25, 0.125)]
    assert table.confusion is not None
    assert table.confusion.counts == ((80, 10), (5, 5))
    for row in table.rows:
        assert row.analytic is not None
        for one in (row.statistic, row.analytic):
            assert one.low is not None
            assert one.high is not None
            assert one.low < (row.value or 0) < one.high
    json.dumps(table.model_dump(), allow_nan=False)


def test_the_note_on_prevalence_has_figures_and_no_adjectives():
    parted, few = agreement_table(from_matrix([[80, 10], [5, 5]]), list(range(20)) * 5).notes
    assert (parted.code, few.code) == ("prevalence", "few_groups")
    for figure in ("85.0%", "0.318", "88%", "0.700", "0.750", "0.050"):
        assert figure in parted.text
    assert "20 tasks" in few.text
    # kappa from the two indices, as Byrt, Bishop and Carlin have it.
    assert pytest.approx(cohen_coefficient(from_matrix([[80, 10], [5, 5]])).statistic.value) == (
        0.7 - 0.75**2 + 0.05**2
    ) / (1 - 0.75**2 + 0.05**2)
    together = agreement_table(from_matrix([[40, 9], [6, 45]]), range(100))
    assert together.notes == ()
    (one_label, _) = agreement_table(from_matrix([[9, 0], [0, 0]])).notes
    assert one_label.code == "one_label"


def test_undefined_says_why_and_is_never_a_number():
    for ratings, reason in (
        (from_columns(judge="cccccc", ana="cccccc"), "only one category used"),
        (from_columns(judge="cn....", ana="..cn.."), "no item has two ratings"),
        (from_columns(judge="", ana=""), "no item has two ratings"),
        (from_columns(judge="cncn", ana="cncc", bo="ncnc"), "not exactly two raters"),
    ):
        table = agreement_table(ratings, level="ordinal")
        row = table.row("cohen_kappa")
        assert row is not None
        assert (row.value, row.statistic.reason, row.analytic) == (None, reason, None)
        json.dumps(table.model_dump(), allow_nan=False)
    assert [note.code for note in table.notes] == ["ungrouped"]
    assert by_label(table)["covered"][:2] == (None, None)


def test_weights_bring_a_sample_back_to_its_population():
    """As many items as their weights, and items drawn with equal chances change nothing."""
    whole = from_matrix([[80, 10], [5, 5]])
    sample = from_matrix([[8, 2], [5, 5]])
    weights = [10] * 8 + [5] * 2 + [1] * 10
    ours, theirs = agreement_table(sample, weights=weights), agreement_table(whole)
    for row in ours.rows:
        # Alpha corrects for the number of ratings, of which the sample has fewer.
        near = 5e-2 if row.name == "alpha" else 1e-9
        assert row.value == pytest.approx(theirs.value(row.name), abs=near)
    assert by_label(ours)[None] == pytest.approx(by_label(theirs)[None])
    assert [p.share for p in ours.prevalence] == pytest.approx([p.share for p in theirs.prevalence])
    assert (ours.weighted, ours.confusion and ours.confusion.n) == (True, 20)
    equal = agreement_table(whole, weights=[3] * 100)
    assert [row.statistic.interval for row in equal.rows] == [
        pytest.approx(row.statistic.interval) for row in theirs.rows
    ]
    for wrong in ([1] * 99, [0] * 100, [float("nan")] * 100):
        with pytest.raises(ValueError, match="weight"):
            agreement_table(whole, weights=wrong)


def test_scales():
    ratings = Ratings.from_rows(
        (str(item), rater, label)
        for item, labels in enumerate(["9 10", "2 2", "10 10", "1 2", "9 9", "2 1"])
        for rater, label in zip("ab", labels.split(), strict=True)
    )
    assert ratings.labels == ("1", "2", "9", "10")
    names: dict[Level, set[str]] = {
        level: {row.name for row in agreement_table(ratings, level=level).rows}
        for level in get_args(Level)
    }
    assert names["ordinal"] - names["nominal"] == {
        "kappa_linear",
        "kappa_quadratic",
        "ac2_ordinal",
        "alpha_ordinal",
    }
    assert {"ac2_quadratic", "alpha_ratio"} <= names["ratio"]
    with pytest.raises(CuecardError, match="not numbers"):
        agreement_table(from_matrix([[1, 0], [0, 1]]), level="interval")


def test_judges_against_the_majority_against_each_other_and_beside_people():
    columns = {
        "ana": "ccccccnnnnnnccnn" * 4,
        "bo": "cccccnnnnnnnccnc" * 4,
        "cy": "ccccccnnnncncc.c" * 4,
        "near": "ccccccnnnnnncccn" * 4,
        "far": "ccnnccnncnnncncn" * 4,
    }
    tasks = [item // 5 for item in range(64)]
    people = zip(*(columns[name] for name in ("ana", "bo", "cy")), strict=True)
    columns["majority"] = "".join(map(most_said, people))
    ratings = from_columns(**columns)
    table = reference_table(ratings, "near", "majority", tasks)
    assert (table.n, table.groups) == (64, 13)
    recall = table.row("recall:covered")
    assert recall is not None
    assert recall.value == pytest.approx(8 / 9)

    (apart,) = compare_judges(ratings, ["near", "far"], "majority", tasks)
    assert apart.n == 64
    for row, one, other in zip(apart.rows, apart.ones, apart.others, strict=True):
        assert row.name == one.name == other.name
        assert row.value == pytest.approx((one.value or 0) - (other.value or 0))
    kappa = next(row for row in apart.rows if row.name == "cohen_kappa")
    (back,) = compare_judges(ratings, ["far", "near"], "majority", tasks)
    turned = next(row for row in back.rows if row.name == "cohen_kappa")
    assert turned.value == pytest.approx(-(kappa.value or 0))
    (same,) = compare_judges(ratings, ["near", "near"], "majority", tasks)
    assert {row.statistic.no_interval for row in same.rows} == {"no resample differs"}

    ceiling = ceiling_table(ratings, "near", ["ana", "bo", "cy"], tasks)
    assert ceiling is not None
    assert ceiling.n == 64
    pairs = [("ana", "bo"), ("ana", "cy"), ("bo", "cy")]
    light = np.mean(
        [cohen_coefficient(ratings.of_raters(pair)).statistic.value or 0 for pair in pairs]
    )
    assert ceiling.people_people[1].value == pytest.approx(light)
    assert ceiling.difference[0].value == pytest.approx(
        (ceiling.judge_people[0].value or 0) - (ceiling.people_people[0].value or 0)
    )
    assert ceiling_table(ratings, "near", ["ana"]) is None
    with pytest.raises(KeyError):
        reference_table(ratings, "nobody", "ana")


TABLES = st.integers(2, 3).flatmap(
    lambda raters: st.lists(
        st.tuples(*[st.sampled_from([0, 0, 1, 2, -1])] * raters), min_size=1, max_size=20
    )
)


@settings(max_examples=examples(15), deadline=None)
@given(TABLES, st.sampled_from(get_args(Level)), st.sampled_from(["percentile", "bca"]))
def test_any_table(codes: list[tuple[int, ...]], level: Level, method: str):
    raters = "abc"[: len(codes[0])]
    items = tuple(map(str, range(len(codes))))
    ratings = Ratings(items, tuple(raters), ("1", "2", "4"), tuple(codes))
    groups = [item // 2 for item in range(len(codes))]
    weights = [1 + item % 3 for item in range(len(codes))]
    table = agreement_table(
        ratings,
        groups,
        weights,
        level,
        resamples=100,
        method="bca" if method == "bca" else "percentile",
    )
    json.dumps(table.model_dump(), allow_nan=False)
    assert table.value("ac1") is None or ac1_coefficient(ratings).statistic.value is not None
    for row in table.rows:
        well_formed(row)
    if len(raters) == 2:
        for row in reference_table(ratings, "a", "b", groups, weights, resamples=100).rows:
            well_formed(row)


def well_formed(row: Row) -> None:
    assert (row.value is None) == bool(row.statistic.reason)
    if row.value is None:
        assert row.analytic is None
        return
    assert row.analytic is not None
    for one in (row.statistic, row.analytic):
        assert bool(one.interval) != bool(one.no_interval)
        if one.interval:
            assert one.interval[0] <= one.interval[1] <= 1 + 1e-9
