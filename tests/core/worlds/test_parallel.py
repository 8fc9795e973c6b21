from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.engine.events import Event, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.engine.step_context import TrialStepContext
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import ModelCallError
from cuecard.core.families.facts.family import score_facts
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.verdicts import Judgement
from cuecard.core.worlds.closed import SEARCH, ClosedWorld, as_text
from cuecard.core.worlds.parallel import FELL_BACK
from offline_trials import CHAIN, FACTS, GRAPH, TASKS, WIDE_TABLE, ended_well, shown
from openai_server import OpenAIServer, Request, error, text
from react_bench import ticking
from search_engine import engine, good, parallel_world, query_of, result

HILL = "daily loaves of Hill Bakery"


def call(query: str, **more: Any) -> ToolCall:
    return ToolCall(name="search", arguments={"query": query, **more})


async def asked(
    world: Any, *batches: Sequence[ToolCall], past: Sequence[Event] = (), sink: Any = None
) -> tuple[list[ToolAnswer], list[Event]]:
    """The answers to calls, and the log; those of a batch are made at the same time."""
    sink = sink or MemorySink()
    trial_log = TrialLog(sink, past, ticking())
    answers: list[ToolAnswer] = []
    for turn, batch in enumerate(batches):
        context = TrialStepContext(world, trial_log, "agent", turn)
        answers += await asyncio.gather(*(context.call_tool(c) for c in batch))
    return answers, list(trial_log.events)


async def one(task: Task, query: str, script: Any, **settings: Any) -> tuple[ToolAnswer, Any]:
    async with OpenAIServer(script) as server:
        answers, _ = await asked(parallel_world(task, server.url, **settings), [call(query)])
    return answers[0], server.requests


def saying(told: Any) -> Any:
    said = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    return lambda _request: text(said)


async def test_a_hit_states_its_fact_once_among_four_entries() -> None:
    answer, requests = await one(FACTS, HILL, engine(FACTS))
    assert answer.ok
    assert answer.hit is not None
    assert (answer.hit.hit, answer.hit.is_compound) == (True, False)
    assert answer.hit.matched_fact_keys == ("hill",)
    assert answer.hit.reason == "as scripted"
    assert len(answer.entries) == 4
    assert sum("210" in entry.content for entry in answer.entries) == 1
    assert answer.text == as_text(answer.entries)
    assert len(requests) == 1


async def test_the_model_gets_the_facts_and_the_query_but_not_the_question() -> None:
    _, (request,) = await one(FACTS, HILL, engine(FACTS))
    said = json.dumps(request.messages)
    assert "fact-1 | Dunmore Bakery | daily loaves | 340" in request.messages[0]["content"]
    assert FACTS.query not in said
    assert query_of(request) == HILL
    # Keys of the task are not on the sheet, so that they cannot get into an entry.
    assert "hill oven" not in said
    assert request.tools == []


async def test_what_states_the_final_answer_is_not_on_the_sheet() -> None:
    gold = FACTS.gold.model_copy(update={"answer": "340", "answer_aliases": ()})
    task = FACTS.model_copy(update={"gold": gold})
    _, (request,) = await one(task, HILL, engine(task))
    assert "340" not in request.messages[0]["content"]


async def test_labels_are_what_the_model_answers_with() -> None:
    told = result("Hill Bakery bakes 210 loaves.", keys=["fact-2"])
    answer, _ = await one(FACTS, HILL, saying(told))
    assert answer.hit is not None
    assert answer.hit.matched_fact_keys == ("hill",)


async def test_the_place_of_the_fact_follows_from_the_query() -> None:
    places = set()
    for n in range(6):
        answer, _ = await one(FACTS, f"{HILL}{'?' * n}" + " please" * n, saying(good(FACTS, HILL)))
        places.add(["210" in entry.content for entry in answer.entries].index(True))
    assert len(places) > 1


@pytest.mark.parametrize(
    ("query", "compound"), [(f"{HILL} and of Dunmore Bakery", True), ("Hill Bakery", False)]
)
async def test_without_a_hit_nothing_is_stated(query: str, compound: bool) -> None:
    answer, _ = await one(FACTS, query, engine(FACTS))
    assert answer.hit is not None
    assert (answer.hit.hit, answer.hit.is_compound) == (False, compound)
    assert answer.hit.matched_fact_keys == ()
    assert not any(value in answer.text for value in ("210", "340", "130", "June"))


