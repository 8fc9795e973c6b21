"""Scores and differences of a pool as people's labels correct them."""

from __future__ import annotations

from random import Random

import pytest

from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.annotate.results.comparisons import compare
from cuecard.annotate.results.corrected import (
    by_task,
    corrected_board,
    corrected_difference_table,
    corrected_differences,
    corrected_figures,
    corrected_tables,
    corrections_in,
    joint_of,
)
from cuecard.annotate.results.leaderboard import leaderboard, leaderboard_table
from cuecard.annotate.results.pool import Pool, gather
from cuecard.annotate.results.report import report_of
from cuecard.annotate.results.report_formats import TableBlock
from cuecard.annotate.results.scores import tables_by_family
from cuecard.core.tables.table import Statistic
from cuecard.store.workspace import Workspace
from effect_runs import judged_run, label

TASKS = 12


def value(one: Statistic) -> float:
    assert one.value is not None
    return one.value


@pytest.fixture
def run(workspace: Workspace) -> int:
    """Two agents on twelve tasks. The judge accepts more of alpha's, of which people find two in eight wrong."""
    dice = Random(2)
    alpha = ["".join(dice.choice("yyyn") for _n in range(8)) for _task in range(TASKS)]
    beta = ["".join(dice.choice("yyn") for _n in range(8)) for _task in range(TASKS)]
    number, _trials = judged_run(workspace, {"alpha": alpha, "beta": beta})
    return number


def drawn(workspace: Workspace, run: int, n: int) -> None:
    plan = SamplingPlan(runs=(run,), n=n, by="trials", strata=("agent",), judge="strict")
    made = make_set(workspace, plan, name="whole trials", by="Ann")
    trials = {trial.id: trial for trial in workspace.runs.trials(run)}
    decided = {
        one.trial_id: one.decisions for one in workspace.verdict_pages.marks((run,), "strict")
    }
    for trial in {item.trial_id for item in workspace.label_sets.items(made.id)}:
        said = decided[trial]
        if trials[trial].agent.name == "alpha":
            said = f"nn{said[2:]}"
        label(workspace, trial, said)


def pool_of(workspace: Workspace, run: int) -> Pool:
    return gather(workspace, (run,), ("strict",))


def test_a_pool_without_labels_tells_and_reads_nothing_more(workspace: Workspace, run: int) -> None:
    pool = pool_of(workspace, run)
    corrections = corrections_in(workspace, pool)
    assert not corrections
    assert corrected_tables(tables_by_family(pool), pool, corrections) == ()
    found = compare(pool, "agent", family="graph")
    assert corrected_differences([found], pool, corrections) == ()
    assert corrected_difference_table([found], ()) is None
    assert joint_of(found, pool, corrections) is None
    assert corrected_board(leaderboard(pool, "graph"), pool, corrections) is None
    sections = {section.id for section in report_of(workspace, (run,), plots=False).sections}
    assert "corrected" not in sections


def test_three_figures_stand_beside_each_other_with_their_labels(
    workspace: Workspace, run: int
) -> None:
    drawn(workspace, run, 16)
    pool = pool_of(workspace, run)
    corrections = corrections_in(workspace, pool)
    [table] = tables_by_family(pool)
    figures = corrected_figures(table, pool, corrections)
    by_agent = {
        one.line.value("agent"): one for one in figures if one.column.measure == "triplet_f1"
    }
    alpha, beta = by_agent["alpha"], by_agent["beta"]
    assert alpha.judge == table.lines[0].figures["triplet_f1.avg"]
    assert (alpha.correction.labelled, alpha.correction.units) == (8, 12)
    assert value(alpha.correction.corrected) < value(alpha.judge) - 0.05
    # Where people agree with the judge on all that they saw, both are right; so few labels do not tune it.
    assert value(beta.correction.corrected) == value(beta.correction.people)
    [shown] = corrected_tables([table], pool, corrections)
    assert shown.title == "Graph tasks: corrected by labels"
    assert shown.headings == ("Measure", "judge", "corrected", "labels alone", "labelled")
    assert shown.lines[0][0].text == "Triplet F1 · alpha"
    assert shown.lines[0][4].text == "8 of 12 trials"
    assert set(shown.lines[0][0].trials) == set(table.lines[0].trials)
    # A leaderboard has them too, and no ranks from so few labels.
    plain = leaderboard(pool, "graph")
    board = corrected_board(plain, pool, corrections)
    assert board is not None
    assert plain.ranks.reason == ""
    assert board.ranks.reason == "fewer than 10 tasks with labels"
    assert board.judge == plain.means
    assert board.means["alpha"].value == alpha.correction.corrected.value
    assert board.people["alpha"].value == alpha.correction.people.value
    ranked = leaderboard_table(board)
    assert ranked.headings[2:5] == ("Triplet F1", "by the judge", "labels alone")
    assert {line[1].text for line in ranked.lines} == {"–"}


def test_an_older_set_tells_while_a_newer_one_is_being_labelled(
    workspace: Workspace, run: int
) -> None:
    drawn(workspace, run, 16)
    pool = pool_of(workspace, run)

    def told() -> list[tuple[float | None, str]]:
        corrections = corrections_in(workspace, pool)
        figures = corrected_figures(tables_by_family(pool)[0], pool, corrections)
        return [(one.correction.corrected.value, one.correction.set_name) for one in figures]

    before = told()
    assert all(value is not None for value, _name in before)
    plan = SamplingPlan(runs=(run,), n=12, by="trials", strata=("task",), judge="strict")
    make_set(workspace, plan, name="a trial of each task", by="Ann")
    assert told() == before


def test_differences_and_ranks_are_corrected_too(workspace: Workspace, run: int) -> None:
    drawn(workspace, run, 24)
    pool = pool_of(workspace, run)
    corrections = corrections_in(workspace, pool)
    found = compare(pool, "agent", family="graph")
    [told] = corrected_differences([found], pool, corrections)
    both = joint_of(found, pool, corrections)
    assert both is not None
    assert not isinstance(both, str)
    means = {name: sum(values.values()) / TASKS for name, values in by_task(both).items()}
    assert means["beta"] - means["alpha"] == pytest.approx(told.corrected.value)
    assert (told.base, told.arm, told.tasks) == ("alpha", "beta", TASKS)
    # All are labelled: the difference is people's.
    assert told.corrected.value == pytest.approx(told.people.value)
    assert value(told.corrected) > value(told.judge)
    board = corrected_board(leaderboard(pool, "graph"), pool, corrections)
    assert board is not None
    assert board.corrected
    ranked = {one.name: one.mean for one in board.ranks.agents}
    assert ranked == pytest.approx(means)
    assert board.means["alpha"].value == pytest.approx(means["alpha"])
    assert "corrected by labels" in leaderboard_table(board).title
    table = corrected_difference_table([found], [told])
    assert table is not None
    assert table.lines[0][0].text == "Triplet F1 · beta − alpha"
    report = report_of(workspace, (run,), judges=("strict",), plots=False)
    section = next(each for each in report.sections if each.id == "corrected")
    assert [block.table.title for block in section.blocks if isinstance(block, TableBlock)] == [
        "Graph tasks: corrected by labels",
        "Graph tasks: leaderboard by Triplet F1, corrected by labels",
        "Differences corrected by labels",
    ]
