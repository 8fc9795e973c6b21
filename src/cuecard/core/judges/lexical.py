"""The lexical judge: a deterministic baseline that needs no model and no network."""

from __future__ import annotations

import asyncio

from cuecard.core.judges.lexical_answer import judge_answer
from cuecard.core.judges.lexical_graph import judge_graph
from cuecard.core.judges.lexical_table import judge_table
from cuecard.core.judges.unusable import reject
from cuecard.core.parts import CallDesk, PlayerRef
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
)
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task, content_hash
from cuecard.core.verdicts import Judgement, TableMatch, Verdict

LEXICAL_REF = PlayerRef(name="lexical", kind="lexical", baseline=True)


class LexicalJudge:
    """Matches names, amounts and dates by their letters. A baseline: it knows no meaning."""

    @property
    def ref(self) -> PlayerRef:
        return LEXICAL_REF

    async def judge(
        self, task: Task, prediction: Prediction, desk: CallDesk | None = None
    ) -> Judgement:
        """`judge_lexically` in a thread: 350 triples take long enough to be felt on a screen."""
        return await asyncio.to_thread(judge_lexically, task, prediction)


def judge_lexically(task: Task, prediction: Prediction) -> Judgement:
    """Judge every gold item of `task` against `prediction`.

    A prediction of another kind than the family's, or an unusable one, gets `no` for every item.
    """
    verdicts, table = _judge(task, prediction)
    return Judgement(
        judge=LEXICAL_REF, revision_hash=content_hash(task), verdicts=verdicts, table=table
    )


def _judge(task: Task, prediction: Prediction) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    match task.gold, prediction:
        case Graph() as graph, TriplesPrediction(triples=triples):
            return judge_graph(graph, triples), None
        case Table() as table, TablePrediction() as predicted:
            return judge_table(table, predicted)
        case CheckpointChain() as chain, AnswerPrediction(answer=answer):
            names, asked = (chain.final_answer, *chain.final_aliases), chain.steps[-1].question
            return (judge_answer(names, answer, asked),), None
        case FactWorld() as world, AnswerPrediction(answer=answer):
            names = (world.answer, *world.answer_aliases)
            return (judge_answer(names, answer, task.query),), None
        case gold, _other:
            return reject(gold, prediction)
