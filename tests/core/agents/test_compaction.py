"""Conversations that grow longer than a model can read, over a real server that counts tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.engine.events import Event, Limits, Marked, ModelReplied, Termination
from cuecard.core.engine.messages import Compaction
from long_trials import NOTES, LongUser, WordyWorld, counting, lamp_seeker, length_of, summarising
from openai_server import Reply, Request
from react_bench import GRAPH, Trial, play_trial

CONTEXT = 1_400
LIMIT = int(CONTEXT * 0.9)


async def long_trial(
    script: Callable[[Request], Reply], past: list[Event] | None = None, **settings: Any
) -> Trial:
    turns, chars = settings.pop("turns", 8), settings.pop("chars", 600)
    settings.setdefault("cutting", {"strategy": "summary", "keep": 4})
    return await play_trial(
        script,
        GRAPH,
        past=past or (),
        user=LongUser(turns),
        world=WordyWorld(chars),
        limits=Limits(max_turns=30),
        **{"context": CONTEXT, **settings},
    )


def compactions(trial: Trial) -> list[Compaction]:
    marks = (body.mark for body in trial.bodies("marked"))
    return [mark for mark in marks if isinstance(mark, Compaction)]


def is_sound(request: Request) -> bool:
    """Whether every answer follows its call, every call has its answer, and no user speaks twice."""
    open_calls: list[str] = []
    before = ""
    for message in request.messages:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls or (message["role"] == before == "user"):
            return False
        before = message["role"]
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
    return not open_calls and request.messages[1]["role"] == "user"


@pytest.mark.parametrize("counts", [True, False])
async def test_a_summary_takes_the_place_of_what_is_older(counts: bool) -> None:
    trial = await long_trial(lamp_seeker(counts=counts))
    assert trial.result.termination is Termination.USER_DONE
    marks = compactions(trial)
    assert len(marks) >= 2
    assert all(m.strategy == "summary" and m.summary == NOTES and m.dropped for m in marks)
    assert all(m.before > m.limit == LIMIT for m in marks)
    assert all(is_sound(request) for request in trial.requests)
    assert max(map(length_of, trial.requests)) < CONTEXT
    last = trial.requests[-1]
    assert NOTES in last.messages[1]["content"]
    whole = str(last.messages)
    assert all(f"Request {n}: tell me about lamp {n}." in whole for n in range(8))
    assert all(whole.count(f"Request {n}:") == 1 for n in range(8))


async def test_what_is_summed_up_is_what_is_cut() -> None:
    trial = await long_trial(lamp_seeker())
    first, second, *_ = [r for r in trial.requests if summarising(r)]
    assert [m["role"] for m in first.messages] == ["system", "user"]
    assert "tools" not in first.body
    assert "Request 0" in first.last["content"]
    assert '-> search {"query": "lamp 0"}' in first.last["content"]
    assert "lamp 0 is brass" in first.last["content"]
    assert NOTES in second.last["content"]
    assert "Request 0" not in second.last["content"]
    asked = [b for b in trial.bodies("model_replied") if b.scope]
    assert [b.scope for b in asked] == ["compaction/0/"] * len(asked)
    assert {b.payer for b in asked} == {"agent"}
    assert len({b.prompt for b in asked}) == 1


async def test_a_window_leaves_the_oldest_out() -> None:
    trial = await long_trial(lamp_seeker(), cutting={"strategy": "window", "keep": 2})
    assert trial.result.termination is Termination.USER_DONE
    marks = compactions(trial)
    assert marks
    assert all(m.strategy == "window" and not m.summary and m.dropped for m in marks)
    assert not any(map(summarising, trial.requests))
    assert all(is_sound(request) for request in trial.requests)
    last = str(trial.requests[-1].messages)
    assert "Request 0" in last
    assert "Request 7" in last
    assert "Request 2" not in last


@pytest.mark.parametrize("strategy", ["summary", "window"])
async def test_what_was_asked_last_stays_in_view_through_a_long_turn(strategy: str) -> None:
    """Also when the words are far behind the last messages."""
    turn, steps = 0, 0

    def script(request: Request) -> Reply:
        nonlocal turn, steps
        usage = {"prompt_tokens": length_of(request), "completion_tokens": 9}
        if summarising(request):
            return fake.text(NOTES, usage=usage)
        steps += 1
        assert "Request 0:" in str(request.messages)
        assert turn > 2 or f"Request {turn}:" in str(request.messages)
        if steps % 12 == 0:
            turn += 1
            return fake.text("It is brass.", usage=usage)
        return fake.calls(("search", {"query": f"lamp {request.number}"}), usage=usage)

    cutting = {"strategy": strategy, "keep": 2}
    trial = await long_trial(script, turns=3, cutting=cutting, max_steps=30)
    assert not trial.result.termination.is_failure
    assert turn >= 3
    assert len(compactions(trial)) > 3


async def test_without_a_strategy_it_overflows() -> None:
    script = counting(lamp_seeker(), CONTEXT)
    trial = await long_trial(script, cutting={"strategy": "none"})
    assert trial.result.termination is Termination.CONTEXT_OVERFLOW
    assert compactions(trial) == []


@pytest.mark.parametrize("strategy", ["summary", "window"])
async def test_a_server_with_less_room_than_configured(strategy: str) -> None:
    """The first that the agent hears of the limit is the refusal."""
    cutting = {"strategy": strategy}
    trial = await long_trial(counting(lamp_seeker(), 900), context=100_000, cutting=cutting)
    assert trial.result.termination is Termination.USER_DONE
    assert compactions(trial)
    refused = [
        b for b in trial.bodies("model_replied") if b.reply.finish_reason == "context_overflow"
    ]
    assert refused
    assert all(is_sound(request) for request in trial.requests)


async def test_a_server_without_room_ends_the_trial() -> None:
    trial = await long_trial(counting(lamp_seeker(), 100))
    assert trial.result.termination is Termination.CONTEXT_OVERFLOW


async def test_one_answer_that_is_longer_than_all_there_is_room_for() -> None:
    trial = await long_trial(lamp_seeker(), turns=2, chars=50_000)
    assert trial.result.termination is Termination.USER_DONE
    assert max(map(length_of, trial.requests)) < CONTEXT
    told = next(m["content"] for m in trial.requests[1].messages if m["role"] == "tool")
    assert "of 50000 characters" in told
    assert len(trial.bodies("tool_answered")[0].answer.text) == 50_000


async def test_a_model_that_will_not_sum_up() -> None:
    inner = lamp_seeker()
    trial = await long_trial(lambda r: fake.text("") if summarising(r) else inner(r))
    assert trial.result.termination is Termination.USER_DONE
    assert {mark.summary for mark in compactions(trial)} == {""}
    assert "Request 0" in str(trial.requests[-1].messages)


def shape(events: list[Event]) -> dict[str, Any]:
    shaped: dict[str, Any] = {}
    for event in events:
        data = event.body.model_dump(mode="json")
        if isinstance(event.body, ModelReplied):
            data["reply"].pop("latency_ms")
        shaped[event.body.key] = data
    return shaped


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({}, 0),
        ({"cutting": {"strategy": "window"}}, 0),
        ({"context": 100_000}, 900),
        ({"context": 100_000, "cutting": {"strategy": "window"}, "memory": "local"}, 900),
        ({"calls": "tagged"}, 0),
    ],
    ids=["summary", "window", "refused", "refused window", "tagged"],
)
async def test_from_wherever_it_is_resumed_it_is_cut_alike(
    settings: dict[str, Any], limit: int
) -> None:
    inner = lamp_seeker()

    def tagged(request: Request) -> Reply:
        usage = {"prompt_tokens": length_of(request), "completion_tokens": 9}
        content = str(request.last["content"])
        if summarising(request) or "conversation is over" in content:
            return inner(request)
        if content.rstrip().endswith("</tool_response>"):
            return fake.text("<think>So.</think><answer>It is brass.</answer>", usage=usage)
        call = '{"name": "search", "arguments": {"query": "lamp"}}'
        return fake.text(f"<think>Hm.</think><tool_call>{call}</tool_call>", usage=usage)

    script = counting(tagged if settings.get("calls") else inner, limit)
    whole = await long_trial(script, turns=5, **settings)
    assert compactions(whole)
    assert not whole.result.termination.is_failure
    sent = [request.body for request in whole.requests]
    for cut in range(len(whole.events)):
        past = whole.events[:cut]
        resumed = await long_trial(script, past, turns=5, **settings)
        done = sum(isinstance(e.body, ModelReplied) for e in past)
        assert [request.body for request in resumed.requests] == sent[done:]
        assert shape(resumed.events) == shape(whole.events)


async def test_it_stops_between_a_summary_and_its_mark() -> None:
    whole = await long_trial(lamp_seeker(), turns=5)
    at = next(i for i, e in enumerate(whole.events) if isinstance(e.body, Marked))
    past = whole.events[:at]
    assert isinstance(past[-1].body, ModelReplied)
    assert past[-1].body.scope == "compaction/0/"
    resumed = await long_trial(lamp_seeker(), past, turns=5)
    assert shape(resumed.events) == shape(whole.events)
