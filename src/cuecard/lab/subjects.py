"""What any labelled item is about, as text: gold, something predicted, or a turn of the dialogue. Nothing
here says what a machine decided on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cuecard.core.events import AgentSpoke, Event, UserSpoke, dialogue_of
from cuecard.core.i18n import _
from cuecard.core.prediction import Prediction
from cuecard.core.tasks import Checkpoint, CheckpointChain, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.users.stages import next_stage
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.items import GoldItem, gold_item, predicted_items

OF_TURN = (ItemKind.STATUS, ItemKind.CUE, ItemKind.LEAK)


class Said(Frozen):
    """Words of the dialogue; turns count from 0."""

    role: Literal["user", "agent"]
    turn: int
    text: str


def subject_of(task: Task, item: Item, prediction: Prediction, events: Sequence[Event]) -> GoldItem:
    """The item itself: the gold triple, cell, row or answer, the predicted triple, the checkpoint that an
    agent's turn is read against, the cue, or the user's reply. Raises `IndexError` if there is none.
    """
    match item.kind:
        case ItemKind.PREDICTED:
            return GoldItem(item=item, text=predicted_items(prediction)[item.index].text)
        case ItemKind.STATUS:
            return _checkpoint(task, item, events)
        case ItemKind.CUE:
            return _cue(task, item, events)
        case ItemKind.LEAK:
            return _reply(task, item, events)
        case _:
            return gold_item(task, item)


def said_around(item: Item, events: Sequence[Event]) -> tuple[Said, ...]:
    """The words that an item of a turn is about, or before the reply that it is. What the user says after a cue or a
    checkpoint was read gives the reading away and is left out.
    """
    if item.kind not in OF_TURN:
        return ()
    spoken = [
        Said(
            role="user" if isinstance(event.body, UserSpoke) else "agent",
            turn=event.body.turn,
            text=event.body.reply.text,
        )
        for event in until_decided(item, events)
        if isinstance(event.body, UserSpoke | AgentSpoke)
    ]
    return tuple(spoken[-2:-1] if item.kind is ItemKind.LEAK else spoken[-2:])


def until_decided(item: Item, events: Sequence[Event]) -> list[Event]:
    """The events before the decision on an item of a turn shows; all events for other items."""
    if item.kind not in OF_TURN:
        return list(events)
    at = _position(item, events)
    return list(events[: at + 1] if item.kind is ItemKind.LEAK else events[:at])


def _position(item: Item, events: Sequence[Event]) -> int:
    for position, event in enumerate(events):
        if isinstance(event.body, UserSpoke) and event.body.turn == item.index:
            return position
    raise IndexError(item.key)


def _spoken(item: Item, events: Sequence[Event]) -> UserSpoke:
    body = events[_position(item, events)].body
    assert isinstance(body, UserSpoke)
    return body


def _checkpoint(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    number = _spoken(item, events).reply.checkpoint
    chain = task.gold
    if not isinstance(chain, CheckpointChain) or number is None or number >= len(chain.steps):
        return GoldItem(item=item, text=task.query)
    step = chain.steps[number]
    place = _("step {n} of {all}").format(n=number + 1, all=len(chain.steps))
    return GoldItem(
        item=item,
        text=step.question,
        context=(place, *_step_context(step)),
        sources=step.sources,
    )


def _step_context(step: Checkpoint) -> list[str]:
    context = [_("target: {names}").format(names=" / ".join(step.names))]
    if step.ambiguity:
        names = ", ".join(step.ambiguity.candidates)
        context.append(_("ambiguous: {why}").format(why=step.ambiguity.logic))
        context.append(_("candidates: {names}").format(names=names))
        context.append(_("clue: {clue}").format(clue=step.ambiguity.clue))
    else:
        context.append(_("not ambiguous"))
    return context


def _cue(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    before = dialogue_of(until_decided(item, events))
    number = next_stage(task.persona, before) if task.persona else None
    if number is None:
        return GoldItem(item=item, text=_("no stage was left"))
    stage = task.stages[number - 1]
    place = _("stage {n} of {all}").format(n=number, all=len(task.stages))
    line = _("line: {line}").format(line=stage.line)
    return GoldItem(item=item, text=stage.cue.text, context=(place, stage.title, line))


def _reply(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    at = _position(item, events)
    before = dialogue_of(events[:at])
    number = next_stage(task.persona, before) if task.persona else None
    context: list[str] = []
    if number is not None:
        context.append(_("line that was next: {line}").format(line=task.stages[number - 1].line))
    if task.persona and number is not None:
        context += [
            _("line that was not due: {line}").format(line=s.line)
            for s in task.stages[number : number + 2]
        ]
    if isinstance(task.gold, CheckpointChain):
        context.append(_("final answer: {answer}").format(answer=task.gold.final_answer))
    return GoldItem(item=item, text=_spoken(item, events).reply.text, context=tuple(context))
