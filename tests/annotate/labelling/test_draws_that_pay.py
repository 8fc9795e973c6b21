"""Draws by variance, where judges differ, and by each unit's own chance."""

from __future__ import annotations

from collections import Counter
from math import ceil
from random import Random

import pytest

from cuecard.annotate.estimation.corrected import corrected, tunings
from cuecard.annotate.estimation.units import Unit as Labelled
from cuecard.annotate.estimation.units import Units
from cuecard.annotate.labelling.comparison_inputs import weights_of
from cuecard.annotate.labelling.labelling_sets import (
    make_set,
    n_by_variance,
    population_of,
    remark_on,
)
from cuecard.annotate.labelling.sampling import SamplingPlan, Unit, draw, plan_of, strata_of
from cuecard.core.errors import CuecardError
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from effect_runs import judged_run, judgement, label


def units(
    votes: tuple[bool, ...] = (), people: str = "", start: int = 0, n: int = 100
) -> list[Unit]:
    """Items that the first judge accepts."""
    return [
        Unit(
            trial_id=1,
            item=Item(kind=ItemKind.TRIPLE, index=start + index),
            decision="yes",
            votes=votes,
            people=people,
        )
        for index in range(n)
    ]


def test_more_is_drawn_where_labels_overturned_more() -> None:
    population = [
        *(unit._replace(agent="a") for unit in units(people="yes", n=20)),
        *(unit._replace(agent="a") for unit in units(start=20, n=80)),
        *(unit._replace(agent="b") for unit in units(people="no", start=100, n=10)),
        *(unit._replace(agent="b") for unit in units(people="yes", start=110, n=10)),
        *(unit._replace(agent="b") for unit in units(start=120, n=80)),
    ]
    plan = SamplingPlan(runs=(1,), n=40, strata=("agent",), allocation="variance")
    # 0 of 20 and 10 of 20 overturned: standard deviations .208 and .5.
    assert [(s.name, s.drawn) for s in strata_of(population, plan)] == [("a", 12), ("b", 28)]
    drawn = draw(population, plan)
    assert Counter(item.stratum for item in drawn) == {"a": 12, "b": 28}
    assert {item.probability for item in drawn} == {0.12, 0.28}


