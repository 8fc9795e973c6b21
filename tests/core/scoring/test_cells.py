from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.families.table.gold import Column, Metric
from cuecard.core.families.table.score import (
    date_near,
    exact_match,
    extract_number,
    failing_metric,
    in_match,
    norm_column,
    norm_date,
    norm_str,
    number_near,
    tolerance,
    url_match,
)
from cuecard.core.text import read_number


def never(predicted: str, gold: str, criterion: str) -> bool:
    raise AssertionError("no model is asked")


def column(
    *metric: str, preprocess: tuple[str, ...] = ("norm_str",), criterion: str = ""
) -> Column:
    return Column.model_validate(
        {"name": "c", "preprocess": preprocess, "metric": metric, "criterion": criterion}
    )


def test_norm_str():
    assert norm_str("  **New  York** ") == "newyork"
    assert norm_column(" Postal Code\n") == "postalcode"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("about 1,234.5 km", "1234.5"),
        ("12%", "12%"),
        ("3.5% of 10", "3.5%"),
        ("-7", "-7"),
        ("−7", "-7"),
        (".5", ".5"),
        ("ranked 5.", "5"),
        ("１２％", "12%"),
        ("none", "NULL"),
        ("", "NULL"),
    ],
)
def test_extract_number(text, number):
    assert extract_number(text) == number


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("7 December 1787", "1787-12-07"),
        ("December 1787", "1787-12-01"),
        ("1787年12月", "1787-12-01"),
        ("unknown", "unknown"),
    ],
)
def test_norm_date(text, day):
    assert norm_date(text) == day


def test_exact_match_ignores_case_only():
    assert exact_match("Dover", "DOVER")
    assert not exact_match("Dover ", "Dover")


@pytest.mark.parametrize(
    ("predicted", "gold", "criterion", "near"),
    [
        ("100", "100", "0", True),
        ("110", "100", "0.1", True),
        ("1.1", "1", "0.1", True),
        ("110.1", "100", "0.1", False),
        ("90", "100", "0.1", True),
        ("5%", "0.05", "0", True),
        ("5%", "5", "0", False),
        ("105", "100", "5%", True),
        ("-95", "-100", "0.05", True),
        ("1", "0", "0.5", False),
        ("NULL", "NULL", "0.1", True),
        ("NULL", "5", "0.1", False),
        ("a", "b", "0.1", False),
        ("nan", "1", "0.1", False),
        ("101", "100", "", False),
        ("101", "100", "roughly right", False),
    ],
)
def test_number_near(predicted, gold, criterion, near):
    assert number_near(predicted, gold, criterion) is near


def test_a_tolerance_is_a_share_or_a_percentage():
    assert tolerance("0.05") == tolerance("5%") == tolerance(0.05) == 0.05
    assert tolerance("") == tolerance("close") == 0.0


@pytest.mark.parametrize(
    ("predicted", "gold", "near"),
    [
        ("2020-03-01", "2020-04-01", True),
        ("2020-03-01", "2020-04-02", False),
        ("March 2020", "2020-03-20", True),
        ("unknown", "Unknown", True),
        ("unknown", "never", False),
        ("unknown", "2020-03-01", False),
    ],
)
def test_date_near(predicted, gold, near):
    assert date_near(predicted, gold) is near


@pytest.mark.parametrize(
    ("predicted", "gold", "same"),
    [
        ("https://a.org/x", "http://A.org/y?q=1", True),
        ("see https://a.org, and https://b.org/", "https://b.org https://a.org/z", True),
        ("https://a.org", "https://a.org https://b.org", False),
        ("nothing", "https://a.org", False),
        ("n/a", "N/A", True),
        ("n/a", "unknown", False),
        ("[a](https://a.org/x)", "https://a.org", True),
    ],
)
def test_url_match(predicted, gold, same):
    assert url_match(predicted, gold) is same


def test_in_match():
    assert in_match("paris", "paris,france")
    assert not in_match("paris,france", "paris")
    assert not in_match("", "paris")
    assert in_match("", "")


@pytest.mark.parametrize(
    ("of", "predicted", "gold", "failed"),
    [
        (column("exact_match"), "**New York**", "new york", None),
        (column("exact_match", preprocess=("extract_number",)), "5.0 points", "5", None),
        (column("exact_match", preprocess=()), "3.10", "3.1", Metric.EXACT_MATCH),
        (column("exact_match", preprocess=()), "5.0", "5", Metric.EXACT_MATCH),
        (column("exact_match"), "007", "7", Metric.EXACT_MATCH),
        (column("exact_match", preprocess=("norm_date",)), "Dec 7, 1787", "1787-12-07", None),
        (
            column("number_near", preprocess=("extract_number",), criterion="0.01"),
            "989,000 people",
            "989948",
            None,
        ),
        (
            column("in_match", "exact_match", preprocess=("norm_str",)),
            "a",
            "ab",
            Metric.EXACT_MATCH,
        ),
    ],
)
def test_all_metrics_of_a_column_must_hold(of, predicted, gold, failed):
    assert failing_metric(of, predicted, gold, never) is failed


