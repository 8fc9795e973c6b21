"""Scores by the judge and by people, against figures computed by hand."""

from __future__ import annotations

import pytest

from cuecard.annotate.labelling.comparison import compare, effect_of
from cuecard.annotate.labelling.comparison_inputs import Scope, gather
from cuecard.annotate.labelling.comparison_model import circumstances
from cuecard.annotate.labelling.corrections import Correction
from cuecard.annotate.labelling.effect_tables import Effect, MeasureEffect
from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.label_records import LabelValue
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.table import Statistic
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from effect_runs import LABELS, judged_run, label, triple

SIX = ["yyyn"] * 6


def triplet(effect: Effect, name: str, taken: Taken = Taken.AVG) -> MeasureEffect:
    found = effect.groups[0].measure(f"triplet_{name}", taken)
    assert found is not None
    return found


def value(statistic: Statistic | None) -> float:
    assert statistic is not None
    assert statistic.value is not None
    return statistic.value


def corrected(effect: Effect, name: str, taken: Taken = Taken.AVG) -> Correction:
    found = triplet(effect, name, taken).corrected
    assert found is not None
    return found


def reason(statistic: Statistic | None) -> str:
    assert statistic is not None
    return statistic.reason


def test_known_answer(workspace: Workspace) -> None:
    # Judge: recall, precision and F1 of 3/4 on each of six tasks, the fifth with an unjudged triple more.
    run, trials = judged_run(workspace, {"alpha": [*SIX[:5], "yyy?"]})
    label(workspace, trials["alpha", 0], "n---")
    label(workspace, trials["alpha", 1], "---y")
    label(workspace, trials["alpha", 2], "y-?-")
    label(workspace, trials["alpha", 3], "n---", "Ann")
    label(workspace, trials["alpha", 3], "y---", "Bob")
    label(workspace, trials["alpha", 5], "---n")
    effect = effect_of(workspace, [run], "strict")
    [group] = effect.groups
    recall, precision, f1 = (triplet(effect, name) for name in ("recall", "precision", "f1"))
    assert recall.judge.value == pytest.approx((5 * 0.75 + 1) / 6)
    # 0: 2 of 4. 1: 4 of 4, the fourth without support. 2, 3, 4 as judged. 5: 3 of 4.
    assert recall.people.value == pytest.approx((0.5 + 1 + 4 * 0.75) / 6)
    assert recall.difference.value == pytest.approx((-0.25 + 0.25 - 0.25) / 6)
    assert precision.people.value == pytest.approx((0.5 + 5 * 0.75) / 6)
    assert f1.people.value == pytest.approx((0.5 + 2 * 0.75 / 1.75 + 4 * 0.75) / 6)
    low, high = recall.difference.interval or (1, -1)
    assert low < value(recall.difference) < high
    [counts] = group.items
    assert (counts.settled, counts.changed, counts.undecided, counts.open) == (4, 2, 1, 2)
    assert counts.no_support == 2 - 1
    assert (group.decided, group.settled, group.labelled_trials) == (23, 3, 4)
    assert {measure.taken for measure in group.measures} == {Taken.AVG}
    assert effect.sets == ()
    assert recall.corrected is None
    assert (effect.people, effect.judges) == (("Ann", "Bob"), ("strict",))


def test_an_adjudication_goes_before_labels(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"alpha": SIX})
    for n in range(3):
        label(workspace, trials["alpha", n], "nn--", "Ann")
        label(workspace, trials["alpha", n], "nn--", "Bob")
    workspace.adjudications.add(trials["alpha", 0], triple(0), "Cas", LabelValue.YES, "human_slip")
    workspace.adjudications.add(trials["alpha", 1], triple(0), "Cas", LabelValue.UNSURE)
    workspace.adjudications.add(trials["alpha", 2], triple(3), "Cas", LabelValue.YES, "gold_wrong")
    effect = effect_of(workspace, [run], "strict")
    recall = triplet(effect, "recall")
    # 0: one of two labels holds. 1: one holds, one is left to the judge. 2: two hold, one is added.
    assert recall.people.value == pytest.approx((0.5 + 0.5 + 0.5 + 3 * 0.75) / 6)
    [counts] = effect.groups[0].items
    assert (counts.settled, counts.adjudicated, counts.changed) == (6, 2, 5)
    assert (counts.open, counts.gold_wrong) == (1, 1)


