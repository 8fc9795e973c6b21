"""Where a set stands at every look: shares, order, labels to come, and what cannot be told."""

from __future__ import annotations

from collections import Counter

import pytest

from cuecard.annotate.labelling.labelling_sets import make_set, population_of
from cuecard.annotate.labelling.sampling import SamplingPlan, strata_of
from cuecard.annotate.labelling.set_look_tables import ahead, circumstances, look_tables
from cuecard.annotate.labelling.set_looks import Member, SetWatch, population_by_counts
from cuecard.core.label_records import LabelSet, LabelValue
from cuecard.store.workspace import Workspace
from effect_runs import judged_run, judgement, label


def truly(index: int) -> LabelValue:
    """What people say of a triple that the judge accepts: one in five is not covered."""
    return LabelValue.NO if index % 5 == 4 else LabelValue.YES


def drawn(workspace: Workspace, plan: SamplingPlan) -> LabelSet:
    return make_set(workspace, plan, name="looks", by="Ann")


def give(workspace: Workspace, made: LabelSet, n: int, person: str = "Ann") -> None:
    """Label the next `n` of the set."""
    for item in workspace.label_sets.queue(made.id, person, limit=n):
        workspace.verdicts.label_item(item.trial_id, item.item, person, truly(item.item.index))


def test_a_share_narrows_as_labels_come(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"a": ["y" * 20] * 10})
    plan = SamplingPlan(runs=(run,), n=120, strata=("decision",), half_width=0.08)
    made = drawn(workspace, plan)
    watch = SetWatch(workspace, made.id)
    look = watch.look()
    assert (look.drawn, look.settled, look.shares[0].share.interval) == (120, 0, (0, 1))
    assert ahead(look) == ""
    widths: list[float] = []
    for _round in range(4):
        give(workspace, made, 15)
        look = watch.look()
        # What is fed bit by bit is what is fed at once.
        assert SetWatch(workspace, made.id).look() == look
        widths.append(look.shares[0].half_width)
        low, high = look.shares[0].share.interval or (1, 0)
        assert low <= 0.8 <= high
    assert widths == sorted(widths, reverse=True)
    assert not look.reached
    assert look.more is not None
    assert 0 < look.more <= 60
    assert f"about {look.more} items more" in ahead(look)
    give(workspace, made, 60)
    look = watch.look()
    assert look.whole
    assert look.reached
    assert ahead(look) == ""
    [table] = look_tables(look)
    assert table.lines[0][0].text == "gold items that are covered"
    assert look.shares[0].share.value == pytest.approx(0.8, abs=0.08)


def test_a_changed_label_is_taken_anew(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"a": ["y" * 20] * 3})
    made = drawn(workspace, SamplingPlan(runs=(run,), n=30))
    watch = SetWatch(workspace, made.id)
    give(workspace, made, 12)
    before = watch.look().shares[0]
    item = next(one for one in workspace.label_sets.items(made.id) if one.item.index % 5 == 4)
    workspace.verdicts.label_item(item.trial_id, item.item, "Ann", LabelValue.YES)
    after = watch.look().shares[0]
    assert after != before
    assert SetWatch(workspace, made.id).look().shares[0] == after


def test_agents_are_told_apart(workspace: Workspace) -> None:
    good, bad = "y" * 20, "y" * 4 + "n" * 16
    run, _trials = judged_run(workspace, {"bad": [bad] * 8, "good": [good] * 8})
    made = drawn(workspace, SamplingPlan(runs=(run,), n=200, order=True))
    watch = SetWatch(workspace, made.id)

    def as_judged(n: int) -> None:
        for item in workspace.label_sets.queue(made.id, "Ann", limit=n):
            agent = workspace.runs.trial(item.trial_id).agent.name
            yes = (good if agent == "good" else bad)[item.item.index] == "y"
            value = LabelValue.YES if yes else LabelValue.NO
            workspace.verdicts.label_item(item.trial_id, item.item, "Ann", value)

    as_judged(15)
    look = watch.look()
    assert (look.orders[0].decided, look.orders[0].open) == ((), (("bad", "good"),))
    assert look.more
    as_judged(100)
    look = watch.look()
    assert look.orders[0].decided == (("good", "bad"),)
    assert look.reached
    assert ahead(look) == "the order of agents reached: labelling may stop here"
    assert "good is above bad" in look_tables(look)[1].notes[0]


