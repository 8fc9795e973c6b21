from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.judges.quantities import (
    Quantity,
    amounts_in,
    parse_quantity,
    same_quantity,
    spelled,
)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("36", "36", ""),
        ("1,884", "1884", ""),
        ("約", None, None),
        ("约12米", "12", "m"),
        ("12 metres", "12", "m"),
        ("€36", "36", "eur"),
        ("36.00 euros", "36", "eur"),
        ("US$5", "5", "usd"),
        ("thirty-six euros", "36", "eur"),
        ("1.2 million", "1200000", ""),
        ("120万人", "1200000", "person"),
        ("一百二十", "120", ""),
        ("公元前221年", "-221", "year"),
        ("221 BC", "-221", "year"),
        ("公元78年", "78", "year"),
        ("百分之五", "5", "%"),
        ("88 degrees Celsius", "88", "°c"),
        ("８８℃", "88", "°c"),
        ("−3", "-3", ""),
        ("三国", None, None),
        ("一行", None, None),
        ("four seasons", None, None),
        ("25-30", None, None),
        ("355/113", None, None),
        ("07:40", None, None),
        ("", None, None),
        ("9" * 1000, None, None),
    ],
)
def test_amounts(text, value, unit):
    found = parse_quantity(text)
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert (found.value, found.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    ("gold", "predicted", "same"),
    [
        ("36 euros", "€36.00", True),
        ("36 euros", "36", True),
        ("36", "36 euros", True),
        ("36 euros", "36 dollars", False),
        ("12 km", "12 m", False),
        ("44", "44 chromosomes", True),
        ("44 chromosomes", "44", None),
        ("44", "45 chromosomes", False),
        ("1948 Summer Olympics", "1948 Winter Olympics", None),
        ("1884年", "1884", True),
        ("120万", "1.2 million", True),
    ],
)
def test_amounts_compare_as_values(gold, predicted, same):
    left, right = parse_quantity(gold), parse_quantity(predicted)
    assert left is not None
    assert right is not None
    assert same_quantity(left, right) is same


def quantities_in(text: str) -> list[Quantity]:
    return [quantity for quantity, _start, _end in amounts_in(spelled(text))]


def test_amounts_in_a_text():
    found = quantities_in("40 percent of 180 euros is 72 euros; half is €36, for 44 mice.")
    assert [(int(q.value), q.unit) for q in found] == [
        (40, "%"),
        (180, "eur"),
        (72, "eur"),
        (36, "eur"),
        (44, "mice"),
    ]
    assert [(int(q.value), q.unit) for q in quantities_in("一共支付36欧元给12万人")] == [
        (36, "eur"),
        (120000, "person"),
    ]


@given(st.text(max_size=80))
def test_any_text_is_read(text):
    parse_quantity(text)
    quantities_in(text)


@given(st.integers(-(10**9), 10**9))
def test_whole_numbers_are_read_with_and_without_separators(number):
    for text in (str(number), f"{number:,}", f"{number}.0"):
        found = parse_quantity(text)
        assert found is not None
        assert found.value == number
