import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.verdicts import Measure, harmonic, mean, pearson, share


def test_a_share_has_its_whole_as_n():
    assert share("x", 1, 4, "nothing") == Measure("x", 0.25, 4)


def test_a_share_of_nothing_is_undefined_and_says_why():
    assert share("x", 0, 0, "nothing there") == Measure("x", None, 0, "nothing there")


def test_a_share_of_nothing_is_zero_where_the_definition_says_so():
    assert share("x", 0, 0, "nothing there", zero=True) == Measure("x", 0.0, 0, "nothing there")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measure_is_never_nan(value):
    with pytest.raises(ValueError, match="finite"):
        Measure("x", value, 1)


def test_an_undefined_measure_must_say_why():
    with pytest.raises(ValueError, match="say why"):
        Measure("x", None, 0)


def test_harmonic_mean_of_known_values():
    assert harmonic("f", Measure("p", 0.5, 4), Measure("r", 0.25, 8)) == Measure("f", 1 / 3, 8)
    assert harmonic("f", Measure("p", 0.0, 4), Measure("r", 0.0, 8)) == Measure("f", 0.0, 8)


def test_harmonic_mean_is_undefined_with_its_parts():
    undefined = Measure("p", None, 0, "why")
    assert harmonic("f", undefined, Measure("r", 0.5, 2)) == Measure("f", None, 2, "why")
    assert harmonic("f", Measure("p", 0.5, 2), undefined) == Measure("f", None, 0, "why")


def test_a_mean_of_nothing_is_undefined():
    assert mean("x", []).value is None
    assert mean("x", [1.0, 2.0]) == Measure("x", 1.5, 2)


@given(st.floats(0, 1), st.floats(0, 1))
def test_f1_lies_between_its_parts(p, r):
    value = harmonic("f", Measure("p", p, 1), Measure("r", r, 1)).value
    assert value is not None
    assert min(p, r) - 1e-12 <= value <= max(p, r) + 1e-12


def test_pearson_by_hand_and_undefined_where_a_column_is_constant():
    # Deviations -2, 0, 2 and -.1, 0, .4 less their mean .1: covariance 1 over sqrt(8 * .14).
    found = pearson("r", [(8, 0.2), (10, 0.3), (12, 0.7)])
    assert (found.value, found.n) == (pytest.approx(1 / (8 * 0.14) ** 0.5), 3)
    assert pearson("r", [(1, 1.0), (2, 0.5), (4, -0.5)]).value == -1
    for pairs in ([(1, 0.1), (1, 0.2)], [(1, 0.2), (2, 0.2)], [(1, 0.2)], []):
        undefined = pearson("r", pairs)
        assert (undefined.value, undefined.n) == (None, len(pairs))
        assert undefined.reason


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), min_size=2, max_size=12))
def test_pearson_is_within_bounds_and_turns_its_sign_with_a_column(pairs):
    found = pearson("r", pairs)
    if found.value is not None:
        assert -1 <= found.value <= 1
        other = pearson("r", [(-x, y) for x, y in pairs])
        assert other.value == pytest.approx(-found.value, abs=1e-6)
