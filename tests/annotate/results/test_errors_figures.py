"""Figures of the error analysis by hand, and against the definitions in core."""

from __future__ import annotations

import random

import pytest

from cuecard.annotate.results.errors.rates import calls_class, counted, flagged, plan
from cuecard.annotate.results.errors.report import ArmErrors, error_report
from cuecard.annotate.results.pool import Row
from cuecard.core.families.checkpoints.score import Profile, StepRecord
from cuecard.core.scoring.breakdowns import BreakdownCounts
from cuecard.core.scoring.trial_score import (
    FactFigures,
    GraphFigures,
    StepFigures,
    TableFigures,
    Tally,
)
from result_rows import pool, row


def step(
    checkpoint: int = 0,
    *,
    ambiguous: bool = True,
    searches: int = 0,
    asks: int = 0,
    right: int = 0,
    before: int | None = None,
    advanced: bool = True,
) -> StepFigures:
    record = StepRecord(checkpoint, ambiguous, searches, asks, right, before, advanced)
    return StepFigures(record=record, ambiguity="version" if ambiguous else "")


def graph(gold: int, predicted: int | None, invalid: dict[str, int], **by: Tally) -> GraphFigures:
    return GraphFigures(gold=gold, predicted=predicted, relations=by, stages={}, invalid=invalid)


def measured(f1: float, compactions: int, user_turns: int, tool_calls: int) -> dict[str, float]:
    return {
        "triplet_f1": f1,
        "compactions": compactions,
        "user_turns": user_turns,
        "tool_calls": tool_calls,
    }


def arm(*rows: Row) -> ArmErrors:
    (found,) = error_report(pool(*rows)).arms
    return found


def test_graphs_by_hand():
    over = graph(4, 7, {"x": 2, "y": 1}, r=Tally(yes=2), s=Tally(yes=1, unjudged=1))
    under = graph(4, 1, {"y": 2}, r=Tally(no=2), s=Tally(no=2))
    none = graph(2, None, {}, r=Tally(no=2))
    rows = (
        row("a", "t1", measured(0.8, 1, 2, 5), graph=over),
        row("a", "t1", measured(0.2, 0, 3, 6), 1, graph=under),
        row(
            "a", "t2", measured(0, 0, 21, 0), graph=none, handed_in="unusable", raw="Hm", reason="?"
        ),
    )
    first, second, third = (each.trial.id for each in rows)
    found = arm(*rows)
    assert (found.name, found.trials, found.judged, found.tasks) == ("a", 3, 3, 2)
    assert (found.format_failure.value, found.format_failure.trials) == (1 / 3, (third,))
    assert (found.nothing.value, found.nothing.trials) == (0, ())
    (unread,) = found.unreadable
    assert (unread.trial, unread.task, unread.reason, unread.raw) == (third, "t2", "?", "Hm")
    graphs = found.graph
    assert graphs
    assert (graphs.over.value, graphs.over.trials) == (1 / 3, (first,))
    assert (graphs.under.value, graphs.under.trials) == (1 / 3, (second,))
    # The mean of 7/4 and 1/4 on the one task with anything readable.
    assert (graphs.generation.value, graphs.generation.statistic.n) == (1.0, 1)
    assert [(c.name, c.rate.value, c.rate.statistic.n, c.unjudged) for c in graphs.relations] == [
        ("r", 2 / 6, 6, 0),
        ("s", 1 / 3, 3, 1),
    ]
    assert graphs.relations[1].rate.trials == (first, second)
    assert [(i.relation, i.count, i.trials) for i in graphs.invalid] == [
        ("y", 3, (first, second)),
        ("x", 2, (first,)),
    ]
    assert [(c.name, c.mean.value, c.mean.statistic.n) for c in graphs.by_compaction] == [
        ("with", 0.8, 1),
        ("without", 0.1, 2),
    ]
    assert {c.name: c.mean.value for c in graphs.by_user_turns if c.mean.of} == {
        "<=10": 0.5,
        ">15": 0,
    }
    # Of (2, .8), (3, .2), (21, 0): -6.4667 over the root of 228.667 and 0.34667.
    assert graphs.turns_f1.value == pytest.approx(-6.466667 / (228.666667 * 0.346667) ** 0.5)
    assert (graphs.turns_f1.n, graphs.turns_f1.no_interval) == (3, "fewer than 5 groups")
    assert {c.name: c.mean.value for c in graphs.by_user_turns_fine if c.mean.of} == {
        "1-2": 0.8,
        "3-5": 0.2,
        "21+": 0,
    }
    assert {c.name: c.mean.trials for c in graphs.by_tool_calls if c.mean.of} == {
        "0": (third,),
        "1-5": (first,),
        "6-10": (second,),
    }
    assert [calls_class(n) for n in (0, 5, 6, 100, 101)] == ["0", "1-5", "6-10", "51-100", "101+"]


