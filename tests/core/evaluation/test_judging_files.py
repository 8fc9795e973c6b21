"""Outputs that were produced elsewhere."""

from __future__ import annotations

import json

from cuecard.annotate.samples import load_samples
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.evaluation.judging_files import judge_responses
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.formats.base import Response
from judge_scripts import good, material_of, model_judge
from openai_server import OpenAIServer, Reply, Request, error

TASKS = {task.id: task for task in load_samples()}


def triples(task_id: str, every: int = 1) -> str:
    gold = TASKS[task_id].gold
    assert isinstance(gold, Graph)
    named = [gold.named(triple) for triple in gold.triples[::every]]
    return json.dumps([{"head": h, "relation": r, "tail": t} for h, r, t in named])


def markdown(task_id: str, rows: int) -> str:
    gold = TASKS[task_id].gold
    assert isinstance(gold, Table)
    lines = [gold.column_names, ["---"] * len(gold.columns), *gold.rows[:rows]]
    return "```markdown\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n```"


async def test_responses_are_judged_and_scored():
    responses = [
        Response(task_id="espresso", sample=0, text=triples("espresso")),
        Response(task_id="espresso", sample=1, text="I found nothing, sorry."),
        Response(task_id="table-us-states", text=markdown("table-us-states", 50)),
        Response(task_id="table-solar-terms-zh", text=markdown("table-solar-terms-zh", 12)),
        Response(task_id="facts-night-train", text="It is 36 euros."),
        Response(task_id="elsewhere", text="?"),
    ]
    judged = await judge_responses(tuple(TASKS.values()), responses)
    assert judged.judge.baseline
    assert judged.unknown == ("elsewhere",)
    assert "graph-astronomy-zh" in judged.missing
    found = {(result.task_id, result.sample): result for result in judged.results}
    assert found["espresso", 0].scores["triplet_f1"] == 1
    assert found["espresso", 1].scores["triplet_f1"] == 0
    assert not found["espresso", 1].usable
    assert found["table-us-states", 0].scores["success"] == 1
    half = found["table-solar-terms-zh", 0].scores
    assert (half["row_precision"], half["row_recall"], half["success"]) == (1, 0.5, 0)
    assert found["facts-night-train", 0].scores["pass_at_1"] == 1
    families = {aggregate.family: aggregate for aggregate in judged.aggregates}
    assert set(families) == {"graph", "table", "facts"}
    values = {(m.name, m.statistic): m.value for m in families["graph"].measures}
    assert values["triplet_f1", "avg"] == 0.5
    assert values["triplet_f1", "best"] == 1
    assert families["table"].tasks == families["table"].responses == 2
    assert type(judged).model_validate_json(judged.model_dump_json()) == judged


async def test_no_responses():
    judged = await judge_responses(tuple(TASKS.values()), [])
    assert judged.results == judged.aggregates == ()
    assert len(judged.missing) == len(TASKS)


async def test_a_model_judges_several_at_a_time_and_one_that_fails_stops_no_other():
    def reply(request: Request) -> Reply:
        return error(500) if "FAIL" in material_of(request)["answer"] else good(request)

    responses = [
        Response(task_id="facts-night-train", sample=n, text=said)
        for n, said in enumerate(("It is 36 euros.", "FAIL", "Nobody knows."))
    ]
    told: list[tuple[int, int]] = []
    calls: list[RecordedCall] = []
    async with OpenAIServer(reply) as server:
        judge, hub = model_judge(server.url)
        judged = await judge_responses(
            tuple(TASKS.values()),
            responses,
            judge,
            on_progress=lambda *so_far: told.append(so_far),
            on_call=calls.append,
        )
        await hub.close()
    assert [(r.sample, r.scores["pass_at_1"]) for r in judged.results] == [(0, 1), (2, 0)]
    assert [(f.task_id, f.sample, f.halted) for f in judged.failed] == [
        ("facts-night-train", 1, False)
    ]
    assert judged.judge.model == "scripted"
    assert len({r.judgement.trial_hash for r in judged.results}) == 2
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert len(calls) == 2


async def test_a_text_that_no_file_can_hold_is_judged_too():
    responses = [Response(task_id="facts-night-train", text="Final answer: \ud800 36 euros")]
    async with OpenAIServer(good) as server:
        judge, hub = model_judge(server.url)
        judged = await judge_responses(tuple(TASKS.values()), responses, judge)
        await hub.close()
    assert judged.failed == ()
    assert judged.results[0].scores["pass_at_1"] == 1
