"""Where in a trial's course an item was found or said, and which items a turn speaks of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from cuecard.core.events import AgentSpoke, Event, ToolAnswered, UserSpoke
from cuecard.core.phrases import occurrences
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
)
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.verdicts import Item, ItemKind
from cuecard.results.trial.disclosure import StageSeen, StepSeen

Names = tuple[str, ...]
"""Names of one thing, any of which will do."""


class Found(Frozen):
    """The first event that names an item: what the agent said (`said`), or what a tool answered. `whole`: it
    names every part of it; otherwise only the parts in `terms`.
    """

    seq: int
    turn: int
    said: bool
    whole: bool
    terms: tuple[str, ...]


class _Text(NamedTuple):
    seq: int
    turn: int
    said: bool
    text: str


class Course:
    """What the agent said and was told, to be searched as often as wanted. Made of whole events, it finds what
    stands anywhere; of an outline, only what stands in the beginnings of large texts.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._texts: list[_Text] = []
        for event in events:
            match event.body:
                case AgentSpoke(turn=turn, reply=reply):
                    self._texts.append(_Text(event.seq, turn, True, normalise(reply.text)))
                case ToolAnswered(turn=turn, part=part, answer=answer) if part != "user":
                    self._texts.append(_Text(event.seq, turn, False, normalise(answer.text)))
                case _:
                    pass

    def first(self, parts: Sequence[Names], until: int | None = None) -> Found | None:
        """Where all of `parts` are first named together; else the last of them that is named anywhere, on its
        own. None if none is. `until`: events after this number are not looked at.
        """
        wanted = _normalised(parts)
        alone: dict[int, Found] = {}
        for text in self._texts:
            if until is not None and text.seq > until:
                break
            held = [(n, term) for n, names in enumerate(wanted) if (term := _held(text, names))]
            if held and len(held) == len(wanted):
                return _found(text, [term for _n, term in held], whole=True)
            for n, term in held:
                alone.setdefault(n, _found(text, [term], whole=False))
        return alone[max(alone)] if alone else None

    def items_in(
        self, seqs: Collection[int], items: Iterable[tuple[Item, Sequence[Names]]]
    ) -> tuple[Item, ...]:
        """Those items of which every part is named in these events taken together."""
        texts = [text for text in self._texts if text.seq in seqs]
        return tuple(
            item
            for item, parts in items
            if (wanted := _normalised(parts))
            and all(any(_held(text, names) for text in texts) for names in wanted)
        )


def parts_of(
    task: Task, item: Item, prediction: Prediction, supporting: Sequence[int] = ()
) -> tuple[Names, ...]:
    """The names to look for, the most telling part last: head and tail of a triple, key and value of a cell,
    the key of a row, the answer. What the judge named in its support counts as another name.
    """
    gold = task.gold
    match item.kind:
        case ItemKind.PREDICTED:
            return _of_predicted(prediction, item.index)
        case ItemKind.TRIPLE if isinstance(gold, Graph):
            triple = gold.triples[item.index]
            head, tail = gold.names_of(triple.head), gold.names_of(triple.tail)
            named = [_of_predicted(prediction, index) for index in supporting]
            return (
                (*head, *(parts[0][0] for parts in named if parts)),
                (*tail, *(parts[1][0] for parts in named if parts)),
            )
        case ItemKind.CELL | ItemKind.ROW if isinstance(gold, Table):
            row = gold.rows[item.index]
            keys = tuple((key,) for key in gold.key_of(row))
            if item.kind is ItemKind.ROW or item.column in gold.unique_columns:
                return keys
            value = row[gold.column_names.index(item.column)]
            return (*keys, (value, *_of_cell(prediction, item.column, supporting)))
        case ItemKind.ANSWER if isinstance(gold, FactWorld):
            return ((gold.answer, *gold.answer_aliases),)
        case ItemKind.ANSWER if isinstance(gold, CheckpointChain):
            return ((gold.final_answer, *gold.final_aliases),)
        case _:
            return ()


def given_parts(prediction: Prediction) -> tuple[Names, ...]:
    """The answer that was handed in, to be looked for where the right one was never named."""
    return ((prediction.answer,),) if isinstance(prediction, AnswerPrediction) else ()


def seq_of(
    place: str,
    events: Sequence[Event],
    stages: Sequence[StageSeen] = (),
    steps: Sequence[StepSeen] = (),
) -> int | None:
    """The event that a note's place is at: `event/17`, `turn/3` (from 0), `stage/2` (from 1), `step/1` (from 0).
    None for what stands at no event (a verdict, the whole trial), and for what never happened.
    """
    kind, _slash, rest = place.partition("/")
    if not rest.isdigit():
        return None
    number = int(rest)
    match kind:
        case "event":
            return number if any(event.seq == number for event in events) else None
        case "turn":
            spoken = (e for e in events if isinstance(e.body, UserSpoke | AgentSpoke))
            return next((e.seq for e in spoken if _turn(e) == number), None)
        case "stage":
            return next((stage.seq for stage in stages if stage.number == number), None)
        case "step":
            readings = (step.readings for step in steps if step.index == number)
            return next((found[0].seq for found in readings if found), None)
        case _:
            return None


def _turn(event: Event) -> int:
    return event.body.turn if isinstance(event.body, UserSpoke | AgentSpoke) else -1


def _of_predicted(prediction: Prediction, index: int) -> tuple[Names, ...]:
    if isinstance(prediction, TriplesPrediction) and 0 <= index < len(prediction.triples):
        triple = prediction.triples[index]
        return (triple.head,), (triple.tail,)
    return ()


def _of_cell(prediction: Prediction, column: str, supporting: Sequence[int]) -> Names:
    if not isinstance(prediction, TablePrediction) or column not in prediction.columns:
        return ()
    at = prediction.columns.index(column)
    rows = (prediction.rows[i] for i in supporting if 0 <= i < len(prediction.rows))
    return tuple(row[at] for row in rows if at < len(row))


def _normalised(parts: Sequence[Names]) -> list[list[str]]:
    named = ([normalise(name) for name in names] for names in parts)
    return [names for each in named if (names := [name for name in each if name])]


def _held(text: _Text, names: Sequence[str]) -> str:
    """The first of the names that stands in the text; "" if none does."""
    for name in names:
        if name in text.text and any(True for _span in occurrences(text.text, name)):
            return name
    return ""


def _found(text: _Text, terms: Sequence[str], *, whole: bool) -> Found:
    return Found(seq=text.seq, turn=text.turn, said=text.said, whole=whole, terms=tuple(terms))
