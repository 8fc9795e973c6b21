"""Outputs that were produced elsewhere."""

from __future__ import annotations

import json

from cuecard.core.formats.responses import Response
from cuecard.core.tasks import Graph, Table
from cuecard.lab.demo import run_demo
from cuecard.lab.judging import judge_responses
from cuecard.lab.samples import load_samples

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


def test_the_demo(tmp_path):
    report = run_demo()
    assert report.db is None
    assert report.problems == ()
    assert len(report.trials) == len(TASKS)
    assert {group.family for group in report.groups} == {"graph", "table", "checkpoints", "facts"}
    kept = run_demo(tmp_path / "demo.db")
    assert kept.db == tmp_path / "demo.db"
    assert kept.db.exists()
    values = [scored.scores for scored in report.trials]
    assert [scored.scores for scored in kept.trials] == values
