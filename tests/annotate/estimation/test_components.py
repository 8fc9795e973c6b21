"""Components of variance: known answers (statsmodels' MixedLM and anova), edge cases, and a small simulation."""

import numpy as np
import pytest

from cuecard.annotate.estimation.components import Components, components, correlation_of_samples

A = {"a": [0.8, 0.6], "b": [0.5, 0.7], "c": [0.9, 0.9], "d": [0.5, 0.7]}
B = {"a": [0.4, 0.4], "b": [0.8, 0.6], "c": [0.7, 0.7], "d": [0.1, 0.1]}
C = {"a": [0.3, 0.5], "b": [0.1, 0.1], "c": [0.8, 0.6], "d": [0.2, 0.0]}


def of(cells: dict[str, dict[str, list[float]]]) -> Components:
    return components({(a, t): values for a, own in cells.items() for t, values in own.items()})


def test_balanced() -> None:
    found = of({"A": A, "B": B, "C": C})
    assert found.part("sample").raw == pytest.approx(0.011667, abs=1e-6)
    assert found.part("agent_task").raw == pytest.approx(0.023333, abs=1e-6)
    assert found.part("task").raw == pytest.approx(0.0325, abs=1e-6)
    assert found.part("agent").raw == pytest.approx(0.028333, abs=1e-6)
    assert found.difference_variance(4, 2).raw == pytest.approx(2 * 0.007292, abs=1e-6)
    assert found.dependability(4, 2).raw == pytest.approx(0.795322, abs=1e-6)


def test_unbalanced_cells_by_unweighted_means() -> None:
    more = {
        "A": A | {"a": [0.8]},
        "B": B | {"b": [0.8, 0.4, 0.5, 0.7]},
        "C": C | {"d": [0.2, 0.0, 0.1]},
    }
    found = of(more)
    assert found.samples == pytest.approx(1.972603, abs=1e-6)
    assert found.part("sample").raw == pytest.approx(0.014286, abs=1e-6)
    assert found.part("agent_task").raw == pytest.approx(0.014702, abs=1e-6)
    assert found.part("task").raw == pytest.approx(0.036389, abs=1e-6)
    assert found.part("agent").raw == pytest.approx(0.036389, abs=1e-6)


def test_balanced_as_statsmodels_has_it() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    cells = {"A": A, "B": B, "C": C}
    lines = [(a, t, y) for a, own in cells.items() for t, ys in own.items() for y in ys]
    frame = pd.DataFrame(lines, columns=["a", "t", "y"])
    squares = anova_lm(ols("y ~ a * t", frame).fit())["mean_sq"]
    error, both = squares["Residual"], squares["a:t"]
    found = of(cells)
    assert found.part("sample").raw == pytest.approx(error)
    assert found.part("agent_task").raw == pytest.approx((both - error) / 2)
    assert found.part("task").raw == pytest.approx((squares["t"] - both) / 6)
    assert found.part("agent").raw == pytest.approx((squares["a"] - both) / 8)


def test_tasks_that_not_all_agents_have_are_left_out() -> None:
    found = of({"A": A, "B": B, "C": {**C, "e": [0.5, 0.5]}})
    assert (found.levels["task"], found.left_out) == (4, 1)
    assert found.part("task").raw == pytest.approx(0.0325, abs=1e-6)
    few = of({"A": {"a": [1.0], "b": [0.5], "c": [0.1]}, "B": {"a": [0.3]}})
    assert few.reason
    assert few.part("task").raw is None
    assert few.difference_variance(10, 1).reason == few.reason


def test_single_samples_are_not_told_apart_from_the_interaction() -> None:
    found = of({"A": {t: v[:1] for t, v in A.items()}, "B": {t: v[:1] for t, v in B.items()}})
    assert found.part("sample").value is None
    assert found.part("agent_task").value is None
    assert found.part("rest").value is not None
    assert found.difference_variance(8, 1).raw == pytest.approx(2 * found.part("rest").value / 8)
    assert found.difference_variance(8, 2).raw is None


def test_one_agent() -> None:
    found = of({"A": A})
    means = [0.7, 0.6, 0.9, 0.6]
    error = (0.02 + 0.02 + 0 + 0.02) / 4
    assert found.part("sample").raw == pytest.approx(error)
    assert found.part("task").raw == pytest.approx(np.var(means, ddof=1) - error / 2)
    assert found.part("agent").raw is None
    assert found.difference_variance(4, 2).reason
    icc = correlation_of_samples(A).raw
    assert icc == pytest.approx(found.part("task").raw / (found.part("task").raw + error))


def test_a_negative_estimate_is_zero_with_its_raw_value() -> None:
    found = of({"A": {"a": [0, 1], "b": [1, 0]}, "B": {"a": [1, 0], "b": [0, 1]}})
    assert found.part("agent_task").raw == pytest.approx(-0.25)
    assert found.part("agent_task").value == 0
    assert found.dependability(2, 2).raw == 0


def test_nothing_varies() -> None:
    same = {"a": [0.5, 0.5], "b": [0.5, 0.5]}
    assert of({"A": same, "B": same}).dependability(2, 2).reason
    assert correlation_of_samples(same).reason
    assert of({}).reason
    assert of({"A": {}}).reason


def test_a_third_facet_without_bias() -> None:
    rng = np.random.default_rng(0)
    truth = {"agent_task": 0.03, "agent_user": 0.02, "agent_task_user": 0.02, "sample": 0.04}
    found = {name: list[float]() for name in truth}
    a, t, u, n = 3, 8, 3, 2
    for _ in range(200):
        cells = rng.normal(0, 0.03**0.5, (a, t, 1)) + rng.normal(0, 0.02**0.5, (a, 1, u))
        cells = cells + rng.normal(0, 0.02**0.5, (a, t, u))
        y = cells[..., None] + rng.normal(0, 0.2, (a, t, u, n))
        told = components(
            {(str(i), str(j), str(k)): list(y[i, j, k]) for i, j, k in np.ndindex(a, t, u)},
            ("agent", "task", "user"),
        )
        for name, each in found.items():
            each.append(told.part(name).raw or 0)
    for name, each in found.items():
        error = np.std(each) / len(each) ** 0.5
        assert abs(np.mean(each) - truth[name]) < 4 * error, name


def test_a_third_facet_leaves_out_tasks_with_an_empty_cell() -> None:
    cells = {(a, t, u): v for a, own in (("A", A), ("B", B)) for t, v in own.items() for u in "uw"}
    del cells["A", "a", "w"]
    found = components(cells, ("agent", "task", "user"))
    assert (found.levels, found.left_out) == ({"agent": 2, "task": 3, "user": 2}, 1)
    # Both users are the same, so that nothing varies between them.
    assert found.part("agent_user").raw == pytest.approx(0)


def test_a_facet_of_one_level_has_no_part() -> None:
    cells = {(a, t, "u"): v for a, own in (("A", A), ("B", B)) for t, v in own.items()}
    found = components(cells, ("agent", "task", "user"))
    assert found.part("user").reason
    assert found.value("agent_task") == of({"A": A, "B": B}).value("agent_task")


def test_each_cell_is_looked_at_a_few_times_however_many_tasks_there_are() -> None:
    looked = 0

    class Task(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal looked
            looked += 1
            return str.__eq__(self, other)

    def of_tasks(many: int) -> int:
        nonlocal looked
        looked = 0
        cells = {(agent, Task(f"t{n:03}")): [n % 2, 1.0] for n in range(many) for agent in "ab"}
        assert components(cells).levels == {"agent": 2, "task": many}
        return looked

    assert of_tasks(200) < 3 * of_tasks(100)
