"""All that scores, tables and error analysis read of one judged trial, so that none of them needs its log.

Figures follow from the revision, the trial's course and one judgement, and can be made again at any time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from cuecard.core.events import Concluded, Event
from cuecard.core.prediction import Prediction, TriplesPrediction, UnusablePrediction
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.graph import supporting_triples
from cuecard.core.scoring.interaction import tool_calls_by_name
from cuecard.core.scoring.log import agent_tool_answers, user_turns
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.steps import StepRecord, steps_of
from cuecard.core.scoring.table import distinct_gold_rows
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Decision, ItemKind, Judgement

SCHEME = 3
"""Raised with every change of what figures hold or how they are counted: kept ones are then made anew."""
MAX_K = 64
RAW = 300
_Key = TypeVar("_Key", str, int)

HandedIn = Literal["triples", "table", "answer", "unusable", "nothing"]
"""`unusable`: a format failure; `nothing`: the trial ended before the agent was asked for its answer."""


class Tally(Frozen):
    """Gold items by what was decided of them."""

    yes: int = 0
    no: int = 0
    unjudged: int = 0

    @property
    def judged(self) -> int:
        return self.yes + self.no


class GraphFigures(Frozen):
    """`gold` triples; `predicted` ones, None where nothing readable was handed in. `relations`: gold triples
    by relation, `stages`: by the stage that they answer (those that name one). `invalid`: relations
    of predicted triples that support nothing, normalised.
    """

    gold: int
    predicted: int | None
    relations: dict[str, Tally]
    stages: dict[int, Tally]
    invalid: dict[str, int]


class TableFigures(Frozen):
    """`usable`: it is a table with the required columns (None: the judgement does not say), `reason` why not.
    Rows of gold and of the prediction after duplicates by key were dropped, and how many were joined.
    `columns`: cells of joined rows by column, without key columns.
    """

    usable: bool | None
    reason: str
    gold_rows: int
    predicted_rows: int
    joined: int
    columns: dict[str, Tally]


class FactFigures(Frozen):
    """`hits` and `fresh`: for each of the first `MAX_K` tool calls whether it hit, and how many of the world's
    `facts` it matched for the first time.
    """

    facts: int
    hits: tuple[bool, ...]
    fresh: tuple[int, ...]


class StepFigures(Frozen):
    """A reached checkpoint and the type of its ambiguity, "" where it has none."""

    record: StepRecord
    ambiguity: str


class TrialFigures(Frozen):
    """`measures` as `score_trial` gives them; `tools`: the agent's calls by name. `raw`: the beginning of what was
    handed in where that was unusable, `reason` why it was. The family's own figures, None for others. `statuses`:
    the agent's turns by how a responder read them (`CheckpointStatus`).
    """

    measures: tuple[Measure, ...]
    tools: dict[str, int]
    handed_in: HandedIn
    reason: str = ""
    raw: str = ""
    graph: GraphFigures | None = None
    table: TableFigures | None = None
    facts: FactFigures | None = None
    steps: tuple[StepFigures, ...] | None = None
    statuses: dict[str, int] = {}

    @property
    def unusable(self) -> str:
        """Why nothing of what was handed in could be scored; empty where something could."""
        if self.table is not None and self.table.usable is False:
            return self.reason or self.table.reason
        return self.reason

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)

    def value(self, name: str) -> float | None:
        found = self.measure(name)
        return found.value if found else None


def figures_of(task: Task, events: Sequence[Event], judgement: Judgement) -> TrialFigures:
    """The figures of a trial on `task` with this course; an outline's events are enough."""
    prediction = prediction_of(events)
    unusable = prediction if isinstance(prediction, UnusablePrediction) else None
    gold = task.gold
    return TrialFigures(
        measures=score_trial(task, events, judgement),
        tools=tool_calls_by_name(events),
        handed_in=_handed_in(prediction, events),
        reason=unusable.reason if unusable else "",
        raw=unusable.raw[:RAW] if unusable else "",
        graph=_of_graph(gold, prediction, judgement) if isinstance(gold, Graph) else None,
        table=_of_table(gold, judgement) if isinstance(gold, Table) else None,
        facts=_of_facts(gold, events) if isinstance(gold, FactWorld) else None,
        steps=_of_steps(gold, events) if isinstance(gold, CheckpointChain) else None,
        statuses=_statuses(events) if isinstance(gold, CheckpointChain) else {},
    )