SPOILED = {
    "leak in the background": lambda told: {**told, "entries": _with(told, 3, "340 loaves")},
    "the fact twice": lambda told: {**told, "entries": _with(told, 3, "It is 210.")},
    "the answer": lambda told: {**told, "entries": _with(told, 2, "130 more")},
    "in the title": lambda told: {
        **told,
        "entries": [{**told["entries"][1], "title": "In June"}, *told["entries"][1:]],
    },
    "in other figures": lambda told: {**told, "entries": _with(told, 3, "340.0 loaves")},
    "in words": lambda told: {**told, "entries": _with(told, 3, "three hundred and forty loaves")},
    "the fact not stated": lambda told: {**told, "entries": [told["entries"][1]] * 4},
    "another value": lambda told: {**told, "entries": _with(told, 0, "It is 211.")},
    "a label": lambda told: {**told, "entries": _with(told, 1, "See fact-3.")},
    "three entries": lambda told: {**told, "entries": told["entries"][:3]},
    "five entries": lambda told: {**told, "entries": [*told["entries"], told["entries"][1]]},
    "no entries": lambda told: {**told, "entries": []},
    "a blank entry": lambda told: {**told, "entries": _with(told, 1, " \n")},
    "an endless entry": lambda told: {**told, "entries": _with(told, 1, "dough " * 1000)},
    "compound and hit": lambda told: {**told, "is_compound_query": True},
    "two facts": lambda told: {**told, "matched_fact_keys": ["fact-1", "fact-2"]},
    "an unknown fact": lambda told: {**told, "matched_fact_keys": ["fact-99"]},
    "a hit of nothing": lambda told: {**told, "matched_fact_keys": []},
    "a fact without a hit": lambda told: {**told, "hit": 0},
    "a value in a miss": lambda told: {**told, "hit": 0, "matched_fact_keys": []},
    "hit 2": lambda told: {**told, "hit": 2},
    "the wrong shape": lambda told: {"results": told["entries"]},
    "a list": lambda told: [told],
    "prose": lambda _told: "I am sorry, I cannot find 340 or 210.",
    "nothing": lambda _told: "",
}


def _with(told: dict[str, Any], place: int, content: str) -> list[Any]:
    entries = list(told["entries"])
    entries[place] = {**entries[place], "content": content}
    return entries


@pytest.mark.parametrize("name", list(SPOILED))
async def test_what_breaks_a_rule_is_asked_for_again(name: str) -> None:
    def spoil(told: dict[str, Any], request: Request) -> Any:
        return SPOILED[name](told) if request.number == 0 else told

    answer, requests = await one(FACTS, HILL, engine(FACTS, spoil))
    assert len(requests) == 2
    assert requests[1].messages[-1]["role"] == "user"
    assert len(requests[1].messages) == 4
    assert answer.hit is not None
    assert answer.hit.reason == "as scripted"
    assert sum("210" in entry.content for entry in answer.entries) == 1


@pytest.mark.parametrize("name", list(SPOILED))
async def test_who_keeps_breaking_rules_is_replaced_by_the_closed_world(name: str) -> None:
    script = engine(FACTS, lambda told, _request: SPOILED[name](told))
    answer, requests = await one(FACTS, HILL, script, attempts=2)
    assert len(requests) == 2
    expected = await ClosedWorld(FACTS).answer(call(HILL))
    assert answer.entries == expected.entries
    assert answer.text == expected.text
    assert answer.hit is not None
    assert expected.hit is not None
    assert answer.hit == expected.hit.model_copy(update={"reason": FELL_BACK})


@pytest.mark.parametrize(
    "written",
    ["{told}", "```json\n{told}\n```", "Here it is:\n{told}", "{cut}", "{told}\nAnything else?"],
)
async def test_json_that_can_be_mended_is_used(written: str) -> None:
    told = json.dumps(good(FACTS, HILL))
    said = written.replace("{told}", told).replace("{cut}", told[:-2])
    answer, _ = await one(FACTS, HILL, saying(said))
    assert answer.hit is not None
    assert answer.hit.reason == "as scripted"


@pytest.mark.parametrize(
    ("changes", "hit"),
    [({"hit": True}, True), ({"date": 2031}, True), ({"date": None}, True)],
)
async def test_small_liberties_are_taken_as_meant(changes: dict[str, Any], hit: bool) -> None:
    told = good(FACTS, HILL)
    if "date" in changes:
        told["entries"] = [{**entry, **changes} for entry in told["entries"]]
    else:
        told.update(changes)
    answer, requests = await one(FACTS, HILL, saying(told))
    assert answer.hit is not None
    assert answer.hit.hit is hit
    assert len(requests) == 1


