"""The agent part played by a person: Wizard of Oz."""

from __future__ import annotations

from typing import Literal, Protocol

from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tools import complaint
from cuecard.core.config_fields import PERSON
from cuecard.core.errors import CuecardError
from cuecard.core.events import Limits, Marked, TrialStarted
from cuecard.core.i18n import _
from cuecard.core.marks import PartTaken
from cuecard.core.parts import AgentReply, Desk, Dialogue, PlayerRef, ToolAnswer, ToolCall
from cuecard.core.prediction import Prediction
from cuecard.core.seat_moves import HandInMove, ReplyMove, SeatMove, ToolMove, move_place
from cuecard.core.tasks import TaskLanguage


class Seat(Protocol):
    """Where the person sits: a window of their own, on this machine or another."""

    async def taken(self) -> str:
        """Who sits there; waits until somebody does."""
        ...

    async def next_move(self, place: str) -> SeatMove:
        """What they do at this step (`agent/3/move/0`); waits until it is done."""
        ...


class PersonAgent:
    """Carries out what a person does, through the desk: a search is answered by the world and recorded, a
    reply ends the turn, handing in ends the trial. What is in the log already is not waited for again.

    `language`: the task's, in which a call that cannot be made is refused.
    """

    ref = PlayerRef(name=PERSON, kind="human")

    def __init__(self, seat: Seat, language: TaskLanguage) -> None:
        self._seat = seat
        self._language: TaskLanguage = language

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        move = await self._moves("agent", dialogue, desk)
        if isinstance(move, ReplyMove):
            return AgentReply(text=move.text.strip(), act=move.act)
        raise _out_of_place()

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        move = await self._moves("conclusion", dialogue, desk)
        if isinstance(move, HandInMove):
            return move.prediction
        raise _out_of_place()

    async def _moves(
        self, part: Literal["agent", "conclusion"], dialogue: Dialogue, desk: Desk
    ) -> ReplyMove | HandInMove:
        """Every call of this turn, made or found in the log; then the move that ends it."""
        if not any(_is_taken(event.body) for event in desk.log):
            await desk.mark(PartTaken(person=await self._seat.taken()))
        done = {event.body.key: event.body for event in desk.log}
        most = _limits(desk).max_tool_calls_per_turn
        number = 0
        while True:
            recorded = done.get(f"{part}/{dialogue.turn}/tool/{number}")
            if recorded is not None and recorded.type == "tool_answered":
                await desk.call_tool(recorded.call)
            else:
                move = await self._seat.next_move(move_place(part, dialogue.turn, number))
                if not isinstance(move, ToolMove):
                    return move
                await self._call(move.call, desk, may_call=number < most)
            number += 1

    async def _call(self, call: ToolCall, desk: Desk, *, may_call: bool) -> None:
        refusal = complaint(call, desk.tools, self._language)
        if not may_call:
            refusal = say(self._language, Note.NO_MORE_CALLS)
        if not refusal:
            await desk.call_tool(call)
            return

        async def refused() -> ToolAnswer:
            return ToolAnswer(text=refusal, ok=False)

        await desk.call_tool(call, refused)


class EmptySeat:
    """Where nobody will ever sit: for whoever wants to know what such an agent is, not to play."""

    async def taken(self) -> str:
        raise _nobody()

    async def next_move(self, place: str) -> SeatMove:
        raise _nobody()


def _nobody() -> CuecardError:
    return CuecardError(_("Nobody plays the agent"))


def _out_of_place() -> CuecardError:
    return CuecardError(_("The person who plays the agent made a move out of place"))


def _is_taken(body: object) -> bool:
    return isinstance(body, Marked) and isinstance(body.mark, PartTaken)


def _limits(desk: Desk) -> Limits:
    """The trial's limits, which its first event holds."""
    first = desk.log[0].body if desk.log else None
    return first.limits if isinstance(first, TrialStarted) else Limits()
