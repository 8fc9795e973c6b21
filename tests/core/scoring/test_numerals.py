import pytest

from cuecard.core.text import parse_han, parse_words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零五", 105),
        ("两千三百", 2300),
        ("一万二千", 12000),
        ("三亿五千万", 350_000_000),
        ("一八八四", 1884),
        ("二〇二〇", 2020),
    ],
)
def test_chinese_numerals(text, value):
    assert parse_han(text) == value


@pytest.mark.parametrize("text", ["", "三国", "abc", "12"])
def test_not_chinese_numerals(text):
    assert parse_han(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zero", 0),
        ("thirty-six", 36),
        ("Two hundred and five", 205),
        ("hundred", 100),
        ("twelve thousand three hundred", 12300),
        ("one million", 1_000_000),
    ],
)
def test_english_number_words(text, value):
    assert parse_words(text) == value


@pytest.mark.parametrize("text", ["", "and", "one and", "four seasons", "12"])
def test_not_english_number_words(text):
    assert parse_words(text) is None