def test_what_people_say_of_predicted_triples_moves_precision(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"alpha": SIX})
    for index, said in ((0, LabelValue.NO), (1, LabelValue.NO), (3, LabelValue.YES)):
        item = Item(kind=ItemKind.PREDICTED, index=index)
        workspace.verdicts.label_item(trials["alpha", 0], item, "Ann", said)
    effect = effect_of(workspace, [run], "strict")
    precision, recall = triplet(effect, "precision"), triplet(effect, "recall")
    assert precision.people.value == pytest.approx((5 * 0.75 + 0.5) / 6)
    assert recall.people.value == recall.judge.value
    assert recall.difference.value == 0
    assert recall.difference.no_interval


def test_whether_the_order_of_agents_changes(workspace: Workspace) -> None:
    # Alpha above beta on every task; people find beta's third triple covered on all but the last.
    run, trials = judged_run(workspace, {"alpha": SIX, "beta": ["yynn"] * 6, "gamma": SIX})
    for n in range(6):
        label(workspace, trials["beta", n], "--yy" if n < 5 else "--nn")
        label(workspace, trials["gamma", n], "yyyn")
    [ranking] = effect_of(workspace, [run], "strict").rankings
    ranks = {one.agent: (one.judge_rank, one.people_rank) for one in ranking.agents}
    assert ranks == {"alpha": (1, 1), "beta": (3, 3), "gamma": (1, 1)}
    for n in range(6):
        item = Item(kind=ItemKind.PREDICTED, index=2)
        workspace.verdicts.label_item(trials["beta", n], item, "Ann", LabelValue.YES)
        item = Item(kind=ItemKind.PREDICTED, index=3)
        workspace.verdicts.label_item(trials["beta", n], item, "Ann", LabelValue.YES)
    [ranking] = effect_of(workspace, [run], "strict").rankings
    ranks = {one.agent: (one.judge_rank, one.people_rank) for one in ranking.agents}
    assert ranks == {"alpha": (1, 2), "beta": (3, 1), "gamma": (1, 2)}
    assert ranking.changes
    pairs = {(pair.left, pair.right): pair for pair in ranking.pairs}
    assert (pairs["alpha", "beta"].judge, pairs["alpha", "beta"].people) == ("above", "below")
    assert pairs["alpha", "gamma"].judge == "level"
    assert pairs["alpha", "gamma"].same.value == 1
    # Only resamples with the last task nearly everywhere keep beta below by people.
    assert value(pairs["alpha", "beta"].same) < 0.05
    few, _trials = judged_run(workspace, {"alpha": SIX[:2], "beta": SIX[:2]})
    [ranking] = effect_of(workspace, [few], "strict").rankings
    assert ranking.pairs[0].same.reason == "fewer than 5 tasks in common"


def test_a_sample_speaks_for_everything_by_its_weights(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"alpha": SIX})
    plan = SamplingPlan(runs=(run,), n=8, strata=("decision",), allocation="equal", judge="strict")
    drawn = make_set(workspace, plan, name="half", by="Ann")
    items = workspace.label_sets.items(drawn.id)
    covered = [item for item in items if item.probability == pytest.approx(4 / 18)]
    missed = [item for item in items if item.probability == pytest.approx(4 / 6)]
    assert (len(covered), len(missed)) == (4, 4)
    effect = effect_of(workspace, [run], "strict")
    assert effect.sets == ()
    # One of four covered ones is wrong, and one of the missed that are labelled is right.
    for item, said in [
        *zip(covered, "nyyy", strict=True),
        *zip(missed[:2], "yn", strict=True),
    ]:
        workspace.verdicts.label_item(item.trial_id, item.item, "Ann", LABELS[said])
    effect = effect_of(workspace, [run], "strict")
    recall = triplet(effect, "recall")
    told = corrected(effect, "recall")
    # 18 covered lose a quarter, 6 missed gain a half, of 24 in all.
    assert value(told.shift) == pytest.approx((-18 / 4 + 6 / 2) / 24)
    assert value(told.corrected) == pytest.approx(0.75 - 1.5 / 24)
    assert recall.people.value == pytest.approx(0.75)
    assert (told.labelled, told.units, told.basis, told.set_name) == (6, 24, "items", "half")
    assert value(told.people) == pytest.approx(0.75 - 1.5 / 24)
    assert [(one.id, one.drawn, one.settled) for one in effect.sets] == [(drawn.id, 8, 6)]
    assert reason(corrected(effect, "precision").corrected) == "needs a set drawn by trials"
    assert reason(corrected(effect, "f1").corrected) == "needs a set drawn by trials"
    other, _trials = judged_run(workspace, {"alpha": SIX})
    both = corrected(effect_of(workspace, [run, other], "strict"), "recall")
    assert reason(both.corrected) == "the set was not drawn from all of these runs"


