from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config import load_config
from cuecard.core.engine.events import Limits, Termination
from cuecard.core.engine.messages import Act, PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.errors import ConfigError
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.worlds.closed import SEARCH
from openai_server import Reply, Request
from react_bench import (
    CHAIN,
    FACTS,
    GRAPH,
    TABLE,
    TRIPLES,
    concluding,
    config_for,
    make_agent,
    play_trial,
    script_of,
    searcher,
)


async def test_a_whole_graph_trial() -> None:
    trial = await play_trial(searcher(TRIPLES))
    assert trial.result.termination is Termination.USER_DONE
    prediction = trial.result.prediction
    assert isinstance(prediction, TriplesPrediction)
    assert prediction.triples == (
        PredictedTriple(head="Angelo Moriondo", relation="city", tail="Turin"),
    )
    asked = [(b.turn, b.step, b.call.arguments["query"]) for b in trial.bodies("tool_answered")]
    assert asked == [
        (0, 0, "espresso machine inventor"),
        (0, 1, "Angelo Moriondo city"),
        (1, 0, "espresso machine inventor"),
        (1, 1, "Angelo Moriondo city"),
    ]
    assert len(trial.requests) == 5


async def test_each_request_continues_the_one_before() -> None:
    trial = await play_trial(searcher(TRIPLES))
    for before, after in zip(trial.requests, trial.requests[1:], strict=False):
        kept = before.messages if not concluding(after) else before.messages[:-1]
        assert after.messages[: len(kept)] == kept
    roles = [message["role"] for message in trial.requests[-1].messages]
    turn = ["user", "assistant", "tool", "tool", "assistant"]
    assert roles == ["system", *turn, *turn, "user"]
    ids = [m["tool_call_id"] for m in trial.requests[-1].messages if m["role"] == "tool"]
    assert len(set(ids)) == 4


async def test_the_agent_sees_neither_gold_nor_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUECARD_TEST_KEY", "sk-very-secret-0123456789")
    trial = await play_trial(searcher(TRIPLES), api_key_env="CUECARD_TEST_KEY")
    assert GRAPH.query not in str(trial.requests[-1].body)
    assert "very-secret" in trial.requests[0].headers["authorization"]
    logged = "".join(event.model_dump_json() for event in trial.events)
    assert "very-secret" not in logged + repr(trial.result) + str(trial.requests[0].body)


async def test_replies_are_streamed() -> None:
    trial = await play_trial(searcher(TRIPLES))
    assert "".join(text for turn, text in trial.sink.streamed if turn == 1) == (
        "Let me see.It was Angelo Moriondo."
    )


async def test_a_table_and_a_chinese_answer() -> None:
    table = "```markdown\n| Moon | Diameter |\n| --- | --- |\n| Phobos | 22 km |\n```"
    trial = await play_trial(searcher(table), TABLE)
    prediction = trial.result.prediction
    assert isinstance(prediction, TablePrediction)
    assert prediction.rows == (("Phobos", "22 km"),)

    trial = await play_trial(searcher("最终答案：06:12"), FACTS)
    prediction = trial.result.prediction
    assert isinstance(prediction, AnswerPrediction)
    assert prediction.answer == "06:12"
    assert "用户" in trial.requests[0].messages[0]["content"]


async def test_asking_and_answering_end_a_turn() -> None:
    script = script_of(
        fake.calls(("search", {"query": "Mercury"})),
        fake.calls(
            ("ask", {"question": "Do you mean the planet or the element?"}),
            ("search", {"query": "planet Mercury diameter"}),
        ),
        fake.calls(("answer", {"answer": "4879 km"})),
        fake.text("Final answer: 4879 km"),
    )
    trial = await play_trial(script, CHAIN)
    assert not trial.result.termination.is_failure
    spoken = [(b.reply.act, b.reply.text) for b in trial.bodies("agent_spoke")]
    assert spoken == [
        (Act.ASK, "Do you mean the planet or the element?"),
        (Act.ANSWER, "4879 km"),
    ]
    prediction = trial.result.prediction
    assert isinstance(prediction, AnswerPrediction)
    assert prediction.answer == "4879 km"
    assert trial.requests[0].tools == ["search", "ask", "answer"]
    # The search beside the question was not made; every call still got an answer.
    assert len(trial.bodies("tool_answered")) == 1
    told = [m["content"] for m in trial.requests[2].messages if m["role"] == "tool"]
    assert told[1:] == ["Delivered to the user.", "Not carried out: the turn was over."]


