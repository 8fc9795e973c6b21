from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as any_
from budget import examples
from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.config_players import ReplayWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, ToolAnswered, TrialStarted
from cuecard.core.engine.messages import Hit, PlayerRef, SearchEntry, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.players import build_world
from cuecard.core.engine.step_context import TrialStepContext, WorldContext
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import CuecardError
from cuecard.core.llm.hub import ModelHub
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import SEARCH, SEARCH_WEB, VISIT, ClosedWorld
from cuecard.core.worlds.replay import EventTape, ReplayWorld, call_key
from offline_trials import FACTS, GRAPH, TABLE, TASKS, play_offline
from react_bench import ticking

CALLS = st.builds(
    ToolCall,
    name=st.sampled_from(["search", "visit", "odd tool"]),
    arguments=st.dictionaries(any_.any_text(2), any_.json_values(), max_size=2),
    id=st.sampled_from(["", "c0", "c1"]),
)
ANSWERS = st.builds(
    ToolAnswer,
    text=any_.any_text(),
    entries=any_.tuples(
        st.builds(SearchEntry, id=any_.names(), title=any_.any_text(), content=any_.any_text())
    ),
    hit=st.none() | st.builds(Hit, is_compound=st.booleans(), hit=st.booleans()),
    ok=st.booleans(),
)


class Scripted:
    """Gives one answer after another, whatever is asked, after as many turns of the loop as told."""

    ref = PlayerRef(name="scripted", kind="web")
    tools: tuple[ToolSpec, ...] = ()

    def __init__(self, answers: Sequence[tuple[ToolAnswer, int]]) -> None:
        self._answers = iter(answers)

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        answer, turns = next(self._answers)
        for _ in range(turns):
            await asyncio.sleep(0)
        return answer


def started(**changes: Any) -> TrialStarted:
    ref = PlayerRef(name="a", kind="offline")
    fields = {"task_id": "t", "revision": 1, "revision_hash": "0"}
    return TrialStarted(**{**fields, "agent": ref, "user": ref, "world": Scripted.ref, **changes})


async def asked(
    world: Any, batches: Sequence[Sequence[ToolCall]], begun: TrialStarted | None = None
) -> tuple[list[ToolAnswer], list[Event]]:
    """The answers to calls; those of a batch are made at the same time."""
    sink = MemorySink()
    trial_log = TrialLog(sink, (), ticking())
    await trial_log.record(begun or started())
    answers: list[ToolAnswer] = []
    for turn, batch in enumerate(batches):
        context = TrialStepContext(world, trial_log, "agent", turn)
        answers += await asyncio.gather(*(context.call_tool(call) for call in batch))
    return answers, sink.events


def replaying(*logs: Sequence[Event], language: Any = "en") -> ReplayWorld:
    return ReplayWorld("again", 7, language, EventTape(logs))


@given(
    calls=st.lists(CALLS, min_size=1, max_size=4),
    order=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=examples(40), deadline=None)
def test_what_was_recorded_is_replayed_to_the_byte(
    calls: list[ToolCall], order: list[list[int]], data: st.DataObject
) -> None:
    batches = [[calls[n % len(calls)] for n in batch] for batch in order]
    count = sum(map(len, batches))
    timed = st.tuples(ANSWERS, st.integers(0, 5))
    live = Scripted(data.draw(st.lists(timed, min_size=count, max_size=count)))

    async def both() -> None:
        answers, log = await asked(live, batches)
        again, events = await asked(replaying(log), batches)
        assert [a.model_dump_json() for a in again] == [a.model_dump_json() for a in answers]
        spoken = {b.key: b for b in (e.body for e in log) if isinstance(b, ToolAnswered)}
        assert {e.body.key: e.body for e in events if isinstance(e.body, ToolAnswered)} == spoken

    asyncio.run(both())


def search(query: str, **more: Any) -> ToolCall:
    return ToolCall(name="search", arguments={"query": query, **more})


def says(*texts: str) -> Scripted:
    return Scripted([(ToolAnswer(text=text), 0) for text in texts])


async def test_the_last_answer_is_repeated_when_fewer_were_recorded() -> None:
    _, log = await asked(says("first", "second"), [[search("a")], [search("a")]])
    answers, _ = await asked(replaying(log), [[search("a")]] * 3)
    assert [answer.text for answer in answers] == ["first", "second", "second"]


async def test_the_order_of_arguments_and_the_id_make_no_other_call() -> None:
    one = ToolCall(name="visit", arguments={"urls": ["u"], "goal": "g"}, id="c1")
    same = ToolCall(name="visit", arguments={"goal": "g", "urls": ["u"]}, id="c2")
    assert call_key(one) == call_key(same)
    _, log = await asked(says("page"), [[one]])
    answers, _ = await asked(replaying(log), [[same]])
    assert [answer.text for answer in answers] == ["page"]