async def test_a_date_that_gives_a_value_away_is_another_date() -> None:
    told = good(FACTS, HILL)
    told["entries"] = [{**entry, "date": "12 June 2031"} for entry in told["entries"]]
    answer, requests = await one(FACTS, HILL, saying(told))
    assert len(requests) == 1
    assert "June" not in answer.text
    assert all(entry.date for entry in answer.entries)


@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"query": "x" * 2001}, {"query": 3}])
async def test_a_wrong_call_is_refused_without_asking_the_model(arguments: dict[str, Any]) -> None:
    async with OpenAIServer(engine(FACTS)) as server:
        world = parallel_world(FACTS, server.url)
        assert world.tools == (SEARCH,)
        answers, _ = await asked(world, [ToolCall(name="search", arguments=arguments)])
        assert not answers[0].ok
        assert server.requests == []


async def test_the_ref_names_model_and_prompt() -> None:
    world = parallel_world(FACTS, "http://127.0.0.1:9/v1")
    assert (world.ref.name, world.ref.kind, world.ref.model) == ("pw", "parallel", "engine")
    assert len(world.ref.version) == 8
    assert not world.ref.baseline


async def test_a_failing_endpoint_is_the_trial_s_failure() -> None:
    with pytest.raises(ModelCallError):
        await one(FACTS, HILL, lambda _request: error(400))


async def test_a_step_is_told_only_to_a_query_that_names_what_it_builds_on() -> None:
    query = "in which town is the director of The Grey Ferry buried"
    told = result("The director lies in Marlowe Bay.", keys=["checkpoint/1"])
    answer, requests = await one(CHAIN, query, saying(told), attempts=2)
    assert "Ines Holt" in requests[1].messages[-1]["content"]
    assert answer.hit is not None
    assert answer.hit.reason == FELL_BACK
    assert "Marlowe" not in answer.text
    answer, _ = await one(CHAIN, "where is Ines Holt buried", saying(told))
    assert answer.hit is not None
    assert answer.hit.hit


async def test_readings_are_told_all_or_not_at_all() -> None:
    query = "who directed The Grey Ferry"
    half = result("It could be the silent film.", keys=["checkpoint/0/readings"])
    _, requests = await one(CHAIN, query, saying(half), attempts=2)
    assert len(requests) == 2
    both = result("The silent film or the colour remake?", keys=["checkpoint/0/readings"])
    answer, _ = await one(CHAIN, query, saying(both))
    assert answer.hit is not None
    assert answer.hit.matched_fact_keys == ("checkpoint/0/readings",)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_a_trial_of_any_family_can_be_played_in_a_parallel_world(task: Task) -> None:
    sink = MemorySink()
    async with OpenAIServer(engine(task)) as server:
        world = parallel_world(task, server.url)
        setup = TrialSetup(task, OfflineAgent(public_task(task)), scripted_user_for(task), world)
        outcome = await play(setup, TrialLog(sink, (), ticking()))
    assert ended_well(outcome)
    answered = [e.body for e in sink.events if isinstance(e.body, ToolAnswered)]
    assert answered
    assert all(body.answer.hit for body in answered)
    assert {e.body.payer for e in sink.events if isinstance(e.body, ModelReplied)} == {"world"}


async def test_hits_of_a_parallel_world_are_scored_as_those_of_a_closed_one() -> None:
    async with OpenAIServer(engine(FACTS)) as server:
        calls = [call(HILL), call("daily loaves of Dunmore Bakery"), call("Hill Bakery")]
        _, log = await asked(parallel_world(FACTS, server.url), calls)
    judgement = Judgement.model_construct(verdicts=())
    measures = {m.name: m for m in score_facts(FACTS.gold, log, judgement)}
    assert measures["fcr"].value == 0.5


async def test_a_query_may_name_entities_and_so_may_its_entries() -> None:
    told = result("Vesta lens, a history of the lens.", "Where is the Vesta lens?")
    answer, requests = await one(GRAPH, "Vesta lens", saying(told))
    assert len(requests) == 1
    # To a query that does not name it, it is a value like any other.
    answer, requests = await one(GRAPH, "Brackness Light", saying(told), attempts=1)
    assert "Vesta" not in shown(answer)


async def test_two_key_columns_are_one_subject() -> None:
    told = result("In autumn Bo Farrow made 305 points.", keys=["cell/3/Points"])
    answer, requests = await one(WIDE_TABLE, "Bo Farrow autumn Points", saying(told))
    assert len(requests) == 1
    assert answer.hit is not None
    assert answer.hit.hit