def test_how_many_an_interval_takes_goes_by_labels_too() -> None:
    tasks = [(n, "no" if n % 10 == 0 else "yes") for n in range(100)]
    population = [
        *(units(people=said, start=n, n=1)[0]._replace(task=str(n % 10 // 5)) for n, said in tasks),
        *(unit._replace(task=str(unit.item.index % 40)) for unit in units(start=100, n=900)),
    ]
    plan = SamplingPlan(runs=(1,), n=1, allocation="variance")
    # s² = 11/102 x 91/102, N = 1,000; all ten corrections are in one task of two: MSB 1, MSW 8 / 98.
    alone = n_by_variance(population, plan, 0.1, correlation=1e-9)
    assert (alone.n, alone.known) == (129, True)
    found = n_by_variance(population, plan, 0.1)
    assert found.known
    assert found.correlation == pytest.approx((1 - 8 / 98) / (1 + 49 * 8 / 98))
    assert found.n == ceil(128.9 * (1 - found.correlation) / (1 - 128.9 * found.correlation / 40))
    assert not n_by_variance(units(), plan, 0.2).known


def test_trials_go_by_how_far_labels_moved_them() -> None:
    population = [
        Unit(
            trial_id=trial,
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision="yes",
            family="ab"[trial % 2],
            people="" if trial >= 12 else "no" if trial % 4 == 1 else "yes",
        )
        for trial in range(80)
        for index in range(3)
    ]
    plan = SamplingPlan(runs=(1,), n=30, by="trials", strata=("family",), allocation="variance")
    drawn = {stratum.name: stratum.drawn for stratum in strata_of(population, plan)}
    assert drawn == {"a": 5, "b": 25}


def test_each_unit_has_its_chance_where_judges_differ() -> None:
    population = [
        *units((True, True)),
        *units((True, False), start=100, n=20),
        *units((), start=200, n=5),
    ]
    plan = SamplingPlan(runs=(1,), n=30, allocation="disagreement", seed=5)
    drawn = draw(population, plan)
    assert draw(population[::-1], plan) == drawn
    chances = {item.item.index // 100: item.probability for item in drawn}
    # All share half of 30 of 125; those on which judges differ share the rest.
    assert chances[0] == pytest.approx(0.12)
    assert chances[1] == pytest.approx(0.12 + 15 / 20)
    assert {item.stratum for item in drawn} == {""}
    assert [(s.name, s.size, s.drawn) for s in strata_of(population, plan)] == [("", 125, 30)]
    sizes = [
        sum(weights_of(draw(population, plan.model_copy(update={"seed": seed}))).values())
        for seed in range(200)
    ]
    assert sum(sizes) / 200 == pytest.approx(125, abs=6)


def test_an_active_draw_goes_by_what_was_overturned() -> None:
    population = [
        *units((True, True), people="yes", n=20),
        *units((True, True), start=20, n=80),
        *units((True, False), people="no", start=100, n=10),
        *units((True, False), people="yes", start=110, n=10),
        *units((True, False), start=120, n=20),
    ]
    plan = SamplingPlan(runs=(1,), n=40, allocation="active", seed=1)
    chances = {item.item.index // 100: item.probability for item in draw(population, plan)}
    # Doubts hypot(.5, .216) and hypot(.208, .238), a fifth of the chance alike.
    assert chances[1] / chances[0] == pytest.approx(1.555, abs=0.001)


def test_a_set_with_chances_of_its_own_has_no_early_end() -> None:
    with pytest.raises(CuecardError, match="labelled to its end"):
        plan_of({"runs": [1], "n": 5, "allocation": "active", "order": True})
    with pytest.raises(CuecardError, match="stratify them by"):
        plan_of({"runs": [1], "n": 5, "by": "trials", "strata": ["judges"]})


def test_what_judges_and_people_said_is_read_where_the_plan_goes_by_it(
    workspace: Workspace,
) -> None:
    run, trials = judged_run(workspace, {"a": ["yyyyynnnnn"] * 2})
    plain = SamplingPlan(runs=(run,), n=4)
    differ = plain.model_copy(update={"allocation": "disagreement"})
    assert "decisions of two judges" in remark_on(population_of(workspace, differ), differ)
    other = judgement("yyyyyyyyyy")
    other = other.model_copy(update={"judge": other.judge.model_copy(update={"name": "kind"})})
    workspace.verdicts.add(trials["a", 0], other)
    label(workspace, trials["a", 0], "n")
    assert {(unit.votes, unit.people) for unit in population_of(workspace, plain)} == {((), "")}
    found = population_of(workspace, differ)
    assert Counter(unit.judges for unit in found) == {"": 10, "agree": 5, "differ": 5}
    assert not remark_on(found, differ)
    active = plain.model_copy(update={"allocation": "active"})
    [said] = [unit for unit in population_of(workspace, active) if unit.people]
    assert (said.decision, said.people, said.correction) == ("yes", "no", -1)
    variance = plain.model_copy(update={"allocation": "variance", "strata": ("judges",)})
    made = make_set(workspace, variance, name="", by="Ann")
    assert made.items == 4
    with pytest.raises(CuecardError, match="Nothing was drawn"):
        make_set(
            workspace,
            differ.model_copy(update={"n": 1, "seed": 3}),
            name="",
            by="Ann",
            units=units((True, True), n=400),
        )


def test_the_judge_counts_as_what_it_is_worth_for_all() -> None:
    """Nine of ten items are easy, where the judge is right, and drawn rarely; on the hard ones it guesses."""
    rng = Random(4)
    population: list[Labelled] = []
    for n in range(2000):
        hard = n % 10 == 0
        people = float(rng.random() < 0.6)
        judge = float(rng.random() < 0.5) if hard else people
        chance = 0.6 if hard else 0.05
        known = people if rng.random() < chance else None
        population.append(Labelled(str(n % 40), n, judge, known, chance=chance))
    columns = Units.of(population)
    [weight] = tunings(columns)
    # By labelled items alone, of which more than half are hard, it would be about .5.
    assert weight == pytest.approx(0.9, abs=0.1)
    alike = Units.of(one._replace(chance=1.0) for one in population)
    assert tunings(alike)[0] < 0.65
    low, high = corrected(columns).here.interval or (1, 0)
    assert low < 0.6 < high
    assert high - low < 0.09
