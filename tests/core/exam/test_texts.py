"""What an exam makes of single texts."""

from __future__ import annotations

import pytest

from cuecard.core.exam import texts
from cuecard.core.tasks.models import TaskLanguage

NONE: set[str] = set()


@pytest.mark.parametrize(
    ("text", "language", "forms"),
    [
        ("12000", "en", {"12,000", "12 thousand"}),
        ("12,000 km", "en", {"12000 km", "12 thousand km"}),
        ("2500000", "en", {"2,500,000", "2.5 million"}),
        ("12000人", "zh", {"12,000人", "１２０００人", "1.2万人"}),
        ("12345", "en", {"12,345"}),
        ("1884", "en", NONE),
        ("1884年", "zh", NONE),
        ("999", "en", NONE),
        ("3 to 5000", "en", NONE),
        ("Faema E6100", "en", NONE),
    ],
)
def test_numbers_otherwise(text: str, language: TaskLanguage, forms: set[str]) -> None:
    found = {texts.number_otherwise(text, language, turn) for turn in range(6)}
    assert found == (forms or {None})


def test_dates_otherwise() -> None:
    forms = {"1 May 2020", "2020年5月1日", "May 1, 2020"}
    assert {texts.date_otherwise("2020-05-01", "en", turn) for turn in range(6)} == forms
    assert texts.date_otherwise("2020年5月1日", "zh", 0) == "2020-05-01"
    assert texts.date_otherwise("May 2020", "en", 0) is None
    assert texts.date_otherwise("2020-02-30", "en", 0) is None


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("2 km", "2000 m"),
        ("7 g", "0.007 kg"),
        ("1.5小时", "90分钟"),
        ("1.2万人", "12000人"),
        ("9 bar", None),
        ("Turin", None),
    ],
)
def test_units_converted(text: str, other: str | None) -> None:
    assert texts.unit_converted(text, "en", 0) == other


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("36 euros", "36 cents"),
        ("36%", "36"),
        ("12公里", "12米"),
        ("3年", "3月"),
        ("1884年", None),
        ("2月", None),
        ("Turin", None),
    ],
)
def test_units_exchanged(text: str, other: str | None) -> None:
    assert texts.unit_wrong(text, "zh", 0) == other


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("1884", {"1883", "1885"}),
        ("366年", {"365年", "367年"}),
        ("2020-05-01", {"2020-04-30", "2020-05-02"}),
        ("8", {"9"}),
        ("36 euros", {"360 euros"}),
        ("12,000", {"120,000"}),
        ("22.5", {"225"}),
        ("07:40", {None}),
        ("Faema E61", {None}),
        ("3 of 4", {None}),
    ],
)
def test_shifted(text: str, others: set[str | None]) -> None:
    assert {texts.shifted(text, "en", turn) for turn in range(2)} == others


def test_names_otherwise() -> None:
    assert texts.name_otherwise("Luigi Bezzera", "patented by") == "Bezzera, Luigi"
    assert texts.name_otherwise("La Pavoni", "bought in the year") is None
    assert texts.name_otherwise("路易吉·贝泽拉", "由谁") == "路易吉贝泽拉"
    assert texts.name_otherwise("Turin", "who was born there") is None


def test_what_is_too_near_to_be_another_thing() -> None:
    assert texts.alike("New York City", ["New York"])
    assert texts.alike("york", ["New York"])
    assert not texts.alike("360 euros", ["36 euros", "36"])
    assert not texts.alike("杭州", ["苏州"])


def test_symmetric_relations() -> None:
    assert all(map(texts.is_symmetric, ("spouse", "borders on", "配偶", "相邻的县")))
    assert not any(map(texts.is_symmetric, ("founded by", "建立者")))
