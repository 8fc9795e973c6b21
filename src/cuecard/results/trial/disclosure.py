"""When the user part disclosed what, and why: stages of a persona, clues and advances of a chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from cuecard.core.events import AgentSpoke, Event, ToolAnswered, UserSpoke
from cuecard.core.parts import CheckpointStatus, Flag
from cuecard.core.phrases import questions, sentences
from cuecard.core.scoring.log import is_search
from cuecard.core.scoring.steps import ADVANCED, checkpoint_of
from cuecard.core.tasks import CheckpointChain, CueKind, Stage
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import contains_term, one_line

WORDS = 280
"""Characters of the agent's words that are kept."""


class Met(Frozen):
    """The agent's words that a decision follows. `how`: a person pointed at them (`evidence`), they hold one of
    the cue's terms (`terms`), or nobody said which ones counted and the reply as such is meant
    (`reply`, its beginning). `seq`: the reply's event, None where there was no reply.
    """

    text: str = ""
    how: Literal["evidence", "terms", "reply", ""] = ""
    seq: int | None = None


class Push(Frozen):
    """A turn in which the user found the cue of the stage not met."""

    turn: int
    seq: int
    reason: str


class StageSeen(Frozen):
    """A stage, `number` from 1. `turn` and `seq` of the user's words that disclosed it, None if none did; what
    was decided then, and the `reason` that the simulator or the person gave. `cue_met` is None also
    where the cue was left open (`unsure`) or not looked at.
    """

    number: int
    turn: int | None = None
    seq: int | None = None
    cue_met: bool | None = None
    unsure: bool = False
    edited: bool = False
    reason: str = ""
    flags: tuple[Flag, ...] = ()
    met: Met = Met()
    pushes: tuple[Push, ...] = ()


class Reading(Frozen):
    """How an agent's turn was read at a checkpoint, in the user's turn `turn`. `searches`: the agent's searches
    in the turn that was read.
    """

    turn: int
    seq: int
    status: CheckpointStatus
    reason: str
    met: Met
    searches: int


class StepSeen(Frozen):
    """A checkpoint, `index` from 0, with its readings in order. `clue_seq`: the user's words that released the
    clue; `advanced_seq`: those that let the agent go on. None where there are none.
    """

    index: int
    readings: tuple[Reading, ...] = ()
    clue_seq: int | None = None
    advanced_seq: int | None = None

    def until(self, seq: int) -> StepSeen:
        """The checkpoint as it stood when event `seq` had happened."""
        return StepSeen(
            index=self.index,
            readings=tuple(r for r in self.readings if r.seq <= seq),
            clue_seq=_by_then(self.clue_seq, seq),
            advanced_seq=_by_then(self.advanced_seq, seq),
        )


def stages_seen(stages: Sequence[Stage], events: Sequence[Event]) -> tuple[StageSeen, ...]:
    """Every stage in order. Pushes are those before it while it was the next one."""
    spoken = [(e.seq, e.body) for e in events if isinstance(e.body, UserSpoke)]
    replies = _replies(events)
    found: list[StageSeen] = []
    since = 0
    for number, stage in enumerate(stages, start=1):
        at = next((i for i, (_s, said) in enumerate(spoken) if said.reply.stage == number), None)
        reached = not found or found[-1].turn is not None
        waited = spoken[since : len(spoken) if at is None else at] if reached else []
        pushes = tuple(
            Push(turn=said.turn, seq=seq, reason=said.reply.reason)
            for seq, said in waited
            if said.reply.cue_met is False
        )
        if at is None:
            found.append(StageSeen(number=number, pushes=pushes))
            continue
        seq, said = spoken[at]
        reply = said.reply
        found.append(
            StageSeen(
                number=number,
                turn=said.turn,
                seq=seq,
                cue_met=reply.cue_met,
                unsure=reply.unsure,
                edited=reply.edited,
                reason=reply.reason,
                flags=reply.flags,
                met=_met(said, stage, replies),
                pushes=pushes,
            )
        )
        since = at + 1
    return tuple(found)


def stage_until(stage: StageSeen, seq: int) -> StageSeen:
    """The stage as it stood when event `seq` had happened."""
    pushes = tuple(push for push in stage.pushes if push.seq <= seq)
    if stage.seq is None or stage.seq > seq:
        return StageSeen(number=stage.number, pushes=pushes)
    return stage


def steps_seen(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepSeen, ...]:
    """Every checkpoint in order, read as the scores read them."""
    replies = _replies(events)
    searches: dict[int, int] = defaultdict(int)
    readings: dict[int, list[Reading]] = defaultdict(list)
    for event in events:
        body = event.body
        if isinstance(body, ToolAnswered) and body.part != "user" and is_search(body):
            searches[body.turn] += 1
        if not isinstance(body, UserSpoke) or body.turn == 0 or body.reply.status is None:
            continue
        index = checkpoint_of(body, len(chain.steps))
        if index is not None:
            readings[index].append(
                Reading(
                    turn=body.turn,
                    seq=event.seq,
                    status=body.reply.status,
                    reason=body.reply.reason,
                    met=_met(body, None, replies),
                    searches=searches.get(body.turn - 1, 0),
                )
            )
    return tuple(_step(chain, index, readings[index]) for index in range(len(chain.steps)))


def _step(chain: CheckpointChain, index: int, readings: Sequence[Reading]) -> StepSeen:
    ambiguous = chain.steps[index].ambiguity is not None
    right = CheckpointStatus.AMBIGUITY_DETECTED
    clue = (r.seq for r in readings if ambiguous and r.status is right)
    advanced = (r.seq for r in readings if r.status in ADVANCED)
    return StepSeen(
        index=index,
        readings=tuple(readings),
        clue_seq=next(clue, None),
        advanced_seq=next(advanced, None),
    )


def _replies(events: Sequence[Event]) -> dict[int, tuple[int, str]]:
    """The agent's replies by turn, with their events' numbers."""
    return {
        e.body.turn: (e.seq, e.body.reply.text) for e in events if isinstance(e.body, AgentSpoke)
    }


def _met(said: UserSpoke, stage: Stage | None, replies: dict[int, tuple[int, str]]) -> Met:
    if said.turn - 1 not in replies:
        return Met()
    seq, text = replies[said.turn - 1]
    evidence = said.reply.evidence
    if evidence:
        return Met(text=one_line(evidence.text, WORDS), how="evidence", seq=seq)
    if stage and said.reply.cue_met and stage.cue.terms:
        parts = questions(text) if stage.cue.kind is CueKind.ASKS else sentences(text)
        held = (p for p in parts if any(contains_term(p, term) for term in stage.cue.terms))
        if (words := next(held, None)) is not None:
            return Met(text=one_line(words, WORDS), how="terms", seq=seq)
    return Met(text=one_line(text, WORDS), how="reply", seq=seq)


def _by_then(seq: int | None, now: int) -> int | None:
    return seq if seq is not None and seq <= now else None
