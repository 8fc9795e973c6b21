"""The law of compound queries: whoever asks for two things at once is told neither."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.text import contains_term, normalise
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.finding import SEVERAL_ATTRIBUTES, SEVERAL_ENTITIES
from cuecard.core.worlds.statements import Form, final_answers, read_entry
from offline_trials import CHAIN, FACTS, TASKS, ask, sample_tasks

WORLDS = {task.id: (task, ClosedWorld(task)) for task in (*TASKS, *sample_tasks())}
CHAINS = [name for name, (task, _) in WORLDS.items() if task.family == "checkpoints"]
GLUE = [" and ", " or ", "; ", "、", "和", "以及", ", ", "? ", "？", " ", "\n", ". ", "，", " then ", " / ", " & "]  # fmt: skip
OUTSIDERS = ["Mont Blanc", "the population of Peru", "鲁迅", "黄山的海拔", "who came second", "weather"]  # fmt: skip


def ways_to_ask(statement, language):
    """Wordings of the one query for a statement."""
    if statement.step:
        anchors = [names[0] for names in statement.step.anchors[:1]]
        asked = (statement.step.question, statement.attribute)
        return [f"{a} {q}" for q in asked for a in anchors] or list(asked)
    other = "{attribute} of {subject}" if language == "en" else "{subject}的{attribute}是什么？"
    named = {"attribute": statement.attribute, "subject": statement.title}
    if not statement.title:
        return [statement.attribute]
    return [f"{statement.title} {statement.attribute}", other.format(**named)]


def questions_of(task, world):
    """What a world can be asked, each thing once, in its wordings."""
    found = {}
    for statement in world.statements:
        step = statement.step.index if statement.step else None
        same = (step, normalise(statement.title), normalise(statement.attribute))
        found.setdefault(same if step is None else step, ways_to_ask(statement, task.language))
    return list(found.values())


QUESTIONS = {name: questions_of(task, world) for name, (task, world) in WORLDS.items()}


def said(task, answer):
    """The statements and lists of readings among the entries."""
    found = [read_entry(task.language, e.title, e.content) for e in answer.entries]
    return [one for one in found if one and one.form in (Form.STATEMENT, Form.READINGS)]


def names_final(task, query, answer):
    """The final answers that an answer gives to somebody who did not name them."""
    return [n for n in final_answers(task) if contains_term(answer.text, n) and not contains_term(query, n)]  # fmt: skip


@pytest.mark.parametrize("name", list(WORLDS))
@given(data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_two_questions_at_once_get_neither(name, data):
    task, world = WORLDS[name]
    asked = data.draw(
        st.lists(st.sampled_from(range(len(QUESTIONS[name]))), min_size=2, max_size=3, unique=True)
    )
    parts = [data.draw(st.sampled_from(QUESTIONS[name][n])) for n in asked]
    query = data.draw(st.sampled_from(GLUE)).join(parts)
    answer = ask(world, query)
    assert answer.hit is not None
    assert not answer.hit.hit, (query, answer.hit)
    assert said(task, answer) == [], query
    assert names_final(task, query, answer) == [], query


@pytest.mark.parametrize("name", list(WORLDS))
@given(data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_a_question_among_entities_never_gets_the_final_answer_nor_two(name, data):
    task, world = WORLDS[name]
    names = [n for s in world.statements for part in s.subject for n in part]
    names += [n for s in world.statements if s.step for n in s.values]
    question = data.draw(st.sampled_from(QUESTIONS[name]).flatmap(st.sampled_from))
    beside = data.draw(
        st.lists(st.sampled_from([*names, *OUTSIDERS]), min_size=1, max_size=3, unique=True)
    )
    beside = [one for one in beside if not contains_term(question, one)]
    if name in CHAINS:
        # Another name of the entity that the last question names already is no second entity.
        last = world.statements[-1]
        own = {normalise(n) for names in last.step.anchors[:1] for n in names}
        own |= {normalise(n) for n in last.values}
        beside = [one for one in beside if normalise(one) not in own]
    if not beside:
        return
    parts = data.draw(st.permutations([question, *beside]))
    query = data.draw(st.sampled_from(GLUE)).join(parts)
    answer = ask(world, query)
    assert len(said(task, answer)) <= 1, query
    assert names_final(task, query, answer) == [], query


@pytest.mark.parametrize("name", CHAINS)
def test_the_exact_query_gets_the_final_answer(name):
    task, world = WORLDS[name]
    last = task.gold.steps[-1]
    for anchor in task.gold.steps[-2].names:
        answer = ask(world, f"{anchor} {last.question}")
        assert [one.value for one in said(task, answer)] == [last.target]
        beside = ask(world, f"{anchor} {last.question} {OUTSIDERS[0]}")
        assert said(task, beside) == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Who directed The Grey Ferry, and in which town is Ines Holt buried?", SEVERAL_ATTRIBUTES),
        ("Ines Holt and Jean Vigo: in which town is the director buried", SEVERAL_ATTRIBUTES),
        ("In which town is Ines Holt buried? Who directed it?", SEVERAL_ATTRIBUTES),
        ("the silent film, Ines Holt: in which town is the director buried", SEVERAL_ENTITIES),
    ],
)
def test_why_a_query_is_compound(query, reason):
    hit = ask(WORLDS[CHAIN.id][1], query).hit
    assert hit is not None
    assert (hit.is_compound, hit.reason) == (True, reason)


def test_a_fact_without_an_entity_beside_one_with_an_entity_is_compound():
    hit = ask(WORLDS[FACTS.id][1], "yearly bread fair. daily loaves of Hill Bakery").hit
    assert hit is not None
    assert hit.is_compound
