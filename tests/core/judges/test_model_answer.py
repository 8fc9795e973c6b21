"""The model judge on answers: final answers of two families, and single checkpoints."""

from __future__ import annotations

import pytest

from cuecard.core.config import load_prompt
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import ModelCallError
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.judges.model import equivalent
from cuecard.core.llm.hub import ModelHub
from cuecard.core.predictions import AnswerPrediction, TriplesPrediction
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision
from judge_scripts import config, good, material_of, model_judge
from openai_server import OpenAIServer, Reply, Request, error, text

FACTS = Task(
    id="ferry",
    title="Ferry",
    language="en",
    query="What does the ferry cost?",
    gold=FactWorld(
        facts=(Fact(key="ticket", value="12 euros"),),
        answer="12 euros",
        answer_aliases=("twelve euros",),
    ),
)
CHAIN = Task(
    id="chain",
    title="链",
    language="zh",
    query="它建于哪一年？",
    gold=CheckpointChain(
        opening="它多老了？",
        steps=(Checkpoint(question="它建于哪一年？", target="1436"),),
        final_answer="1436年",
    ),
)


async def judge(reply, task: Task, answer: str):
    async with OpenAIServer(reply) as server:
        player, hub = model_judge(server.url)
        judgement = await player.judge(task, AnswerPrediction(answer=answer), FreshCalls())
        await hub.close()
    (verdict,) = judgement.verdicts
    assert verdict.item.key == "answer/0"
    return verdict, server.requests


async def test_answers_of_both_families():
    verdict, requests = await judge(good, FACTS, "It is 12 euros.")
    assert (verdict.decision, verdict.rationale) == (Decision.YES, "read")
    assert material_of(requests[0]) == {
        "question": "What does the ferry cost?",
        "gold": "12 euros",
        "also_accepted": ["twelve euros"],
        "answer": "It is 12 euros.",
    }
    assert (await judge(good, FACTS, "It is free."))[0].decision is Decision.NO
    verdict, requests = await judge(good, CHAIN, "答案：1436年")
    assert verdict.decision is Decision.YES
    assert "先用一句简短的话写出理由" in requests[0].messages[0]["content"]


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ('{"reason": "r", "equivalent": "yes"}', Decision.YES),
        ('```json\n{"reason": "r", equivalent: false,}\n```', Decision.NO),
        ('{"reason": "r", "equivalent": "是"}', Decision.YES),
        ('{"reason": "r", "equivalent": "否"}', Decision.NO),
        ('{"reason": "r", "equivalent": "perhaps"}', Decision.UNJUDGED),
        ('{"equivalent": null}', Decision.UNJUDGED),
        ("They are the same.", Decision.UNJUDGED),
    ],
)
async def test_what_models_say(said: str, decision: Decision):
    verdict, requests = await judge(lambda _request: text(said), FACTS, "12")
    assert verdict.decision is decision
    assert len(requests) == (3 if decision is Decision.UNJUDGED else 1)


async def test_no_answer_needs_no_call_and_a_failed_call_no_verdict():
    verdict, requests = await judge(good, FACTS, " \n")
    assert (verdict.decision, requests) == (Decision.NO, [])
    with pytest.raises(ModelCallError):
        await judge(lambda _request: error(500), FACTS, "12")


async def test_a_prediction_of_another_kind_is_refused():
    async with OpenAIServer(good) as server:
        player, _hub = model_judge(server.url)
        judgement = await player.judge(FACTS, TriplesPrediction(triples=()), FreshCalls())
    assert [v.decision for v in judgement.verdicts] == [Decision.NO]
    assert server.requests == []


async def test_a_checkpoint_is_judged_by_the_same_means():
    def scripted(request: Request) -> Reply:
        shown = material_of(request)
        same = shown["answer"] in (shown["gold"], *shown["also_accepted"])
        return text(f'{{"reason": "r", "equivalent": {str(same).lower()}}}')

    async with OpenAIServer(scripted) as server:
        hub = ModelHub(config(server.url))
        found = [
            await equivalent(
                hub.client("oracle"),
                "Which city?",
                ("Firenze", "Florence"),
                answer,
                FreshCalls(),
                prompt=load_prompt("judge_answer", "en"),
                language="en",
            )
            for answer in ("Florence", "Rome")
        ]
        await hub.close()
    assert found == [(Decision.YES, "r"), (Decision.NO, "r")]
