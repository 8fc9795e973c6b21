from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import openai_server as fake
from cuecard.core.agents.briefing import ANSWER, ASK
from cuecard.core.agents.calling import TAGGED, AnswerOnly, split_thoughts
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import Act, ModelReply
from cuecard.core.predictions import AnswerPrediction, TriplesPrediction
from cuecard.core.worlds.closed import SEARCH
from openai_server import Reply, Request
from react_bench import CHAIN, GRAPH, TRIPLES, concluding, play_trial, script_of

CALL = '<tool_call>{"name": "search", "arguments": {"query": "lamp"}}</tool_call>'


def read(text: str) -> tuple[str, list[dict[str, object]]]:
    spoken = TAGGED.decode(ModelReply(text=text), (SEARCH,), may_call=True)
    return spoken.text, [dict(call.arguments) for call in spoken.calls]


LAMP = [{"query": "lamp"}]


@pytest.mark.parametrize(
    ("text", "said", "made"),
    [
        (f"<think>Hm.</think>\n{CALL}", "", LAMP),
        (f"<think>Hm.\n{CALL}", "", LAMP),
        ("<think>Hm.</think><answer>Brass.</answer>", "Brass.", []),
        ("<think>Hm.<answer>Brass.", "Brass.", []),
        ("Hm.</think>Brass.", "Brass.", []),
        ("<answer>Brass.</answ", "Brass.", []),
        ("<answer>\nBrass.\n</answer>\nGoodbye.", "Brass.", []),
        ("Brass.", "Brass.", []),
        (f"{CALL}{CALL}", "", LAMP * 2),
        (f"{CALL}\n<tool_response>Brass</tool_response>\n<answer>Brass.</answer>", "", LAMP),
        (f"{CALL}\n<answer>Brass.</answer>", "", LAMP),
        (f"<answer>Brass.</answer>{CALL}", "Brass.", []),
        (f"<think>I might {CALL}</think><answer>Brass.</answer>", "Brass.", []),
        (f"<answer>Write\n```\n{CALL}\n</answer>\n```\nso.</answer>", None, []),
        ("I use the `<tool_call>` tag. <answer>Brass.</answer>", "Brass.", []),
        ('<tool_call>{"name": "search", "arguments": {"query": "lamp"', "", LAMP),
        ("<tool_call>{'name': 'search', 'arguments': {'query': 'lamp',}}</tool_call>", "", LAMP),
        ('```json\n{"name": "search", "arguments": {"query": "lamp"}}\n```', "", LAMP),
        ("<think>Only thoughts", "", []),
        ("<answer></answer>", "", []),
        ("<Think>Hm.</THINK><Answer>Brass.</ANSWER>", "Brass.", []),
    ],
)
def test_what_a_reply_means(text: str, said: str | None, made: list[dict[str, object]]) -> None:
    expected = f"Write\n```\n{CALL}\n</answer>\n```\nso." if said is None else said
    assert read(text) == (expected, made)


def test_what_the_model_sees_of_itself() -> None:
    reply = ModelReply(text=f"Look.\n{CALL}\n<tool_response>Brass", reasoning="Hm.")
    spoken = TAGGED.decode(reply, (SEARCH,), may_call=True)
    assert TAGGED.reply(spoken, ["a"])["content"] == f"<think>\nHm.\n</think>\nLook.\n{CALL}"
    plain = TAGGED.decode(ModelReply(text="Brass."), (SEARCH,), may_call=True)
    assert plain.written == "<answer>\nBrass.\n</answer>"
    (told,) = TAGGED.results(["a", "b"], ["one</tool_response>", "two"])
    assert told["role"] == "user"
    assert str(told["content"]).count("</tool_response>") == 2


def test_an_answer_is_the_tool_where_there_is_one() -> None:
    reply = ModelReply(text="<answer>4879 km</answer>")
    spoken = TAGGED.decode(reply, (SEARCH, ASK, ANSWER), may_call=True)
    assert [(call.name, call.arguments) for call in spoken.calls] == [
        ("answer", {"answer": "4879 km"})
    ]
    assert TAGGED.decode(reply, (SEARCH, ASK, ANSWER), may_call=False).calls == ()