def percent(workspace: Workspace, set_id: int) -> float:
    """What `agree --set` says of the first pair, the judge and people."""
    found = compare(gather(workspace, Scope(set_id=set_id)), resamples=50)
    assert found.weighted
    return value(found.pairs[0].statistic("percent"))


def test_agreement_on_a_set_weighs_what_is_not_labelled_as_the_effect_does(
    workspace: Workspace,
) -> None:
    run, _trials = judged_run(workspace, {"alpha": SIX})
    plan = SamplingPlan(runs=(run,), n=8, strata=("decision",), allocation="equal", judge="strict")
    drawn = make_set(workspace, plan, name="half", by="Ann")
    items = workspace.label_sets.items(drawn.id)
    covered = [item for item in items if item.stratum == "yes"]
    missed = [item for item in items if item.stratum == "no"]
    # All of the covered ones are labelled, one of them wrong; two of the four missed, one more left open.
    for item, said in [*zip(covered, "nyyy", strict=True), *zip(missed[:3], "nn?", strict=True)]:
        workspace.verdicts.label_item(item.trial_id, item.item, "Ann", LABELS[said])
    recall = corrected(effect_of(workspace, [run], "strict"), "recall")
    # A quarter of 18 items of 24 changed, all from covered to not covered.
    assert value(recall.shift) == pytest.approx(-18 / 4 / 24)
    assert 1 - percent(workspace, drawn.id) == pytest.approx(-value(recall.shift))


def test_only_items_of_the_same_kind_stand_for_one_another(workspace: Workspace) -> None:
    """A set of triples and predicted triples of which only triples are labelled: all of these are."""
    run, _trials = judged_run(workspace, {"alpha": SIX})
    kinds = (ItemKind.TRIPLE, ItemKind.PREDICTED)
    plan = SamplingPlan(runs=(run,), n=99, kinds=kinds, judge="strict")
    drawn = make_set(workspace, plan, name="both", by="Ann")
    triples = [
        each for each in workspace.label_sets.items(drawn.id) if each.item.kind is ItemKind.TRIPLE
    ]
    for n, item in enumerate(triples):
        said = LabelValue.NO if n < 4 else LabelValue.YES
        workspace.verdicts.label_item(item.trial_id, item.item, "Ann", said)
    effect = effect_of(workspace, [run], "strict")
    recall = triplet(effect, "recall")
    assert value(corrected(effect, "recall").shift) == pytest.approx(value(recall.difference))
    # No predicted triple is labelled, but with all gold ones decided precision follows from what supports them.
    precision = triplet(effect, "precision")
    assert value(corrected(effect, "precision").corrected) == pytest.approx(value(precision.people))


def test_a_stratum_without_labels_is_named(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"alpha": SIX})
    plan = SamplingPlan(runs=(run,), n=8, strata=("decision",), judge="strict")
    drawn = make_set(workspace, plan, name="", by="Ann")
    for item in workspace.label_sets.items(drawn.id):
        if item.stratum == "yes":
            workspace.verdicts.label_item(item.trial_id, item.item, "Ann", LabelValue.YES)
    found = compare(gather(workspace, Scope(set_id=drawn.id)), resamples=50)
    assert found.bare == (("no", pytest.approx(0.25)),)
    assert any("share of the items: no (25%)." in line for line in circumstances(found))


def test_an_unlabelled_stratum_leaves_the_rest_unknown(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"alpha": SIX})
    plan = SamplingPlan(runs=(run,), n=8, strata=("decision",), judge="strict")
    drawn = make_set(workspace, plan, name="", by="Ann")
    for item in workspace.label_sets.items(drawn.id):
        if item.stratum == "yes":
            workspace.verdicts.label_item(item.trial_id, item.item, "Ann", LabelValue.YES)
    recall = corrected(effect_of(workspace, [run], "strict", drawn.id), "recall")
    assert reason(recall.corrected) == "no label in stratum “no”, which has 25% of the weight"


