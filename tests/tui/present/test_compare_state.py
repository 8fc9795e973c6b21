"""What can be compared in a pool, what is offered first, and what the screen shows of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuecard.annotate.results.pool import Pool
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.tui.present.compare import (
    Choice,
    CompareView,
    count,
    first_choice,
    measure_options,
    offers,
)
from result_rows import pool, row, run

MAIN, GUIDED = run(1, "main"), run(2, "guided")


def two_agents() -> Pool:
    """alpha 0.9 and 0.4 on two tasks, beta 0.5 and 0.6; one task of beta's alone."""
    return pool(
        row("alpha", "t1", {"triplet_f1": 0.9}, of=MAIN, cost=0.2),
        row("alpha", "t2", {"triplet_f1": 0.4}, of=MAIN, cost=0.2),
        row("beta", "t1", {"triplet_f1": 0.5}, of=MAIN, cost=0.1),
        row("beta", "t2", {"triplet_f1": 0.6}, of=MAIN, cost=0.1),
        row("beta", "t3", {"triplet_f1": 1.0}, of=MAIN, cost=0.1),
    )


def view_of(found: Pool, choice: Choice | None = None) -> CompareView:
    offered = offers(found, found)
    view = CompareView(offered, choice or first_choice(offered, len(found.runs)))
    assert view.choice is not None
    view.keep(view.choice, count(view.offer, view.choice))
    return view


def test_differences_stand_by_measure_and_lead_to_the_trials_of_both_arms() -> None:
    found = two_agents()
    view = view_of(found)
    table = view.table
    assert table is not None
    # (0.5 - 0.9 + 0.6 - 0.4) / 2
    first = dict(zip(table.headings, (cell.text for cell in table.lines[0]), strict=True))
    columns = {heading: at for at, heading in enumerate(table.headings)}
    told = [first[name] for name in ("Measure", "mean", "mean of base", "difference")]
    assert told == ["Triplet F1", "0.550", "0.650", "-0.100"]
    assert first["win/tie/loss"] == "1/0/1"
    assert view.drawn is not None
    assert [cell.text for cell in view.drawn.lines[0]] == ["Triplet F1", "-0.100"]
    assert view.base_word == "alpha"
    assert "beta against alpha" in view.compared
    ids = {r.trial.agent.name + r.trial.task_id: r.trial.id for r in found.rows}
    assert set(view.trials(0, columns["difference"])) == {
        ids[x] for x in ("alphat1", "alphat2", "betat1", "betat2")
    }
    assert set(view.trials(0, columns["mean"])) == {ids["betat1"], ids["betat2"]}
    view.show("tasks")
    assert view.table is not None
    assert [line[0].text for line in view.table.lines] == ["t1", "t2"]
    assert set(view.trials(0, 0)) == {ids["alphat1"], ids["betat1"]}


def test_the_base_turns_the_difference_and_what_was_counted_is_kept() -> None:
    view = view_of(two_agents())
    before = view.choice
    assert before is not None
    turned = replace(before, base="beta")
    view.take(turned)
    assert not view.of("differences")
    view.keep(turned, count(view.offer, turned))
    assert view.drawn is not None
    assert view.drawn.lines[0][1].text == "+0.100"
    view.take(before)
    assert view.drawn.lines[0][1].text == "-0.100"


def test_ready_made_comparisons_are_offered_first_and_several_runs_open_on_them() -> None:
    found = pool(
        *(
            row("alpha", task, {"acc": 1.0}, family="checkpoints", setting=setting, of=of)
            for task in ("c1", "c2")
            for setting, of in (("neutral", MAIN), ("guided", GUIDED))
        )
    )
    offered = offers(found, found)
    assert [offer.id for offer in offered][:1] == ["design-checkpoint_settings"]
    assert {"run", "setting"} <= {offer.id for offer in offered}
    assert "agent" not in {offer.id for offer in offered}
    choice = first_choice(offered, 2)
    assert choice is not None
    assert choice.offer == "design-checkpoint_settings"
    view = view_of(found)
    assert "paper" in view.named
    assert view.of("paper")
    view.take(Choice("run", "run", "checkpoints"))
    assert "paper" not in view.named
    assert [word for _value, word in view.arms] == ["main", "guided"]


def test_one_arm_is_nothing_to_compare() -> None:
    found = pool(row("alpha", "t1", {"triplet_f1": 0.9}), row("beta", "t2", {"triplet_f1": 0.9}))
    assert offers(found, found) == ()
    assert first_choice((), 1) is None
    assert not CompareView((), None).anything


def test_families_and_measures_are_those_that_the_arms_share() -> None:
    found = pool(
        *(
            row(agent, "g", {"triplet_f1": 0.5, "node_f1": 0.2, "tool_calls": 3.0})
            for agent in ("alpha", "beta")
        ),
        *(row(agent, "f", {"pass_at_1": 1.0}, family="facts") for agent in ("alpha", "beta")),
        row("alpha", "t", {"success": 1.0}, family="table"),
    )
    view = view_of(found)
    assert view.offer.families == ("graph", "facts")
    assert view.next_family is not None
    assert view.next_family.family == "facts"
    names = [name for name, taken in measure_options(found, "graph") if taken is Taken.AVG]
    assert names == ["triplet_f1", "node_f1", "tool_calls", "cost", "tokens"]


@pytest.mark.parametrize(
    ("measure", "why"), [("cost", "share no judged task"), ("no_such", "No such measure")]
)
def test_what_cannot_be_counted_says_why(measure: str, why: str) -> None:
    found = pool(row("alpha", "t1", {"triplet_f1": 0.9}), row("beta", "t1", {"triplet_f1": 0.5}))
    view = view_of(found, Choice("agent", "agent", "graph", measure=measure))
    assert why in view.details(0, 0)[0]


def test_a_kind_that_all_arms_share_leaves_the_room_to_what_tells_them_apart() -> None:
    agents = ("offline:wordy", "offline:hasty", "offline:forgetful")
    view = view_of(pool(*(row(name, "t1", {"triplet_f1": 0.5}, of=MAIN) for name in agents)))
    assert view.table is not None
    told = [line[0].text for line in view.table.lines]
    assert told == ["Triplet F1 · hasty", "Triplet F1 · wordy"]


def test_until_a_choice_is_counted_it_says_that_it_is() -> None:
    found = two_agents()
    offered = offers(found, found)
    view = CompareView(offered, first_choice(offered, 1))
    assert view.details(0, 0)[0].endswith("it is being counted.")
    assert view.choice is not None
    view.keep(view.choice, count(view.offer, view.choice))
    assert "counted" not in view.details(0, 0)[0]
