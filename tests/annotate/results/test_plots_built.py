"""Plots of rows by hand: what stands at which place, over what, and what is said to be missing."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.plots.builders import class_of, plots_of
from cuecard.annotate.results.plots.model import (
    Plot,
    bounds,
    nice_step,
    plot_table,
    tick_labels,
    ticks,
    value_text,
)
from cuecard.annotate.results.pool import Pool, Row
from cuecard.annotate.results.scores import score_table
from cuecard.core.engine.events import Termination
from cuecard.core.scoring.trial_score import FactFigures
from result_rows import pool, row


def by_key(found: Pool, **more: object) -> dict[str, Plot]:
    return {plot.key: plot for plot in plots_of(found, **more)}  # type: ignore[arg-type]


def graph(agent: str, task: str, f1: float | None, sample: int = 0, **more: object) -> Row:
    measures = {"triplet_f1": f1, "user_turns": 1}
    return row(agent, task, measures, sample, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def two() -> Pool:
    """alpha: 0.5 (of 0.4 and 0.6) and 1 on two tasks, 0.02 and 300 tokens a trial on average of tasks; beta 0 on one."""
    return pool(
        graph("alpha", "t1", 0.4, 0, domain="art", cost=0.01, tokens=100),
        graph("alpha", "t1", 0.6, 1, domain="art", cost=0.03, tokens=300),
        graph("alpha", "t2", 1.0, 0, domain="历史", cost=0.02, tokens=400),
        graph("beta", "t1", 0.0, 0, domain="art", cost=None, tokens=50),
        graph("beta", "t2", None, 0, domain="历史", cost=None, tokens=50),
        row("beta", "t3", None, termination=None),
        row("beta", "t4", None, termination=Termination.API_ERROR),
    )


def test_means_are_those_of_the_score_table(two: Pool) -> None:
    plots = by_key(two)
    means = plots["means-graph"]
    assert means.x.names == ("alpha", "beta")
    assert [(p.x, p.y, p.n) for _one, p in means.points] == [(0, 0.75, 2), (1, 0.0, 1)]
    (first, second) = score_table(two, ("agent",)).lines
    for (_series, point), line in zip(means.points, (first, second), strict=True):
        figure = line.figures["triplet_f1.avg"]
        assert (point.y, point.interval) == (figure.value, figure.interval)
    (point,) = plots["cost-graph"].series[0].points
    assert (point.x, point.y) == (pytest.approx(0.02), 0.75)
    assert plots["tokens-graph"].series[0].points[0].x == 300
    assert plots["tokens-graph"].series[0].points[0].interval == means.series[0].points[0].interval
    alpha = [r.trial.id for r in two.rows if r.trial.agent.name == "alpha"]
    assert list(point.trials) == alpha


def test_what_is_missing_is_said(two: Pool) -> None:
    plots = by_key(two)
    cost = plots["cost-graph"]
    assert [one.name for one in cost.series] == ["alpha"]
    assert any("Not drawn: beta" in note for note in cost.notes)
    notes = " ".join(plots["means-graph"].notes)
    assert "5 judged trials on 2 tasks" in notes
    assert "not judged" in notes
    assert "still open" in notes
    assert "Offline baselines" in notes
    dear = pool(graph("a", "t", 0.5))
    assert by_key(dear)["cost-graph"].missing
    assert by_key(dear)["tokens-graph"].missing == "no model was called"
    assert by_key(dear)["domains-graph"].missing == "the tasks name no domain"
    assert "turns-graph" not in by_key(dear)
    assert plots_of(pool()) == ()
    assert plots_of(pool(row("a", "t", None))) == ()


def test_spread_in_tenths_and_in_two_classes(two: Pool) -> None:
    assert [class_of(v) for v in (0, 0.0999, 0.1, 0.3, 0.7, 0.999, 1)] == [0, 0, 1, 3, 7, 9, 9]
    alpha, beta = by_key(two)["spread-graph"].series
    assert {p.x: (p.n, p.y) for p in alpha.points if p.n} == {
        4: (1, pytest.approx(1 / 3)),
        6: (1, pytest.approx(1 / 3)),
        9: (1, pytest.approx(1 / 3)),
    }
    assert [p.n for p in beta.points] == [1, *[0] * 9]
    asked = pool(
        *(row("a", f"t{i}", {"acc": float(i < 3)}, family="checkpoints") for i in range(4))
    )
    spread = by_key(asked)["spread-checkpoints"]
    assert spread.x.names == ("0", "1")
    assert [(p.y, p.n) for p in spread.series[0].points] == [(0.25, 1), (0.75, 3)]


def test_domains_down_and_agents_across(two: Pool) -> None:
    heat = by_key(two)["domains-graph"]
    assert heat.y.names == ("art", "历史")
    assert heat.x.names == ("alpha", "beta")
    values = {(cell.row, cell.column): cell.value for cell in heat.cells}
    assert values == {(0, 0): 0.5, (0, 1): 0.0, (1, 0): 1.0, (1, 1): None}
    undefined = next(cell for cell in heat.cells if cell.value is None)
    assert undefined.reason
    table = plot_table(heat)
    assert table.headings == ("Domain", "alpha", "beta")
    assert table.lines[0][1].text.endswith("n 1")
    assert table.lines[1][2].text == "–"


def test_user_turns_in_classes() -> None:
    rows = [
        row("a", f"t{i}", {"triplet_f1": i / 10, "user_turns": turns})
        for i, turns in enumerate((1, 2, 4, 4, 30))
    ]
    plot = by_key(pool(*rows))["turns-graph"]
    assert plot.x.names == ("1-2", "3-5", "21+")
    assert [(p.y, p.n) for p in plot.series[0].points] == [
        (pytest.approx(0.05), 2),
        (pytest.approx(0.25), 2),
        (pytest.approx(0.4), 1),
    ]


def test_curves_with_their_cohorts() -> None:
    # Of four facts: the first finds 1, 0, 2 new ones in three calls, the second 1 in its only call.
    long = FactFigures(facts=4, hits=(True, False, True), fresh=(1, 0, 2))
    short = FactFigures(facts=4, hits=(True,), fresh=(1,))
    found = pool(
        row("a", "t1", {"pass_at_1": 1.0}, family="facts", searched=long),
        row("a", "t2", {"pass_at_1": 0.0}, family="facts", searched=short),
    )
    plots = by_key(found)
    points = plots["coverage-facts"].series[0].points
    assert [(p.x, p.y, p.n, p.thin) for p in points] == [
        (1, 0.25, 2, True),
        (2, 0.25, 1, True),
        (3, 0.5, 1, True),
    ]
    assert [p.y for p in plots["fresh-facts"].series[0].points] == [1, 0, 2]
    precise = [p.y for p in plots["precision-facts"].series[0].points]
    assert precise == [1, 0.5, pytest.approx(2 / 3)]
    assert len(points[1].trials) == 1
    # One of two trials, more than a fifth, made three calls.
    cohort = plots["coverage-cohort-facts"]
    assert cohort.title.startswith("Fact coverage after k calls, fixed cohort (paper), n = 1")
    assert [(p.x, p.y, p.n) for p in cohort.series[0].points] == [
        (1, 0.25, 1),
        (2, 0.25, 1),
        (3, 0.75, 1),
    ]
    assert plots["coverage-facts"].title.startswith(
        "Fact coverage after k calls, all trials (ours)"
    )


def test_each_judge_and_each_run_has_series_of_its_own(two: Pool) -> None:
    again = [r._replace(judged_by="kind", kind=(r.kind, "kind")) for r in two.rows]
    names = [one.name for one in by_key(pool(*two.rows, *again))["means-graph"].series]
    assert len(names) == 4
    assert "alpha · kind" in names
    plots = by_key(two, by=("agent", "run"))
    assert plots["means-graph"].series[0].name == "alpha · run"


def test_a_series_keeps_its_mark_in_every_family() -> None:
    found = pool(
        row("a", "t1", {"triplet_f1": 1.0}),
        row("b", "t1", {"triplet_f1": 1.0}),
        row("b", "t2", {"acc": 1.0}, family="checkpoints"),
    )
    plots = by_key(found)
    marks = {(p.key, one.name): one.mark for p in plots.values() for one in p.series}
    assert {mark for (_key, name), mark in marks.items() if name == "b"} == {1}


def test_tables_have_every_point_with_trials(two: Pool) -> None:
    for plot in plots_of(two):
        table = plot_table(plot)
        assert len(table.lines) == (len(plot.y.names) if plot.cells else len(list(plot.points)))
        known = {id for line in table.lines for c in line for id in c.trials}
        assert known == set(plot.trials)
        assert all(len(line) == len(table.headings) for line in table.lines)


@pytest.mark.parametrize(
    ("values", "scale", "ends"),
    [
        ([0.2, 0.7], "share", (0, 1)),
        ([0.013, 0.094], "cost", (0, 0.1)),
        ([0.0], "cost", (0, 1)),
        ([3, 17], "count", (0, 20)),
        ([310_000], "count", (0, 400_000)),
    ],
)
def test_axes_end_at_round_numbers(values: list[float], scale: str, ends: object) -> None:
    assert bounds(values, scale=scale) == ends  # type: ignore[arg-type]


def test_ticks_are_round_and_read_alike() -> None:
    from cuecard.annotate.results.plots.model import Axis

    assert ticks(Axis(label="", low=0, high=1, scale="share"), 5) == (0, 0.2, 0.4, 0.6, 0.8, 1)
    assert ticks(Axis(label="", low=1, high=64, scale="count"), 6) == (20, 40, 60)
    assert ticks(Axis(label="", low=1, high=2, scale="count"), 9) == (1, 2)
    assert tick_labels((0, 0.25, 0.5)) == ("0.00", "0.25", "0.50")
    assert tick_labels((0, 500_000, 1_000_000)) == ("0", "500k", "1M")
    assert nice_step(0, 5) == 1
    assert value_text(1234567, "count") == "1,234,567"
    assert value_text(None, "share") == "–"
    assert value_text(0.00123456, "cost") == "0.001235"
