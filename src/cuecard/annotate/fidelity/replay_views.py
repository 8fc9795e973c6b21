"""What a person who re-plays a dialogue may see of a turn, and what is told once they have decided."""

from __future__ import annotations

from typing import Literal

from cuecard.annotate.labelling.session_views import Draft
from cuecard.core.events import Event, UserSpoke
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.label_records import Label, LabelValue

ReplayValue = LabelValue | CheckpointStatus
"""A cue is `YES` (met), `NO` or `UNSURE`; a checkpoint has a status or is `UNSURE`."""

Nothing = Literal["start", "all_said", "not_decided", "broke_off"]
"""Why there is nothing to decide in a user's turn: the stage's cue is the start of the conversation,
every stage has been said, the recorded turn holds no decision, or no reply of the agent was there to
be read.
"""


class Passed(Frozen):
    """A user's turn that was passed over."""

    turn: int
    why: Nothing


class Told(Frozen):
    """What the recorded user part decided and said in the turn. `value` None: it left the question
    open. `agrees` None: one of the two could not tell. Flags are left out, so that leaks can still be
    labelled blind.
    """

    by: PlayerRef
    value: ReplayValue | None
    spoken: UserSpoke
    agrees: bool | None


class ReplayView(Frozen):
    """One user's turn as it is to be decided. `events`: what was said up to and including the agent's
    reply before it. `passed`: turns between the one decided before and this one. `choices`: the values
    that answer here. `mine` and `told` are there once it is decided; `draft` goes with the decision.
    `number` counts the turns to decide from 1.
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
    told: Told | None = None


class Differing(Frozen):
    """A turn in which the person decided otherwise than the recorded user part."""

    turn: int
    number: int
    mine: ReplayValue
    theirs: ReplayValue


class ReplaySummary(Frozen):
    """How the decisions compare: of `decided` turns, `compared` are decided by both, `agreed` alike.
    `seen`: decisions by somebody who knew the recorded one.
    """

    total: int
    decided: int
    compared: int
    agreed: int
    seen: int
    differing: tuple[Differing, ...] = ()
    passed: tuple[Passed, ...] = ()
