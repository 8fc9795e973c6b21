import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as any_
from budget import examples
from cuecard.core.engine.messages import ToolCall
from cuecard.core.text import contains_term, normalise, one_line
from cuecard.core.worlds.background import Noise, ValueGuard
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.statements import final_answers, public_text
from offline_trials import (
    CHAIN,
    FACTS,
    GRAPH,
    SAMPLES,
    TABLE,
    TASKS,
    WIDE_TABLE,
    ask,
    odd_tasks,
    sample_tasks,
)

TWINS = {task.id: ClosedWorld(task) for task in (*TASKS, *sample_tasks())}
WORLDS = {task.id: (task, ClosedWorld(task)) for task in (*TASKS, *sample_tasks())}


def key_of(world, query):
    hit = ask(world, query).hit
    assert hit is not None
    return hit.matched_fact_keys[0] if hit.hit else "compound" if hit.is_compound else "vague"


@pytest.mark.parametrize(
    ("task", "query", "key"),
    [
        (GRAPH, "Brackness Light keeper", "triple/0"),
        (GRAPH, "Who was the keeper of Brackness Light?", "triple/0"),
        (GRAPH, "colour of the Vesta optic", "triple/3"),
        (GRAPH, "Vesta lens colour (b)", "triple/4"),
        (GRAPH, "Vesta lens colour (c)", "vague"),
        (GRAPH, "which lens was made by Orlin and Daughters", "triple/2"),
        (GRAPH, "Brackness Light", "vague"),
        (GRAPH, "Brackness Light opening hours", "vague"),
        (GRAPH, "Brackness Light keeper and lens", "compound"),
        (GRAPH, "keeper and ghost of Brackness Light", "compound"),
        (GRAPH, "Brackness Light, Vesta lens: colour", "compound"),
        (GRAPH, "lighthouses", "vague"),
        (TABLE, "海鸥号船长", "cell/0/船长"),
        (TABLE, "海鸥号的船长是谁？", "cell/0/船长"),
        (TABLE, "海鸥号的船长和下水年份", "compound"),
        (TABLE, "海鸥号、白鹭号的船长", "compound"),
        (TABLE, "海鸥号", "vague"),
        (WIDE_TABLE, "Bo Farrow autumn Points", "cell/3/Points"),
        (WIDE_TABLE, "points of Ada Quill in spring", "cell/0/Points"),
        (WIDE_TABLE, "Ada Quill points", "vague"),
        (WIDE_TABLE, "Ada Quill points spring autumn", "compound"),
        (FACTS, "daily loaves of Hill Bakery", "hill"),
        (FACTS, "yearly bread fair", "yearly bread fair"),
        (FACTS, "Hill Bakery oven", "vague"),
        (FACTS, "daily loaves of Hill Bakery and Dunmore Bakery", "compound"),
        (CHAIN, "The Grey Ferry director", "checkpoint/0/readings"),
        (CHAIN, "The Grey Ferry", "checkpoint/0/readings"),
        (CHAIN, "an old ferry", "vague"),
        (CHAIN, "who directed The Grey Ferry", "checkpoint/0/readings"),
        (CHAIN, "who directed The Grey Ferry, the colour remake", "checkpoint/0"),
        (CHAIN, "who directed Grey Ferry remake with colour and sound", "checkpoint/0"),
        (CHAIN, "who directed The Grey Ferry, the silent film", "vague"),
        (CHAIN, "in which town is the director buried", "vague"),
        (CHAIN, "Ines Holt buried", "vague"),
        (CHAIN, "in which town is the director Ines Holt buried", "checkpoint/1"),
    ],
)
def test_what_a_query_gets(task, query, key):
    assert key_of(WORLDS[task.id][1], query) == key


def test_a_hit_is_stated_once_among_four_entries():
    answer = ask(WORLDS["lighthouse"][1], "Brackness Light keeper")
    assert len(answer.entries) == 4
    stated = [e for e in answer.entries if e.content == "Brackness Light — keeper: Morag Sill."]
    assert len(stated) == 1
    assert stated[0].content in answer.text


def test_the_place_of_a_statement_varies():
    world = WORLDS["ferries"][1]
    places = set()
    for row in ("海鸥号", "白鹭号", "银鱼号"):
        for column in ("船长", "下水年份"):
            entries = ask(world, f"{row} {column}").entries
            places.add(next(n for n, e in enumerate(entries) if e.title == row))
    assert len(places) > 2


def test_a_vague_query_gets_headings_and_no_values():
    text = ask(WORLDS["lighthouse"][1], "Brackness Light").text
    assert "- keeper\n- lens" in text
    assert "Morag" not in text


def test_directories_list_row_keys_but_only_where_a_column_is_named():
    assert "银鱼号" in ask(WORLDS["ferries"][1], "船名名单").text
    assert "银鱼号" not in ask(WORLDS["ferries"][1], "今天天气").text
    assert "Bo Farrow · autumn" in ask(WORLDS["seasons"][1], "Bo Farrow").text


def test_an_entity_that_is_a_value_is_not_listed_before_it_is_known():
    # Vesta lens is a value of the light; its headings are for those who name it.
    assert "Vesta" not in ask(WORLDS["lighthouse"][1], "colour").text
    assert "Brackness Light" in ask(WORLDS["lighthouse"][1], "lens").text


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": None},
        {"query": " "},
        {"query": 3},
        {"query": ["a"]},
        {"query": "x" * 2001},
        {"query": "a", "topn": 0},
        {"query": "a", "topn": True},
        {"query": "a", "topn": "many"},
    ],
)
def test_malformed_arguments_are_answered(arguments):
    for _, world in WORLDS.values():
        answer = asyncio.run(world.answer(ToolCall(name="search", arguments=arguments)))
        assert not answer.ok
        assert answer.text
        assert answer.entries == ()


