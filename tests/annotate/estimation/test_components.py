"""Components of variance: known answers (statsmodels' MixedLM and anova), edge cases, and a small simulation."""

import numpy as np
import pytest

from cuecard.annotate.estimation.components import (
    components,
    correlation_of_samples,
    facet_components,
)

A = {"a": [0.8, 0.6], "b": [0.5, 0.7], "c": [0.9, 0.9], "d": [0.5, 0.7]}
B = {"a": [0.4, 0.4], "b": [0.8, 0.6], "c": [0.7, 0.7], "d": [0.1, 0.1]}
C = {"a": [0.3, 0.5], "b": [0.1, 0.1], "c": [0.8, 0.6], "d": [0.2, 0.0]}


def test_balanced() -> None:
    found = components({"A": A, "B": B, "C": C})
    assert found.sample.raw == pytest.approx(0.011667, abs=1e-6)
    assert found.agent_task.raw == pytest.approx(0.023333, abs=1e-6)
    assert found.task.raw == pytest.approx(0.0325, abs=1e-6)
    assert found.agent.raw == pytest.approx(0.028333, abs=1e-6)
    assert found.difference_variance(4, 2).raw == pytest.approx(2 * 0.007292, abs=1e-6)
    assert found.dependability(4, 2).raw == pytest.approx(0.795322, abs=1e-6)


def test_unbalanced_cells_by_unweighted_means() -> None:
    more = {
        "A": A | {"a": [0.8]},
        "B": B | {"b": [0.8, 0.4, 0.5, 0.7]},
        "C": C | {"d": [0.2, 0.0, 0.1]},
    }
    found = components(more)
    assert found.samples == pytest.approx(1.972603, abs=1e-6)
    assert found.sample.raw == pytest.approx(0.014286, abs=1e-6)
    assert found.agent_task.raw == pytest.approx(0.014702, abs=1e-6)
    assert found.task.raw == pytest.approx(0.036389, abs=1e-6)
    assert found.agent.raw == pytest.approx(0.036389, abs=1e-6)


def test_balanced_as_statsmodels_has_it() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    cells = {"A": A, "B": B, "C": C}
    lines = [(a, t, y) for a, own in cells.items() for t, ys in own.items() for y in ys]
    frame = pd.DataFrame(lines, columns=["a", "t", "y"])
    squares = anova_lm(ols("y ~ a * t", frame).fit())["mean_sq"]
    error, both = squares["Residual"], squares["a:t"]
    found = components(cells)
    assert found.sample.raw == pytest.approx(error)
    assert found.agent_task.raw == pytest.approx((both - error) / 2)
    assert found.task.raw == pytest.approx((squares["t"] - both) / 6)
    assert found.agent.raw == pytest.approx((squares["a"] - both) / 8)


def test_tasks_that_not_all_agents_have_are_left_out() -> None:
    found = components({"A": A, "B": B, "C": {**C, "e": [0.5, 0.5]}})
    assert (found.tasks, found.left_out) == (4, 1)
    assert found.task.raw == pytest.approx(0.0325, abs=1e-6)
    few = components({"A": {"a": [1.0], "b": [0.5], "c": [0.1]}, "B": {"a": [0.3]}})
    assert few.reason
    assert few.task.raw is None
    assert few.difference_variance(10, 1).reason == few.reason


def test_single_samples_are_not_told_apart_from_the_interaction() -> None:
    found = components(
        {"A": {t: v[:1] for t, v in A.items()}, "B": {t: v[:1] for t, v in B.items()}}
    )
    assert found.sample.value is None
    assert found.agent_task.value is None
    assert found.rest.value is not None
    assert found.difference_variance(8, 1).raw == pytest.approx(2 * found.rest.value / 8)
    assert found.difference_variance(8, 2).raw is None


def test_one_agent() -> None:
    found = components({"A": A})
    means = [0.7, 0.6, 0.9, 0.6]
    error = (0.02 + 0.02 + 0 + 0.02) / 4
    assert found.sample.raw == pytest.approx(error)
    assert found.task.raw == pytest.approx(np.var(means, ddof=1) - error / 2)
    assert found.agent.raw is None
    assert found.difference_variance(4, 2).reason
    icc = correlation_of_samples(A).raw
    assert icc == pytest.approx(found.task.raw / (found.task.raw + error))


def test_a_negative_estimate_is_zero_with_its_raw_value() -> None:
    found = components({"A": {"a": [0, 1], "b": [1, 0]}, "B": {"a": [1, 0], "b": [0, 1]}})
    assert found.agent_task.raw == pytest.approx(-0.25)
    assert found.agent_task.value == 0
    assert found.dependability(2, 2).raw == 0


def test_nothing_varies() -> None:
    same = {"a": [0.5, 0.5], "b": [0.5, 0.5]}
    assert components({"A": same, "B": same}).dependability(2, 2).reason
    assert correlation_of_samples(same).reason
    assert components({}).reason
    assert components({"A": {}}).reason


def test_a_third_facet_without_bias() -> None:
    rng = np.random.default_rng(0)
    truth = {"agent_task": 0.03, "agent_level": 0.02, "agent_task_level": 0.02, "sample": 0.04}
    found = {name: list[float]() for name in truth}
    a, t, u, n = 3, 8, 3, 2
    for _ in range(200):
        cells = rng.normal(0, 0.03**0.5, (a, t, 1)) + rng.normal(0, 0.02**0.5, (a, 1, u))
        cells = cells + rng.normal(0, 0.02**0.5, (a, t, u))
        y = cells[..., None] + rng.normal(0, 0.2, (a, t, u, n))
        told = facet_components(
            {
                f"{i}": {f"{j}": {f"{k}": list(y[i, j, k]) for k in range(u)} for j in range(t)}
                for i in range(a)
            }
        )
        for name, each in found.items():
            each.append(getattr(told, name).raw)
    for name, each in found.items():
        error = np.std(each) / len(each) ** 0.5
        assert abs(np.mean(each) - truth[name]) < 4 * error, name


def test_a_third_facet_of_one_level_is_none() -> None:
    one = {a: {t: {"u": v} for t, v in own.items()} for a, own in {"A": A, "B": B}.items()}
    assert facet_components(one).reason
    two = {a: {t: {"u": v, "w": v} for t, v in own.items()} for a, own in {"A": A, "B": B}.items()}
    del two["A"]["a"]["w"]
    assert facet_components(two).left_out == 1