TEXT = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<answer>", "</answer>", "<", "/", "answer>", "a", " ", "\n", "b`"]
    ),
    max_size=25,
).map("".join)


@given(TEXT, st.integers(1, 9))
@example("b`<answer><think>", 1)
def test_what_is_shown_does_not_depend_on_the_pieces(text: str, size: int) -> None:
    shown: list[str] = []
    show = AnswerOnly(shown.append)
    for start in range(0, len(text), size):
        show(text[start : start + size])
    whole: list[str] = []
    AnswerOnly(whole.append)(text)
    assert "".join(shown) == "".join(whole)
    assert "</answer>" not in "".join(shown)
    split_thoughts(text)


def test_only_the_answer_is_shown() -> None:
    shown: list[str] = []
    show = AnswerOnly(shown.append)
    for char in "<think>An <answer>no</answer></think>\n<answer>\nIt <is> brass.</answer> Bye.":
        show(char)
    assert "".join(shown) == "It <is> brass."
    shown.clear()
    AnswerOnly(shown.append)(f"{CALL}<answer>no</answer>")
    assert shown == []


def tagged_script(request: Request) -> Reply:
    assert "tools" not in request.body
    content = str(request.last["content"])
    if concluding(request):
        return fake.text(f"<think>Done.</think><answer>{TRIPLES}</answer>")
    if "<tool_response>" in content:
        return fake.text("<think>Found.</think><answer>It was Angelo Moriondo.</answer>")
    return fake.text(f"<think>Look twice.</think>\n{CALL}\n{CALL.replace('lamp', 'Turin')}")


async def test_a_whole_trial_in_tags() -> None:
    trial = await play_trial(tagged_script, calls="tagged")
    assert trial.result.termination is Termination.USER_DONE
    assert isinstance(trial.result.prediction, TriplesPrediction)
    assert [b.call.arguments["query"] for b in trial.bodies("tool_answered")] == [
        "lamp",
        "Turin",
    ] * 2
    assert [b.reply.text for b in trial.bodies("agent_spoke")] == ["It was Angelo Moriondo."] * 2
    streamed = "".join(text for turn, text in trial.sink.streamed if turn == 0)
    assert streamed == "It was Angelo Moriondo."
    system = trial.requests[0].messages[0]["content"]
    assert '{"name": "search"' in system
    roles = [message["role"] for message in trial.requests[-1].messages]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]


async def test_a_tagged_chain() -> None:
    ask = '<tool_call>{"name": "ask", "arguments": {"question": "Planet or element?"}}</tool_call>'
    script = script_of(
        fake.text(f"<think>Look.</think>{CALL}"),
        fake.text(ask),
        fake.text("<answer>4879 km</answer>"),
        fake.text("<answer>Final answer: 4879 km</answer>"),
    )
    trial = await play_trial(script, CHAIN, calls="tagged")
    spoken = [(b.reply.act, b.reply.text) for b in trial.bodies("agent_spoke")]
    assert spoken == [(Act.ASK, "Planet or element?"), (Act.ANSWER, "4879 km")]
    prediction = trial.result.prediction
    assert isinstance(prediction, AnswerPrediction)
    assert prediction.answer == "4879 km"


async def test_a_tagged_trial_that_is_resumed_goes_on_alike() -> None:
    whole = await play_trial(tagged_script, calls="tagged")
    for cut in (3, 5, 8, 12, len(whole.events) - 2):
        done = sum(e.body.type == "model_replied" for e in whole.events[:cut])
        resumed = await play_trial(tagged_script, past=whole.events[:cut], calls="tagged")
        assert [r.body for r in resumed.requests] == [r.body for r in whole.requests[done:]]


async def test_a_model_that_writes_nothing_but_thoughts() -> None:
    trial = await play_trial(lambda request: fake.text("<think>Hm"), GRAPH, calls="tagged")
    assert trial.result.termination is Termination.EMPTY_RESPONSE