@pytest.mark.parametrize(("language", "word"), [("en", "recorded"), ("zh", "记录")])
async def test_an_unknown_call_is_refused_in_the_language_of_the_task(
    language: str, word: str
) -> None:
    _, log = await asked(says("first"), [[search("a")]])
    answers, _ = await asked(
        replaying(log, language=language), [[search("b")], [search("a", topn=5)], [search("c")]]
    )
    assert not any(answer.ok for answer in answers)
    assert all(word in answer.text for answer in answers)
    # An agent that tries something else is not caught in an error loop.
    assert len({answer.text for answer in answers}) == 3


async def test_the_tools_are_those_that_were_called() -> None:
    visit = ToolCall(name="visit", arguments={"urls": ["u"], "goal": "g"})
    odd = ToolCall(name="atlas", arguments={"place": "x", "zoom": 3})
    _, log = await asked(says("1", "2", "3"), [[visit], [search("a")], [odd]])
    tools = {spec.name: spec for spec in replaying(log).tools}
    assert tools["search"] == SEARCH_WEB
    assert tools["visit"] == VISIT
    assert set(tools["atlas"].parameters["properties"]) == {"place", "zoom"}  # type: ignore[arg-type]
    assert set(tools) == {"search", "visit", "atlas"}

    ref = PlayerRef(name="p", kind="parallel")
    _, log = await asked(says("1"), [[search("a")]], started(world=ref))
    assert replaying(log).tools == (SEARCH,)


async def test_a_trial_is_answered_from_its_own_recording_where_there_is_one() -> None:
    logs = [
        (await asked(says(f"{agent}{sample}"), [[search("a")]], started(agent=ref, sample=sample)))[
            1
        ]
        for agent in ("x", "y")
        for sample in (0, 1)
        for ref in [PlayerRef(name=agent, kind="offline")]
    ]
    _, other = await asked(says("of another"), [[search("only here")]])
    tape = EventTape([*logs, other])
    for agent, sample, expected in (("y", 1, "y1"), ("x", 1, "x1"), ("y", 5, "y0"), ("z", 0, "x0")):
        preferred = tape.preferring(agent, sample)
        assert [a.text for a in preferred.answers(search("a"))] == [expected]
        assert [a.text for a in preferred.answers(search("only here"))] == ["of another"]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_a_trial_in_a_replayed_world_goes_as_in_the_world_that_was_recorded(
    task: Any,
) -> None:
    result, log = await play_offline(task)
    sink = MemorySink()
    world = ReplayWorld("again", 7, task.language, EventTape([log]))
    setup = TrialSetup(task, OfflineAgent(public_task(task)), scripted_user_for(task), world)
    assert await play(setup, TrialLog(sink, (), ticking())) == result
    assert [e.body for e in sink.events[1:]] == [e.body for e in log[1:]]


async def test_a_trial_that_was_killed_goes_on_where_it_was() -> None:
    batches = [[search("a"), search("b"), search("a")], [search("a")]]
    live = says("a1", "b1", "a2", "a3")
    answers, log = await asked(live, batches)
    for kept in range(1, len(log)):
        sink = MemorySink()
        trial_log = TrialLog(sink, log[:kept], ticking())
        again: list[ToolAnswer] = []
        for turn, batch in enumerate(batches):
            context = TrialStepContext(replaying(log), trial_log, "agent", turn)
            again += await asyncio.gather(*(context.call_tool(call) for call in batch))
        assert again == answers


async def test_the_registry_makes_a_replay_with_or_without_a_tape() -> None:
    config = Config(worlds={"again": ReplayWorldConfig(kind="replay", run=7)})
    hub = ModelHub(config)
    bare = build_world("again", config, TABLE, hub)
    assert bare.ref == PlayerRef(name="again", kind="replay", version="7")
    with pytest.raises(CuecardError, match="7"):
        _ = bare.tools
    _, log = await play_offline(FACTS)
    assert build_world("again", config, FACTS, hub, EventTape([log])).tools == (SEARCH,)


async def test_without_a_tape_a_trial_says_what_is_missing() -> None:
    agent, user = OfflineAgent(public_task(GRAPH)), scripted_user_for(GRAPH)
    world = ReplayWorld("again", 7, "en", None)
    result = await play(
        TrialSetup(GRAPH, agent, user, world), TrialLog(MemorySink(), (), ticking())
    )
    assert "7" in result.detail
    assert ClosedWorld(GRAPH).tools == (SEARCH,)
