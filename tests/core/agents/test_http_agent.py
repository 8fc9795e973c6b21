"""An agent behind a web address, over a real loopback server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cuecard.core.config_players import HttpAgentConfig, Settings
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    Limits,
    ModelReplied,
    Termination,
    TrialRetried,
    UserSpoke,
)
from cuecard.core.engine.messages import Act
from cuecard.core.engine.players import build_agent
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import AgentPaused, ConfigError
from cuecard.core.llm.hub import ModelHub
from cuecard.core.predictions import AnswerPrediction, TablePrediction, TriplesPrediction
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from openai_server import (
    OpenAIServer,
    Reply,
    Request,
    Script,
    body_reply,
    busy,
    drop,
    error,
    json_reply,
)
from react_bench import CHAIN, FACTS, GRAPH, TABLE, TRIPLES, StreamingSink, ticking

SAID = "It was Angelo Moriondo."


def service(prediction: Any = None, **extra: Any) -> Script:
    """An agent that says the same in every turn, and hands in `prediction`, or a text."""

    def script(request: Request) -> Reply:
        if request.body["want"] == "reply":
            return json_reply({"reply": SAID, **extra})
        return json_reply({"text": TRIPLES} if prediction is None else {"prediction": prediction})

    return script


class Played:
    def __init__(self, result: TrialResult, events: list[Event], requests: list[Request]) -> None:
        self.result = result
        self.events = events
        self.bodies = [request.body for request in requests]
        self.requests = requests


async def play_http(
    script: Script,
    task: Task = GRAPH,
    *,
    past: Sequence[Event] = (),
    hub: ModelHub | None = None,
    **fields: Any,
) -> Played:
    sink = StreamingSink()
    sink.events.extend(past)
    async with OpenAIServer(script) as server:
        config = Config(agents={"far": HttpAgentConfig(url=server.url, **fields)})
        setup = TrialSetup(
            task=task,
            agent=build_agent("far", config, task, hub or ModelHub(config)),
            user=scripted_user_for(task),
            world=ClosedWorld(task),
            limits=Limits(max_turns=4),
        )
        result = await play(setup, TrialLog(sink, list(past), ticking()))
    return Played(result, sink.events, server.requests)


async def test_a_conversation_is_posted_turn_by_turn_and_then_handed_in() -> None:
    played = await play_http(service(usage={"prompt": 5, "completion": 3}))

    assert played.result.termination is Termination.USER_DONE
    assert isinstance(played.result.prediction, TriplesPrediction)
    first, second, last = played.bodies
    assert [body["want"] for body in played.bodies] == ["reply", "reply", "prediction"]
    assert [body["turn"] for body in played.bodies] == [0, 1, 2]
    assert first["conversation"] == [{"role": "user", "content": GRAPH.opening}]
    assert second["conversation"][1] == {"role": "assistant", "content": SAID}
    assert "You are a research assistant" in first["instructions"]
    assert "The conversation is over" in last["instructions"]
    assert (first["language"], first["family"], first["version"]) == ("en", "graph", 1)
    assert len({body["session"] for body in played.bodies}) == 1
    # Nothing of the task but its words.
    assert GRAPH.id not in first["session"]
    calls = [e.body for e in played.events if isinstance(e.body, ModelReplied)]
    assert [call.reply.usage.prompt for call in calls] == [5, 5, 0]


async def test_an_answered_post_is_never_sent_again_and_the_session_is_the_same() -> None:
    whole = await play_http(service())
    kinds = [type(event.body) for event in whole.events]
    for kind in (ModelReplied, AgentSpoke):
        past = whole.events[: kinds.index(kind) + 1]
        resumed = await play_http(service(), past=past)
        assert resumed.bodies == whole.bodies[1:]
        assert [e.body for e in resumed.events if e.body.type != "model_replied"] == [
            e.body for e in whole.events if e.body.type != "model_replied"
        ]


async def test_the_session_is_another_after_words_were_taken_back() -> None:
    whole = await play_http(service())
    kinds = [type(event.body) for event in whole.events]
    past = whole.events[: kinds.index(AgentSpoke) + 1]
    back = TrialRetried(keep=True, reason="retry", back_to=kinds.index(UserSpoke) + 1)
    past.append(past[-1].model_copy(update={"seq": len(past), "body": back, "take": 1}))
    again = await play_http(service(), past=past)
    (session,) = {body["session"] for body in again.bodies}
    assert session != whole.bodies[0]["session"]
    assert len(again.bodies) == len(whole.bodies)


@pytest.mark.parametrize(
    ("task", "prediction", "kind"),
    [
        (GRAPH, [{"head": "a", "relation": "r", "tail": "b"}], TriplesPrediction),
        (TABLE, {"columns": ["Moon", "Diameter"], "rows": [["Phobos | I", "22"]]}, TablePrediction),
        (FACTS, " 06:12 ", AnswerPrediction),
    ],
)
async def test_predictions_may_be_given_as_such(task: Task, prediction: Any, kind: type) -> None:
    played = await play_http(service(prediction), task)

    assert isinstance(played.result.prediction, kind)
    if isinstance(played.result.prediction, TablePrediction):
        assert played.result.prediction.rows == (("Phobos | I", "22"),)
    if isinstance(played.result.prediction, AnswerPrediction):
        assert played.result.prediction.answer == "06:12"


async def test_an_unreadable_prediction_is_asked_for_once_more() -> None:
    played = await play_http(service({"columns": ["Moon"], "rows": [["Phobos", "22"]]}), TABLE)

    assert played.result.prediction.kind == "unusable"
    assert [body["want"] for body in played.bodies].count("prediction") == 2
    assert "could not be read" in played.bodies[-1]["instructions"]


async def test_asking_is_an_act() -> None:
    played = await play_http(service("4879 km", act="ask"), CHAIN)

    spoke = next(e.body for e in played.events if isinstance(e.body, AgentSpoke))
    assert spoke.reply.act is Act.ASK
    assert spoke.reply.text == SAID


async def test_the_settings_reach_it_as_instructions() -> None:
    played = await play_http(service("06:12"), FACTS, settings=Settings(facts="oracle"))

    assert "06:12" in played.bodies[0]["instructions"]


async def test_failures_before_it_worked_are_tried_again() -> None:
    failures = [error(503, retry_after="0"), busy("0")]

    def script(request: Request) -> Reply:
        return failures[request.number] if request.number < 2 else service()(request)

    played = await play_http(script)

    assert played.result.termination is Termination.USER_DONE
    reply = next(e.body.reply for e in played.events if isinstance(e.body, ModelReplied))
    assert reply.attempts == 3


@pytest.mark.parametrize(
    ("reply", "requests", "told"),
    [
        (error(400, "no sk-header-value here", retry_after="0"), 1, "HTTP 400"),
        (error(503, "no sk-header-value here", retry_after="0"), 3, "HTTP 503"),
        (drop(), 1, "did not give an answer"),
        (body_reply(b"<html>", "text/html"), 1, "answered with something else"),
        (json_reply({"text": "x"}), 1, "missing: reply"),
        (json_reply(["x"]), 1, "answered with something else"),
    ],
)
async def test_what_fails_ends_the_trial_with_a_reason(
    reply: Reply, requests: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_KEY", "sk-header-value")
    played = await play_http(lambda _: reply, headers={"x-key": "FAR_KEY"})

    assert played.result.termination is Termination.API_ERROR
    assert told in played.result.detail
    assert len(played.requests) == requests
    assert played.requests[0].headers["x-key"] == "sk-header-value"
    assert "sk-header-value" not in json.dumps([e.model_dump(mode="json") for e in played.events])


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (error(401, "who are you?"), "HTTP 401"),
        (error(404), "HTTP 404"),
        (Reply(307, {"location": "http://127.0.0.1:1/", "content-length": "0"}), "HTTP 307"),
        (busy("7200"), "2:00:00, until 20"),
    ],
)
async def test_an_address_without_an_agent_ends_no_trial(reply: Reply, told: str) -> None:
    requests: list[Request] = []

    def script(request: Request) -> Reply:
        requests.append(request)
        return reply

    with pytest.raises(AgentPaused, match="far") as caught:
        await play_http(script)
    assert told in str(caught.value)
    assert len(requests) == 1


async def test_an_agent_that_fails_in_every_trial_is_asked_no_more() -> None:
    hub = ModelHub(Config())
    for _trial in range(2):
        played = await play_http(lambda _: error(503), hub=hub, retries=0)
        assert played.result.termination is Termination.API_ERROR
    with pytest.raises(AgentPaused, match=r"3 .*in a row"):
        await play_http(lambda _: error(503), hub=hub, retries=0)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(200, {"content-length": "500"}, [b" "] * 500, pause=0.01), "within 0.3 seconds"),
        (Reply(503, {"content-length": "500"}, [b" "] * 500, pause=0.01), "HTTP 503"),
        (body_reply(b" " * 8_000_001, "application/json"), "longer than 8,000,000 bytes"),
        (json_reply({"reply": SAID, "extra": [0] * 600_000}), "more than 500,000 values"),
    ],
    ids=["trickle", "refusal that trickles", "bytes", "values"],
)
async def test_an_answer_is_read_within_bounds(reply: Reply, told: str) -> None:
    played = await play_http(lambda _: reply, timeout=0.3, retries=0)
    assert played.result.termination is Termination.API_ERROR
    assert told in played.result.detail


async def test_a_count_of_tokens_that_cannot_be_is_none() -> None:
    played = await play_http(service(usage={"prompt": 10**30, "completion": 3, "cached": "x"}))
    calls = [e.body for e in played.events if isinstance(e.body, ModelReplied)]
    assert (calls[0].reply.usage.prompt, calls[0].reply.usage.completion) == (0, 3)


async def test_nobody_at_the_address_is_told() -> None:
    config = Config(agents={"far": HttpAgentConfig(url="http://127.0.0.1:1", retries=0)})
    agent = build_agent("far", config, GRAPH, ModelHub(config))
    setup = TrialSetup(
        task=GRAPH, agent=agent, user=scripted_user_for(GRAPH), world=ClosedWorld(GRAPH)
    )

    with pytest.raises(AgentPaused, match=r"127\.0\.0\.1:1"):
        await play(setup, TrialLog(StreamingSink()))


def test_a_missing_key_is_told_before_anything_is_played() -> None:
    agent = HttpAgentConfig(url="http://127.0.0.1:1", headers={"x": "NOT_SET_HERE"})
    config = Config(agents={"far": agent})
    with pytest.raises(ConfigError, match="NOT_SET_HERE"):
        build_agent("far", config, GRAPH, ModelHub(config))
