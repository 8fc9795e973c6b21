"""A recorded dialogue taken apart for re-play: what is to be decided in which turn, and before what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.fidelity.replay_views import Nothing, Passed, ReplayValue
from cuecard.core.events import AgentSpoke, Event, UserSpoke, dialogue_of
from cuecard.core.parts import CheckpointStatus, Dialogue
from cuecard.core.tasks import CheckpointChain, CueKind, Task
from cuecard.core.users.chain_rules import ChainRules
from cuecard.core.users.moves import Move, status_of
from cuecard.core.users.stages import next_stage
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.label_records import LabelValue

_OF_CUE: tuple[ReplayValue, ...] = (LabelValue.YES, LabelValue.NO, LabelValue.UNSURE)


@dataclass(frozen=True)
class Turn:
    """A user's turn with something to decide. `before`: how many of the course's spoken events lie
    before it; `theirs`: what the recorded user part decided, None where it could not tell. `passed`:
    turns passed over since the one before.
    """

    item: Item
    spoken: UserSpoke
    before: int
    choices: tuple[ReplayValue, ...]
    theirs: ReplayValue | None
    passed: tuple[Passed, ...] = ()


@dataclass(frozen=True)
class Course:
    """What was said, the turns to decide on, and those passed over after the last of them."""

    spoken: tuple[Event, ...]
    turns: tuple[Turn, ...]
    passed: tuple[Passed, ...] = ()


def course_to_replay(task: Task, events: Sequence[Event]) -> Course:
    """Take the course of a trial apart. Which stage or step is due follows from what was recorded."""
    spoken = tuple(
        _bare(event) for event in events if isinstance(event.body, UserSpoke | AgentSpoke)
    )
    turns: list[Turn] = []
    passed: list[Passed] = []
    for position, event in enumerate(spoken):
        body = event.body
        if not isinstance(body, UserSpoke) or body.turn < 1:
            continue
        found = _turn(task, body, spoken[:position])
        if isinstance(found, Turn):
            turns.append(_after(found, passed))
            passed = []
        else:
            passed.append(Passed(turn=body.turn, why=found))
    return Course(spoken, tuple(turns), tuple(passed))


def _after(turn: Turn, passed: Sequence[Passed]) -> Turn:
    return Turn(turn.item, turn.spoken, turn.before, turn.choices, turn.theirs, tuple(passed))


def _bare(event: Event) -> Event:
    """Without what checks found in the words: whether they leak is a question of its own."""
    body = event.body
    if not isinstance(body, UserSpoke) or not body.reply.flags:
        return event
    reply = body.reply.model_copy(update={"flags": ()})
    return event.model_copy(update={"body": UserSpoke(turn=body.turn, reply=reply)})


def _turn(task: Task, body: UserSpoke, before: Sequence[Event]) -> Turn | Nothing:
    reply, dialogue = body.reply, dialogue_of(before)
    if not dialogue.messages or dialogue.messages[-1].role != "agent":
        return "broke_off"
    if isinstance(task.gold, CheckpointChain):
        if reply.status is None and not reply.unsure:
            return "not_decided"
        return Turn(
            item=Item(kind=ItemKind.STATUS, index=body.turn),
            spoken=body,
            before=len(before),
            choices=(*statuses_at(task, dialogue), LabelValue.UNSURE),
            theirs=reply.status,
        )
    number = next_stage(task.persona, dialogue) if task.persona else None
    if number is None:
        return "all_said" if task.persona else "not_decided"
    if task.stages[number - 1].cue.kind is CueKind.START:
        return "start"
    if reply.cue_met is None and not reply.unsure:
        return "not_decided"
    met = {True: LabelValue.YES, False: LabelValue.NO, None: None}[reply.cue_met]
    return Turn(
        item=Item(kind=ItemKind.CUE, index=body.turn),
        spoken=body,
        before=len(before),
        choices=_OF_CUE,
        theirs=met,
    )


def statuses_at(task: Task, dialogue: Dialogue) -> tuple[CheckpointStatus, ...]:
    """The statuses that a turn of the agent may have at this point, in the order of the enumeration; an
    agent may complete the whole task from any step. Raises `ValueError` for a task of another family.
    """
    situation = ChainRules(task, None).place(dialogue).situation
    possible = {CheckpointStatus.TASK_COMPLETED}
    for move in Move:
        # Where nothing is ambiguous, no question asks about it.
        if move is not Move.ASKS_RIGHTLY or situation.ambiguous:
            possible.add(status_of(move, situation))
    return tuple(status for status in CheckpointStatus if status in possible)
