from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.annotate.authoring.rehearsal import ask_simulator, rehearse, simulators, why_text
from cuecard.core.config import parse_config
from cuecard.core.errors import CuecardError
from cuecard.core.tasks.models import Persona, Task
from cuecard.core.users.scripted import CueWhy, cue_met
from openai_server import OpenAIServer, text


@pytest.fixture
def espresso(samples: dict[str, Task]) -> dict:
    return samples["espresso"].model_dump(mode="json")


def test_a_reply_that_meets_the_cue_brings_the_line_and_says_by_which_term(espresso) -> None:
    heard = rehearse(espresso, "It was Angelo Moriondo, in 1884. Shall I go on?", 1)
    assert heard.waiting == 2
    assert heard.waited.check.met
    assert (heard.waited.check.term, heard.waited.check.why) == ("Angelo Moriondo", CueWhy.TERM)
    assert heard.waited.check.sentence == "It was Angelo Moriondo, in 1884."
    assert heard.said.stage == 2
    assert heard.said.text == espresso["persona"]["stages"][1]["line"]
    assert [check.disclosed for check in heard.checks[:3]] == [True, False, False]
    assert "Angelo Moriondo" in why_text(heard.waited.check)


def test_a_reply_that_misses_it_brings_the_push_and_the_reason(espresso) -> None:
    heard = rehearse(espresso, "Let me look.", 1)
    assert (heard.said.stage, heard.said.cue_met) == (None, False)
    assert heard.said.text == espresso["persona"]["stages"][1]["not_met"]
    assert heard.waited.check.why is CueWhy.NO_TERM
    assert rehearse(espresso, "", 1).waited.check.why is CueWhy.NOTHING_SAID


def test_a_term_that_is_not_asked_about_is_told_apart() -> None:
    stage = {"title": "T", "cue": {"kind": "asks", "text": "x", "terms": ["budget"]}, "line": "L"}
    data = {
        "persona": {"initial_query": "q", "stages": [{**stage, "cue": {"kind": "start"}}, stage]}
    }
    assert rehearse(data, "Your budget is fine.", 1).waited.check.why is CueWhy.TERM_NOT_ASKED
    assert rehearse(data, "What is your budget?", 1).waited.check.met
    assert rehearse(data, "What else?", 1).waited.check.why is CueWhy.NO_TERM
    assert rehearse(data, "Fine.", 1).waited.check.why is CueWhy.NO_QUESTION


def test_after_the_last_stage_the_user_is_done(espresso) -> None:
    heard = rehearse(espresso, "Here it is.", 99)
    assert heard.waiting is None
    assert heard.said.done


@given(persona=strategies.personas(), reply=strategies.any_text(), after=st.integers(0, 4))
@settings(max_examples=examples(30), deadline=None)
def test_what_is_shown_is_what_is_played(persona: Persona, reply: str, after: int) -> None:
    heard = rehearse({"persona": persona.model_dump(mode="json")}, reply, after)
    assert [c.check.met for c in heard.checks] == [cue_met(s.cue, reply) for s in persona.stages]
    assert all(why_text(check.check) for check in heard.checks)
    if heard.waiting:
        assert heard.said.cue_met is heard.waited.check.met


@pytest.mark.parametrize(
    "data", [{}, {"persona": None}, {"persona": {"stages": None}}, {"persona": {"stages": ["x"]}}]
)
def test_nobody_to_rehearse(data) -> None:
    assert rehearse(data, "Hello", 0) is None


def config_of(url: str, more: str = "") -> str:
    return f"models:\n  m:\n    base_url: {url}\n    model: tiny\n    retries: 0\n{more}"


SIMULATOR = "users:\n  ana:\n    kind: simulator\n    model: m\n"


async def test_the_model_is_asked_the_same(espresso) -> None:
    answer = {"reason": "It names him.", "cue_met": True, "stage": 2, "reply": "x", "done": False}
    espresso["query"] = ""
    async with OpenAIServer(lambda request: text(json.dumps(answer))) as server:
        config = parse_config(config_of(server.url, SIMULATOR), Path("cuecard.yaml"))
        (simulator,) = simulators(config)
        assert simulator.label == "ana (tiny)"
        said = await ask_simulator(config, simulator, espresso, "Moriondo did.", 1)
        asked = server.requests[0].last["content"]
    assert (said.cue_met, said.reason) == (True, "It names him.")
    assert said.text == espresso["persona"]["stages"][1]["line"]
    assert "Moriondo did." in asked


async def test_a_model_without_a_user_can_be_asked_and_failure_is_told(espresso) -> None:
    async with OpenAIServer(lambda request: text("no JSON here")) as server:
        config = parse_config(config_of(server.url), Path("cuecard.yaml"))
        (simulator,) = simulators(config)
        assert simulator.label == "m (tiny)"
        with pytest.raises(CuecardError) as caught:
            await ask_simulator(config, simulator, espresso, "Moriondo did.", 1)
    assert caught.value.message
    with pytest.raises(CuecardError):
        await ask_simulator(config, simulator, espresso, "Nobody listens.", 1)
    assert simulators(parse_config("", Path("cuecard.yaml"))) == ()