def test_trials_count_once_people_decided_all_of_them(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"a": ["yyyyn"] * 12})
    made = drawn(workspace, SamplingPlan(runs=(run,), n=8, by="trials"))
    watch = SetWatch(workspace, made.id)
    first = workspace.label_sets.items(made.id)[0].trial_id
    label(workspace, first, "yyyy-")
    assert watch.look().shares[0].labelled == 0
    label(workspace, first, "----n")
    share = watch.look().shares[0]
    assert (share.labelled, share.size, share.share.value) == (1, 12, pytest.approx(0.8))


def test_what_was_labelled_before_the_draw_is_known(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"a": ["y" * 10] * 4})
    label(workspace, trials["a", 0], "n" * 10)
    made = drawn(workspace, SamplingPlan(runs=(run,), n=20))
    look = SetWatch(workspace, made.id).look()
    share = look.shares[0]
    assert (share.labelled, share.size) == (0, 40)
    assert look.before == look.settled > 0
    told = "of what was drawn had been labelled before"
    assert look_tables(look)[0].notes[0].startswith(f"{look.before} {told}")
    # A quarter of all is known to be wrong.
    assert share.share.interval == pytest.approx((0, 0.75))


def test_several_labels_and_those_who_cannot_tell(workspace: Workspace) -> None:
    run, _trials = judged_run(workspace, {"a": ["y" * 10] * 3})
    plan = SamplingPlan(runs=(run,), n=12, overlap=1, raters=2)
    made = drawn(workspace, plan)
    watch = SetWatch(workspace, made.id)
    give(workspace, made, 12)
    assert watch.look().settled == 0
    give(workspace, made, 11, "Bob")
    [last] = workspace.label_sets.queue(made.id, "Bob", limit=5)
    workspace.verdicts.label_item(last.trial_id, last.item, "Bob", LabelValue.UNSURE)
    other = LabelValue.NO if truly(last.item.index) is LabelValue.YES else LabelValue.YES
    workspace.verdicts.label_item(last.trial_id, last.item, "Bob", other)
    look = watch.look()
    assert (look.settled, look.unclear, look.whole) == (11, 1, True)
    assert any("cannot tell, or are level" in line for line in circumstances(look))


def test_what_cannot_be_told(workspace: Workspace) -> None:
    run, trials = judged_run(workspace, {"a": ["yyyyynnnnn"] * 4})
    own = drawn(workspace, SamplingPlan(runs=(run,), n=20, allocation="active"))
    assert "chance of its own" in SetWatch(workspace, own.id).look().reason
    made = drawn(workspace, SamplingPlan(runs=(run,), n=20, strata=("decision",)))
    unknown = workspace.label_sets.create(
        name="by hand", created_by="Ann", items=workspace.label_sets.items(made.id)
    )
    look = SetWatch(workspace, unknown.id).look()
    assert "not known how this set was drawn" in look.reason
    assert look_tables(look) == ()
    workspace.verdicts.add(trials["a", 0], judgement("yyyyyyyyyy"))
    look = SetWatch(workspace, made.id).look()
    assert "other decisions than when it was drawn" in look.reason
    assert not look.reached


@pytest.mark.parametrize(
    "changes",
    [
        {"strata": ("decision", "agent")},
        {"by": "trials", "strata": ("outcome", "family")},
        {"by": "trials"},
    ],
)
def test_counts_say_what_units_one_by_one_do(
    workspace: Workspace, changes: dict[str, object]
) -> None:
    texts = ["yyyyy", "ynyn?", "nnnnn", "?????", "yyynn"]
    run, trials = judged_run(workspace, {"a": texts, "b": texts[::-1]})
    plan = SamplingPlan.model_validate({"runs": [run], "n": 4, **changes})
    every, sizes = population_by_counts(workspace, plan, set(trials.values()))
    few, same = population_by_counts(workspace, plan, {trials["a", 1]})
    assert (
        sizes == same == {s.name: s.size for s in strata_of(population_of(workspace, plan), plan)}
    )

    def counted(members: list[Member]) -> Counter[tuple[str, str, str, float]]:
        found: Counter[tuple[str, str, str, float]] = Counter()
        for one in members:
            found[one.subject, one.agent, one.stratum, round(one.judge, 9)] += one.count
        return found

    assert counted(few) == counted(every)
    assert sum(one.count == 1 and bool(one.items) for one in few) < len(every)