async def test_only_checkpoint_tasks_have_turn_tools() -> None:
    trial = await play_trial(script_of(fake.calls(("answer", {"answer": "x"}))))
    assert trial.requests[0].tools == ["search"]
    assert "no tool named answer" in trial.requests[1].last["content"]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (("serch", {"query": "x"}), "no tool named serch. The tools are: search."),
        (("search", {}), "`query` is missing"),
        (("search", {"query": 3}), "`query` must be of the type string"),
        (("search", "not json at all"), "not a JSON object"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(call: tuple[str, Any], complaint: str) -> None:
    trial = await play_trial(script_of(fake.calls(call)))
    assert complaint in trial.requests[1].last["content"]
    assert trial.bodies("tool_answered") == []
    assert not trial.result.termination.is_failure


async def test_mended_arguments_and_prefixed_names_reach_the_world() -> None:
    trial = await play_trial(script_of(fake.calls(("functions.search", "{'query': 'espresso',}"))))
    (first, *_) = trial.bodies("tool_answered")
    assert (first.call.name, first.call.arguments) == ("search", {"query": "espresso"})


async def test_the_same_error_three_times_ends_the_trial() -> None:
    trial = await play_trial(lambda request: fake.calls(("serch", {}), ("serch", {})))
    assert trial.result.termination is Termination.ERROR_LOOP
    assert "serch" in trial.result.detail
    assert len(trial.requests) == 3
    assert isinstance(trial.result.prediction, UnusablePrediction)


async def test_different_errors_are_forgiven() -> None:
    wrong = [fake.calls((f"tool{i}", {})) for i in range(4)]
    trial = await play_trial(script_of(*wrong))
    assert not trial.result.termination.is_failure


async def test_an_empty_reply_is_asked_for_again_once() -> None:
    trial = await play_trial(script_of(fake.text(""), otherwise="Angelo Moriondo."))
    assert not trial.result.termination.is_failure
    assert "was empty" in trial.requests[1].last["content"]
    trial = await play_trial(lambda request: fake.text("  \n"))
    assert trial.result.termination is Termination.EMPTY_RESPONSE
    assert len(trial.requests) == 2


async def test_the_last_step_of_a_turn_must_be_a_reply() -> None:
    def script(request: Request) -> Reply:
        if request.body.get("tool_choice") == "none":
            return fake.text("That is all.")
        return fake.calls(("search", {"query": f"espresso {request.number}"}))

    trial = await play_trial(script, max_steps=3)
    assert not trial.result.termination.is_failure
    choices = [request.body.get("tool_choice") for request in trial.requests]
    assert choices[:3] == [None, None, "none"]
    assert "No more searches" in trial.requests[2].last["content"]


async def test_a_server_that_ignores_tool_choice_ends_in_an_error() -> None:
    trial = await play_trial(lambda r: fake.calls(("search", {"query": "x"})), max_steps=3)
    assert trial.result.termination is Termination.EMPTY_RESPONSE
    assert len(trial.bodies("tool_answered")) == 2


async def test_a_chain_agent_that_never_ends_its_turn() -> None:
    trial = await play_trial(lambda r: fake.calls(("search", {"query": "x"})), CHAIN, max_steps=3)
    assert trial.result.termination is Termination.ERROR_LOOP
    assert trial.requests[2].tools == ["ask", "answer"]


async def test_the_trials_limit_of_tool_calls_holds() -> None:
    many = [("search", {"query": f"q{i}"}) for i in range(5)]
    trial = await play_trial(
        script_of(fake.calls(*many)), limits=Limits(max_turns=1, max_tool_calls_per_turn=2)
    )
    assert len(trial.bodies("tool_answered")) == 2
    told = [m["content"] for m in trial.requests[1].messages if m["role"] == "tool"]
    assert ["No more tool calls" in text for text in told] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("reply", "termination"),
    [
        (fake.error(400), Termination.API_ERROR),
        (fake.error(500), Termination.API_ERROR),
        (fake.busy(), Termination.API_ERROR),
        (fake.drop(), Termination.API_ERROR),
        (fake.text("Half", finish=None, usage=None, done=False), Termination.API_ERROR),
        (fake.body_reply(b"{", "application/json"), Termination.API_ERROR),
        (fake.error(400, code="context_length_exceeded"), Termination.CONTEXT_OVERFLOW),
        (fake.text(""), Termination.EMPTY_RESPONSE),
    ],
)
async def test_faults_become_terminations(reply: Reply, termination: Termination) -> None:
    trial = await play_trial(lambda request: reply)
    assert trial.result.termination is termination
    assert trial.result.detail
    assert trial.bodies("trial_ended")[0].termination is termination


