"""A trial's prediction compared with the gold: covered, missed and extra items, by stage, relation, row and cell."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal

from cuecard.annotate.results.trial_record import HitLog
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.scoring.trial_score import Tally
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, Judgement


class CellAgainst(Frozen):
    """A gold cell and the predicted one. `given`: None if no row was joined, or it is unknown which predicted column
    was meant.
    """

    gold: str
    given: str | None
    decision: Decision
    rationale: str = ""


class RowAgainst(Frozen):
    """Gold row `index`. `partner`: the predicted row joined to it, None if there is none. `repeats`: it has the key of
    an earlier row, so graders drop it.
    """

    index: int
    key: str
    partner: int | None
    cells: tuple[CellAgainst, ...]
    repeats: bool = False


class ExtraRow(Frozen):
    """A predicted row that was not joined, in gold column order as far as columns are known. `repeats`: it has the key
    of an earlier predicted row and was dropped.
    """

    index: int
    cells: tuple[str, ...]
    repeats: bool = False


class TableAgainst(Frozen):
    """A table compared with the gold. `usable`: None if nobody has judged; `reason`: why it is unusable. `predicted`:
    number of predicted rows, None if nothing readable was handed in.
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
        """Counts over the cells that are judged: those of rows that repeat no earlier key."""
        n = Counter(c.decision for row in self.rows if not row.repeats for c in row.cells)
        return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])

    @property
    def missed(self) -> int:
        """The number of gold rows without a joined row."""
        return sum(row.partner is None and not row.repeats for row in self.rows)


Grouping = Literal["stage", "relation"]
GROUPINGS: tuple[Grouping, ...] = ("stage", "relation")


class GoldTriple(Frozen):
    """A gold triple by its names. `supporting`: indices of the predicted triples that the judge named for it."""

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
    """Gold triples of one stage or relation, and extra triples with that relation. `key`: the stage's number or the
    relation; None for triples without one.
    """

    key: int | str | None
    gold: tuple[GoldTriple, ...]
    extra: tuple[ExtraTriple, ...]

    @property
    def tally(self) -> Tally:
        return tally_of(triple.decision for triple in self.gold)


class GraphAgainst(Frozen):
    """A graph compared with the gold. `predicted`: number of predicted triples, None if nothing readable was handed in
    (`reason`, `raw`).
    """

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
        """By stages in order, then triples without one; or by relations, those with most gold triples first, then those
        of extra triples only. Extra triples belong to no stage.
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
    """A fact of the world, and the tool call that first matched it: `call` from 1, `seq` of its event."""

    key: str
    value: str
    rule: bool
    call: int | None
    seq: int | None


class AnswerAgainst(Frozen):
    """An answer compared with the gold. `given`: None if no readable answer was handed in. `facts`: of a closed world,
    in the gold's order.
    """

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
    """The prediction compared with the gold according to one judgement; without one, nothing is decided."""
    from cuecard.annotate.families.registry import ANNOTATE

    return ANNOTATE[task.family].against(task.gold, prediction, judgement, hits)


def tally_of(decisions: Iterable[Decision]) -> Tally:
    n = Counter(decisions)
    return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])


def unusable(prediction: Prediction) -> tuple[str, str]:
    """Why what was handed in cannot be read, and its text; empty where it can."""
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
