"""Known cases of item analysis, and a small simulation in which errors of gold were planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cuecard.annotate.estimation.item_analysis import (
    Block,
    Flag,
    analyse,
    asked_first,
    may_have_flags,
    queue,
    rival_places,
    suspicious,
)
from cuecard.annotate.estimation.task_analysis import analyse_tasks, smallest_subset
from planted_gold import planted, precision


def block(found: Sequence[Sequence[float]], agents: str, **more: object) -> Block:
    rows = np.array(found, float)
    items = tuple(f"triple/{n}" for n in range(rows.shape[1]))
    return Block("t", tuple(agents), items, rows, **more)  # pyright: ignore[reportArgumentType]


def test_shares_count_decided_trials_only() -> None:
    first, second = analyse(block([[1, np.nan], [0, np.nan], [1, 0]], "aab"))
    assert (first.n, first.found, first.found_by, first.agents) == (3, pytest.approx(2 / 3), 2, 2)
    assert (second.n, second.found, second.difficulty, second.found_by) == (1, 0, 1, 0)
    assert analyse(block([[np.nan]], "a"))[0].found is None


def test_discrimination_is_the_correlation_with_the_rest() -> None:
    rows = [[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 1]]
    for at, one in enumerate(analyse(block(rows, "abcdef"))):
        found = np.array(rows, float)
        rest = np.delete(found, at, axis=1).mean(axis=1)
        assert one.discrimination.value == pytest.approx(np.corrcoef(found[:, at], rest)[0, 1])


def test_under_six_respondents_there_is_no_discrimination() -> None:
    one = analyse(block([[1, 0], [0, 1]] * 2 + [[1, 1]], "abcde"))[0]
    assert one.discrimination.value is None
    assert one.discrimination.reason == "too few respondents to tell"


def test_an_item_found_by_all_has_none_either_and_is_at_the_ceiling() -> None:
    one, other = analyse(block([[1, 0], [1, 1]] * 4, "abcdefgh"))
    assert (one.extreme, other.extreme) == ("ceiling", "")
    assert one.discrimination.value is None
    assert "same in all trials" in one.discrimination.reason


def told(at: int, *trials: int, value: str = "1989") -> dict[int, dict[int, tuple[str, ...]]]:
    return {at: dict.fromkeys(trials, (value,))}


@pytest.mark.parametrize(
    ("rows", "trials", "holds"),
    [
        ([[0]] * 4, (0, 1, 2), True),
        ([[0]] * 4, (0, 1), False),
        ([[1], [0], [0], [0]], (1, 2, 3), True),
        ([[1], [1], [1], [0]], (0, 1, 2), False),
    ],
)
def test_a_rival_takes_three_agents_and_more_than_found_the_gold(
    rows: list[list[float]], trials: tuple[int, ...], holds: bool
) -> None:
    one = analyse(block(rows, "abcd", told=told(0, *trials)))[0]
    assert (Flag.RIVAL in one.flags) is holds
    assert one.rival is not None
    assert one.rival.share == len(trials) / 4


def test_three_samples_of_one_agent_are_one_agent() -> None:
    one = analyse(block([[0]] * 4, "aaab", told=told(0, 0, 1, 2)))[0]
    assert one.rival is not None
    assert (one.rival.agents, one.flags) == (1, ())


def test_what_is_not_found_is_suspect_where_three_agents_opened_its_page() -> None:
    rows = [[0, 0, 0]] * 4
    seen = analyse(block(rows, "abcd", opened={0: (0, 1, 2), 1: (0, 1)}))
    assert [one.flags for one in seen] == [(Flag.UNFOUND,), (), ()]
    assert [one.opened for one in seen] == [3, 2, None]


def test_strong_agents_against_and_weak_ones_for() -> None:
    weak, strong = [1.0, 0, 0, 0, 0], [0.0, 1, 1, 1, 0]
    rows = [weak, strong] * 6
    one = analyse(block(rows, "abcdef" * 2))[0]
    assert one.discrimination.value == pytest.approx(-1)
    assert one.flags == (Flag.INVERSE,)
    assert Flag.INVERSE not in analyse(block(rows, "abcde" * 2 + "ab"))[0].flags
    assert Flag.INVERSE not in analyse(block(rows[:10], "abcdef" + "abcd"))[0].flags


def test_people_and_what_was_found_without_search() -> None:
    found = analyse(
        block([[1, 1]] * 2, "ab", wrong={0: 1}, split={1: (1, 1)}, unsearched=frozenset((0, 1)))
    )
    assert [one.flags for one in found] == [(Flag.PEOPLE, Flag.GIVEN_AWAY), (Flag.GIVEN_AWAY,)]
    assert [one.at for _task, one in queue(("t", one) for one in found)] == [0]
    assert [one.at for _t, one in queue((("t", o) for o in found), (Flag.GIVEN_AWAY,))] == [0, 1]
    assert Flag.PEOPLE in analyse(block([[1]], "a", split={0: (2, 4)}))[0].flags
    assert Flag.PEOPLE not in analyse(block([[1]], "a", split={0: (2, 5)}))[0].flags


def test_the_queue_has_people_then_rivals_by_margin_then_the_unfound() -> None:
    rows = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 1]]
    both = {**told(0, 0, 1, 2, 3), **told(1, 0, 1, 2)}
    found = analyse(block(rows, "abcd", told=both, opened={2: (0, 1, 2)}, wrong={3: 1}))
    assert [one.at for _task, one in queue(("t", one) for one in found)] == [3, 0, 1, 2]


def test_items_found_in_the_same_trials_carry_the_same_information() -> None:
    rows = [[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 1]] * 3
    assert [one.same_as for one in analyse(block(rows, "abcd" * 3))] == [None, 0, None, None]
    assert all(one.same_as is None for one in analyse(block(rows[:8], "abcd" * 2)))


def test_tasks_have_difficulty_and_floor_and_ceiling() -> None:
    scores = {
        "easy": {"a": [1.0, 1.0], "b": [1.0]},
        "hard": {"a": [0.0], "b": [0.0, 0.0]},
        "good": {"a": [1.0], "b": [0.0]},
    }
    easy, hard, good = analyse_tasks(scores)
    assert (easy.extreme, hard.extreme, good.extreme) == ("ceiling", "floor", "")
    assert (good.score, good.least, good.most) == (0.5, 0, 1)
    assert good.discrimination.value is None
    six = {task: {a: [n * k / 12] for n, a in enumerate("abcdef")} for k, task in enumerate("xyz")}
    assert analyse_tasks(six)[2].discrimination.value == pytest.approx(1)


def test_one_task_can_keep_the_order_of_all() -> None:
    scores = {
        "all": {"a": [0.9, 0.9], "b": [0.5, 0.5], "c": [0.1, 0.1]},
        "turned": {"a": [0.1, 0.1], "b": [0.2, 0.2], "c": [0.3, 0.3]},
        "flat": {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [0.5, 0.5]},
    }
    found = smallest_subset(scores)
    assert found is not None
    assert (found.tasks, found.agents, found.of) == (("all",), ("a", "b", "c"), 3)
    assert found.kept.value == 1
    once = smallest_subset({t: {a: v[:1] for a, v in by.items()} for t, by in scores.items()})
    assert once is not None
    assert once.kept.value is None
    assert "only once" in once.kept.reason
    assert smallest_subset({"all": {"a": [1.0]}}) is None


def test_planted_errors_come_first() -> None:
    assert min(precision(planted(seed), 20) for seed in range(3)) >= 0.8


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_made_of_what_has_a_flag_only(seed: int) -> None:
    for one in planted(seed, agents=8)[0]:
        assert suspicious(one) == [item for item in analyse(one) if item.flags]
        rivals = [item.at for item in analyse(one) if Flag.RIVAL in item.flags]
        assert set(rivals) <= set(rival_places(one)) <= set(rival_places(one, flagged=False))
    assert suspicious(block([[1.0, 0.0]], "a")) == []
    assert suspicious(block([[]], "a")) == []


@pytest.mark.parametrize("seed", range(3))
def test_who_is_asked_first_tells_whether_a_rival_can_have_a_flag(seed: int) -> None:
    for one in planted(seed, agents=8)[0]:
        places = rival_places(one)
        first = asked_first(one, places)
        missed = np.flatnonzero((one.found[:, places] == 0).any(axis=1))
        assert set(first) <= set(map(int, missed))
        for item in analyse(one):
            if Flag.RIVAL in item.flags:
                assert one.told[item.at].keys() & set(first)


def test_all_but_too_few_are_asked_first_and_of_those_who_have_few_trials() -> None:
    # Three agents have to say it: of four that missed the first item two are asked, of three the second one.
    rows = [[0, 1]] * 3 + [[0, 0]] * 3 + [[1, 0]]
    assert asked_first(block(rows, "aaabcdd"), [0, 1]) == [3, 4]
    assert asked_first(block(rows, "aaabcdd"), []) == []


def test_where_nothing_can_be_flagged_gold_need_not_be_read() -> None:
    plain = block([[1, 0], [0, 0], [1, 1]], "abc")
    assert not may_have_flags(plain)
    assert may_have_flags(block([[1, 0], [0, 0], [1, 0]], "abc"))
    assert may_have_flags(replace(plain, wrong={0: 1}))
    assert may_have_flags(replace(plain, split={0: (1, 1)}))
    assert may_have_flags(replace(plain, unsearched=frozenset({0})))
    assert may_have_flags(block([[1, 1]] * 12, "abcdef" * 2))
    for one in planted(0, agents=3)[0]:
        assert may_have_flags(replace(one, told={}, opened={})) or not suspicious(one)
