"""Paired comparisons, with differences, wins, probabilities and costs counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.results.comparison_tables import comparison_tables
from cuecard.annotate.results.comparisons import compare, comparisons
from cuecard.annotate.results.paired_differences import sign_test
from cuecard.annotate.results.scores import score_table
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.texts import as_markdown
from result_rows import pool, row, run

ALPHA = (0.2, 0.4, 0.4, 0.6, 0.8, 1.0)
BETA = (0.4, 0.6, 0.4, 0.8, 0.7, 1.0)


def f1(agent: str, task: str, value: float | None, sample: int = 0, **more):
    return row(agent, task, {"triplet_f1": value}, sample, **more)


def both(**more):
    return [
        *(
            f1("alpha", f"t{n}", value, cost=0.1, tokens=100, **more)
            for n, value in enumerate(ALPHA)
        ),
        *(f1("beta", f"t{n}", value, cost=0.3, tokens=400, **more) for n, value in enumerate(BETA)),
    ]


def only(found):
    (contrast,) = found.contrasts
    return contrast


def test_the_difference_by_hand():
    found = compare(pool(*both()), "agent", family="graph")
    assert (found.measure, found.base, [arm.name for arm in found.arms]) == (
        "triplet_f1",
        "alpha",
        ["alpha", "beta"],
    )
    one = only(found)
    # The differences are 0.2, 0.2, 0, 0.2, -0.1, 0: 0.5 over 6 tasks.
    assert one.base_mean.value == pytest.approx(3.4 / 6)
    assert one.arm_mean.value == pytest.approx(3.9 / 6)
    assert one.difference.value == pytest.approx(0.5 / 6)
    assert one.difference.n == 6
    low, high = one.difference.interval
    assert -0.1 < low < 0.5 / 6 < high < 0.2001
    assert (one.wins, one.ties, one.losses) == (3, 2, 1)
    # Of four tasks that differ, at most one goes the other way: 2 (1 + 4) / 16.
    assert one.sign_test == pytest.approx(0.625)
    assert [(task.task, round(task.difference, 6)) for task in one.tasks[:4]] == [
        ("t0", 0.2),
        ("t1", 0.2),
        ("t3", 0.2),
        ("t4", -0.1),
    ]
    assert one.spending.base_cost.value == pytest.approx(0.1)
    assert one.spending.arm_tokens.value == 400
    # 0.2 more for 100 * 0.5 / 6 points.
    assert one.spending.cost_per_point.value == pytest.approx(0.2 / (100 * 0.5 / 6))
    assert compare(pool(*both()), "agent", "beta", family="graph").base == "beta"


def test_a_mean_has_the_interval_of_score_tables_whatever_it_is_held_against():
    gamma = [f1("gamma", f"t{n}", value / 2, cost=0.7) for n, value in enumerate(BETA)]
    every = pool(*both(), *gamma)
    found = compare(every, "agent", family="graph")
    lines = score_table(every, ("agent",), ("triplet_f1", "cost")).lines
    told = {line.value("agent"): line.figures for line in lines}
    for each in found.contrasts:
        assert each.base_mean == told["alpha"]["triplet_f1.avg"]
        assert each.arm_mean == told[each.arm]["triplet_f1.avg"]
        assert each.spending.base_cost == told["alpha"]["cost.avg"]


def test_why_a_point_has_no_price():
    def reason(rows, base: str, measure: str | None = None) -> str:
        found = compare(pool(*rows), "agent", base, family="graph", measure=measure)
        return only(found).spending.cost_per_point.reason

    assert reason(both(), "beta") == "nothing is gained"
    assert reason(both(), "alpha", "tokens") == "the measure is no share"
    assert reason(
        [*both()[:6], *(f1("beta", f"t{n}", v) for n, v in enumerate(BETA))], "alpha"
    ) == ("no price for some of the calls")
    cheap = [f1("beta", f"t{n}", v, cost=0.05) for n, v in enumerate(BETA)]
    assert reason([*both()[:6], *cheap], "alpha") == "gained at no extra cost"


def test_the_sign_test():
    assert sign_test(0, 0) is None
    assert sign_test(4, 1) == pytest.approx(2 * (1 + 5) / 32)
    assert sign_test(8, 0) == pytest.approx(2 / 256)
    assert sign_test(3, 3) == 1.0


def test_fewer_failures_are_better():
    rows = [
        row(agent, f"t{n}", {"triplet_f1": 0.5, "format_failure": value})
        for agent, values in (("alpha", (1.0, 0.0, 0.0)), ("beta", (0.0, 0.0, 1.0)))
        for n, value in enumerate(values)
    ]
    one = only(compare(pool(*rows), "agent", family="graph", measure="format_failure"))
    assert (one.wins, one.ties, one.losses, one.difference.value) == (1, 1, 1, 0.0)


def test_only_tasks_of_both_count_and_the_others_are_told():
    rows = [
        *both(),
        f1("alpha", "mine", 0.0),
        f1("beta", "theirs", 0.0),
        f1("beta", "theirs-too", 0.0),
        f1("alpha", "moved", 0.0, revision=1),
        f1("beta", "moved", 1.0, revision=2),
        f1("alpha", "void", None),
        f1("beta", "void", 1.0),
        row("beta", "t0", None, 1),
        row("alpha", "t0", None, 1, termination=None),
    ]
    one = only(compare(pool(*rows), "agent", family="graph"))
    assert one.difference.value == pytest.approx(0.5 / 6)
    out = one.left_out
    assert (out.base_only, out.arm_only) == (("mine",), ("theirs", "theirs-too"))
    assert (out.other_revisions, out.undefined) == (("moved",), ("void",))
    assert (out.unjudged_base, out.unjudged_arm, out.open_base, out.open_arm) == (0, 1, 1, 0)
    text = "\n".join(
        map(as_markdown, comparison_tables([compare(pool(*rows), "agent", family="graph")]))
    )
    assert "| beta against alpha | 2 | 1 | 1 | 1 | 0 | 1 | 1 |" in text
    assert "beta against alpha: only the arm has theirs, theirs-too." in text
    assert "of other revisions: moved" in text


def test_settings_are_compared_within_agents():
    """Guided is better by 0.1 for each agent; alone the better agent played most of it."""
    first, second = run(1, "plain"), run(2, "told")
    rows = []
    for n in range(5):
        task = f"t{n}"
        rows += [
            f1("weak", task, 0.2, setting="neutral", of=first),
            f1("weak", task, 0.3, setting="guided", of=second),
            f1("strong", task, 0.7, setting="neutral", of=first),
            f1("strong", task, 0.8, setting="guided", of=second),
            f1("strongest", task, 1.0, setting="guided", of=second),
        ]
    found = compare(pool(*rows), "setting", family="graph")
    one = only(found)
    assert (one.base, one.arm) == ("neutral", "guided")
    assert one.difference.value == pytest.approx(0.1)
    assert one.base_mean.value == pytest.approx(0.45)
    assert one.within == ("agent",)
    # Runs differ, and cannot be told from settings.
    assert one.differs == {"run": (("00000001",), ("00000002",))}
    assert (one.left_out.unpaired_base, one.left_out.unpaired_arm) == (0, 5)
    said = " ".join(found.notes)
    assert "neutral and guided also differ in run (plain against told)" in said
    assert "the same task and the same agent" in said
    assert one.difference.no_interval == "no resample differs"


def test_another_run_is_named_though_other_agents_played_in_both():
    first, second = run(1, "plain"), run(2, "later")
    rows = [
        *(f1("beta", f"t{n}", 0.5, memory="none", of=first) for n in range(5)),
        *(f1("beta", f"t{n}", 0.6, memory="local", of=second) for n in range(5)),
        *(f1("alpha", f"t{n}", 0.9, memory="none", of=second) for n in range(5)),
    ]
    one = only(compare(pool(*rows), "memory", family="graph"))
    # Of the runs of alpha, which has no partner, nothing is said.
    assert (one.within, one.differs) == (("agent",), {"run": (("00000001",), ("00000002",))})
    assert one.left_out.unpaired_base == 5


def test_what_cannot_be_paired_is_named():
    rows = [
        *(f1("alpha", f"t{n}", 0.5, user="owl") for n in range(5)),
        *(f1("beta", f"t{n}", 0.6, user="jay") for n in range(5)),
    ]
    found = compare(pool(*rows), "agent", family="graph")
    assert found.differs == ("user",)
    # That the model differs follows from the agent.
    assert "in model" not in " ".join(found.notes)
    assert compare(pool(*rows), "user", family="graph").differs == ("agent", "model")


def test_judges_are_compared_on_the_same_trials():
    rows = []
    for n in range(5):
        mine = f1("alpha", f"t{n}", 0.5, judge="owl")
        other = f1("alpha", f"t{n}", 0.8, judge="sage")
        rows += [mine, other.of_trial(mine.trial)]
        # Judged by one alone.
        rows.append(f1("alpha", f"t{n}", 1.0, 1, judge="owl"))
    one = only(compare(pool(*rows), "judge", family="graph"))
    assert one.difference.value == pytest.approx(0.3)
    assert one.left_out.unpaired_base == 5


def test_the_best_of_more_samples_is_no_fair_comparison():
    rows = [f1("alpha", f"t{n}", 0.5, s) for n in range(5) for s in range(3)]
    rows += [f1("beta", f"t{n}", 0.6) for n in range(5)]
    found = compare(pool(*rows), "agent", family="graph", taken=Taken.BEST)
    assert "up to 3 samples" in " ".join(found.notes)
    assert only(found).difference.value == pytest.approx(0.1)


def test_every_family_and_headline_has_its_comparison():
    rows = [
        *both(),
        *(
            row(a, "f", {"pass_at_1": 1.0, "fcr": v}, family="facts")
            for a, v in (("alpha", 0.0), ("beta", 1.0))
        ),
    ]
    found = comparisons(pool(*rows), "agent")
    assert [(one.family, one.measure) for one in found] == [
        ("graph", "triplet_f1"),
        ("facts", "pass_at_1"),
        ("facts", "fcr"),
    ]
    assert [one.measure for one in comparisons(pool(*rows), "agent", measures=("fcr",))] == ["fcr"]
    titles = [table.title for table in comparison_tables(found)]
    assert titles[0] == "Graph tasks: compared by agent, against alpha"


def test_an_arm_without_a_shared_task_stands_there_with_its_reason():
    rows = pool(*both(), f1("gamma", "elsewhere", 1.0))
    found = compare(rows, "agent", family="graph")
    assert [contrast.arm for contrast in found.contrasts] == ["beta", "gamma"]
    lonely = found.contrasts[1]
    assert (lonely.difference.value, lonely.difference.n, lonely.tasks) == (None, 0, ())
    assert lonely.difference.reason
    assert lonely.spending.cost_per_point.reason == "no shared task"
    assert lonely.left_out.arm_only == ("elsewhere",)
    tables = comparison_tables([found])
    assert [cell.text for cell in tables[0].lines[1][:3]] == ["Triplet F1 · gamma", "–", "0/0/0"]


def test_what_is_no_comparison():
    rows = pool(*both())
    with pytest.raises(NotAllowed, match="belongs to the task"):
        compare(rows, "language", family="graph")
    with pytest.raises(NotAllowed, match="nothing to compare: memory is"):
        compare(pool(*both(memory="none")), "memory", family="graph")
    with pytest.raises(NotFound, match=r"nobody.*alpha, beta"):
        compare(rows, "agent", "nobody", family="graph")
    with pytest.raises(NotFound, match="speed"):
        comparisons(rows, "agent", measures=("speed",))
    with pytest.raises(NotAllowed, match="No trial is judged"):
        compare(pool(row("alpha", "t", None), row("beta", "t", None)), "agent", family="graph")
    with pytest.raises(NotAllowed, match="share no judged task"):
        compare(pool(f1("alpha", "t1", 1.0), f1("beta", "t2", 1.0)), "agent", family="graph")


drawn_rows = st.lists(
    st.tuples(
        st.sampled_from(("alpha", "beta")),
        st.integers(0, 7),
        st.one_of(st.none(), st.sampled_from((0.0, 0.25, 1 / 3, 0.5, 1.0))),
        st.sampled_from(("owl", "jay")),
    ),
    min_size=2,
    max_size=24,
)


@given(drawn=drawn_rows, seed=st.randoms(use_true_random=False))
@settings(max_examples=examples(25), deadline=None)
def test_order_does_not_matter_and_exchanging_arms_turns_the_sign(drawn, seed):
    rows = [
        f1(agent, f"t{task}", value, n, user=user)
        for n, (agent, task, value, user) in enumerate(drawn)
    ]
    try:
        one = only(compare(pool(*rows), "agent", "alpha", family="graph", resamples=100))
    except (NotAllowed, NotFound):
        return
    seed.shuffle(rows)
    assert only(compare(pool(*rows), "agent", "alpha", family="graph", resamples=100)) == one
    other = only(compare(pool(*rows), "agent", "beta", family="graph", resamples=100))
    if one.difference.value is not None:
        assert other.difference.value == 0.0 - one.difference.value
        assert other.arm_mean == one.base_mean
        if one.difference.interval:
            low, high = one.difference.interval
            assert other.difference.interval == (0.0 - high, 0.0 - low)
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
    shared = {each.trial.task_id for each in rows if each.trial.agent.name == "alpha"} & {
        each.trial.task_id for each in rows if each.trial.agent.name == "beta"
    }
    assert {task.task for task in one.tasks} <= shared
