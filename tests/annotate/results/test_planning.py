"""Plans from a pilot with known components, with users, judges and prices; and from guesses."""

from __future__ import annotations

import numpy as np
import pytest

from cuecard.annotate.estimation.power import Design, Noise, smallest_difference
from cuecard.annotate.results.plan_tables import plan_json, plan_plot, plan_tables
from cuecard.annotate.results.planning import Asked, guessed_plan, pilot_plan, plans_of
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import NotAllowed
from cuecard.core.records import UsageRecord
from cuecard.core.tables.texts import as_markdown
from result_rows import pool, row

CELLS = {
    "A": {"a": (0.8, 0.6), "b": (0.5, 0.7), "c": (0.9, 0.9), "d": (0.5, 0.7)},
    "B": {"a": (0.4, 0.4), "b": (0.8, 0.6), "c": (0.7, 0.7), "d": (0.1, 0.1)},
    "C": {"a": (0.3, 0.5), "b": (0.1, 0.1), "c": (0.8, 0.6), "d": (0.2, 0.0)},
}


def known():
    return pool(
        *(
            row(agent, task, {"triplet_f1": v}, n, judge="strict")
            for agent, own in CELLS.items()
            for task, values in own.items()
            for n, v in enumerate(values)
        )
    )


def paid(found, trial: float, judge: float, *, priced: int = 1):
    return [
        UsageRecord(
            trial_id=r.trial.id,
            payer=payer,
            model="m",
            calls=1,
            usage=Usage(),
            cost=cost,
            priced=priced,
        )
        for r in found.rows
        for payer, cost in (("agent", trial), ("judge", judge))
    ]


def test_a_pilot_tells_the_noise_and_what_it_cost() -> None:
    pilot = known()
    plan = pilot_plan(pilot, "graph", Asked(task_cost=10), usage=paid(pilot, 0.5, 0.1))
    assert plan.noise.task == pytest.approx(0.023333, abs=1e-6)
    assert plan.noise.sample == pytest.approx(0.011667, abs=1e-6)
    assert plan.design == Design(4, 2)
    # 4 tasks at 10, 3 agents x 8 trials at 0.6.
    assert plan.cost(plan.design) == pytest.approx(40 + 24 * 0.6)
    found = plan_json(plan)
    assert found["sees"] == smallest_difference(plan.noise, plan.design)
    assert found["cheapest"]["samples"] >= 1
    seen, gains, cheapest, noise = plan_tables(plan)
    assert any(line[0].text == "4" for line in seen.lines)
    sample = next(line for line in gains.lines if line[0].text == "one more sample")
    assert sample[6].number == pytest.approx(12 * 0.6)
    assert [line[-1].text for line in cheapest.lines].count("cheapest") == 1
    assert sum(line[3].number or 0 for line in noise.lines) == pytest.approx(1)
    assert "a task 10.00; 3 agents" in as_markdown(gains)
    assert plan_plot(plan).series[0].points


def test_calls_without_a_price_leave_costs_unknown() -> None:
    pilot = known()
    plan = pilot_plan(pilot, "graph", usage=paid(pilot, 0.5, 0.1, priced=0))
    assert plan.prices is None
    assert any("had no price" in note for note in plan.notes)
    assert "cost" not in plan_tables(plan)[1].headings
    own = pilot_plan(pilot, "graph", Asked(trial_cost=1.0), usage=paid(pilot, 0.5, 0.1, priced=0))
    assert own.prices is not None


def test_a_third_facet_without_bias() -> None:
    rng = np.random.default_rng(0)
    at, au, aj = 0.02, 0.01, 0.005
    found = {"task": list[float](), "user": list[float](), "judge": list[float]()}
    for _ in range(60):
        task, user = rng.normal(0, at**0.5, (3, 8)), rng.normal(0, au**0.5, (3, 3))
        judge = rng.normal(0, aj**0.5, (3, 3))
        rows = []
        for a, t, u, n in np.ndindex(3, 8, 3, 2):
            true = 0.5 + task[a, t] + user[a, u] + rng.normal(0, 0.1)
            first = row(
                f"a{a}", f"t{t}", {"triplet_f1": true + judge[a, 0]}, n, user=f"u{u}", judge="j0"
            )
            rows.append(first)
            for j in (1, 2):
                value = true + judge[a, j] + rng.normal(0, 0.02)
                other = row(f"a{a}", f"t{t}", {"triplet_f1": value}, n, user=f"u{u}", judge=f"j{j}")
                rows.append(other.of_trial(first.trial))
        plan = pilot_plan(pool(*rows), "graph")
        assert plan.design == Design(8, 2, 3, 3)
        for name, values in found.items():
            values.append(getattr(plan.noise, name))
    for name, truth in (("task", at), ("user", au), ("judge", aj)):
        error = np.std(found[name]) / len(found[name]) ** 0.5
        assert abs(np.mean(found[name]) - truth) < 4 * error, name


def test_these_users_are_no_noise() -> None:
    rows = [
        row(a, f"t{t}", {"triplet_f1": 0.1 * t + (0.2 if (a, u) == ("x", "v") else 0)}, user=u)
        for a in "xy"
        for t in range(5)
        for u in "uv"
    ]
    assert pilot_plan(pool(*rows), "graph").noise.user > 0
    plan = pilot_plan(pool(*rows), "graph", Asked(these_users=True))
    assert plan.noise.user == 0
    assert any("these and no others" in note for note in plan.notes)


def test_without_a_way_to_tell_how_agents_differ_it_says_what_it_takes() -> None:
    alone = known().where(lambda r: r.value("agent") == "A")
    with pytest.raises(NotAllowed, match="how agents differ"):
        plans_of(alone, Asked())
    assert plans_of(alone, Asked(task_sd=0.1))[0].noise.task == pytest.approx(0.01)
    with pytest.raises(NotAllowed):
        plans_of(pool(), Asked())
    with pytest.raises(NotAllowed, match="nothing to plan from"):
        guessed_plan(Asked(task_sd=0.1))


def test_guesses() -> None:
    plan = guessed_plan(Asked(task_sd=0.1, sample_sd=0.06**0.5, tasks=30, samples=3))
    assert plan.seen(plan.design) == pytest.approx(0.129666, abs=1e-6)
    assert plan.prices is None
    floor = guessed_plan(Asked(task_sd=0.1, sample_sd=0.1, user_sd=0.2, difference=0.01))
    assert any("No number of tasks" in note for note in plan_tables(floor)[2].notes)
    assert plan_tables(floor)[1].lines[-1][0].text == "one more user"


def test_single_samples_can_be_planned_with_single_samples_only() -> None:
    single = known().where(lambda r: r.trial.sample == 0)
    plan = pilot_plan(single, "graph")
    assert plan.noise.sample is None
    assert plan.noise == Noise(plan.noise.task, None)
    assert plan_tables(plan)[0].headings == ("Tasks", "1 sample")
