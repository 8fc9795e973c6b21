from pathlib import Path

import pytest

from cuecard.core.engine.step_context import Judge
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.registry import family_of
from cuecard.core.families.table.gold import Table
from cuecard.core.judges.lexical import LexicalJudge, judge_lexically
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks.models import content_hash
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.verdicts import Decision

SAMPLES = sorted((Path(__file__).parents[3] / "sample_tasks").glob("*.yaml"))


def gold_as_prediction(task):
    match task.gold:
        case Graph() as graph:
            named = [graph.named(triple) for triple in graph.triples]
            return TriplesPrediction(
                triples=tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in named)
            )
        case Table() as table:
            return TablePrediction(columns=table.column_names, rows=table.rows)
        case CheckpointChain() as chain:
            return AnswerPrediction(answer=chain.final_answer)
        case FactWorld() as world:
            return AnswerPrediction(answer=world.answer)
        case gold:
            raise LookupError(f"how gold of the family {gold.family!r} is handed in stands nowhere")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
async def test_gold_is_right_by_its_own_measure(path):
    task = load_task(path)
    prediction = gold_as_prediction(task)
    judge: Judge = LexicalJudge()
    judgement = await judge.judge(task, prediction)
    assert judgement == judge_lexically(task, prediction)
    assert judgement.judge.baseline
    assert judgement.judge == judge.ref
    assert judgement.revision_hash == content_hash(task)
    assert all(v.decision is Decision.YES for v in judgement.verdicts)
    scores = {m.name: m.value for m in score_prediction(task, prediction, judgement)}
    assert scores[family_of(task).main] == 1
    assert scores["unjudged"] == 0


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("empty", ["unusable", "other kind"])
def test_what_cannot_be_read_is_wrong_item_by_item(path, empty):
    task = load_task(path)
    gold = judge_lexically(task, gold_as_prediction(task))
    prediction = UnusablePrediction(reason="no table [red]found[/]")
    if empty == "other kind":
        answers = family_of(task).handed_in == "answer"
        prediction = TriplesPrediction(triples=()) if answers else AnswerPrediction(answer="x")
    judgement = judge_lexically(task, prediction)
    assert [v.item for v in judgement.verdicts] == [v.item for v in gold.verdicts]
    assert all(v.decision is Decision.NO and v.rationale for v in judgement.verdicts)
    assert all(not v.supporting for v in judgement.verdicts)
    if task.family == "table":
        assert judgement.table is not None
        assert not judgement.table.usable
    else:
        assert judgement.table is None
    scores = score_prediction(task, prediction, judgement)
    assert all(m.value in (0, None) for m in scores)
