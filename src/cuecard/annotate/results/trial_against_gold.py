"""What was handed in laid beside the gold: covered, missed and extra, by stage, relation, row and cell."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from cuecard.annotate.results.trial_record import HitLog, first_hits
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.graph.score import supporting_triples
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import same_columns
from cuecard.core.families.table.score import distinct_gold_rows, row_key
from cuecard.core.scoring.trial_score import Tally
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.verdicts import (
    AnswerPrediction,
    Decision,
    Decisions,
    ItemKind,
    Judgement,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)


class CellAgainst(Frozen):
    """`given`: the cell of the row that was joined; None where there is none, or where nobody knows which
    predicted column was meant.
    """

    gold: str
    given: str | None
    decision: Decision
    rationale: str = ""


class RowAgainst(Frozen):
    """Gold row `index`. `partner`: the predicted row that was joined, None if none was. `repeats`: the row has
    the key of an earlier one, and graders drop it.
    """

    index: int
    key: str
    partner: int | None
    cells: tuple[CellAgainst, ...]
    repeats: bool = False


class ExtraRow(Frozen):
    """A predicted row that was joined with no gold row, in gold column order as far as columns are known.
    `repeats`: it has the key of an earlier predicted row and was dropped.
    """

    index: int
    cells: tuple[str, ...]
    repeats: bool = False


class TableAgainst(Frozen):
    """`usable`: None where nobody has judged. `predicted`: rows that were handed in, None where nothing
    readable was. `reason` why it is unusable.
    """

    family: Literal["table"] = "table"
    columns: tuple[str, ...]
    keys: tuple[int, ...]
    rows: tuple[RowAgainst, ...]
    extra: tuple[ExtraRow, ...]
    predicted: int | None
    usable: bool | None
    reason: str = ""
    raw: str = ""

    @property
    def tally(self) -> Tally:
        """Of the cells that are judged: those of rows that repeat no earlier key."""
        n = Counter(c.decision for row in self.rows if not row.repeats for c in row.cells)
        return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])

    @property
    def missed(self) -> int:
        """Gold rows that no predicted row was joined with."""
        return sum(row.partner is None and not row.repeats for row in self.rows)


def table_against(
    table: Table, prediction: Prediction, judgement: Judgement | None
) -> TableAgainst:
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    match = judgement.table if judgement else None
    joined = dict(match.joined) if match and match.usable else {}
    given = _in_gold_order(table, prediction)
    counted = set(distinct_gold_rows(table))
    rows: list[RowAgainst] = []
    for index, row in enumerate(table.rows):
        partner = joined.get(index)
        mine = given[partner] if partner is not None and 0 <= partner < len(given) else None
        cells: list[CellAgainst] = []
        for at, column in enumerate(table.column_names):
            verdict = decisions.verdict(ItemKind.CELL, index, column)
            cells.append(
                CellAgainst(
                    gold=row[at],
                    given=mine[at] if mine else None,
                    decision=verdict.decision if verdict else Decision.UNJUDGED,
                    rationale=verdict.rationale if verdict else "",
                )
            )
        rows.append(
            RowAgainst(
                index=index,
                key=", ".join(table.key_of(row)),
                partner=partner if mine else None,
                cells=tuple(cells),
                repeats=index not in counted,
            )
        )
    unusable = prediction if isinstance(prediction, UnusablePrediction) else None
    reason = match.reason if match and not match.usable else ""
    return TableAgainst(
        columns=table.column_names,
        keys=table.key_indices,
        rows=tuple(rows),
        extra=_extra(table, given, set(joined.values())),
        predicted=len(given) if isinstance(prediction, TablePrediction) else None,
        usable=match.usable if match else None,
        reason=unusable.reason if unusable else reason,
        raw=unusable.raw if unusable else "",
    )


def _in_gold_order(table: Table, prediction: Prediction) -> list[tuple[str | None, ...]]:
    """The predicted rows with their cells under the gold columns of the same name."""
    if not isinstance(prediction, TablePrediction):
        return []
    partner = same_columns(table, prediction.columns).partner
    order = [partner.get(at) for at in range(len(table.columns))]
    return [
        tuple(row[at] if at is not None and at < len(row) else None for at in order)
        for row in prediction.rows
    ]


def _extra(
    table: Table, given: list[tuple[str | None, ...]], joined: set[int]
) -> tuple[ExtraRow, ...]:
    seen: set[tuple[str, ...]] = set()
    found: list[ExtraRow] = []
    for index, row in enumerate(given):
        cells = tuple(cell or "" for cell in row)
        known = all(row[at] is not None for at in table.key_indices)
        key = row_key(table, cells) if known else None
        if index not in joined:
            found.append(ExtraRow(index=index, cells=cells, repeats=key in seen))
        if key is not None:
            seen.add(key)
    return tuple(found)


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


class FactResult(Frozen):
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
    facts: tuple[FactResult, ...] = ()


Against = GraphAgainst | TableAgainst | AnswerAgainst


def against_gold(
    task: Task, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> Against:
    """The prediction beside the gold as one judge saw it; without a judgement nothing is decided."""
    from cuecard.annotate.families import ANNOTATE

    return ANNOTATE[task.family].against(task.gold, prediction, judgement, hits)


def facts_against(
    world: FactWorld, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> AnswerAgainst:
    """The answer beside the world's, and which of its facts were found."""
    first = first_hits(hits)
    facts = tuple(
        FactResult(
            key=fact.key,
            value=f"{fact.value} {fact.unit}".strip(),
            rule=fact.kind.value == "rule",
            call=first[fact.key].call if fact.key in first else None,
            seq=first[fact.key].seq if fact.key in first else None,
        )
        for fact in world.facts
    )
    return answer_against(world.answer, world.answer_aliases, prediction, judgement, facts)


def tally_of(decisions: Iterable[Decision]) -> Tally:
    n = Counter(decisions)
    return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])


def graph_against(
    graph: Graph, prediction: Prediction, judgement: Judgement | None
) -> GraphAgainst:
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


def answer_against(
    gold: str,
    also: Sequence[str],
    prediction: Prediction,
    judgement: Judgement | None,
    facts: tuple[FactResult, ...] = (),
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
