from __future__ import annotations

import sys

import pytest

from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import Act
from cuecard.core.predictions import AnswerPrediction, TriplesPrediction, UnusablePrediction
from harness_bench import EXAMPLES, HarnessBench, gone
from react_bench import CHAIN, FACTS, GRAPH
from scripted_harness import SAID


@pytest.mark.parametrize("example", ["echo_agent.py", "agent.py"])
async def test_the_protocols_own_example_agents_play_a_trial(
    bench: HarnessBench, example: str
) -> None:
    result = await bench.play(command=(sys.executable, str(EXAMPLES / example)))

    assert result.termination is not Termination.API_ERROR, result.detail
    first = bench.bodies("agent_spoke")[0].reply.text
    assert "You are a research assistant" in first
    assert GRAPH.opening in first
    assert isinstance(result.prediction, UnusablePrediction)  # An echo knows nothing.
    assert len(bench.marks("harness_session")) == 1


async def test_a_trial_streams_records_and_hands_in(bench: HarnessBench) -> None:
    result = await bench.play("tools", model="some-model")

    assert result.termination is Termination.USER_DONE
    assert isinstance(result.prediction, TriplesPrediction)
    replies = [body.reply.text for body in bench.bodies("agent_spoke")]
    assert replies == [SAID, SAID]
    assert "".join(t for turn, t in bench.sink.streamed if turn == 0) == SAID
    (session,) = bench.marks("harness_session")
    assert session.harness == "scripted 1"
    assert not session.restored
    assert gone(session.cwd)
    tool = bench.marks("harness_tool")[0]
    assert (tool.name, tool.title, tool.status) == ("read", "ls", "completed")
    assert (tool.input, tool.output) == ('{"path": "."}', "a.txt")
    calls = bench.bodies("model_replied")
    assert [call.model for call in calls] == ["some-model"] * 3
    # The harness counts over its session; the log by prompt.
    assert [call.reply.usage.prompt for call in calls] == [10, 10, 10]
    assert {call.reply.finish_reason for call in calls} == {"end_turn"}


async def test_it_is_told_its_part_once_and_then_only_the_users_words(bench: HarnessBench) -> None:
    await bench.play()

    words = [words for _, words in bench.prompts]
    assert "You are a research assistant" in words[0]
    assert words[0].endswith(GRAPH.opening)
    assert words[1] == "Where was he from?"
    assert words[2].startswith("The conversation is over")


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_the_world_is_offered_and_its_hits_are_recorded(
    bench: HarnessBench, transport: str
) -> None:
    result = await bench.play("search", transport)

    assert result.termination is Termination.USER_DONE
    searches = bench.bodies("tool_answered")
    assert [body.call.arguments["query"] for body in searches] == ["espresso machine inventor"] * 2
    assert all(body.answer.hit.hit for body in searches)
    # A call to the trial's world is no tool of the harness's own.
    assert bench.marks("harness_tool") == []
    assert bench.bodies("agent_spoke")[0].reply.text == f"Let me see.\n\n{SAID}"


async def test_the_world_is_shut_while_the_harness_hands_in(bench: HarnessBench) -> None:
    result = await bench.play("late", "http")

    assert "refused: The tools answer only while it is your turn" in result.prediction.raw
    assert bench.bodies("tool_answered") == []


async def test_asking_by_the_tool_is_the_turns_act(bench: HarnessBench) -> None:
    result = await bench.play("ask", "http", task=CHAIN)

    spoke = bench.bodies("agent_spoke")
    assert spoke[0].reply.act is Act.ASK
    assert spoke[0].reply.text == "Which Mercury?"
    # What it tried after that was refused.
    assert bench.bodies("tool_answered") == []
    assert isinstance(result.prediction, AnswerPrediction)


async def test_an_oracle_is_given_the_facts_and_no_tools(bench: HarnessBench) -> None:
    settings = Settings(facts="oracle")
    await bench.play(task=FACTS, settings=settings)

    assert "06:12" in bench.prompts[0][1]


async def test_only_what_stays_inside_is_permitted(bench: HarnessBench) -> None:
    await bench.play("permits")

    said = bench.bodies("agent_spoke")[0].reply.text
    for told in ("[edit: id-allow_once]", "[edit: id-reject_once]", "[execute: id-reject_once]"):
        assert told in said


async def test_an_empty_turn_is_asked_for_once_more(bench: HarnessBench) -> None:
    result = await bench.play("empty")

    assert result.termination is Termination.USER_DONE
    assert "Your last reply was empty" in bench.prompts[1][1]


async def test_other_output_is_not_taken_for_the_protocol(
    bench: HarnessBench, capfd: pytest.CaptureFixture[str]
) -> None:
    result = await bench.play("garbage")

    assert result.termination is Termination.USER_DONE
    assert capfd.readouterr() == ("", "")


async def test_a_shared_process_serves_many_sessions(bench: HarnessBench) -> None:
    await bench.play(shared=True)
    await bench.play(shared=True)

    sessions = list(dict.fromkeys(session for session, _ in bench.prompts))
    assert len(sessions) == 2
    assert len({session.partition("-")[2] for session in sessions}) == 1