# METHODS 11.4: every line is one number, however it is written.
SAME_NUMBERS = [
    ("38390", "3.839e+04", "3.839E4", "38,390", "38390.0", "３８３９０", "38.39×10³"),
    ("0.0012", "1.2E-3", "1.2e-03", ".0012", "1.2×10⁻³", "1.2 x 10^-3"),
    ("5", "+5", "5.", "5.0", "＋５", "ranked 5.", "no. 5"),
    ("123.45", "123.450", "123,45", "１２３．４５", "123.45²"),
    ("123.4", "１２３．４"),
    ("1234.5", "$1,234.50", "1234,5", "1.234,50 €", "1\u202f234.5"),
    ("123456", "1,23,456", "123,456"),
    ("36", "36,00 €", "€36", "36 euros"),
    ("-7", "−7", "－７", "-7.0 °C"),
    ("12%", "0.12", "12 %", "１２％", "12.0%"),
    (
        "38000",
        "3.8×10⁴",
        "3.8 x 10^4",
        "3.8×10⁴ km",
        "３．８×１０⁴",
        "3.8 \\times 10^{4}",
        "3.8·10⁴",
    ),
    ("0.5", ".5", "½", "0,5"),
    ("2.5", "2½"),
    ("20000000000", "2E10", "2×10¹⁰"),
    ("1000000", "10⁶", "10^6"),
    ("3", "model 3e", "3.0"),
    ("1", "1e5x", "1."),
    ("n/a", "none", ""),
]


@pytest.mark.parametrize("spellings", SAME_NUMBERS, ids=lambda found: found[0])
def test_numbers_compare_as_values_on_either_side(spellings):
    exact = column("exact_match", preprocess=("extract_number",))
    near = column("number_near", preprocess=("extract_number",))
    others = [numbers[0] for numbers in SAME_NUMBERS if numbers is not spellings]
    for left in spellings:
        for right in spellings:
            assert failing_metric(exact, left, right, never) is None, (left, right)
            assert failing_metric(near, left, right, never) is None, (left, right)
            if extract_number(left) != "NULL":
                assert number_near(left, right), (left, right)
        for other in others:
            assert failing_metric(exact, left, other, never) is Metric.EXACT_MATCH, (left, other)
            assert failing_metric(exact, other, left, never) is Metric.EXACT_MATCH, (other, left)


@given(st.integers(-(10**12), 10**12), st.integers(-6, 6))
def test_a_number_is_itself_in_every_notation(digits, power):
    value = Decimal(digits).scaleb(power)
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    full = str.maketrans("+-.0123456789", "＋－．０１２３４５６７８９")
    for text in (
        f"{value:f}",
        f"{value:,f}",
        f"{value:+f}",
        f"{digits}e{power:+03}",
        f"{digits}×10{raised}",
        f"{digits} x 10^{power}",
        f"{value:f}".translate(full),
        f"{value:f}".replace("-", "−") + " km",
    ):
        assert read_number(text) == value, text


def test_numbers_of_any_length_are_compared():
    for of in ("exact_match", "number_near"):
        near = column(of, preprocess=("extract_number",), criterion="0.1")
        assert failing_metric(near, "9" * 200_000, "1e999", never) is not None
        assert failing_metric(near, "1e999", "1e-999", never) is not None


def test_a_model_judges_after_preprocessing_and_with_the_criterion():
    seen = []

    def semantic(predicted: str, gold: str, criterion: str) -> bool:
        seen.append((predicted, gold, criterion))
        return False

    of = column("llm_judge", criterion="same city")
    assert failing_metric(of, " Rome ", "ROMA", semantic) is Metric.LLM_JUDGE
    assert seen == [("rome", "roma", "same city")]


@given(st.text(max_size=30), st.text(max_size=30))
def test_comparisons_take_any_text(left, right):
    for metric in ("exact_match", "number_near", "url_match", "in_match"):
        of = column(metric, preprocess=("norm_str", "extract_number"), criterion="0.1")
        assert failing_metric(of, left, left, never) is None
        failing_metric(of, left, right, never)
