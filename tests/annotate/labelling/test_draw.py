"""Draws: sizes, chances, overlap; the same whatever the order."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from budget import examples
from cuecard.annotate.estimation.allocation import allocate, design_effect
from cuecard.annotate.labelling.comparison_inputs import weights_of
from cuecard.annotate.labelling.labelling_sets import (
    effective_size,
    n_for_width,
    n_in_tasks,
    preview_of,
    width_of,
)
from cuecard.annotate.labelling.sampling import SamplingPlan, Unit, draw, plan_of, strata_of
from cuecard.annotate.labelling.wording import stratum_words
from cuecard.core.errors import CuecardError
from cuecard.core.verdicts import Item, ItemKind

units = st.lists(
    st.builds(
        Unit,
        trial_id=st.integers(1, 6),
        item=st.builds(Item, kind=st.just(ItemKind.TRIPLE), index=st.integers(0, 30)),
        decision=st.sampled_from(["yes", "no", "unjudged"]),
        agent=st.sampled_from(["a", "b"]),
    ),
    unique_by=lambda unit: (unit.trial_id, unit.item.key),
    max_size=80,
)
plans = st.builds(
    SamplingPlan,
    runs=st.just((1,)),
    n=st.integers(1, 60),
    strata=st.sampled_from([(), ("decision",), ("decision", "agent")]),
    allocation=st.sampled_from(["proportional", "equal"]),
    seed=st.integers(0, 5),
    overlap=st.sampled_from([0, 0.2, 1]),
    people=st.sampled_from([(), ("Ann", "Bob", "Cy")]),
)


@settings(max_examples=examples(60), deadline=None)
@given(units, plans, st.randoms(use_true_random=False))
def test_a_draw_is_what_was_planned(
    population: list[Unit], plan: SamplingPlan, chance: random.Random
) -> None:
    drawn = draw(population, plan)
    assert len(drawn) == min(plan.n, len(population))
    assert len({(item.trial_id, item.item.key) for item in drawn}) == len(drawn)
    shuffled = population[:]
    chance.shuffle(shuffled)
    assert draw(shuffled, plan) == drawn
    strata = {stratum.name: stratum for stratum in strata_of(population, plan)}
    counted = Counter(item.stratum for item in drawn)
    for name, stratum in strata.items():
        assert counted[name] == stratum.drawn <= stratum.size
        assert stratum.drawn > 0 or plan.n < len(strata)
    for item in drawn:
        assert item.probability == strata[item.stratum].drawn / strata[item.stratum].size
        assert len(set(item.people)) == len(item.people) == (item.raters if plan.people else 0)
    # With at least one from each stratum, weights add up to the population.
    if all(stratum.drawn for stratum in strata.values()):
        assert sum(weights_of(drawn).values()) == pytest.approx(len(population))
    shared = sum(item.raters > 1 for item in drawn)
    assert abs(shared - plan.overlap * len(drawn)) <= 1


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1),
    st.integers(1, 200),
    st.sampled_from(["proportional", "equal"]),
)
def test_allocation_adds_up(sizes: dict[str, int], n: int, allocation: str) -> None:
    given_ = allocate(sizes, n, equal=allocation == "equal")
    assert sum(given_.values()) == min(n, sum(sizes.values()))
    assert all(0 <= given_[name] <= size for name, size in sizes.items())
    if n >= len(sizes):
        assert all(given_.values())
    if allocation == "equal":
        free = [given_[name] for name in sizes if given_[name] < sizes[name]]
        assert not free or max(free) - min(free) <= 1
        assert not free or all(given_[name] <= max(free) + 1 for name in sizes)


def test_known_allocations() -> None:
    assert allocate({"a": 70, "b": 20, "c": 10}, 10) == {"a": 7, "b": 2, "c": 1}
    assert allocate({"a": 970, "b": 20, "c": 10}, 10) == {"a": 8, "b": 1, "c": 1}
    assert allocate({"a": 70, "b": 20, "c": 2}, 10, equal=True) == {"a": 4, "b": 4, "c": 2}


def test_trials_come_with_all_their_items() -> None:
    population = [
        Unit(trial_id=trial, item=Item(kind=ItemKind.TRIPLE, index=index), agent="ab"[trial % 2])
        for trial in range(20)
        for index in range(trial + 1)
    ]
    drawn = draw(population, SamplingPlan(runs=(1,), n=4, by="trials", strata=("agent",)))
    counted = Counter(item.trial_id for item in drawn)
    assert len(counted) == 4
    assert all(count == trial + 1 for trial, count in counted.items())
    assert {item.probability for item in drawn} == {0.2}
    strata = strata_of(population, SamplingPlan(runs=(1,), n=4, by="trials", strata=("agent",)))
    assert [(s.name, s.size, s.drawn, s.items) for s in strata] == [
        ("a", 10, 2, 20),
        ("b", 10, 2, 22),
    ]


def test_people_who_share_a_trial_share_all_of_it() -> None:
    population = [
        Unit(trial_id=trial, item=Item(kind=ItemKind.TRIPLE, index=index))
        for trial in range(10)
        for index in range(5)
    ]
    plan = SamplingPlan(
        runs=(1,), n=10, by="trials", overlap=0.3, people=("Ann", " Bob", "Cy", "Ann", "")
    )
    assert plan.people == ("Ann", "Bob", "Cy")
    who: dict[int, set[tuple[str, ...]]] = {}
    for item in draw(population, plan):
        who.setdefault(item.trial_id, set()).add(item.people)
    assert all(len(people) == 1 for people in who.values())
    assert sum(len(people) == 2 for [people] in who.values()) == 3
    assert Counter(name for [people] in who.values() for name in people) == {
        "Ann": 5,
        "Bob": 4,
        "Cy": 4,
    }


def test_a_small_stratum_is_not_lost_and_each_item_has_its_chance() -> None:
    population = [
        Unit(
            trial_id=1,
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision="no" if index < 5 else "yes",
        )
        for index in range(50)
    ]
    times: Counter[int] = Counter()
    rounds = 400
    for seed in range(rounds):
        plan = SamplingPlan(runs=(1,), n=10, strata=("decision",), allocation="equal", seed=seed)
        times.update(item.item.index for item in draw(population, plan))
    assert all(times[index] == rounds for index in range(5))
    assert all(20 < times[index] < 80 for index in range(5, 50))


def test_plans_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValidationError, match="trials have no decision"):
        SamplingPlan(runs=(1,), n=1, by="trials", strata=("decision",))
    with pytest.raises(ValidationError, match="cannot give"):
        SamplingPlan(runs=(1,), n=1, overlap=0.5, people=("Ann",))


def test_a_refused_plan_says_what_was_given_and_what_may_be() -> None:
    with pytest.raises(CuecardError) as refused:
        plan_of({"runs": (1,), "n": 1, "strata": ("decision", "foo")})
    assert refused.value.message.startswith("foo: must be one of 'decision', 'judges'")
    with pytest.raises(CuecardError) as refused:
        plan_of({"runs": (1,), "n": 0})
    assert refused.value.message == "n: must be at least 1"


@pytest.mark.parametrize(
    ("width", "share", "n"), [(0.1, 0.9, 141), (0.1, 0.5, 381), (0.04, 0.98, 223)]
)
def test_known_sizes(width: float, share: float, n: int) -> None:
    assert n_for_width(width, share) == n
    assert width_of(n, share) <= width < width_of(n - 1, share)
    assert n_for_width(width, share, design_effect=2) == 2 * n
    assert n_for_width(width, share, population=50) <= 50


def test_items_of_few_tasks_say_less() -> None:
    alone = n_for_width(0.1, 0.9)
    assert n_in_tasks(0.1, 0.9, tasks=50, items=10_000, correlation=0.1) == 177
    assert 177 / design_effect(177 / 50, 0.1) == pytest.approx(alone, abs=1)
    assert n_in_tasks(0.1, 0.9, tasks=200, items=10_000, correlation=0.1) == alone
    assert n_in_tasks(0.1, 0.9, tasks=14, items=10_000, correlation=0.1) is None
    assert n_in_tasks(0.1, 0.9, tasks=5, items=150) == n_for_width(0.1, 0.9, population=150)
    assert n_in_tasks(0.1, 0.9, tasks=0, items=0) is None
    with pytest.raises(ValueError):
        n_in_tasks(0.1, 0.9, tasks=5, items=150, correlation=2)


def test_unequal_chances_cost_precision() -> None:
    assert effective_size([(100, 10), (300, 30)]) == pytest.approx(40)
    # 900 items of weight 18 and 100 of weight 2.
    assert effective_size([(900, 50), (100, 50)]) == pytest.approx(
        1000**2 / (50 * 18**2 + 50 * 2**2)
    )
    assert effective_size([(5, 0)]) == 0


def test_a_preview_says_what_is_drawn() -> None:
    population = [
        Unit(
            trial_id=index // 100,
            item=Item(kind=ItemKind.TRIPLE, index=index % 100),
            decision="no" if index % 10 == 0 else "yes",
            task=f"t{index // 250}",
        )
        for index in range(1000)
    ]
    plan = SamplingPlan(
        runs=(1,), n=100, strata=("decision",), allocation="equal", overlap=0.2, raters=3
    )
    seen = preview_of(population, plan)
    assert (seen.population, seen.trials, seen.tasks, seen.items) == (1000, 10, 4, 100)
    assert (seen.labels, seen.left_out) == (pytest.approx(140), 0)
    assert seen.effective == pytest.approx(1000**2 / (50 * 18**2 + 50 * 2**2))
    assert seen.width(0.9) == pytest.approx(width_of(seen.effective, 0.9))
    clustered = seen.width(0.9, 0.1)
    assert clustered == pytest.approx(width_of(seen.effective / (1 + 24 * 0.1), 0.9))
    assert seen.n_for(0.1, 0.9) == n_for_width(0.1, 0.9, population=1000)
    few = preview_of(population, plan.model_copy(update={"n": 1}))
    assert (few.left_out, few.items) == (1, 1)
    nothing = preview_of([], plan)
    assert (nothing.strata, nothing.items, nothing.width(0.9), nothing.n_for(0.1, 0.9)) == (
        (),
        0,
        None,
        None,
    )
    trials = preview_of(population, SamplingPlan(runs=(1,), n=2, by="trials"))
    assert (trials.items, trials.effective) == (200, 200)


def test_sizes_that_cannot_be_are_refused() -> None:
    for arguments in ((0, 0.5), (1, 0.5), (0.1, 2)):
        with pytest.raises(ValueError):
            n_for_width(*arguments)
    with pytest.raises(ValueError):
        n_for_width(0.1, design_effect=0.5)


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({}, "4/4 4/9 9/4 4/1 9/2"),
        (
            {"strata": ("decision", "agent"), "allocation": "equal", "seed": 3},
            "2/0 2/10 9/3 4/8 4/0",
        ),
        ({"by": "trials", "strata": ("agent",), "seed": -1}, "4/6 2/1 2/2 2/0 9/7"),
    ],
)
def test_a_seed_draws_what_it_always_drew(fields: dict[str, object], first: str) -> None:
    population = [
        Unit(trial, Item(kind=ItemKind.TRIPLE, index=at), "yes" if at % 3 else "no", agent=agent)
        for trial, agent in ((4, "a"), (2, "b’s"), (9, "a"))
        for at in range(12)
    ]
    plan = SamplingPlan.model_validate({"runs": (1,), "n": 5, **fields})
    drawn = draw(population, plan)
    assert " ".join(f"{one.trial_id}/{one.item.index}" for one in drawn[:5]) == first


def test_a_stratum_is_told_in_words() -> None:
    assert stratum_words("no · graph", ("decision", "family")) == "not covered · Graph tasks"
    assert stratum_words("differ · all", ("judges", "agent")) == "judges differ · all"
    assert stratum_words("one · two · en", ("agent", "language")) == "one · two · en"
    assert stratum_words("", ()) == ""
