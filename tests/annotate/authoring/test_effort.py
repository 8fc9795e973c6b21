from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.session import WorkedTime


def recorded(moments: list[float], worked: WorkedTime) -> list[float]:
    return [seconds for seconds in map(worked.key, moments) if seconds]


def test_pauses_do_not_count_and_a_single_key_is_no_time() -> None:
    worked = WorkedTime()
    assert recorded([0, 10, 20, 29], worked) == []
    assert worked.rest() == 29
    assert recorded([1000], worked) == []
    assert recorded([1061], worked) == []  # just too long a pause
    assert recorded([1121], worked) == [60]  # just short enough
    assert worked.rest() == 0


def test_portions_are_recorded_while_the_work_goes_on() -> None:
    worked = WorkedTime()
    assert recorded([float(at) for at in range(0, 101, 5)], worked) == [30, 30, 30]
    assert worked.rest() == 10
    worked.give_back(30)
    assert recorded([200, 205], worked) == [30]
    assert worked.rest() == 5


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.floats(0, 200), max_size=60))
def test_all_stretches_are_counted_once(gaps: list[float]) -> None:
    now, moments = 0.0, [0.0]
    for gap in gaps:
        moments.append(now := now + gap)
    worked = WorkedTime()
    total = sum(recorded(moments, worked)) + worked.rest()
    pauses = [after - before for before, after in pairwise(moments)]
    assert total == pytest.approx(sum(pause for pause in pauses if pause <= 60))