def test_tables_by_hand():
    def table(
        usable: bool, gold: int, predicted: int, joined: int, **columns: Tally
    ) -> TableFigures:
        return TableFigures(
            usable=usable,
            reason="" if usable else "no column Year",
            gold_rows=gold,
            predicted_rows=predicted,
            joined=joined,
            columns=columns,
        )

    rows = (
        row("a", "t1", {}, family="table", handed_in="table",
            table=table(True, 4, 5, 3, Year=Tally(yes=1, no=2), Town=Tally(yes=2, unjudged=1))),
        row("a", "t2", {}, family="table", handed_in="table",
            table=table(True, 6, 5, 5, Year=Tally(yes=4, no=1))),
        row("a", "t2", {}, 1, family="table", handed_in="table", table=table(False, 6, 0, 0)),
        row("a", "t3", {}, family="table", handed_in="triples",
            table=TableFigures(usable=None, reason="", gold_rows=1, predicted_rows=0, joined=0, columns={})),
    )  # fmt: skip
    found = arm(*rows)
    assert found.format_failure.trials == (rows[3].trial.id,)
    tables = found.table
    assert tables
    # Of the last nobody said whether it was usable.
    assert (tables.unusable.value, tables.unusable.trials) == (1 / 3, (rows[2].trial.id,))
    assert [(r.reason, len(r.trials)) for r in tables.reasons] == [("no column Year", 1)]
    assert (tables.missing.count, tables.missing.of) == (1 + 1, 4 + 6)
    assert (tables.extra.count, tables.extra.of) == (2, 10)
    assert (tables.wrong.count, tables.wrong.of) == (3, 10)
    assert [(c.column, c.rate.value, c.unjudged) for c in tables.columns] == [
        ("Year", 3 / 8, 0),
        ("Town", 0, 1),
    ]


def test_searches_by_hand():
    one = FactFigures(facts=4, hits=(True, False, True), fresh=(1, 0, 2))
    other = FactFigures(facts=2, hits=(True,), fresh=(1,))
    found = arm(
        row("a", "t1", {"premature_stop": 1}, family="facts", handed_in="answer", searched=one),
        row("a", "t1", {"premature_stop": 0}, 1, family="facts", handed_in="answer", searched=one),
        row("a", "t2", {"premature_stop": 1}, family="facts", handed_in="answer", searched=other),
        row("a", "t3", {"premature_stop": None}, family="facts", handed_in="nothing"),
    ).facts
    assert found
    assert [
        (p.k, p.cohort, p.trials, p.new_facts.value, p.fcr.value, p.hit_precision.value)
        for p in found.points
    ] == [
        (1, 3, 3, 1, pytest.approx((1 / 4 + 1 / 4 + 1 / 2) / 3), 1),
        (2, 2, 3, 0, pytest.approx((1 / 4 + 1 / 4 + 1 / 2) / 3), 1 / 2),
        (3, 2, 3, 2, pytest.approx((3 / 4 + 3 / 4 + 1 / 2) / 3), pytest.approx(2 / 3)),
    ]
    # By task 1/2 and 1; who handed nothing in is left out.
    assert (found.premature.value, found.premature.statistic.n) == (3 / 4, 2)
    assert len(found.premature.trials) == 2


