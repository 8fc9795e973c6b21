from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as any_
from cuecard.core.worlds.parallel_facts import Figure, figure_of, figures_in, spellings, written


@pytest.mark.parametrize(
    "texts",
    [
        (
            "1200 euros",
            "€1,200",
            "1,200 EUR",
            "一千二百欧元",
            "1 200 euros".replace(" ", "\u202f", 1),
        ),
        ("36 euros", "36.00 EUR", "thirty-six euros", "３６ €"),
        ("40%", "40 percent", "40 per cent", "百分之四十", "40.0 %"),
        ("1.2 million people", "1200000 persons", "120万人"),
        ("22 km", "22km", "22 kilometres", "22公里"),
        ("25 天", "25天", "二十五天", "25 days"),
        ("07:40", "7:40", "７：40"),
        ("-5 °C", "−5°C"),
    ],
)
def test_one_amount_has_one_spelling(texts: tuple[str, ...]) -> None:
    assert {written(text) for text in texts} == {written(texts[0])}


@pytest.mark.parametrize(
    "text", ["一个人", "三国时期", "one of them", "the seventh day", "p53", "h2o", "", "and and"]
)
def test_what_is_no_amount_stays(text: str) -> None:
    assert written(text) == text


def test_two_numbers_beside_each_other_stay_two() -> None:
    text = written("BN 7 130 euros, 60-119 minutes")
    found = list(figures_in(text))
    assert [figure.number for figure, _, _ in found] == [7, 130, 60, 119]
    assert [figure.unit for figure, _, _ in found] == ["", "eur", "", "minute"]
    assert [text[start:end] for _, start, end in found] == ["7", "130", "60", "119"]


def test_the_amount_that_a_value_is() -> None:
    assert figure_of("约12米") == Figure(Decimal(12), "m")
    assert figure_of("340 loaves") is None
    assert figure_of("340 loaves", any_unit=True) == Figure(Decimal(340), "")
    assert figure_of("Apollo 11", any_unit=True) is None


def test_dates_are_spelled_in_every_usual_way() -> None:
    told = spellings("1948年5月3日")
    assert {"1948-05-03", "3 may 1948", "may 3, 1948"} <= set(told)
    assert {"may 1948", "1948-05"} <= set(spellings("May 1948"))
    assert spellings("1948") == ("1948",)
    assert spellings("Turin") == ("Turin",)


@given(any_.any_text() | st.text("0123456789,.%万一二十百 €km-:", max_size=20))
def test_any_text_can_be_written_and_read(text: str) -> None:
    list(figures_in(written(text)))
    figure_of(text)
    assert spellings(text)[0] == text
