"""What a model agent makes of replies that are not what they should be."""

from __future__ import annotations

import pytest

import openai_server as fake
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.worlds.closed import SEARCH
from react_bench import CHAIN, FACTS, play_trial, script_of

KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
    '<|tool_call_argument_begin|>{"query": "lamp"}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.mark.parametrize(
    "leaked",
    [
        '<tool_call>{"name": "search", "arguments": {"query": "lamp"}}</tool_call>',
        '```json\n{"name": "search", "arguments": {"query": "lamp"}}\n```',
        'functions.search({"query": "lamp"})',
        KIMI,
    ],
)
async def test_a_leaked_call_is_made_and_shown_to_the_model_as_a_call(leaked: str) -> None:
    trial = await play_trial(script_of(fake.text(f"Let me look.\n{leaked}"), otherwise="Brass."))
    assert not trial.result.termination.is_failure
    (answered,) = trial.bodies("tool_answered")
    assert (answered.call.name, answered.call.arguments) == ("search", {"query": "lamp"})
    *_, said, told = trial.requests[1].messages
    assert said["content"] == "Let me look."
    assert said["tool_calls"][0]["function"]["name"] == "search"
    assert told["tool_call_id"] == said["tool_calls"][0]["id"]
    assert trial.bodies("agent_spoke")[0].reply.text == "Brass."
    # The log holds what the model really wrote.
    assert leaked in trial.bodies("model_replied")[0].reply.text


async def test_a_leaked_ask_ends_the_turn() -> None:
    leaked = '<tool_call>{"name": "ask", "arguments": {"question": "Which one?"}}</tool_call>'
    trial = await play_trial(script_of(fake.text(leaked), otherwise="Final answer: x"), CHAIN)
    assert trial.bodies("agent_spoke")[0].reply.text == "Which one?"


async def test_a_reply_that_speaks_of_calls_is_a_reply() -> None:
    said = 'I called search({"query": "lamp"}) and it is brass.'
    trial = await play_trial(script_of(fake.text(said)))
    assert trial.bodies("tool_answered") == []
    assert trial.bodies("agent_spoke")[0].reply.text == said


async def test_a_call_that_was_cut_is_told_so() -> None:
    cut = fake.calls(("search", '{"query": "la'), finish="length")
    trial = await play_trial(script_of(cut))
    assert "too long and broke off" in trial.requests[1].last["content"]
    assert trial.bodies("tool_answered") == []
    text = fake.text('<tool_call>{"name": "search", "arguments": {"query": "la', finish="length")
    trial = await play_trial(script_of(text), FACTS)
    assert "截断" in trial.requests[1].last["content"]


async def test_a_reply_that_was_cut_before_it_began_is_told_so() -> None:
    trial = await play_trial(script_of(fake.text("", finish="length"), otherwise="Brass."))
    assert "broke off before" in trial.requests[1].last["content"]
    assert not trial.result.termination.is_failure


class Moody:
    """Refuses every call, each time in other words."""

    ref = PlayerRef(name="moody", kind="closed")
    tools: tuple[ToolSpec, ...] = (SEARCH,)
    count = 0

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        self.count += 1
        return ToolAnswer(text=f"refused, number {self.count}", ok=False)


async def test_the_same_failing_call_counts_whatever_it_is_told() -> None:
    always = fake.calls(("search", {"query": "lamp"}))
    trial = await play_trial(lambda request: always, world=Moody())
    assert trial.result.termination is Termination.ERROR_LOOP
    assert "number 3" in trial.result.detail
    assert len(trial.bodies("tool_answered")) == 3


async def test_every_call_names_its_prompt() -> None:
    trial = await play_trial(script_of(), FACTS)
    hashes = [body.prompt for body in trial.bodies("model_replied")]
    assert all(len(hash_) == 64 for hash_ in hashes)
    assert len(set(hashes)) == 2
