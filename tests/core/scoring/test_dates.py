from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.judges.quantities import Moment, parse_date, parse_plain_date


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2020-03-05", (2020, 3, 5)),
        ("2020/3/5", (2020, 3, 5)),
        ("2020.03", (2020, 3, None)),
        ("2020-03-05T12:30:00Z", (2020, 3, 5)),
        ("2020年3月5日", (2020, 3, 5)),
        ("2020 年 3 月", (2020, 3, None)),
        ("２０２０年３月", (2020, 3, None)),
        ("二〇二〇年三月五日", (2020, 3, 5)),
        ("公元78年", (78, None, None)),
        ("March 5, 2020", (2020, 3, 5)),
        ("Mar. 5th 2020", (2020, 3, 5)),
        ("Thursday, 5 March 2020", (2020, 3, 5)),
        ("5th of March 2020", (2020, 3, 5)),
        ("march 2020", (2020, 3, None)),
        ("march5,2020", (2020, 3, 5)),
    ],
)
def test_common_spellings(text, moment):
    assert parse_plain_date(text) == Moment(*moment)


@pytest.mark.parametrize(
    "text", ["2020", "May", "2020-13-01", "2021-02-29", "", "x" * 1000, "25-30"]
)
def test_what_is_no_date(text):
    assert parse_plain_date(text) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2020", date(2020, 1, 1)),
        ("March 2020", date(2020, 3, 1)),
        ("2020年", date(2020, 1, 1)),
        ("12/05/2020", date(2020, 12, 5)),
        ("5 mars 2020", date(2020, 3, 5)),
    ],
)
def test_missing_parts_are_the_first_and_rarer_spellings_are_read(text, day):
    assert parse_date(text) == day


@pytest.mark.parametrize("text", ["yesterday", "in 3 days", "March 5", "1,200", "abc", "12"])
def test_nothing_depends_on_today(text):
    assert parse_date(text) is None


def test_a_coarse_date_covers_a_finer_one_only():
    assert Moment(2020).covers(Moment(2020, 3, 5))
    assert Moment(2020, 3).covers(Moment(2020, 3))
    assert not Moment(2020, 3).covers(Moment(2020))
    assert not Moment(2020, 3).covers(Moment(2020, 4, 1))


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_every_day_survives_its_spellings(day):
    long = f"{day:%B} {day.day}, {day.year:04}"
    chinese = f"{day.year:04}年{day.month}月{day.day}日"
    assert parse_date(day.isoformat()) == parse_date(long) == parse_date(chinese) == day
    assert parse_date((day.replace(day=1) + timedelta(0)).isoformat()[:7]) == day.replace(day=1)
