"""No value that a reply must not hold ever reaches the agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as any_
from budget import examples
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.tasks.models import Task
from cuecard.core.text import contains_term
from cuecard.core.worlds.background import Secrets
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.parallel import FELL_BACK, EngineReply, Rules
from cuecard.core.worlds.parallel_facts import FactSheet, Leaks, holds, written
from cuecard.core.worlds.statements import Statement, compile_statements, final_answers, public_text
from offline_trials import CHAIN, FACTS, GRAPH, TABLE, TASKS, odd_tasks, sample_tasks
from openai_server import OpenAIServer
from search_engine import BACKGROUND, engine, good, parallel_world, result

ALL = [*TASKS, *sample_tasks()]


def leaks_of(task: Task) -> Leaks:
    return Leaks(task, Secrets(task))


def rules_of(task: Task) -> Rules:
    sheet = FactSheet(compile_statements(task), task.language)
    return Rules(sheet, leaks_of(task), task.language)


def statement_of(task: Task, key: str) -> Statement:
    return next(s for s in compile_statements(task) if s.key == key)


@pytest.mark.parametrize(
    ("task", "text", "value"),
    [
        (FACTS, "They bake 340 a day.", "340"),
        (FACTS, "They bake 340.0 a day.", "340"),
        (FACTS, "Three hundred and forty a day.", "340"),
        (FACTS, "In june!", "june"),
        (FACTS, "one hundred and thirty more", "130"),
        (FACTS, "It has an oven of 130 bricks.", "130"),
        (FACTS, "An old bakery with an oven.", ""),
        (GRAPH, "Morag Sill", "morag sill"),
        (GRAPH, "The Vesta optic", "vesta optic"),
        (GRAPH, "Brackness Light", ""),
        (TABLE, "船长是陈启明。", "陈启明"),
        (TABLE, "下水于 1931 年。", "1931"),
        (TABLE, "一九三一年下水", "1931"),
        (TABLE, "海鸥号的船长", ""),
        (CHAIN, "Buried in Marlowe Bay.", "marlowe bay"),
        (CHAIN, "The Grey Ferry", ""),
    ],
)
def test_a_value_is_found_however_it_is_written(task: Task, text: str, value: str) -> None:
    found = leaks_of(task).found_in(text)
    assert value in found.casefold() if value else found == ""


def test_a_value_of_small_words_counts_where_its_attribute_is_spoken_of() -> None:
    gold = TABLE.gold.model_copy(update={"rows": (("Gull", "yes", "no"), ("Heron", "no", "1950"))})
    columns = tuple(
        c.model_copy(update={"name": name})
        for c, name in zip(TABLE.gold.columns, ("Ship", "Diesel", "Sold"), strict=True)
    )
    gold = gold.model_copy(update={"columns": columns, "unique_columns": ("Ship",)})
    leaks = leaks_of(TABLE.model_copy(update={"gold": gold, "language": "en"}))
    assert leaks.found_in("There is no ship on this page.") == ""
    assert leaks.found_in("Diesel? no.") == "no"


def test_dates_are_found_in_any_spelling() -> None:
    facts = (FACTS.gold.facts[0].model_copy(update={"value": "1948-05-03"}),)
    task = FACTS.model_copy(update={"gold": FACTS.gold.model_copy(update={"facts": facts})})
    for text in ("on 3 May 1948", "May 3, 1948", "1948年5月3日", "1948/5/3"):
        assert leaks_of(task).found_in(text)
        assert holds(text, statement_of(task, "dunmore"))
    assert not leaks_of(task).found_in("in May 1949")


def test_a_query_excuses_what_it_names_but_no_plain_value() -> None:
    leaks = leaks_of(GRAPH)
    assert leaks.found_in("The Vesta lens", leaks.excused("Vesta lens")) == ""
    # Its other name may be what somebody wants to know.
    assert leaks.found_in("The Vesta optic", leaks.excused("Vesta lens")) == "vesta optic"
    assert leaks.found_in("Morag Sill", leaks.excused("Vesta lens"))
    leaks = leaks_of(FACTS)
    guess = "does Hill Bakery bake 210 daily loaves"
    assert leaks.found_in("Hill Bakery, 210", leaks.excused(guess)) == "210"


def test_the_entry_that_states_a_fact_may_hold_its_value_and_no_other() -> None:
    leaks = leaks_of(FACTS)
    oven = statement_of(FACTS, "hill oven")
    excuse = leaks.stating(leaks.excused("Hill Bakery oven"), oven)
    assert leaks.found_in("It is the oven of 130 bricks.", excuse) == ""
    assert leaks.found_in("The oven of 130 bricks bakes 210.", excuse) == "210"


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.id)
def test_an_engine_that_keeps_the_rules_is_believed(task: Task) -> None:
    rules = rules_of(task)
    world = ClosedWorld(task)
    for statement in world.statements[:40]:
        query = f"{statement.title} {statement.attribute}"
        told = good(task, query)
        if told["hit"]:
            reply = EngineReply.model_validate(told)
            assert rules.complaint(query, reply) == ""


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.id)
def test_every_value_is_caught_in_a_miss(task: Task) -> None:
    """Each value that the task does not tell itself, in an entry for a query that has nothing to do
    with it.
    """
    rules = rules_of(task)
    leaks = leaks_of(task)
    public = public_text(task)
    for statement in compile_statements(task)[:60]:
        for value in (*statement.values, *final_answers(task)):
            strong = any(char.isalnum() for char in value) and len(value) > 2
            if not strong or contains_term(public, value) or contains_term(written(public), value):
                continue
            assert leaks.found_in(value)
            told = result(BACKGROUND[task.language], f"… {value} …")
            assert rules.complaint("weather", EngineReply.model_validate(told))


PIECES = st.sampled_from(
    [value for s in compile_statements(FACTS) for value in s.values]
    + ["130", "three hundred and forty", "210.0", "Hill Bakery", "Dunmore Bakery", "daily loaves"]
    + ["oven", "bricks", "yearly bread fair", "a page", "in", "?", "…", "\x1b[31m", "2", "10", ","]
)
CONTENTS = st.lists(PIECES, min_size=1, max_size=4).map(" ".join)
RESULTS = st.fixed_dictionaries(
    {
        "reason": st.just("drawn"),
        "is_compound_query": st.booleans(),
        "hit": st.integers(0, 1),
        "matched_fact_keys": st.lists(st.sampled_from(["fact-1", "fact-2", "fact-3", "hill", "x"])),
        "entries": st.lists(
            st.fixed_dictionaries({"title": CONTENTS, "content": CONTENTS, "date": PIECES}),
            min_size=3,
            max_size=5,
        ),
    }
)
QUERIES = st.sampled_from(
    ["daily loaves of Hill Bakery", "Hill Bakery", "oven of Hill Bakery", "bread", "340?"]
)


def check_told(query: str, answer: ToolAnswer) -> None:
    """An independent reading of the rules, for the task of the bakeries."""
    hit = answer.hit
    assert hit is not None
    assert len(answer.entries) == 4
    assert len(hit.matched_fact_keys) == int(hit.hit)
    assert not (hit.hit and hit.is_compound)
    own = {"dunmore": "340", "hill": "210", "hill oven": "130", "yearly bread fair": "June"}
    stated = {own[key] for key in hit.matched_fact_keys}
    for value in set(own.values()) | {"130"}:
        holding = [
            e
            for e in answer.entries
            if contains_term(f"{e.title} {e.content}", value)
            or contains_term(written(f"{e.title}\n{e.content}"), value)
        ]
        if hit.reason != FELL_BACK:
            assert len(holding) <= (value in stated), (query, value, answer)
        assert not any(contains_term(e.date, value) for e in answer.entries)


@given(drawn=st.lists(RESULTS, min_size=2, max_size=2), query=QUERIES)
@settings(max_examples=examples(25), deadline=None)
def test_nothing_that_breaks_a_rule_gets_through(drawn: list[dict[str, Any]], query: str) -> None:
    async def answered() -> ToolAnswer:
        async with OpenAIServer(engine(FACTS, lambda _t, r: drawn[r.number])) as server:
            world = parallel_world(FACTS, server.url, attempts=2)
            return await world.answer(
                ToolCall(name="search", arguments={"query": query}), LeakyContext()
            )

    check_told(query, asyncio.run(answered()))


class LeakyContext:
    """Performs every call and records nothing."""

    log = ()

    async def call_model(self, model: str, perform: Any, *, prompt: str = "") -> Any:
        return await perform()

    def scope(self, name: str) -> LeakyContext:
        return self


@given(task=odd_tasks(), contents=st.lists(any_.any_text(), min_size=4, max_size=4), data=st.data())
@settings(max_examples=examples(30), deadline=None)
def test_odd_tasks_are_judged_too(task: Task, contents: list[str], data: st.DataObject) -> None:
    rules = rules_of(task)
    statements = compile_statements(task)
    keys = data.draw(st.lists(st.sampled_from([s.key for s in statements] or ["x"]), max_size=1))
    if keys and data.draw(st.booleans()) and statements:
        contents[0] = next((s.value for s in statements if s.key == keys[0]), contents[0])
    query = data.draw(any_.texts())
    reply = EngineReply.model_validate(result(*contents, keys=keys))
    if rules.complaint(query, reply) == "":
        assert rules.matched(reply) is None or rules.stating(reply) is not None
        for entry, place in zip(reply.entries, range(4), strict=True):
            if place != rules.stating(reply):
                allowed = leaks_of(task).excused(query)
                assert leaks_of(task).found_in(f"{entry.title}\n{entry.content}", allowed) == ""
