"""pass^k and pass@k, and the interval on these tasks alone: known answers and what is undefined."""

from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np
import pytest

from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.annotate.estimation.components import all_of, any_of, on_these_tasks
from cuecard.core.tables.table import Statistic

SAMPLES = [(1, 1, 0), (0, 0, 0), (1, 1, 1), (1, 0, 0)]


def on(tasks: Sequence[Sequence[float]]) -> Statistic:
    counts = np.array([len(values) for values in tasks], dtype=np.int64)
    return on_these_tasks("success", np.array([v for values in tasks for v in values]), counts)


def test_all_and_any_of_k() -> None:
    ks = range(1, 6)
    assert [all_of(3, 5, k) for k in ks] == pytest.approx([0.6, 0.3, 0.1, 0, 0])
    assert [any_of(3, 5, k) for k in ks] == pytest.approx([0.6, 0.9, 1, 1, 1])
    assert all_of(1, 2, 3) is None
    assert any_of(1, 2, 3) is None


def test_these_tasks() -> None:
    found = on(SAMPLES)
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.5 - 0.327207, 0.5 + 0.327207), abs=1e-6)
    # Of tasks of this kind, by Student's t over the four means.
    means = [fmean(each) for each in SAMPLES]
    assert t_quantile(0.975, 3) * stdev(means) / 2 == pytest.approx(0.684753, abs=1e-6)


def test_degrees_of_freedom_need_not_be_whole() -> None:
    from scipy.stats import t, ttest_ind

    left, right = [0.1, 0.5, 0.4, 0.9], [0.3, 0.2]
    free = ttest_ind(left, right, equal_var=False).df
    half = float(t.ppf(0.975, free)) * (stdev(left) ** 2 / 4 + stdev(right) ** 2 / 2) ** 0.5 / 2
    found = on([left, right])
    assert found.interval is not None
    assert (found.interval[1] - found.interval[0]) / 2 == pytest.approx(half, rel=5e-3)


def test_what_has_no_interval() -> None:
    assert on([[0.1, 0.2], [0.4]]).no_interval
    assert "never differed" in on([[1, 1], [0, 0]]).no_interval
    assert on([]).reason
