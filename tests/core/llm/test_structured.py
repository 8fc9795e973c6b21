from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel

import openai_server as fake
from cuecard.core.config import Prompt
from cuecard.core.config_models import ModelConfig
from cuecard.core.engine.step_context import FreshCalls, KeyedCalls, RecordedCall
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import StructuredAnswer, ask_structured, read_shape
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import TaskLanguage
from openai_server import OpenAIServer, Reply, Request


class Item(Frozen):
    id: int
    verdict: Literal["yes", "no"]
    reason: str = ""


class Answer(Frozen):
    items: tuple[Item, ...]


PROMPT = Prompt(text="Judge.")
GOOD = {"items": [{"id": 1, "verdict": "yes", "reason": 'It "is" so, 是的。'}]}
ANSWER = Answer.model_validate(GOOD)
JSON = json.dumps(GOOD, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"Here it is:\n\n```\n{JSON}\n```\nI hope that this helps.",
        f'<think>Is it {{"items": []}}? No.</think>{JSON}',
        f'Is it {{"items": []}}? No.</think>\n{JSON}',
        f"The items [1] and [2] are in {JSON}, as you see.",
        f'A first draft: ```json\n{{"items": 3}}\n``` and now: ```json\n{JSON}\n```',
        JSON.replace("}]}", "},]}"),
        JSON[:-2],
        JSON[:-1],
        f"```json\n{JSON[:-2]}",
        json.dumps(GOOD),
        "{items: [{id: 1, verdict: 'yes', reason: 'It \"is\" so, 是的。'}]}",
        "{“items”: [{“id”: 1, “verdict”: “yes”, “reason”: “It 'is' so, 是的。”}]}",
        JSON.replace('"id": 1', '"id": "1", "confidence": 0.9'),
        JSON.replace('{"items"', '{"thought": {"a": 1}, "items"'),
        "\ufeff" + JSON,
    ],
)
def test_json_is_found_and_mended(text: str) -> None:
    value, problem = read_shape(text, Answer)
    assert problem == ""
    assert value is not None
    assert value.items[0].verdict == "yes"
    assert value.items[0].reason.replace("'", '"') == ANSWER.items[0].reason


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("", "empty", "空"),
        ("I cannot decide.", "no JSON", "没有 JSON"),
        ('{"verdict": "yes"}', '"items" is missing', '缺少 "items"'),
        ('{"items": 3}', '"items" must be a list', '"items" 必须是列表'),
        (
            '{"items": [{"id": "x", "verdict": "yes"}]}',
            '"items[0].id" must be a whole number',
            "整数",
        ),
        (
            '{"items": [{"id": 1, "verdict": "maybe"}]}',
            "must be one of 'yes' or 'no'",
            "'yes' or 'no'",
        ),
        ('{"items": [{"id": 1, "verdict": "yes", "reason": 4}]}', "must be a text", "必须是文本"),
        ("[1, 2]", "the answer must be a JSON object", "整个回答 必须是 JSON 对象"),
    ],
)
def test_complaints_are_plain_and_in_the_tasks_language(
    text: str, english: str, chinese: str
) -> None:
    for language, words in (("en", english), ("zh", chinese)):
        value, problem = read_shape(text, Answer, language)  # type: ignore[arg-type]
        assert value is None
        assert words in problem
        assert "pydantic" not in problem
        assert ("again" in problem) == (language == "en")


def test_a_long_list_of_mistakes_is_cut() -> None:
    many = {"items": [{"id": i, "verdict": "so"} for i in range(500)]}
    _, problem = read_shape(json.dumps(many), Answer)
    assert "492 more" in problem
    assert len(problem) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"items": ' * 30_000,
        '"中' * 30_000,
        "],{" * 20_000,
        '{"a": "k", “' * 10_000,
        "<think>" * 20_000,
        "```" * 30_000,
        "{" + "word " * 1_000_000,
        '{"items": [' + "9" * 50_000 + "]}",
    ],
    ids=range(9),
)
def test_garbage_does_not_hang(text: str) -> None:
    assert read_shape(text, Answer)[0] is None


def test_half_characters_and_nul_are_replaced() -> None:
    value, _ = read_shape(
        '{"items": [{"id": 1, "verdict": "no", "reason": "\\ud83d\\u0000"}]}', Answer
    )
    assert value is not None
    assert value.items[0].reason == "\ufffd\ufffd"


async def asked(
    script: Callable[[Request], Reply], language: TaskLanguage = "en", **more: Any
) -> tuple[StructuredAnswer[Answer], OpenAIServer]:
    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", retries=0))
        found = await ask_structured(
            client,
            [wire.user("Judge.")],
            Answer,
            more.pop("context", FreshCalls()),
            prompt=PROMPT,
            language=language,
            **more,
        )
    return found, server


async def test_the_schema_goes_along() -> None:
    found, server = await asked(lambda request: fake.whole({"content": JSON}))
    assert (found.value, found.problem, found.raw) == (ANSWER, "", JSON)
    wanted = server.requests[0].body["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["strict"] is False
    assert wanted["json_schema"]["name"] == "Answer"
    assert "items" in wanted["json_schema"]["schema"]["properties"]


async def test_the_model_is_told_what_is_wrong_and_asked_again() -> None:
    def script(request: Request) -> Reply:
        return fake.whole({"content": JSON if request.number else "{}"})

    found, server = await asked(script, "zh")
    assert found.value == ANSWER
    first, second = (request.messages for request in server.requests)
    assert second[: len(first)] == first
    assert second[1] == {"role": "assistant", "content": "{}"}
    assert '缺少 "items"' in second[2]["content"]


async def test_a_check_complains_in_its_own_words() -> None:
    found, server = await asked(
        lambda request: fake.whole({"content": JSON}),
        attempts=3,
        check=lambda answer: f"{len(answer.items)} is too few",
    )
    assert (found.value, found.problem, found.raw) == (None, "1 is too few", JSON)
    assert len(server.requests) == 3
    assert server.requests[2].messages[-1]["content"] == "1 is too few"


async def test_an_empty_answer_is_complained_of_and_garbage_is_not_sent_back_whole() -> None:
    replies = [fake.whole({"content": ""}), fake.whole({"content": "x" * 900_000})]
    found, server = await asked(lambda request: replies[min(request.number, 1)], attempts=3)
    assert found.value is None
    assert server.requests[1].messages[1]["content"]
    assert "empty" in server.requests[1].messages[2]["content"]
    assert len(server.requests[2].messages[3]["content"]) < 50_000


async def test_recorded_answers_are_not_asked_for_again() -> None:
    kept: list[RecordedCall] = []

    async def record(call: RecordedCall) -> None:
        kept.append(call)

    def script(request: Request) -> Reply:
        return fake.whole({"content": JSON if request.number else "not yet"})

    first, server = await asked(script, context=KeyedCalls({}, record))
    assert [call.prompt for call in kept] == [PROMPT.hash] * 2
    past = {call.key: call.reply for call in kept}
    again, server = await asked(script, context=KeyedCalls(past, record))
    assert again == first
    assert not server.requests


def test_any_model_can_be_a_shape() -> None:
    class FuzzyKey(BaseModel):
        a: int

    value, _ = read_shape('{"a": 1, "b": 2}', FuzzyKey)
    assert value == FuzzyKey(a=1)
