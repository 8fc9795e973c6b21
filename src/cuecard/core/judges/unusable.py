"""Verdicts on what cannot be judged: nothing usable was handed in."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.judges.table_verdicts import fill
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table
from cuecard.core.verdicts import Decision, Item, ItemKind, TableMatch, Verdict


def reject(
    gold: Graph | Table | CheckpointChain | FactWorld, prediction: Prediction
) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    """`no` for every gold item."""
    if isinstance(prediction, UnusablePrediction):
        reason = _("nothing usable was handed in: {reason}").format(reason=prediction.reason)
    else:
        reason = _("what was handed in is of another kind than this task's gold")
    match gold:
        case Graph():
            return refuse_triples(gold, reason), None
        case Table():
            table = TableMatch(usable=False, reason=reason)
            return fill(gold, Decision.NO, reason), table
        case CheckpointChain() | FactWorld():
            answer = Item(kind=ItemKind.ANSWER)
            return (Verdict(item=answer, decision=Decision.NO, rationale=reason),), None


def refuse_triples(graph: Graph, reason: str) -> tuple[Verdict, ...]:
    """`no` for every gold triple."""
    return tuple(
        Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index), decision=Decision.NO, rationale=reason
        )
        for index in range(len(graph.triples))
    )
