"""Corrected scores: known answers, laws, degenerate cases, and a small simulation."""

from collections import Counter
from math import nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.estimation.corrected import (
    WeightedEstimate,
    corrected,
    standard_error,
    tunings,
)
from cuecard.annotate.estimation.joint import difference, joint
from cuecard.annotate.estimation.units import Unit, Units

JUDGE = {"a": (0.8, 0.6), "b": (0.9, 0.7), "c": (0.4, 0.2), "d": (0.5, 0.5), "e": (1.0, 0.4)}
PEOPLE = {("a", 0): 0.7, ("b", 1): 0.6, ("c", 0): 0.2, ("d", 1): 0.5, ("e", 0): 0.9}


def _example(people: dict[tuple[str, int], float] | None = None) -> Units:
    said = PEOPLE if people is None else people
    return Units.of(
        Unit(task, sample, value, said.get((task, sample)), chance=0.5)
        for task, values in JUDGE.items()
        for sample, value in enumerate(values)
    )


@pytest.mark.parametrize(
    ("tuning", "value", "error"),
    [
        (0.0, 0.58, 0.115758),
        (0.5, 0.54, 0.105357),
        (0.95625, 0.5035, 0.104503),
        (1.0, 0.50, 0.104881),
    ],
)
def test_five_tasks_of_two_samples_at_fixed_weights_of_the_judge(
    tuning: float, value: float, error: float
):
    found = WeightedEstimate.of(_example(), np.array([tuning]))
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.error == pytest.approx(error, abs=5e-7)


def test_five_tasks_of_two_samples_tuned():
    assert tunings(_example(), fewest=2) == pytest.approx([0.95625])
    found = corrected(_example(), "f1", fewest=2)
    assert found.judge.value == pytest.approx(0.60)
    assert found.people.value == pytest.approx(0.58)
    assert found.estimate.value == pytest.approx(0.5035)
    low, high = found.estimate.interval or (nan, nan)
    assert (high - low) / 2 == pytest.approx(2.776445 * 0.104503, abs=2e-6)
    assert (found.labelled, found.units, found.labelled_tasks) == (5, 10, 5)


def test_few_labels_leave_the_judge_out():
    found = corrected(_example())
    assert found.estimate.value == found.people.value
    assert found.strata[0].tuning == 0
    assert "few labels" in found.notes


def test_small_strata_share_one_weight_of_the_judge():
    dice = np.random.default_rng(1)
    units: list[Unit] = []
    for layer, labels in (("x", 6), ("y", 7), ("z", 30)):
        judge = dice.uniform(size=40)
        people = judge * 0.8 + dice.normal(0, 0.05, 40)
        units += [
            Unit(f"t{at}", len(units) + at, judge[at], people[at] if at < labels else None, layer)
            for at in range(40)
        ]
    x, y, z = tunings(Units.of(units))
    assert x == y != z
    assert 0.6 < x <= 1


@st.composite
def populations(draw: st.DrawFn) -> list[Unit]:
    """Any population with a label in each stratum and several tasks."""
    layers = draw(st.integers(1, 3))
    unit = st.tuples(
        st.integers(0, 5), st.integers(0, 2), st.floats(0, 1), st.floats(0, 1), st.booleans()
    )
    drawn = draw(st.lists(unit, min_size=12, max_size=60))
    return [
        Unit(
            f"t{task}",
            at // 2,
            judge,
            people if labelled or at < layers else None,
            str(at % layers if at < layers else layer % layers),
            chance=0.2 + 0.6 * judge,
        )
        for at, (task, layer, judge, people, labelled) in enumerate(drawn)
    ]


@given(populations())
def test_tasks_add_up_to_the_estimate_and_the_judge_never_widens_it(units: list[Unit]):
    columns = Units.of(units)
    found = corrected(columns)
    assert columns.weight.sum() == pytest.approx(1)
    assert found.moved.sum() == pytest.approx(found.estimate.value, abs=1e-9)
    alone = WeightedEstimate.of(columns, np.zeros(len(columns.strata)))
    assert standard_error(found.moved) <= alone.error + 1e-9
    if found.estimate.interval and found.people.interval:
        wide = found.estimate.interval[1] - found.estimate.interval[0]
        assert wide <= found.people.interval[1] - found.people.interval[0] + 1e-9