def test_checkpoints_by_hand():
    steps = (step(searches=2), step(1, ambiguous=False), step(2, asks=1, before=0, advanced=False))
    more = (step(searches=4), step(2, asks=2, right=1, before=3))
    found = arm(
        row("a", "t1", {}, family="checkpoints", handed_in="answer", difficulty="easy",
            steps=steps, statuses={"correct_answer": 2, "wrong_answer": 1}),
        row("a", "t2", {}, family="checkpoints", handed_in="answer", difficulty="hard",
            steps=more, statuses={"correct_answer": 1}),
    ).chain  # fmt: skip
    assert found
    # Ambiguous, advanced and not asked: after 2 and after 4 searches.
    assert found.k == 3
    told = {p.profile: (p.share.value, p.passed.value, p.count) for p in found.profiles}
    assert told == {
        Profile.DIRECT_GUESS: (1 / 4, 1, 1),
        Profile.SEARCH_HEAVY_GUESS: (1 / 4, 1, 1),
        Profile.DIRECT_ASK: (1 / 4, 0, 1),
        Profile.SEARCH_THEN_ASK: (1 / 4, 1, 1),
    }
    assert list(found.by_ambiguity) == ["version"]
    assert list(found.by_difficulty) == ["easy", "hard"]
    easy = {p.profile: p.share.value for p in found.by_difficulty["easy"]}
    assert easy[Profile.DIRECT_GUESS] == easy[Profile.DIRECT_ASK] == 1 / 2
    read = {s.status.value: s.rate.value for s in found.statuses if s.rate.count}
    assert read == {"correct_answer": 3 / 4, "wrong_answer": 1 / 4}


def random_row(rng: random.Random, n: int) -> Row:
    family = rng.choice(("graph", "facts", "checkpoints"))
    task, sample = f"{family}{n % 7}", n
    if family == "graph":
        tallies = {
            f"r{i}": Tally(yes=rng.randint(0, 3), no=rng.randint(0, 3), unjudged=rng.randint(0, 1))
            for i in range(rng.randint(1, 4))
        }
        predicted = rng.choice((None, *range(12)))
        invalid = {f"x{i}": rng.randint(1, 3) for i in range(rng.randint(0, 3))}
        return row(
            "a", task,
            measured(rng.random(), rng.randint(0, 1), rng.randint(1, 30), rng.randint(0, 120)), sample,
            handed_in="triples" if predicted is not None else "unusable",
            graph=graph(5, predicted, invalid if predicted is not None else {}, **tallies),
        )  # fmt: skip
    if family == "facts":
        calls = rng.randint(0, 6)
        fresh = tuple(rng.randint(0, 1) for _ in range(calls))
        facts = FactFigures(
            facts=6, hits=tuple(bool(f) or rng.random() < 0.3 for f in fresh), fresh=fresh
        )
        return row("a", task, {}, sample, family="facts", handed_in="answer", searched=facts)
    steps = [
        step(
            i,
            ambiguous=rng.random() < 0.7,
            searches=rng.randint(0, 6),
            asks=(asks := rng.randint(0, 2)),
            before=rng.randint(0, 3) if asks else None,
            advanced=rng.random() < 0.6,
        )
        for i in range(rng.randint(0, 4))
    ]
    difficulty = rng.choice(("easy", "hard", None))
    return row(
        "a", task, {}, sample,
        family="checkpoints", handed_in="answer", steps=tuple(steps), difficulty=difficulty,
    )  # fmt: skip


def test_a_correlation_stays_one_where_drawn_tasks_do_not_vary():
    rng = random.Random(5)
    for _again in range(20):
        figures = [(rng.random(), rng.randint(1, 40)) for _task in range(5)]
        rows = [
            row("a", f"t{n}", measured(f1, 1, turns, 5), sample)
            for n, (f1, turns) in enumerate(figures)
            for sample in range(3)
        ]
        graphs = arm(*rows).graph
        assert graphs
        low, high = graphs.turns_f1.interval
        assert -1 <= low <= high <= 1


