"""What was handed in, laid beside the gold: covered, missed and extra, by stage, relation, row and cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.graph import supporting_triples
from cuecard.core.scoring.trial_figures import Tally
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, ItemKind, Judgement
from cuecard.results.trial.hit_log import HitLog, first_hits
from cuecard.results.trial.table_against_gold import TableAgainst, table_against

Grouping = Literal["stage", "relation"]
GROUPINGS: tuple[Grouping, ...] = ("stage", "relation")


class GoldTriple(Frozen):
    """A gold triple by its names. `supporting`: predicted triples that the judge named for it, by index."""

    index: int
    head: str
    relation: str
    tail: str
    stage: int | None
    decision: Decision
    supporting: tuple[int, ...] = ()


class ExtraTriple(Frozen):
    """A predicted triple that supports no covered gold triple, by its index in the prediction."""

    index: int
    head: str
    relation: str
    tail: str


class TripleGroup(Frozen):
    """Gold triples of one stage or relation, and the extra ones that name it. `key`: the stage's number or the
    relation; None for what names none.
    """

    key: int | str | None
    gold: tuple[GoldTriple, ...]
    extra: tuple[ExtraTriple, ...]

    @property
    def tally(self) -> Tally:
        return tally_of(triple.decision for triple in self.gold)


class GraphAgainst(Frozen):
    """`predicted`: triples that were handed in, None where nothing readable was (`reason`, `raw`)."""

    family: Literal["graph"] = "graph"
    gold: tuple[GoldTriple, ...]
    extra: tuple[ExtraTriple, ...]
    predicted: int | None
    reason: str = ""
    raw: str = ""

    @property
    def tally(self) -> Tally:
        return tally_of(triple.decision for triple in self.gold)

    def grouped(self, by: Grouping) -> tuple[TripleGroup, ...]:
        """Stages in order, then what answers none; relations by how many gold triples have them, then those
        that only extra triples have. Extra triples belong to no stage.
        """
        gold: dict[int | str | None, list[GoldTriple]] = defaultdict(list)
        extra: dict[int | str | None, list[ExtraTriple]] = defaultdict(list)
        names: dict[str, str] = {}
        for triple in self.gold:
            gold[triple.stage if by == "stage" else _named(names, triple.relation)].append(triple)
        for other in self.extra:
            extra[None if by == "stage" else _named(names, other.relation)].append(other)
        return tuple(
            TripleGroup(key=key, gold=tuple(gold.get(key, ())), extra=tuple(extra.get(key, ())))
            for key in sorted({**gold, **extra}, key=lambda key: _order(key, gold, extra))
        )


class FactFound(Frozen):
    """A fact of the world, and the call that first matched it: its number from 1 and its event."""

    key: str
    value: str
    rule: bool
    call: int | None
    seq: int | None


class AnswerAgainst(Frozen):
    """`given` is None where no readable answer was handed in. `facts` of a closed world, in the gold's order."""

    family: Literal["answer"] = "answer"
    gold: str
    also: tuple[str, ...]
    given: str | None
    decision: Decision
    rationale: str = ""
    reason: str = ""
    raw: str = ""
    facts: tuple[FactFound, ...] = ()


Against = GraphAgainst | TableAgainst | AnswerAgainst


def against_gold(
    task: Task, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> Against:
    """The prediction beside the gold as one judge saw it; without a judgement nothing is decided."""
    gold = task.gold
    match gold:
        case Graph():
            return _graph(gold, prediction, judgement)
        case Table():
            return table_against(gold, prediction, judgement)
        case FactWorld():
            first = first_hits(hits)
            facts = tuple(
                FactFound(
                    key=fact.key,
                    value=f"{fact.value} {fact.unit}".strip(),
                    rule=fact.kind.value == "rule",
                    call=first[fact.key].call if fact.key in first else None,
                    seq=first[fact.key].seq if fact.key in first else None,
                )
                for fact in gold.facts
            )
            return _answer(gold.answer, gold.answer_aliases, prediction, judgement, facts)
        case CheckpointChain():
            return _answer(gold.final_answer, gold.final_aliases, prediction, judgement)


def tally_of(decisions: Iterable[Decision]) -> Tally:
    n = Counter(decisions)
    return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])


def _graph(graph: Graph, prediction: Prediction, judgement: Judgement | None) -> GraphAgainst:
    verdicts = judgement.verdicts if judgement else ()
    decisions = Decisions.of(verdicts)
    triples = prediction.triples if isinstance(prediction, TriplesPrediction) else ()
    gold: list[GoldTriple] = []
    for index, triple in enumerate(graph.triples):
        verdict = decisions.verdict(ItemKind.TRIPLE, index)
        head, relation, tail = graph.named(triple)
        gold.append(
            GoldTriple(
                index=index,
                head=head,
                relation=relation,
                tail=tail,
                stage=triple.stage,
                decision=verdict.decision if verdict else Decision.UNJUDGED,
                supporting=tuple(i for i in verdict.supporting if 0 <= i < len(triples))
                if verdict
                else (),
            )
        )
    used = set(supporting_triples(verdicts, len(triples))) if judgement else range(len(triples))
    extra = tuple(
        ExtraTriple(index=i, head=t.head, relation=t.relation, tail=t.tail)
        for i, t in enumerate(triples)
        if i not in used
    )
    reason, raw = _unusable(prediction)
    readable = isinstance(prediction, TriplesPrediction)
    return GraphAgainst(
        gold=tuple(gold),
        extra=extra,
        predicted=len(triples) if readable else None,
        reason=reason,
        raw=raw,
    )


def _answer(
    gold: str,
    also: Sequence[str],
    prediction: Prediction,
    judgement: Judgement | None,
    facts: tuple[FactFound, ...] = (),
) -> AnswerAgainst:
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    verdict = decisions.verdict(ItemKind.ANSWER)
    reason, raw = _unusable(prediction)
    return AnswerAgainst(
        gold=gold,
        also=tuple(also),
        given=prediction.answer if isinstance(prediction, AnswerPrediction) else None,
        decision=verdict.decision if verdict else Decision.UNJUDGED,
        rationale=verdict.rationale if verdict else "",
        reason=reason,
        raw=raw,
        facts=facts,
    )


def _unusable(prediction: Prediction) -> tuple[str, str]:
    if isinstance(prediction, UnusablePrediction):
        return prediction.reason, prediction.raw
    return "", ""


def _named(names: dict[str, str], relation: str) -> str:
    """The relation as it was first written: spellings that normalise alike are one."""
    return names.setdefault(normalise(relation) or relation.strip(), relation)


def _order(
    key: int | str | None,
    gold: dict[int | str | None, list[GoldTriple]],
    extra: dict[int | str | None, list[ExtraTriple]],
) -> tuple[bool, bool, int, int, str]:
    if key is None or isinstance(key, int):
        return key is None, False, key or 0, 0, ""
    return False, key not in gold, -len(gold.get(key, ())), -len(extra.get(key, ())), key
