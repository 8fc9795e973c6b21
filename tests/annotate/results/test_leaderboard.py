"""Leaderboards order only what the tasks tell apart; both intervals; success of k samples."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.comparison_tables import difference_table
from cuecard.annotate.results.comparisons import compare
from cuecard.annotate.results.leaderboard import (
    leaderboard,
    leaderboard_table,
    leaderboards,
    pairs_table,
)
from cuecard.annotate.results.repeats import of_these_tasks, repeat_tables
from cuecard.annotate.results.scores import score_table
from result_rows import pool, row


def f1(agent: str, task: int, value: float | None, sample: int = 0, **more):
    return row(agent, f"t{task:02}", {"triplet_f1": value}, sample, **more)


def three(tasks: int = 12):
    """Two that are alike, by turns better, and one far below."""
    return pool(
        *(
            f1(agent, t, 0.5 + gap + 0.05 * (t % 3) + (wobble if t % 2 else -wobble))
            for t in range(tasks)
            for agent, gap, wobble in (
                ("cyan", 0.0, 0.1),
                ("amber", 0.01, -0.1),
                ("blue", -0.4, 0.02),
            )
        )
    )


def test_those_not_told_apart_share_a_place_and_stand_by_name() -> None:
    found = leaderboard(three(), "graph")
    table = leaderboard_table(found)
    told = [tuple(cell.text for cell in line[:2]) for line in table.lines]
    assert told == [("amber", "1–2"), ("cyan", "1–2"), ("blue", "3")]
    assert [line[3].text for line in table.lines] == ["1–2", "1–2", "3"]
    assert [cell.apart for _name, cell in pairs_table(found).lines] == [True, False, True]
    # The same means as in a table of scores.
    lines = score_table(three(), ("agent",), ("triplet_f1",)).lines
    for line in lines:
        name = line.value("agent")
        assert found.means[name].value == pytest.approx(line.figures["triplet_f1.avg"].value)
        assert found.trials[name]


def test_few_tasks_have_no_ranks() -> None:
    table = leaderboard_table(leaderboard(three(9), "graph"))
    assert [line[0].text for line in table.lines] == ["amber", "blue", "cyan"]
    assert {line[1].text for line in table.lines} == {"–"}
    assert any("fewer than 10 tasks" in note for note in table.notes)


def test_values_are_taken_within_what_all_share_and_the_rest_is_counted() -> None:
    rows = [
        f1(a, t, 0.5 + g, user=u)
        for t in range(10)
        for a, g in (("x", 0), ("y", 0.1))
        for u in ("u", "w")
    ]
    # Only x was played with a third user, who makes it easy, and on one more task.
    rows += [f1("x", t, 1.0, user="z") for t in range(10)]
    found = leaderboard(pool(*rows, f1("x", 99, 1.0)), "graph")
    assert found.within == ("user",)
    assert found.left_out == 1
    assert found.means["x"].value == pytest.approx(0.5)
    assert found.ranks.pairs[0].decided


def test_families_with_one_agent_have_none() -> None:
    assert leaderboards(pool(f1("x", 1, 0.5))) == ()
    (one,) = leaderboards(three())
    assert one.family == "graph"


def test_holms_probability_where_several_are_compared() -> None:
    found = compare(three(), "agent", family="graph")
    raw = [contrast.sign_test for contrast in found.contrasts]
    adjusted = [contrast.sign_test_holm for contrast in found.contrasts]
    assert all(
        a >= r for a, r in zip(adjusted, raw, strict=True) if a is not None and r is not None
    )
    assert min(a for a in adjusted if a is not None) == pytest.approx(
        2 * min(r for r in raw if r is not None)
    )
    assert "p, Holm" in difference_table([found]).headings
    two = compare(three().where(lambda r: r.value("agent") != "blue"), "agent", family="graph")
    assert "p, Holm" not in difference_table([two]).headings


def passed(agent: str, task: str, *values: float):
    return [row(agent, task, {"success": v}, n, family="table") for n, v in enumerate(values)]


def samples():
    return pool(
        *passed("x", "a", 1, 1, 0),
        *passed("x", "b", 0, 0, 0),
        *passed("x", "c", 1, 1, 1),
        *passed("x", "d", 1, 0, 0),
    )


def test_both_intervals_stand_in_a_table_of_scores() -> None:
    table = score_table(samples(), ("agent",), ("success",))
    (line,) = table.lines
    these = line.these["success.avg"]
    assert these.interval == pytest.approx((0.5 - 0.327207, 0.5 + 0.327207), abs=1e-6)
    assert line.figures["success.pass_all"].value == pytest.approx(0.25)
    turned = of_these_tasks(table)
    assert turned.lines[0].figures["success.avg"] == these
    assert turned.lines[0].figures["success.pass"].no_interval


def test_pass_all_says_how_many_tasks_have_fewer_samples() -> None:
    rows = [*passed("x", "a", 1, 1), *passed("x", "b", 1)]
    table = score_table(pool(*rows), ("agent",), ("success",))
    assert table.lines[0].figures["success.pass_all"].n == 1
    assert any("up to 1 task has fewer samples" in note for note in table.notes)


def test_success_of_k_samples() -> None:
    both, success = repeat_tables(samples())
    assert [cell.number for cell in both.lines[0][1:3]] == [0.5, 0.5]
    any_, every = success.lines
    assert [cell.number for cell in any_[1:]] == pytest.approx([0.5, 2 / 3, 0.75])
    assert [cell.number for cell in every[1:]] == pytest.approx([0.5, 1 / 3, 0.25])
    assert repeat_tables(pool(*passed("x", "a", 1))) == ()