@given(populations())
def test_everything_labelled_is_the_mean_of_people(units: list[Unit]):
    every = [
        one._replace(people=(one.judge or 0.0) / 2 if one.people is None else one.people)
        for one in units
    ]
    columns = Units.of(every)
    found = corrected(columns)
    mean = float(columns.weight @ columns.people)
    assert found.whole
    assert found.estimate.value == pytest.approx(mean, abs=1e-9)
    by_task = np.bincount(columns.task, columns.weight * columns.people).astype(np.float64)
    assert standard_error(found.moved) == pytest.approx(standard_error(by_task), abs=1e-9)
    if found.here.interval:
        assert found.here.interval == pytest.approx((mean, mean), abs=1e-9)


@given(populations(), st.randoms())
def test_names_and_order_of_units_tasks_and_strata_do_not_matter(units: list[Unit], dice: Random):
    before = corrected(Units.of(units))
    renamed = [
        one._replace(
            task=f"{9 - int(one.task[1:])}x", stratum=f"{9 - int(one.stratum)}", trial=one.trial + 7
        )
        for one in units
    ]
    dice.shuffle(renamed)
    after = corrected(Units.of(renamed))
    assert after.estimate.value == pytest.approx(before.estimate.value, abs=1e-9)
    assert after.estimate.interval == pytest.approx(before.estimate.interval, abs=1e-9)


def test_a_task_weighs_the_same_with_more_trials_and_a_trial_with_more_items():
    units = Units.of(
        [
            Unit("one", 1, 1.0, part=0.5),
            Unit("one", 1, 1.0, part=0.5),
            Unit("one", 1, 0.0),
            Unit("one", 2, 1.0),
            Unit("two", 3, 0.0),
            Unit("two", 3, None),
        ]
    )
    assert units.weight == pytest.approx([0.0625, 0.0625, 0.125, 0.25, 0.5])
    assert units.left_open == 1


def test_a_stratum_without_labels_has_no_estimate_and_is_named():
    units = [Unit(f"t{at}", at, 0.5, 0.5, "open" if at else "closed") for at in range(8)]
    units += [Unit(f"t{at}", 20 + at, 0.5, None, "bare") for at in range(8)]
    found = corrected(Units.of(units))
    assert found.estimate.value is None
    assert "bare" in found.estimate.reason
    assert "50%" in found.estimate.reason
    assert found.judge.value == pytest.approx(0.5)


def test_a_single_label_has_no_interval_unless_it_is_all_of_its_stratum():
    units = [Unit(f"t{at}", at, at / 9, at / 10, "many") for at in range(9)]
    units += [Unit("t1", 20, 0.3, 0.5, "one"), Unit("t2", 21, 0.3, None, "one")]
    found = corrected(Units.of(units))
    assert found.estimate.value is not None
    assert found.estimate.interval is None
    assert "one" in found.estimate.no_interval
    assert corrected(Units.of(units[:-1])).estimate.interval


def test_fewer_than_five_labelled_tasks_have_no_interval():
    units = [Unit(f"t{at % 8}", at, at / 30, at / 40 if at % 8 < 4 else None) for at in range(24)]
    found = corrected(Units.of(units))
    assert found.estimate.value is not None
    assert "5" in found.estimate.no_interval


def test_a_constant_judge_and_one_against_people_are_left_out():
    constant = [Unit(f"t{at}", at, 0.5, at / 20 if at % 2 else None) for at in range(20)]
    found = corrected(Units.of(constant))
    assert found.estimate.value == pytest.approx(found.people.value)
    assert any("same of all" in note for note in found.notes)
    against = [Unit(f"t{at}", at, 1 - at / 40, at / 40 if at % 2 else None) for at in range(40)]
    assert corrected(Units.of(against)).strata[0].tuning == 0


def test_a_share_that_no_task_changes_has_wilsons_interval():
    units = [Unit(f"t{at}", at, 1.0, 1.0 if at % 2 else None) for at in range(20)]
    found = corrected(Units.of(units), share=True)
    assert found.estimate.interval == pytest.approx((0.7225, 1.0), abs=1e-3)
    assert corrected(Units.of(units)).estimate.no_interval == "no task differs"


