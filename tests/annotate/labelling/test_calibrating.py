"""A run's shares corrected by the same judge's errors on other labels."""

from __future__ import annotations

import pytest

from cuecard.annotate.labelling.calibrating import calibrate, calibrate_elsewhere, calibration_table
from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.errors import CuecardError
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace
from effect_runs import JUDGE, judged_run, label


def two_runs(workspace: Workspace) -> tuple[int, int]:
    """In the first, six of ten that the judge accepts are right, and one of ten that it refuses, by people; the second has
    no labels, and the judge accepts seven of ten.
    """
    first, trials = judged_run(workspace, {"a": ["y" * 10 + "n" * 10] * 10})
    for trial in trials.values():
        label(workspace, trial, "y" * 6 + "n" * 4 + "y" + "n" * 9)
    second, _trials = judged_run(workspace, {"b": ["y" * 7 + "n" * 3] * 6})
    return first, second


def test_known_answer(workspace: Workspace) -> None:
    first, second = two_runs(workspace)
    found = calibrate(workspace, [second], JUDGE.name, from_runs=[first])
    [one] = found.rates
    assert (one.agent, one.n, one.rate.judged) == ("b", 60, 0.7)
    errors = one.rate.errors
    assert (errors.sensitivity, errors.specificity) == pytest.approx((6 / 7, 9 / 13))
    # (.7 + 9/13 - 1) / (9/13 + 6/7 - 1)
    assert one.rate.corrected.value == pytest.approx(0.714, abs=0.0005)
    # All tasks are alike, so nothing more than chance is alike within one: 70 true and 130 false items count.
    assert (errors.true, errors.false) == pytest.approx((70, 130))
    table = calibration_table(found)
    assert f"Assumes that {JUDGE.name} errs here as often as on run {first}" in table.notes[0]


def test_a_set_drawn_with_unequal_chances_is_weighted(workspace: Workspace) -> None:
    first, _trials = judged_run(workspace, {"a": ["y" * 10 + "n" * 30] * 8})
    second, _trials = judged_run(workspace, {"b": ["y" * 7 + "n" * 3] * 6})
    plan = SamplingPlan(runs=(first,), n=120, strata=("decision",), allocation="equal")
    made = make_set(workspace, plan, name="", by="Ann")
    missed = 0
    for item in workspace.label_sets.items(made.id):
        # A tenth of what the judge refuses is right, and all that it accepts.
        index = item.item.index
        value = LabelValue.YES if index < 10 or index in (10, 20, 30) else LabelValue.NO
        missed += index in (10, 20, 30)
        workspace.verdicts.label_item(item.trial_id, item.item, "Ann", value)
    [one] = calibrate(workspace, [second], JUDGE.name, from_set=made.id).rates
    # 60 of 80 that it accepts and 60 of 240 that it refuses were drawn.
    assert missed
    assert one.rate.errors.sensitivity == pytest.approx(80 / (80 + 4 * missed))
    assert one.rate.errors.specificity == 1


def test_labels_have_to_be_from_elsewhere_and_of_this_judge(workspace: Workspace) -> None:
    first, second = two_runs(workspace)
    with pytest.raises(CuecardError, match="not from elsewhere"):
        calibrate(workspace, [first, second], JUDGE.name, from_runs=[first])
    with pytest.raises(CuecardError, match="nothing to calibrate by"):
        calibrate(workspace, [second], "another", from_runs=[first])


def test_elsewhere_is_every_other_run_with_labels(workspace: Workspace) -> None:
    first, second = two_runs(workspace)
    judged_run(workspace, {"c": ["y" * 5] * 6})
    assert calibrate_elsewhere(workspace, [second]) == (
        calibrate(workspace, [second], JUDGE.name, from_runs=[first]),
    )
    # Of the labelled run itself nothing is known from elsewhere.
    assert calibrate_elsewhere(workspace, [first]) == ()