def test_a_sample_of_everything_is_everything(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"alpha": [*SIX[:4], "nnnn", "yyyy"]})
    plan = SamplingPlan(runs=(run,), n=99, strata=("decision", "task"), judge="strict")
    make_set(workspace, plan, name="", by="Ann")
    for n in range(6):
        label(workspace, trials["alpha", n], "ynyn")
    effect = effect_of(workspace, [run], "strict")
    recall, told = triplet(effect, "recall"), corrected(effect, "recall")
    assert value(recall.people) == pytest.approx(0.5)
    assert value(told.corrected) == pytest.approx(0.5)
    assert value(told.shift) == pytest.approx(value(recall.difference))
    # By trials there is nothing left to draw either, so that what is no share of items is people's too.
    f1 = triplet(effect, "f1")
    assert value(corrected(effect, "f1").corrected) == pytest.approx(value(f1.people))
    assert corrected(effect, "f1").whole


def test_trials_labelled_whole_correct_what_is_no_share_of_items(workspace: Workspace) -> None:
    # Of two agents on eight tasks the judge accepts three of four; people find another one wrong everywhere.
    run, trials = judged_run(workspace, {"alpha": ["yyyn"] * 8, "beta": ["yynn"] * 8})
    plan = SamplingPlan(runs=(run,), n=12, by="trials", strata=("agent",), judge="strict")
    make_set(workspace, plan, name="whole", by="Ann")
    drawn = {item.trial_id for item in workspace.label_sets.items(1)}
    ours = {key: trial for key, trial in trials.items() if trial in drawn}
    assert sum(agent == "alpha" for agent, _n in ours) == 6
    for (agent, n), trial in ours.items():
        if agent == "alpha":
            # One is only begun: half of its items are no label of the trial.
            label(workspace, trial, "nyy-" if (agent, n) == min(ours) else "nyyn")
    effect = effect_of(workspace, [run], "strict")
    told = corrected(effect, "f1")
    assert (told.labelled, told.units, told.basis) == (5, 8, "trials")
    assert value(told.judge) == pytest.approx(0.75)
    assert value(told.corrected) == pytest.approx(0.5)
    assert told.corrected.no_interval == "no task differs"
    assert value(corrected(effect, "recall").people) == pytest.approx(0.5)
    [ranked] = effect.rankings
    assert [(one.agent, one.corrected, one.corrected_rank) for one in ranked.agents] == [
        ("alpha", pytest.approx(0.5), 1),
        ("beta", None, None),
    ]
    beta = effect.groups[1].measure("triplet_f1")
    assert beta is not None
    assert beta.corrected is None


def test_the_best_of_several_samples_needs_all_of_a_task(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"alpha": ["yynn", "yyyn"] * 6}, samples=2)
    plan = SamplingPlan(runs=(run,), n=99, by="trials", judge="strict")
    make_set(workspace, plan, name="", by="Ann")
    order = sorted(trials.values())
    for trial in order[::2]:
        label(workspace, trial, "yynn")
    effect = effect_of(workspace, [run], "strict")
    best = corrected(effect, "f1", Taken.BEST)
    assert reason(best.corrected) == "needs all 2 samples of a task labelled"
    for trial in order[1::2]:
        label(workspace, trial, "ynnn")
    effect = effect_of(workspace, [run], "strict")
    best = corrected(effect, "f1", Taken.BEST)
    assert (best.basis, best.units, best.whole) == ("tasks", 6, True)
    assert value(best.judge) == pytest.approx(0.75)
    assert value(best.corrected) == pytest.approx(0.5)


def test_a_set_that_may_stop_early_has_no_interval_of_fixed_size(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"alpha": ["yyyn", "yynn", "ynnn"] * 4})
    plan = SamplingPlan(runs=(run,), n=40, half_width=0.1, judge="strict")
    drawn = make_set(workspace, plan, name="", by="Ann")
    items = workspace.label_sets.items(drawn.id)
    for n, item in enumerate(items):
        if n:
            said = LabelValue.YES if n % 3 else LabelValue.NO
            workspace.verdicts.label_item(item.trial_id, item.item, "Ann", said)
    told = corrected(effect_of(workspace, [run], "strict"), "recall")
    assert "labels status" in told.corrected.no_interval
    workspace.verdicts.label_item(items[0].trial_id, items[0].item, "Ann", LabelValue.NO)
    assert corrected(effect_of(workspace, [run], "strict"), "recall").corrected.interval