def test_a_judge_by_whom_no_task_differs_leaves_the_interval_of_people():
    """Wilson's interval, or none, would be wider than what labels alone tell."""
    units = [
        Unit(task, n, float(n < 2), None if n == 1 and task > "b" else float(n < 2), "", 0.8)
        for task in "abcde"
        for n in range(3)
    ]
    for share in (True, False):
        told = corrected(Units.of(units), share=share)
        assert told.strata[0].tuning == 0
        assert told.estimate == told.people
        assert told.estimate.low is not None
        assert "the judge does not help here" in told.notes
    halves = Units.of(
        [
            unit._replace(judge=unit.judge / 2, people=unit.people and unit.people / 2)
            for unit in units
        ]
    )
    both = difference(Units.of(units), halves)
    assert both.low is not None


def test_nothing_judged_and_nothing_labelled_say_so():
    assert corrected(Units.of([])).estimate.reason == "nothing is judged"
    assert corrected(Units.of([Unit("t", 1, 0.5)])).estimate.reason == "nothing of it is labelled"


def test_two_agents_are_compared_on_their_common_tasks():
    dice = np.random.default_rng(3)
    level = dice.uniform(size=40)

    def agent(shift: float, tasks: range) -> Units:
        return Units.of(
            Unit(f"t{at:02}", at, level[at] + 0.1, level[at] * (1 - shift) if at % 2 else None)
            for at in tasks
        )

    one, other = agent(0.0, range(40)), agent(0.2, range(4, 40))
    found = difference(one, other)
    mean = level[4:].mean()
    assert found.value == pytest.approx(0.2 * mean, abs=0.02)
    assert found.n == 36
    low, high = found.interval or (nan, nan)
    wide = corrected(one).estimate.interval or (nan, nan)
    assert high - low < 0.3 * (wide[1] - wide[0])
    both = joint({"one": one, "other": other})
    assert not isinstance(both, str)
    assert both.values[0] - both.values[1] == pytest.approx(found.value)
    assert both.moved.sum(axis=1) == pytest.approx(both.values)
    # 18 tasks of the second have labels; with all of them there is nothing that two figures are fitted to.
    assert (both.labelled_tasks, both.whole, both.widening) == (18, False, 18 / 16)
    every = Units.of(Unit(f"t{at:02}", at, level[at], level[at] + 0.1) for at in range(12))
    whole = joint({"one": every, "other": every})
    assert not isinstance(whole, str)
    assert (whole.whole, whole.widening) == (True, 1.0)
    assert difference(one, agent(0, range(0))).reason == "no task in common"


def test_intervals_hold_the_truth_and_are_narrower_with_a_good_judge():
    dice = np.random.default_rng(20)
    tasks, samples, labels, studies = 40, 3, 40, 300
    held = 0
    ratio: list[float] = []
    error: list[float] = []
    for _study in range(studies):
        mean = dice.beta(2, 2, tasks)
        people = np.clip(np.repeat(mean, samples) + dice.normal(0, 0.15, tasks * samples), 0, 1)
        judge = np.clip(people + 0.06 + dice.normal(0, 0.06, len(people)), 0, 1)
        chosen = set(dice.permutation(len(people))[:labels].tolist())
        units = Units.of(
            Unit(f"{at // samples:03}", at, judge[at], people[at] if at in chosen else None)
            for at in range(len(people))
        )
        found = corrected(units)
        low, high = found.estimate.interval or (nan, nan)
        plain = found.people.interval or (nan, nan)
        held += low <= 0.5 <= high
        ratio.append((high - low) / (plain[1] - plain[0]))
        error.append((found.estimate.value or 0) - 0.5)
    assert 0.91 <= held / studies <= 0.98
    assert np.mean(ratio) < 0.85
    assert abs(np.mean(error)) < 0.01


@given(populations())
def test_units_alike_may_be_told_by_one_that_counts_for_all(units: list[Unit]):
    rounded = [one._replace(judge=float(round(one.judge or 0)), chance=0.5) for one in units]
    before = corrected(Units.of(rounded))
    alike = Counter(one for one in rounded if one.people is None)
    told = [one for one in rounded if one.people is not None]
    told += [one._replace(part=float(n), alike=n) for one, n in alike.items()]
    after = corrected(Units.of(told))
    assert after.estimate.value == pytest.approx(before.estimate.value, abs=1e-9)
    assert after.estimate.interval == pytest.approx(before.estimate.interval, abs=1e-9)
    assert after.here.interval == pytest.approx(before.here.interval, abs=1e-9)
    assert after.units == before.units
