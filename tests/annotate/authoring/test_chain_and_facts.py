"""A chain's ladder and trial, a world's facts and what it would answer."""

from __future__ import annotations

import asyncio
import copy

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import (
    apply_facts,
    duplicate_keys,
    plan_facts,
    read_kind,
    used,
    write_fact,
)
from cuecard.annotate.authoring.ops import FACTS, STEPS, write_ambiguity
from cuecard.annotate.authoring.paste import parse_rows
from cuecard.annotate.authoring.rehearsal import NoWorld, WorldAnswer, WorldTrial, try_turn
from cuecard.annotate.authoring.stages import counts_of, rung_of
from cuecard.annotate.authoring.task_data import blank_task
from cuecard.core.engine.messages import Act, CheckpointStatus
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.tasks.models import Task


def test_a_rung_says_what_it_lacks() -> None:
    edit = TaskEdit(blank_task("c", "C", "checkpoints", "en"))
    assert rung_of(edit, 0).missing == ("the question", "the target", "two candidates", "the clue", "the logic")  # fmt: skip
    assert rung_of(edit, 1).missing == ("the question", "the target")
    assert rung_of(edit, 0).ambiguity == "entity"
    edit.set((*STEPS, 0, "ambiguity", "candidates"), ["A", " "])
    assert "two candidates" in rung_of(edit, 0).missing


def test_the_ladder_counts_and_names_the_difficulty(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["checkpoints-highest-mountain"], 1)
    counts = counts_of(edit)
    assert counts.agrees
    assert counts.means == samples["checkpoints-highest-mountain"].difficulty
    for index in range(counts.steps):
        write_ambiguity(edit, (*STEPS, index), "version")
    assert not counts_of(edit).agrees
    assert not any(rung_of(TaskEdit.of(task, 1), i).missing for task in samples.values() if isinstance(task.gold, CheckpointChain) for i in range(len(task.gold.steps)))  # fmt: skip


def test_the_trial_takes_turns_as_the_responder_does(samples: dict[str, Task]) -> None:
    for task in samples.values():
        if not isinstance(task.gold, CheckpointChain):
            continue
        data = TaskEdit.of(task, 1).data
        for index, step in enumerate(task.gold.steps):
            last = index == len(task.gold.steps) - 1
            right = try_turn(data, index, step.target, act=Act.ANSWER, clue_given=True)
            assert right is not None
            done, on = CheckpointStatus.TASK_COMPLETED, CheckpointStatus.CORRECT_ANSWER
            assert right.status is (done if last else on)
            if step.ambiguity is None:
                continue
            first, second = step.ambiguity.candidates[:2]
            asked = try_turn(data, index, f"{first} / {second}?", act=Act.ASK)
            assert asked is not None
            assert asked.released
            assert {first, second} <= set(asked.heard)
            other = try_turn(data, index, "What is your favourite colour?", act=Act.ASK)
            assert other is not None
            assert other.status is CheckpointStatus.WRONG_AMBIGUITY_DETECTED
            assert not other.released


def test_the_trial_works_on_an_unfinished_chain() -> None:
    data = copy.deepcopy(blank_task("c", "C", "checkpoints", "zh"))
    assert try_turn(data, 0, "哪一座？", act=Act.ASK) is not None
    assert try_turn(data, 5, "?") is None
    assert try_turn(data, 0, "  ") is None
    assert try_turn(blank_task("f", "F", "facts", "en"), 0, "x") is None


def facts_edit(*rows: tuple[str, str]) -> TaskEdit:
    edit = TaskEdit(blank_task("f", "F", "facts", "en"))
    apply_facts(edit, plan_facts(edit, parse_rows("\n".join("\t".join(r) for r in rows))), 0)
    return edit


def test_facts_are_pasted_by_header_or_by_order() -> None:
    edit = facts_edit(("bread", "120"), ("milk", "80"))
    assert [(f["key"], f["value"]) for f in edit.items(FACTS)] == [("bread", "120"), ("milk", "80")]
    before = copy.deepcopy(edit.data)
    plan = plan_facts(
        edit,
        parse_rows(
            "键,值,类型,单位,别名,颜色\nbread,121,,loaves,a; b,red\ntea,5,规则,,,\nmilk,80,,,,"
        ),
    )
    assert (len(plan.added), list(plan.updated), plan.same) == (1, [0], 1)
    assert plan.left_out == ("颜色",)
    apply_facts(edit, plan, 0)
    assert [f["key"] for f in edit.items(FACTS)] == ["bread", "tea", "milk"]
    assert edit.items(FACTS)[0]["aliases"] == ["a", "b"]
    assert edit.items(FACTS)[1]["kind"] == "rule"
    edit.undo()
    assert edit.data == before
    three = plan_facts(edit, parse_rows("Dunmore\tloaves\t90"))
    assert three.added[0]["key"] == "Dunmore loaves"


def test_cells_of_facts_know_each_other() -> None:
    edit = facts_edit(("a", "1"), ("b", "2"), ("c", "3"))
    for row in range(3):
        write_fact(edit, row, "entity", "Dunmore" if row else "Hill")
    assert used(edit, "entity") == ["Dunmore", "Hill"]
    assert used(edit, "entity", but=0) == ["Dunmore"]
    write_fact(edit, 2, "key", "a")
    assert duplicate_keys(edit) == {0: 2, 2: 0}
    assert [read_kind(text) for text in ("r", "Rules", "规则", "fact", "")] == ["rule", "rule", "rule", "fact", "fact"]  # fmt: skip


def test_a_world_is_asked_while_it_is_written(samples: dict[str, Task]) -> None:
    trial = WorldTrial()
    task = next(task for task in samples.values() if isinstance(task.gold, FactWorld) and task.language == "en")  # fmt: skip
    assert isinstance(task.gold, FactWorld)
    edit = TaskEdit.of(task, 1)
    fact = next(fact for fact in task.gold.facts if fact.entity and fact.attribute)
    query = f"{fact.entity} {fact.attribute}"
    answer = asyncio.run(trial.ask(edit.data, query))
    assert isinstance(answer, WorldAnswer)
    assert (answer.hit, answer.keys, len(answer.entries)) == (True, (fact.key,), 4)
    index = task.gold.facts.index(fact)
    write_fact(edit, index, "value", "31,415")
    again = asyncio.run(trial.ask(edit.data, query))
    assert isinstance(again, WorldAnswer)
    assert any("31,415" in entry.content for entry in again.entries)
    refused = asyncio.run(trial.ask(edit.data, "x" * 3000))
    assert isinstance(refused, WorldAnswer)
    assert refused.refusal
    write_fact(edit, index, "value", "")
    missing = asyncio.run(trial.ask(edit.data, query))
    assert isinstance(missing, NoWorld)
    assert missing.missing[0][0] == f"gold.facts[{index}].value"