def test_points_are_those_of_core():
    rng = random.Random(8)
    rows = [random_row(rng, n) for n in range(90)]
    report = error_report(pool(*rows))
    arms = {each.family: each for each in report.arms}
    kept: dict[str, BreakdownCounts] = {}
    for each in rows:
        assert each.figures
        kept.setdefault(each.family, BreakdownCounts()).add(each.figures, each.traits.difficulty)

    errors, graphs = kept["graph"].result().graph_errors, arms["graph"].graph
    assert errors
    assert graphs
    assert (graphs.over.count, graphs.under.count) == (
        errors.over_generation,
        errors.under_generation,
    )
    unread = arms["graph"].format_failure.count + arms["graph"].nothing.count
    assert (unread, graphs.over.of) == (errors.format_failures, errors.trials)
    assert [(c.name, c.rate.count, c.rate.of, c.unjudged) for c in graphs.relations] == [
        (c.relation, c.covered, c.judged, c.unjudged) for c in errors.coverage
    ]
    assert {i.relation: i.count for i in graphs.invalid} == {
        i.relation: i.count for i in errors.invalid_relations
    }
    for mine, theirs in (
        (graphs.by_compaction, errors.by_compaction),
        (graphs.by_user_turns, errors.by_user_turns),
        (graphs.by_user_turns_fine, errors.by_user_turns_fine),
    ):
        assert [(c.name, c.mean.statistic.n, c.mean.value) for c in mine] == [
            (s.name, s.trials, pytest.approx(s.f1) if s.f1 is not None else None) for s in theirs
        ]

    assert graphs.turns_f1.value == pytest.approx(errors.turns_f1.value)
    low, high = graphs.turns_f1.interval
    assert -1 <= low < graphs.turns_f1.value < high <= 1

    searched, facts = kept["facts"].result(), arms["facts"].facts
    assert facts
    cohort = searched.fact_cohort
    assert cohort
    assert cohort.points
    assert (facts.cohort.k_trunc, facts.cohort.trials, facts.cohort.rule) == (
        cohort.k_trunc,
        cohort.trials,
        cohort.rule,
    )
    for ours, theirs in (
        (facts.points, searched.fact_curve),
        (facts.cohort.points, cohort.points),
    ):
        assert [
            (p.k, p.cohort, p.trials, p.new_facts.value, p.fcr.value, p.hit_precision.value)
            for p in ours
        ] == [
            (p.k, p.cohort, p.trials, *map(pytest.approx, (p.new_facts, p.fcr, p.hit_precision)))
            for p in theirs
        ]

    told, chain = kept["checkpoints"].result(), arms["checkpoints"].chain
    assert chain
    for ours, theirs in (
        ({"": chain.profiles}, {"": told.profiles}),
        (chain.by_ambiguity, told.by_ambiguity),
        (chain.by_difficulty, {k if k != "-" else "": v for k, v in told.by_difficulty.items()}),
    ):
        assert {
            name: [(p.profile, p.count, p.share.value, p.passed.value) for p in profiles]
            for name, profiles in ours.items()
        } == {
            name: [(p.profile, p.count, p.share.value, p.pass_rate.value) for p in profiles]
            for name, profiles in theirs.items()
        }


def test_samples_of_a_task_are_drawn_together():
    flags = [True, False, False, True, False, False]
    once = [(row("a", f"t{n}", {}), flag) for n, flag in enumerate(flags)]
    again = [(row("a", f"t{n}", {}, s), flag) for s in range(4) for n, flag in enumerate(flags)]
    found = counted({"once": flagged("x", once)})["once"].statistic
    four = counted({"four": flagged("x", again)})["four"].statistic
    assert (found.n, four.n) == (6, 24)
    assert found.interval is not None
    assert found.interval == four.interval
    few = counted({"": flagged("x", once[:4])})[""].statistic
    assert (few.value, few.interval) == (1 / 2, None)
    assert few.no_interval
    nothing = counted({"": plan("x", [], empty="none there")})[""].statistic
    assert (nothing.value, nothing.reason) == (None, "none there")


def test_a_sole_dimension_or_none_and_several_judges():
    rows = (
        row("a", "t1", {"triplet_f1": 1}, language="zh", judge="kind"),
        row("a", "t1", {"triplet_f1": 0}, language="zh", judge="strict"),
        row("b", "t1", None, termination=None),
    )
    report = error_report(pool(*rows), by=("language",))
    assert report.by == ("language", "judge")
    assert [each.group for each in report.arms] == [
        (("language", "zh"), ("judge", "kind")),
        (("language", "zh"), ("judge", "strict")),
    ]
    assert error_report(pool(rows[2])).arms == ()
    (every,) = error_report(pool(rows[0]), by=()).arms
    assert (every.group, every.trials) == ((), 1)


def test_a_figure_has_one_interval_whatever_stands_beside_it():
    rows = [(row("a", f"t{n}", {}), n % 3 == 0) for n in range(9)]
    other = [(each, not flag) for each, flag in rows[2:]]
    alone = counted({"x": flagged("x", rows)})["x"]
    beside = counted({"y": flagged("y", other), "x": flagged("x", rows)})["x"]
    assert alone == beside
