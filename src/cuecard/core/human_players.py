"""The parts of a trial that people play: the user at a screen, and the agent as a Wizard of Oz."""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from cuecard.core.agents.briefing import Note, complaint, say
from cuecard.core.config_players import PERSON
from cuecard.core.engine.events import Marked
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    PartTaken,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    UserReply,
)
from cuecard.core.engine.step_context import (
    HandInMove,
    PlayMove,
    ReplyMove,
    StepContext,
    ToolMove,
    limits_of,
    move_place,
)
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.verdicts import Prediction


class AgentPlayer(Protocol):
    """Where the person who plays the agent acts: a window of their own, on this machine or another."""

    async def taken(self) -> str:
        """The name of the person; waits until there is one."""
        ...

    async def next_move(self, place: str) -> PlayMove:
        """The person's move at this step (`agent/3/move/0`); waits until it is made."""
        ...


class PersonAgent:
    """An agent that carries out a person's moves through the step context: a tool call is answered by the world and
    recorded, a reply ends the turn, handing in ends the trial. Moves that are recorded are not waited for again.

    `language`: that of the task, for refusals of calls that cannot be made.
    """

    ref = PlayerRef(name=PERSON, kind="human")

    def __init__(self, player: AgentPlayer, language: TaskLanguage) -> None:
        self._player = player
        self._language: TaskLanguage = language

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        move = await self._moves("agent", dialogue, context)
        if isinstance(move, ReplyMove):
            return AgentReply(text=move.text.strip(), act=move.act)
        raise _out_of_place()

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        move = await self._moves("conclusion", dialogue, context)
        if isinstance(move, HandInMove):
            return move.prediction
        raise _out_of_place()

    async def _moves(
        self, part: Literal["agent", "conclusion"], dialogue: Dialogue, context: StepContext
    ) -> ReplyMove | HandInMove:
        """Carry out the calls of this turn, or find them in the log; returns the move that ends the turn."""
        if not any(_is_taken(event.body) for event in context.log):
            await context.mark(PartTaken(person=await self._player.taken()))
        done = {event.body.key: event.body for event in context.log}
        most = limits_of(context).max_tool_calls_per_turn
        number = 0
        while True:
            recorded = done.get(f"{part}/{dialogue.turn}/tool/{number}")
            if recorded is not None and recorded.type == "tool_answered":
                await context.call_tool(recorded.call)
            else:
                move = await self._player.next_move(move_place(part, dialogue.turn, number))
                if not isinstance(move, ToolMove):
                    return move
                await self._call(move.call, context, may_call=number < most)
            number += 1

    async def _call(self, call: ToolCall, context: StepContext, *, may_call: bool) -> None:
        refusal = complaint(call, context.tools, self._language)
        if not may_call:
            refusal = say(self._language, Note.NO_MORE_CALLS)
        if not refusal:
            await context.call_tool(call)
            return

        async def refused() -> ToolAnswer:
            return ToolAnswer(text=refusal, ok=False)

        await context.call_tool(call, refused)


class NoPlayer:
    """A player who is nobody, for an agent that is only described, not played."""

    async def taken(self) -> str:
        raise _nobody()

    async def next_move(self, place: str) -> PlayMove:
        raise _nobody()


def _nobody() -> CuecardError:
    return CuecardError(_("Nobody plays the agent"))


def _out_of_place() -> CuecardError:
    return CuecardError(_("The person who plays the agent made a move out of place"))


def _is_taken(body: object) -> bool:
    return isinstance(body, Marked) and isinstance(body.mark, PartTaken)


Ask = Callable[[Dialogue | None], Awaitable[UserReply]]


class HumanUser:
    """A user whose replies come from `ask`: a screen shows the dialogue (None: nothing has been said yet), waits for the
    person, and returns the reply with their decisions.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self._name = name
        self._ask = ask

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self._name, kind="human")

    async def open(self, context: StepContext) -> UserReply:
        return await self._ask(None)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        return await self._ask(dialogue)