def _handed_in(prediction: Prediction, events: Sequence[Event]) -> HandedIn:
    if not any(isinstance(event.body, Concluded) for event in events):
        return "nothing"
    return prediction.kind


def _of_graph(graph: Graph, prediction: Prediction, judgement: Judgement) -> GraphFigures:
    decisions = Decisions.of(judgement.verdicts)
    relations: dict[str, Counter[Decision]] = defaultdict(Counter)
    stages: dict[int, Counter[Decision]] = defaultdict(Counter)
    for index, triple in enumerate(graph.triples):
        found = decisions.decision(ItemKind.TRIPLE, index)
        relations[triple.relation][found] += 1
        if triple.stage is not None:
            stages[triple.stage][found] += 1
    triples = prediction.triples if isinstance(prediction, TriplesPrediction) else None
    support = set(supporting_triples(judgement.verdicts, len(triples or ())))
    invalid = Counter(
        normalise(triple.relation) or triple.relation.strip()
        for index, triple in enumerate(triples or ())
        if index not in support
    )
    return GraphFigures(
        gold=len(graph.triples),
        predicted=None if triples is None else len(triples),
        relations=_tallies(relations),
        stages=_tallies(stages),
        invalid=dict(invalid),
    )


def _of_table(table: Table, judgement: Judgement) -> TableFigures:
    decisions = Decisions.of(judgement.verdicts)
    rows, match = distinct_gold_rows(table), judgement.table
    usable = match is not None and match.usable
    pairs = match.joined if match and usable else ()
    joined = sorted({gold for gold, _row in pairs} & set(rows))
    columns: dict[str, Counter[Decision]] = {}
    for column in table.columns:
        if column.name not in table.unique_columns:
            columns[column.name] = Counter(
                decisions.decision(ItemKind.CELL, row, column.name) for row in joined
            )
    return TableFigures(
        usable=match.usable if match else None,
        reason=match.reason if match else "",
        gold_rows=len(rows),
        predicted_rows=match.predicted_rows if match and usable else 0,
        joined=len(joined),
        columns=_tallies(columns),
    )


def _of_facts(world: FactWorld, events: Sequence[Event]) -> FactFigures:
    known = {fact.key for fact in world.facts}
    found: set[str] = set()
    hits: list[bool] = []
    fresh: list[int] = []
    for answered in agent_tool_answers(events)[:MAX_K]:
        hit = answered.answer.hit
        new = (set(hit.matched_fact_keys) & known) - found if hit else set[str]()
        found |= new
        hits.append(bool(hit and hit.hit))
        fresh.append(len(new))
    return FactFigures(facts=len(known), hits=tuple(hits), fresh=tuple(fresh))


def _of_steps(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepFigures, ...]:
    found: list[StepFigures] = []
    for record in steps_of(chain, events):
        ambiguity = chain.steps[record.checkpoint].ambiguity
        found.append(
            StepFigures(record=record, ambiguity=ambiguity.type.value if ambiguity else "")
        )
    return tuple(found)


def _statuses(events: Sequence[Event]) -> dict[str, int]:
    read = (spoke.reply.status for spoke in user_turns(events) if spoke.turn > 0)
    return dict(Counter(status.value for status in read if status is not None))


def _tallies(counts: Mapping[_Key, Counter[Decision]]) -> dict[_Key, Tally]:
    return {
        key: Tally(
            yes=found[Decision.YES], no=found[Decision.NO], unjudged=found[Decision.UNJUDGED]
        )
        for key, found in counts.items()
    }
