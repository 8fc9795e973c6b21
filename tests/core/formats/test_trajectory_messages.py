"""The conversation that is rebuilt from a log, held against what the model was really sent."""

from __future__ import annotations

import json
from typing import Any

from cuecard.core.config import load_prompt
from cuecard.core.formats.trajectory import as_openai, chat_of
from openai_server import calls, text
from react_bench import CHAIN, GRAPH, TRIPLES, Trial, concluding, play_trial, script_of, searcher


def rebuilt(trial: Trial) -> list[dict[str, Any]]:
    prompts = [
        load_prompt(name, "en") for name in ("react", "conclude_graph", "conclude_checkpoints")
    ]
    found = chat_of(trial.events, {prompt.hash: prompt.text for prompt in prompts})
    return [as_openai(message) for message in found]


def plain(message: dict[str, Any]) -> tuple[object, ...]:
    """A message without how its id, blanks and JSON are written."""
    made = [
        (c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in message.get("tool_calls") or ()
    ]
    return message["role"], (message.get("content") or "").strip(), made


async def test_it_is_what_the_model_was_sent() -> None:
    trial = await play_trial(searcher(TRIPLES))
    last = trial.requests[-1]
    assert concluding(last)
    found = rebuilt(trial)
    sent = [plain(message) for message in last.messages]
    # What was said last, which no request holds; and two words of a user in a row go as one.
    joined: list[tuple[object, ...]] = []
    for role, content, made in map(plain, found[:-1]):
        if joined and joined[-1][0] == role == "user":
            content = f"{joined.pop()[1]}\n\n{content}"
        joined.append((role, content, made))
    assert joined == sent
    assert found[-1]["content"].strip() == TRIPLES.strip()


async def test_calls_of_one_id_and_calls_side_by_side_keep_their_answers() -> None:
    side = calls(("search", {"query": "espresso"}), ("search", {"query": "Moriondo"}))
    script = script_of(side, side, text("Angelo Moriondo."), text("From Turin."), otherwise=TRIPLES)
    trial = await play_trial(script, GRAPH)
    messages = rebuilt(trial)
    ids = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 4
    answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert answered == ids
    answers = [b.answer.text for b in trial.bodies("tool_answered")]
    assert [m["content"] for m in messages if m["role"] == "tool"] == answers


async def test_a_turn_that_ends_by_a_tool_says_its_words_once() -> None:
    script = script_of(
        calls(("ask", {"question": "Which one?"})), calls(("answer", {"answer": "That one."}))
    )
    trial = await play_trial(script, CHAIN)
    said = [m["content"] for m in rebuilt(trial) if m["role"] == "assistant"]
    assert said.count("Which one?") == 1
