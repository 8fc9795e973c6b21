"""What leaves the store of live sessions: frozen records."""

from __future__ import annotations

from datetime import datetime

from cuecard.core.config_play import FormQuestion
from cuecard.core.parts import ModelReply, PlayerRef, UserReply
from cuecard.core.seat_moves import HandInMove as HandInMove
from cuecard.core.seat_moves import ReplyMove as ReplyMove
from cuecard.core.seat_moves import SeatMove as SeatMove
from cuecard.core.seat_moves import ToolMove as ToolMove
from cuecard.core.tasks.base import Frozen


class Shadow(Frozen):
    """What a simulator would have said in a trial's user turn `turn`, after the dialogue whose hash is
    `state` (see `lab.shadows.state_of`). `calls`: what it was answered by its model, none for a baseline.
    `live`: it listened while the session was played; otherwise it was asked afterwards.
    """

    trial_id: int
    turn: int
    state: str
    player: PlayerRef
    reply: UserReply
    calls: tuple[ModelReply, ...] = ()
    live: bool = True
    at: datetime


class SeatStep(Frozen):
    """A move as it is kept. `place`: its step, such as `agent/3/move/0` or `conclusion/move/2`."""

    trial_id: int
    take: int
    place: str
    person: str
    move: SeatMove
    at: datetime


class Pulse(Frozen):
    """The newest event of a trial: its number and take, and when it was."""

    seq: int
    take: int
    at: datetime


class SessionForm(Frozen):
    """What a person said of a session: answers by the questions' keys (numbers of scales, an option, or
    words). `questions` are those that were asked.
    """

    trial_id: int
    person: str
    questions: tuple[FormQuestion, ...]
    answers: dict[str, int | str]
    at: datetime
