"""The dialogue as a labeller may read it: what was said and done, and nothing of what machines decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.labelling.session_views import Target
from cuecard.core.events import AgentSpoke, Event, Marked, ModelReplied, ToolAnswered, UserSpoke
from cuecard.core.parts import UserReply
from cuecard.core.prediction import AnswerPrediction, Prediction, TriplesPrediction
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.text import contains_term
from cuecard.core.verdicts import ItemKind
from cuecard.lab.subjects import OF_TURN, until_decided


@dataclass(frozen=True)
class BlindTranscript:
    """`left_out`: numbers of events whose large texts are only beginnings. `turn`: where the item came
    from, -1 if that is nowhere in the dialogue.
    """

    trial_id: int
    events: tuple[Event, ...]
    left_out: frozenset[int]
    turn: int


def without_decisions(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events with the user part's words only: neither its readings, reasons and flags nor the calls
    that led to them.
    """
    kept: list[Event] = []
    for event in events:
        match event.body:
            case UserSpoke(turn=turn, reply=reply):
                body = UserSpoke(turn=turn, reply=UserReply(text=reply.text))
                kept.append(event.model_copy(update={"body": body}))
            case ModelReplied(part="user") | ToolAnswered(part="user") | Marked(part="user"):
                pass
            case _:
                kept.append(event)
    return tuple(kept)


def visible(target: Target, events: Sequence[Event], *, labelled: bool) -> tuple[Event, ...]:
    """What `target`'s labeller may read of a course: before a cue or a checkpoint is labelled, only up to
    where the user part decided on it.
    """
    return without_decisions(events if labelled else until_decided(target.item, events))


def turn_of(target: Target, task: Task, prediction: Prediction, events: Sequence[Event]) -> int:
    """The turn that an item is about, or in which the agent or a tool first named it."""
    if target.item.kind in OF_TURN:
        return target.item.index - (target.item.kind is not ItemKind.LEAK)
    terms = [term for term in _terms(target, task, prediction) if term.strip()]
    for term in terms:
        for event in events:
            match event.body:
                case AgentSpoke(turn=turn, reply=reply) if contains_term(reply.text, term):
                    return turn
                case ToolAnswered(turn=turn, answer=answer) if contains_term(answer.text, term):
                    return turn
                case _:
                    pass
    return -1


def _terms(target: Target, task: Task, prediction: Prediction) -> tuple[str, ...]:
    """What to look for, the most telling first."""
    item = target.item
    if item.kind is ItemKind.PREDICTED:
        if isinstance(prediction, TriplesPrediction):
            triple = prediction.triples[item.index]
            return triple.tail, triple.head
        return ()
    match task.gold:
        case Graph() as graph:
            triple = graph.triples[item.index]
            return *graph.names_of(triple.tail), *graph.names_of(triple.head)
        case Table() as table:
            row = table.rows[item.index]
            return *table.key_of(row), *row
        case CheckpointChain(final_answer=answer, final_aliases=also):
            return answer, *also, *_given(prediction)
        case FactWorld(answer=answer, answer_aliases=also):
            return answer, *also, *_given(prediction)


def _given(prediction: Prediction) -> tuple[str, ...]:
    return (prediction.answer,) if isinstance(prediction, AnswerPrediction) else ()
