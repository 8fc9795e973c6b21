import asyncio

import pytest
from hypothesis import HealthCheck, given, settings

from budget import examples
from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline_search import SearchResult
from cuecard.core.engine.events import Termination, ToolAnswered, dialogue_of
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.family import derive_answer
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.models import CueKind, Persona, Task
from cuecard.core.text import normalise
from offline_trials import (
    CHAIN,
    FACTS,
    GRAPH,
    TABLE,
    TASKS,
    WIDE_TABLE,
    ended_well,
    odd_tasks,
    play_offline,
    sample_tasks,
    stage,
)

ALL = {task.id: task for task in (*TASKS, *sample_tasks())}


def triples_of(task):
    assert isinstance(task.gold, Graph)
    return {tuple(map(normalise, task.gold.named(t))) for t in task.gold.triples}


def bodies(events):
    return [event.body for event in events]


@pytest.mark.parametrize("name", list(ALL))
async def test_every_task_plays_to_a_good_end(name):
    task = ALL[name]
    result, events = await play_offline(task)
    assert ended_well(result), result
    dialogue = dialogue_of(events)
    assert set(dialogue.stages_disclosed) == set(range(1, len(task.stages) + 1))
    limit = 200 if task.family == "table" else 12
    for turn in range(dialogue.turn):
        calls = [b for b in bodies(events) if isinstance(b, ToolAnswered) and b.turn == turn]
        assert len(calls) <= limit


@pytest.mark.parametrize("name", [n for n, t in ALL.items() if t.family == "graph"])
async def test_graphs_are_found_by_following_the_user(name):
    result, _ = await play_offline(ALL[name])
    assert result.prediction.kind == "triples"
    found = {tuple(map(normalise, (t.head, t.relation, t.tail))) for t in result.prediction.triples}
    gold = triples_of(ALL[name])
    assert len(found & gold) > 0.4 * len(gold)
    assert found <= gold  # nothing but what was found


@pytest.mark.parametrize("name", [n for n, t in ALL.items() if t.family == "table"])
async def test_tables_are_filled(name):
    task = ALL[name]
    assert isinstance(task.gold, Table)
    result, _ = await play_offline(task)
    assert result.prediction.kind == "table"
    assert result.prediction.columns == task.gold.column_names
    found = set(result.prediction.rows)
    assert len(found & set(task.gold.rows)) > 0.8 * len(task.gold.rows)


@pytest.mark.parametrize("name", [n for n, t in ALL.items() if t.family == "checkpoints"])
async def test_chains_are_asked_through_to_the_end(name):
    task = ALL[name]
    assert isinstance(task.gold, CheckpointChain)
    result, events = await play_offline(task)
    statuses = [m.status for m in dialogue_of(events).of("user")]
    assert statuses[-1] is CheckpointStatus.TASK_COMPLETED
    ambiguous = sum(1 for step in task.gold.steps if step.ambiguity)
    assert statuses.count(CheckpointStatus.AMBIGUITY_DETECTED) == ambiguous
    assert result.prediction.kind == "answer"
    assert result.prediction.answer == task.gold.final_answer


@pytest.mark.parametrize("name", [n for n, t in ALL.items() if t.family == "facts"])
async def test_facts_are_collected(name):
    task = ALL[name]
    assert isinstance(task.gold, FactWorld)
    result, events = await play_offline(task)
    hits = {
        key
        for body in bodies(events)
        if isinstance(body, ToolAnswered) and body.answer.hit
        for key in body.answer.hit.matched_fact_keys
    }
    asked_for = {f.key for f in task.gold.facts} - {"hill oven", "yearly bread fair"}
    assert hits >= asked_for
    assert result.prediction.kind == "answer"


async def test_the_bakery_difference_is_worked_out():
    result, _ = await play_offline(FACTS)
    assert result.prediction.kind == "answer"
    assert result.prediction.answer == "130"


async def test_what_is_found_is_said_in_the_language_of_the_task():
    _, events = await play_offline(GRAPH)
    first = dialogue_of(events).of("agent")[0].text
    assert "Brackness Light — keeper — Morag Sill" in first
    assert first.endswith("?")
    _, events = await play_offline(TABLE)
    assert "| 海鸥号 | 陈启明 | 1931年 |" in dialogue_of(events).of("agent")[-1].text


@pytest.mark.parametrize("name", ["lighthouse", "ferries", "bakery", "film", "graph-astronomy-zh"])
async def test_resuming_from_any_event_gives_the_same_events(name):
    _, whole = await play_offline(ALL[name])
    step = max(1, len(whole) // 40)
    for cut in [*range(0, len(whole), step), len(whole) - 1]:
        _, again = await play_offline(ALL[name], whole[:cut])
        assert again == whole


@pytest.mark.parametrize("name", ["table-us-states", "espresso"])
async def test_long_trials_resume_too(name):
    _, whole = await play_offline(ALL[name])
    for cut in range(1, len(whole), 1 + len(whole) // 5):
        _, again = await play_offline(ALL[name], whole[:cut])
        assert bodies(again) == bodies(whole)


@given(task=odd_tasks())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_odd_tasks_break_no_player(task):
    result, _ = asyncio.run(play_offline(task))
    assert result.termination is not Termination.INTERNAL_ERROR, result.detail


async def test_headings_longer_than_a_query_are_asked_for_once():
    long = "how many stones " * 50
    gold = Graph(
        triples=tuple(
            Triple(head="Brackness Bridge", relation=f"{long}{n}", tail=f"4{n}") for n in range(2)
        )
    )
    asked = stage(CueKind.START, "How many stones has Brackness Bridge?")
    persona = Persona(identity="A mason.", initial_query="How many stones?", stages=(asked,))
    task = GRAPH.model_copy(update={"gold": gold, "persona": persona})
    result, _ = await play_offline(task)
    assert not result.termination.is_failure


def test_the_agent_knows_only_what_is_public():
    assert public_task(WIDE_TABLE).columns == ("Driver", "Season", "Points")
    assert public_task(GRAPH).columns == ()
    hidden = TABLE.model_copy(update={"query": "请列出三艘渡轮。"})
    assert isinstance(hidden, Task)
    assert public_task(hidden).columns == ()
    assert set(type(public_task(CHAIN)).model_fields) == {"family", "language", "columns"}


LOAVES = [
    SearchResult("Hill Bakery", "daily loaves", "210 loaves"),
    SearchResult("Dunmore Bakery", "daily loaves", "340 loaves"),
    SearchResult("Dunmore Bakery", "founded", "1901"),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many loaves do they bake in all?", "550 loaves"),
        ("How many more loaves does Dunmore bake?", "130 loaves"),
        ("What is the difference in daily loaves?", "130 loaves"),
        ("Which bakery bakes more daily loaves?", "Dunmore Bakery"),
        ("Which bakery bakes fewer daily loaves?", "Hill Bakery"),
        ("两家一共多少？", "550 loaves"),
        ("When was Dunmore Bakery founded?", "1901"),
    ],
)
def test_the_simplest_rules(question, answer):
    assert derive_answer(question, LOAVES) == answer


def test_nothing_found_is_no_answer():
    assert derive_answer("What?", []) == ""


def test_there_are_samples_of_every_family():
    assert {task.family for task in sample_tasks()} == set(SHIPPED)
