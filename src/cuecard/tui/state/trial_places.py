"""What a place of a trial is called."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, FactWorld, Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.items import gold_item


def words_of_place(place: str, task: Task, events: Sequence[Event]) -> str:
    """A note's place (see `TrialNote`) in a few words."""
    kind, _slash, rest = place.partition("/")
    if kind == "verdict":
        return _of_verdict(rest, task)
    if not rest.isdigit():
        return _("the whole trial") if not place else one_line(place, 40)
    number = int(rest)
    match kind:
        case "turn":
            return _("turn {n}").format(n=number + 1)
        case "stage":
            return _("stage {n}").format(n=number)
        case "step":
            return _("step {n}").format(n=number + 1)
        case "fact":
            facts = task.gold.facts if isinstance(task.gold, FactWorld) else ()
            return one_line(facts[number].key, 60) if number < len(facts) else one_line(place, 40)
        case "event":
            found = next((event for event in events if event.seq == number), None)
            return _of_event(found) if found else one_line(place, 40)
        case _:
            return one_line(place, 40)


def _of_verdict(key: str, task: Task) -> str:
    try:
        item = Item.of_key(key)
        if item.kind is ItemKind.PREDICTED:
            return _("handed in {n}").format(n=item.index + 1)
        if item.kind is ItemKind.ANSWER and isinstance(task.gold, CheckpointChain | FactWorld):
            return _("the answer")
        return _("verdict: {item}").format(item=one_line(gold_item(task, item).text, 60))
    except (ValueError, LookupError):
        return one_line(key, 40)


def _of_event(event: Event) -> str:
    body = event.body
    match body:
        case ToolAnswered():
            told = _("turn {n}, call of {tool}")
            return told.format(n=body.turn + 1, tool=one_line(body.call.name, 40))
        case ModelReplied():
            return _("turn {n}, model call").format(n=body.turn + 1)
        case AgentSpoke():
            return _("turn {n}, the agent").format(n=body.turn + 1)
        case UserSpoke():
            return _("turn {n}, the user").format(n=body.turn + 1)
        case Concluded():
            return _("what was handed in")
        case TrialEnded():
            return _("the end")
        case _:
            turn = getattr(body, "turn", None)
            return _("turn {n}").format(n=turn + 1) if turn is not None else _("the start")