def test_an_unknown_tool_is_named_and_the_known_one_told():
    call = ToolCall(name="browse", arguments={"query": "a"})
    answer = asyncio.run(WORLDS["lighthouse"][1].answer(call))
    assert not answer.ok
    assert "browse" in answer.text
    assert "search" in answer.text


def test_topn_does_not_change_the_answer():
    world = WORLDS["lighthouse"][1]
    call = ToolCall(name="search", arguments={"query": "Brackness Light keeper", "topn": 10})
    assert asyncio.run(world.answer(call)) == ask(world, "Brackness Light keeper")


def values_in(values, text):
    """Which values stand in a text; a plain search first, because patterns are slow."""
    flat = normalise(text)
    return {v for v, plain in values.items() if plain in flat and contains_term(text, v)}


def check_secrets(task, world, twin, query):
    """The invariants of the class's docstring, for one query."""
    answer = ask(world, query)
    assert answer == ask(twin, query)
    assert len(answer.entries) == 4
    hit = answer.hit
    assert hit is not None
    assert len(hit.matched_fact_keys) == int(hit.hit)
    assert not (hit.hit and hit.is_compound)
    statements = world.statements
    # A lone mark cannot be told from the marks with which entries list things, nor filler from filler.
    values = {
        v: normalise(v)
        for s in statements
        for v in s.values
        if any(char.isalnum() for word in {*normalise(v).split()} - {"word"} for char in word)
    }
    known = f"{public_text(task)}\n{query}\n"
    stated = [s for s in statements if s.key in hit.matched_fact_keys]
    known += "\n".join(f"{s.title}\n{s.attribute}\n" + "\n".join(s.values) for s in stated)
    known += "\n" + one_line(known)  # as entries show it: controls become visible
    texts = [text for e in answer.entries for text in (e.title, e.content, e.date)]
    if hit.is_compound:
        assert not values_in(values, "\n\ufffc\n".join(texts))
    for text in texts:
        for value in values_in(values, text):
            assert contains_term(known, value), (query, value, text)
    if not any(s.step and s.secret for s in stated):
        for name in final_answers(task):
            # An answer of punctuation alone stands in every list and date, and what the task says
            # from the start is no secret.
            told = one_line(f"{query} {public_text(task)}") + f"\n{query}\n{public_text(task)}"
            if any(c.isalnum() for c in name) and not contains_term(told, name):
                for text in texts:
                    joined_by_display = any(not c.isprintable() for c in world_text(world))
                    assert joined_by_display or not contains_term(text, name), (query, name)


def world_text(world) -> str:
    """All that a world states: with controls in it, what is shown may join what was apart."""
    return "".join(f"{s.title}{s.attribute}{''.join(s.values)}" for s in world.statements)


def queries_about(world) -> st.SearchStrategy[str]:
    """Queries put together from what the world is about, in and out of order."""
    names = [name for s in world.statements for part in s.subject for name in part]
    attributes = [s.attribute for s in world.statements]
    values = [v for s in world.statements for v in s.values]
    glue = ["and", "和", "、", "of", "的", "?", "what is", "list of", "(b)", "，"]
    piece = st.sampled_from(names or attributes) | st.sampled_from(attributes)
    other = st.sampled_from(glue) | st.sampled_from(values) | any_.texts()
    pieces = st.lists(piece | other, min_size=1, max_size=5)
    return pieces.map(" ".join).filter(lambda query: query.strip() and len(query) <= 2000)


@pytest.mark.parametrize("name", list(WORLDS))
@given(data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_no_query_gives_a_value_away(name, data):
    task, world = WORLDS[name]
    check_secrets(task, world, TWINS[name], data.draw(queries_about(world)))


@pytest.mark.parametrize("name", list(WORLDS))
def test_plain_queries_give_no_other_value_away(name):
    task, world = WORLDS[name]
    for statement in world.statements[:40]:
        for query in (
            f"{statement.title} {statement.attribute}",
            statement.title,
            statement.attribute,
        ):
            if query.strip():
                check_secrets(task, world, TWINS[name], query)


@given(task=odd_tasks(), data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_odd_tasks_keep_their_secrets_too(task, data):
    world = ClosedWorld(task)
    query = data.draw(queries_about(world) if world.statements else any_.texts())
    if len(query.strip()) <= 2000:
        check_secrets(task, world, ClosedWorld(task), query)


@given(st.sampled_from(["en", "zh"]), any_.texts(), any_.tuples(any_.names(), 0, 30))
@settings(max_examples=examples(30), deadline=None)
def test_noise_contains_no_term_whatever_the_terms(language, query, terms):
    noise = Noise(language, ValueGuard(terms), ("keeper", "灯塔"))
    entries = noise.entries(query, 4)
    assert len(entries) == 4
    for entry in entries:
        for term in terms:
            for text in (entry.title, entry.content, entry.date):
                assert not contains_term(text, term) or entry.content == "…"


def test_english_noise_survives_values_that_are_common_words():
    noise = Noise("en", ValueGuard(["in", "or", "me", "hi", "ok", "7", "2020"]), ())
    assert {e.content for e in noise.entries("x", 4)} - {"…"}


def test_every_statement_of_the_samples_can_be_found():
    assert len(SAMPLES) >= 8
    for task, world in WORLDS.values():
        if task.family == "checkpoints":
            continue
        for statement in world.statements:
            if not statement.secret and not any(
                s is not statement
                and (s.subject, s.attribute) == (statement.subject, statement.attribute)
                for s in world.statements
            ):
                query = f"{statement.title.replace(' · ', ' ')} {statement.attribute}".strip()
                assert key_of(world, query) == statement.key