async def test_an_unreadable_conclusion_is_asked_for_once_more() -> None:
    def script(request: Request) -> Reply:
        if not concluding(request):
            return fake.text("Angelo Moriondo.")
        return fake.text(TRIPLES if "Hand it in" in request.last["content"] else "I am done!")

    trial = await play_trial(script)
    assert isinstance(trial.result.prediction, TriplesPrediction)
    trial = await play_trial(lambda request: fake.text("I have nothing to say in JSON."))
    assert isinstance(trial.result.prediction, UnusablePrediction)
    assert not trial.result.termination.is_failure


class SlowWorld:
    """Answers the first call last, and fails where told to."""

    ref = PlayerRef(name="slow", kind="closed")
    tools: tuple[ToolSpec, ...] = (SEARCH,)

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.answered: list[str] = []

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        query = str(call.arguments["query"])
        if query == self.failing:
            raise RuntimeError("the world fell over")
        await asyncio.sleep(0.03 if query == "first" else 0)
        self.answered.append(query)
        return ToolAnswer(text=f"about {query}")


async def test_parallel_calls_run_together_and_keep_their_order() -> None:
    world = SlowWorld()
    both = fake.calls(("search", {"query": "first"}), ("search", {"query": "second"}))
    trial = await play_trial(script_of(both), world=world)
    assert world.answered == ["second", "first"]
    steps = {b.step: b.answer.text for b in trial.bodies("tool_answered")}
    assert steps == {0: "about first", 1: "about second"}
    told = [m["content"] for m in trial.requests[1].messages if m["role"] == "tool"]
    assert told == ["about first", "about second"]


async def test_a_failing_tool_ends_the_trial_after_its_neighbours() -> None:
    both = fake.calls(("search", {"query": "first"}), ("search", {"query": "bad"}))
    trial = await play_trial(script_of(both), world=SlowWorld(failing="bad"))
    assert trial.result.termination is Termination.INTERNAL_ERROR
    assert "the world fell over" in trial.result.detail
    assert [event.body.type for event in trial.events][-2:] == ["tool_answered", "trial_ended"]


async def test_agents_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_for("http://localhost:1")
    with pytest.raises(ConfigError, match="live"):
        make_agent("nobody", config, GRAPH)
    ref = make_agent("live", config, GRAPH).ref
    assert (ref.name, ref.kind, ref.model, ref.baseline) == ("live", "react", "scripted", False)
    monkeypatch.chdir(tmp_path)
    assert make_agent("offline", load_config(), GRAPH).ref.baseline
    monkeypatch.delenv("CUECARD_TEST_KEY", raising=False)
    with pytest.raises(ConfigError, match="CUECARD_TEST_KEY"):
        make_agent("live", config_for("http://localhost:1", api_key_env="CUECARD_TEST_KEY"), GRAPH)


async def test_own_prompts_replace_the_embedded_ones(tmp_path: Path) -> None:
    own = tmp_path / "mine.md"
    own.write_text("---\npurpose: test\n---\nYou answer {curtly}.\n", encoding="utf-8")
    trial = await play_trial(searcher(TRIPLES), prompts={"react": str(own)})
    assert trial.requests[0].messages[0]["content"] == "You answer {curtly}."
    refs = [
        make_agent("live", config_for("http://x:1", prompts=p), GRAPH).ref
        for p in ({}, {"react": str(own)})
    ]
    assert refs[0].version != refs[1].version
    own.write_text("Who is {{user}}?", encoding="utf-8")
    with pytest.raises(ConfigError, match="user"):
        make_agent("live", config_for("http://x:1", prompts={"react": str(own)}), GRAPH)
