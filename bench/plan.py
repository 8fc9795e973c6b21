"""Whether components of variance, power, ranks and both intervals hold what they promise, on studies whose truth is known.

python bench/plan.py [components | facets | power | ranks | intervals]      all: some ten minutes

`components`: 100 balanced sets (4 agents x 20 tasks x 3 samples) beside statsmodels' REML, and the means over 6,000 unbalanced
ones. `facets`: the means over 3,000 sets with users. `power`: predicted beside reached power of the t test over tasks, of 4,000
studies each. `ranks`: in how many of 1,000 studies all rank sets are right at once. `intervals`: coverage of the interval on these
tasks and of that on tasks of this kind, of 2,000 studies each.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.annotate.estimation.components import Components, components, on_these_tasks
from cuecard.annotate.estimation.power import Design, Noise, power_of, smallest_difference
from cuecard.annotate.estimation.ranks import ranks
from cuecard.annotate.labelling.effect_figures import mean_over

Values = NDArray[np.float64]
TRUTH = {"task": 0.0625, "agent": 0.01, "agent_task": 0.04, "sample": 0.01}


def cells_of(
    rng: np.random.Generator, a: int, t: int, n: Callable[[], int], truth: dict[str, float]
) -> dict[str, dict[str, list[float]]]:
    agent = rng.normal(0, truth["agent"] ** 0.5, a)
    task = rng.normal(0, truth["task"] ** 0.5, t)
    both = rng.normal(0, truth["agent_task"] ** 0.5, (a, t))
    spread = truth["sample"] ** 0.5
    return {
        f"a{i}": {
            f"t{j}": list(0.5 + agent[i] + task[j] + both[i, j] + rng.normal(0, spread, n()))
            for j in range(t)
        }
        for i in range(a)
    }


def of(cells: dict[str, dict[str, list[float]]]) -> Components:
    return components({(a, t): values for a, own in cells.items() for t, values in own.items()})


def reml(cells: dict[str, dict[str, list[float]]]) -> dict[str, float]:
    import pandas as pd  # With statsmodels.
    import statsmodels.api as sm

    frame = pd.DataFrame(
        [
            {"a": a, "t": t, "at": f"{a}{t}", "y": y, "all": 1}
            for a, own in cells.items()
            for t, ys in own.items()
            for y in ys
        ]
    )
    parts = {name: f"0 + C({name})" for name in ("a", "t", "at")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.MixedLM.from_formula(
            "y ~ 1", frame, groups="all", vc_formula=parts, re_formula="0"
        )
        found = model.fit(reml=True)
    named = dict(zip(model.exog_vc.names, found.vcomp, strict=True))
    return {
        "agent": named["a"],
        "task": named["t"],
        "agent_task": named["at"],
        "sample": float(found.scale),
    }


def components_hold() -> None:
    rng = np.random.default_rng(1)
    apart: list[float] = []
    for _ in range(100):
        cells = cells_of(rng, 4, 20, lambda: 3, TRUTH)
        ours, theirs = of(cells), reml(cells)
        values = {name: (ours.part(name).raw or 0.0) for name in theirs}
        if min(values.values()) > 0.001:
            apart += [abs(values[name] / theirs[name] - 1) for name in theirs]
    print(f"balanced, beside REML: largest difference {max(apart):.2%} of {len(apart)} components")
    found = {name: list[float]() for name in TRUTH}
    for _ in range(6000):
        ours = of(cells_of(rng, 4, 20, lambda: int(rng.integers(1, 5)), TRUTH))
        for name, values in found.items():
            values.append(ours.part(name).raw or 0.0)
    for name, values in found.items():
        error = np.std(values) / len(values) ** 0.5
        off = (np.mean(values) - TRUTH[name]) / error
        print(
            f"unbalanced {name:11} truth {TRUTH[name]:.4f}  mean {np.mean(values):.4f}  ({off:+.1f} se)"
        )


FACETS = {"agent": 0.01, "task": 0.05, "level": 0.01, "agent_task": 0.03, "agent_level": 0.01,
          "task_level": 0.02, "agent_task_level": 0.02, "sample": 0.04}  # fmt: skip


def facets_hold() -> None:
    rng = np.random.default_rng(2)
    a, t, u, n = 3, 12, 4, 2
    axes = {"agent": (0,), "task": (1,), "level": (2,), "agent_task": (0, 1), "agent_level": (0, 2),
            "task_level": (1, 2), "agent_task_level": (0, 1, 2)}  # fmt: skip
    found = {name: list[float]() for name in FACETS}
    for _ in range(3000):
        cells = np.zeros((a, t, u))
        for name, of in axes.items():
            shape = [size if at in of else 1 for at, size in enumerate((a, t, u))]
            cells = cells + rng.normal(0, FACETS[name] ** 0.5, shape)
        values = cells[..., None] + rng.normal(0, FACETS["sample"] ** 0.5, (a, t, u, n))
        told = {(str(i), str(j), str(k)): list(values[i, j, k]) for i, j, k in np.ndindex(a, t, u)}
        ours = components(told, ("agent", "task", "level"))
        for name, each in found.items():
            each.append(ours.part(name).raw or 0.0)
    for name, each in found.items():
        off = (np.mean(each) - FACETS[name]) / (np.std(each) / len(each) ** 0.5)
        print(f"{name:17} truth {FACETS[name]:.4f}  mean {np.mean(each):.4f}  ({off:+.1f} se)")


def reached(gaps: Values) -> float:
    """The share of studies (rows) whose t test over tasks tells the difference from zero."""
    tasks = gaps.shape[1]
    error = gaps.std(axis=1, ddof=1) / tasks**0.5
    t = np.abs(gaps.mean(axis=1)) / np.where(error > 0, error, np.inf)
    return float((t > t_quantile(0.975, tasks - 1)).mean())


def power_holds(studies: int = 4000) -> None:
    rng = np.random.default_rng(3)
    worst = 0.0
    for tasks in (20, 30, 50, 100):
        for n in (1, 3):
            for at, e in ((0.01, 0.06), (0.02, 0.15), (0.04, 0.04)):
                noise, design = Noise(at, e), Design(tasks, n)
                variance = noise.variance(design) or 0.0
                for times in (0.5, 1.0, 1.3):
                    gap = times * (smallest_difference(noise, design) or 0.0)
                    gaps = gap + rng.normal(0, (tasks * variance) ** 0.5, (studies, tasks))
                    worst = max(worst, abs(reached(gaps) - power_of(gap, variance, tasks)))
    print(f"normal: largest difference of predicted and reached power {100 * worst:.1f} points")
    for p, gain in ((0.3, 0.1), (0.4, 0.15), (0.5, 0.1), (0.5, 0.2), (0.6, 0.1)):
        for tasks in (30, 60, 100):
            for n in (1, 3, 5):
                # Tasks differ in how often both agents pass; the second passes more often.
                hard = rng.normal(0, 0.1, (studies, tasks, 1))
                chance = [np.clip(p + add + hard, 0.02, 0.98) for add in (0.0, gain)]
                passed = [rng.random((studies, tasks, n)) < each for each in chance]
                gaps = (passed[1].mean(axis=2) - passed[0].mean(axis=2)).astype(np.float64)
                big = [float((each * (1 - each)).mean()) for each in chance]
                at = float((chance[1] - chance[0]).var()) / 2
                variance = Noise(at, sum(big) / 2).variance(Design(tasks, n)) or 0.0
                true = float((chance[1] - chance[0]).mean())
                apart = abs(reached(gaps) - power_of(true, variance, tasks))
                worst = max(worst, apart)
    print(f"with 0/1 values: largest difference {100 * worst:.1f} points")


def ranks_hold(studies: int = 1000) -> None:
    rng = np.random.default_rng(4)
    for what, means in (("all equal", [0.5] * 5), ("apart", [0.5, 0.5, 0.45, 0.45, 0.3])):
        best = [1 + sum(m > own for m in means) for own in means]
        worst = [len(means) - sum(m < own for m in means) for own in means]
        for tasks in (10, 20, 50):
            right = 0
            for _ in range(studies):
                hard = rng.normal(0, 0.2, (tasks, 1))
                values = np.clip(means + hard + rng.normal(0, 0.15, (tasks, 5)), -9, 9)
                found = ranks(
                    {str(at): {str(t): values[t, at] for t in range(tasks)} for at in range(5)}
                )
                told = {one.name: one for one in found.agents}
                # A true rank is an interval where means are equal: all of it must be in the set.
                right += all(
                    (told[str(at)].best or 9) <= best[at]
                    and worst[at] <= (told[str(at)].worst or 0)
                    for at in range(5)
                )
            print(
                f"{what:10} {tasks:3} tasks: all sets right at once in {100 * right / studies:.1f}%"
            )


def intervals_hold(studies: int = 2000) -> None:
    rng = np.random.default_rng(5)
    for tasks in (20, 50):
        for n in (3, 5):
            these = kind = 0
            for _ in range(studies):
                level = rng.beta(2, 2, tasks)
                values = level[:, None] + rng.normal(0, 0.15, (tasks, n))
                one = on_these_tasks("", values.ravel(), np.full(tasks, n)).interval
                these += one is not None and one[0] <= level.mean() <= one[1]
                means = {str(at): float(row.mean()) for at, row in enumerate(values)}
                (other,) = with_intervals([mean_over("", means, list(means))], list(means))
                kind += other.interval is not None and other.interval[0] <= 0.5 <= other.interval[1]
            print(
                f"{tasks} tasks x {n}: these tasks {100 * these / studies:.1f}%, "
                f"tasks of this kind {100 * kind / studies:.1f}%"
            )


PARTS = {
    "components": components_hold,
    "facets": facets_hold,
    "power": power_holds,
    "ranks": ranks_hold,
    "intervals": intervals_hold,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        print(name)
        PARTS[name]()
