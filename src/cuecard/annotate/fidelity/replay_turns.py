"""A recorded dialogue split into turns for re-play: what each decides, and what a person may see of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuecard.annotate.labelling.views import Draft
from cuecard.core.engine.events import AgentSpoke, Event, UserSpoke, dialogue_of
from cuecard.core.engine.messages import CheckpointStatus, Dialogue, PlayerRef
from cuecard.core.families.registry import chain_of
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import CueKind, Task
from cuecard.core.users.responder import ChainRules, Move, status_of
from cuecard.core.users.scripted import next_stage
from cuecard.core.verdicts import Item, ItemKind

ReplayValue = LabelValue | CheckpointStatus
"""A cue is `YES` (met), `NO` or `UNSURE`; a checkpoint has a status or is `UNSURE`."""

Nothing = Literal["start", "all_said", "not_decided", "broke_off"]
"""Why a user's turn has nothing to decide: the stage's cue is the start of the conversation, every stage
has been disclosed, the recorded turn holds no decision, or there was no reply of the agent to decide
on.
"""


class Passed(Frozen):
    """A user's turn that is skipped because it has nothing to decide."""

    turn: int
    why: Nothing


class OriginalTurn(Frozen):
    """What the trial's user decided and said in the turn. `value` None: they left it open. `agrees` None: one of the
    two could not tell. Flags are left out, so that leaks can still be labelled blind.
    """

    by: PlayerRef
    value: ReplayValue | None
    spoken: UserSpoke
    agrees: bool | None


class ReplayView(Frozen):
    """One user's turn to decide. `events`: what was said up to and including the agent's reply before it; `passed`:
    skipped turns since the one before; `choices`: the possible values; `number`: of the turn among those to decide,
    from 1. `draft` goes with the decision; `mine` and `original` are there once it is made.
    """

    trial_id: int
    turn: int
    number: int
    item: Item
    events: tuple[Event, ...]
    choices: tuple[ReplayValue, ...]
    passed: tuple[Passed, ...] = ()
    draft: Draft = Draft()
    mine: Label | None = None
    original: OriginalTurn | None = None


class DifferingTurn(Frozen):
    """A turn in which the person decided otherwise than the trial's user."""

    turn: int
    number: int
    mine: ReplayValue
    theirs: ReplayValue


class ReplaySummary(Frozen):
    """How the decisions compare: `decided` turns, `compared` of them decided by both, `agreed` alike. `seen`: decisions
    made by somebody who knew the recorded one.
    """

    total: int
    decided: int
    compared: int
    agreed: int
    seen: int
    differing: tuple[DifferingTurn, ...] = ()
    passed: tuple[Passed, ...] = ()


_OF_CUE: tuple[ReplayValue, ...] = (LabelValue.YES, LabelValue.NO, LabelValue.UNSURE)


@dataclass(frozen=True)
class Turn:
    """A user's turn with something to decide. `before`: the number of spoken events before it; `theirs`: what the
    trial's user decided, None if they left it open. `passed`: skipped turns since the one before.
    """

    item: Item
    spoken: UserSpoke
    before: int
    choices: tuple[ReplayValue, ...]
    theirs: ReplayValue | None
    passed: tuple[Passed, ...] = ()


@dataclass(frozen=True)
class ReplayTurns:
    """A dialogue for re-play: what was said, the turns to decide on, and those skipped after the last of them."""

    spoken: tuple[Event, ...]
    turns: tuple[Turn, ...]
    passed: tuple[Passed, ...] = ()


def turns_to_replay(task: Task, events: Sequence[Event]) -> ReplayTurns:
    """Split the effective log of a trial into turns. The stage or step of each follows from the recorded events."""
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
            turns.append(replace(found, passed=tuple(passed)))
            passed = []
        else:
            passed.append(Passed(turn=body.turn, why=found))
    return ReplayTurns(spoken, tuple(turns), tuple(passed))


def _bare(event: Event) -> Event:
    """The event without what checks found in its words: whether they leak is another question."""
    body = event.body
    if not isinstance(body, UserSpoke) or not body.reply.flags:
        return event
    reply = body.reply.model_copy(update={"flags": ()})
    return event.model_copy(update={"body": UserSpoke(turn=body.turn, reply=reply)})


def _turn(task: Task, body: UserSpoke, before: Sequence[Event]) -> Turn | Nothing:
    reply, dialogue = body.reply, dialogue_of(before)
    if not dialogue.messages or dialogue.messages[-1].role != "agent":
        return "broke_off"
    if chain_of(task) is not None:
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
    """The statuses that an agent's turn can have at this point, in the order of the enumeration; from any step an agent
    may complete the task. Raises `ValueError` for a task of another family.
    """
    situation = ChainRules(task, None).place(dialogue).situation
    possible = {CheckpointStatus.TASK_COMPLETED}
    for move in Move:
        # Where nothing is ambiguous, no question asks about it.
        if move is not Move.ASKS_RIGHTLY or situation.ambiguous:
            possible.add(status_of(move, situation))
    return tuple(status for status in CheckpointStatus if status in possible)
