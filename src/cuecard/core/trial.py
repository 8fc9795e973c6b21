"""The one loop that plays a trial, whoever the players are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuecard import __version__
from cuecard.core.desk import TrialDesk
from cuecard.core.errors import CuecardError, Halt, ModelCallError, told
from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    Limits,
    Termination,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.journal import Journal
from cuecard.core.parts import (
    Agent,
    Closable,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    StartOver,
    User,
    UserReply,
    World,
)
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.tasks import Task, content_hash

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrialSetup:
    """One cell of a grid, with its players made for it."""

    task: Task
    agent: Agent
    user: User
    world: World
    revision: int = 1
    sample: int = 0
    seed: int = 0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class TrialResult:
    termination: Termination
    prediction: Prediction
    detail: str = ""


async def play(setup: TrialSetup, journal: Journal, *, leave_open: bool = False) -> TrialResult:
    """Play the trial to its end, or resume it from what `journal` already holds. `leave_open`: the
    players are not closed, for whoever may go on with them; see `close_players`.

    A player's failure is data: it becomes the termination, with an unusable prediction.
    Cancellation and `Halt` pass through and leave the trial open, to be resumed. A trial that has
    ended, failed ones too, is not played again: its result is read from the log. Where a player
    cannot go on from what is recorded (`StartOver`), the trial starts over, once.
    """
    try:
        return await _play_or_start_over(setup, journal)
    finally:
        if not leave_open:
            await close_players(setup)


async def _play_or_start_over(setup: TrialSetup, journal: Journal) -> TrialResult:
    try:
        return await _play(setup, journal, may_start_over=bool(journal.events))
    except StartOver as signal:
        await journal.reopen(keep=False, reason=str(signal))
        return await _play(setup, journal, may_start_over=False)


async def _play(setup: TrialSetup, journal: Journal, *, may_start_over: bool) -> TrialResult:
    ended = next((e.body for e in journal.events if isinstance(e.body, TrialEnded)), None)
    if ended is not None:
        return TrialResult(ended.termination, prediction_of(journal.events), ended.detail)
    await journal.record(
        TrialStarted(
            task_id=setup.task.id,
            revision=setup.revision,
            revision_hash=content_hash(setup.task),
            agent=setup.agent.ref,
            user=setup.user.ref,
            world=setup.world.ref,
            sample=setup.sample,
            seed=setup.seed,
            limits=setup.limits,
            cuecard=__version__,
        )
    )
    try:
        dialogue, termination = await _converse(setup, journal)
        concluded = await _conclude(setup, journal, dialogue)
    except Halt:
        raise
    except Exception as error:
        if isinstance(error, StartOver) and may_start_over:
            raise
        termination, detail = _reason(error)
        await journal.record(TrialEnded(termination=termination, detail=detail))
    else:
        await journal.record(TrialEnded(termination=termination))
        return TrialResult(termination, concluded.prediction)
    return TrialResult(termination, prediction_of(journal.events), detail)


async def close_players(setup: TrialSetup) -> None:
    """End whatever the players hold. Their failure to end harms nobody."""
    for player in (setup.agent, setup.user, setup.world):
        if isinstance(player, Closable):
            try:
                await asyncio.shield(player.close())
            except Exception:  # noqa: BLE001 - the boundary of a trial: it is over
                _LOG.exception("a player could not be closed")


def prediction_of(events: Sequence[Event]) -> Prediction:
    """What the agent handed in; for a trial that failed or still runs, an unusable prediction."""
    reason = "the trial has not ended"
    for event in reversed(events):
        if isinstance(event.body, Concluded):
            return event.body.prediction
        if isinstance(event.body, TrialEnded):
            reason = event.body.detail or event.body.termination.value
    return UnusablePrediction(reason=reason)


async def _converse(setup: TrialSetup, journal: Journal) -> tuple[Dialogue, Termination]:
    dialogue = Dialogue()
    turn = 0
    spoke = await _user_turn(setup, journal, dialogue, turn)
    while True:
        dialogue = dialogue.plus(spoke.message)
        if spoke.reply.done:
            return dialogue, Termination.ANSWERED if spoke.reply.answered else Termination.USER_DONE
        if turn >= setup.limits.max_turns:
            return dialogue, Termination.MAX_TURNS
        replied = await _agent_turn(setup, journal, dialogue, turn)
        dialogue = dialogue.plus(replied.message)
        turn += 1
        spoke = await _user_turn(setup, journal, dialogue, turn)


async def _user_turn(
    setup: TrialSetup, journal: Journal, dialogue: Dialogue, turn: int
) -> UserSpoke:
    async def perform() -> UserSpoke:
        desk = TrialDesk(setup.world, journal, "user", turn)
        reply: UserReply
        reply = await (setup.user.reply(dialogue, desk) if turn else setup.user.open(desk))
        return UserSpoke(turn=turn, reply=reply)

    return await journal.step(f"user/{turn}", perform)


async def _agent_turn(
    setup: TrialSetup, journal: Journal, dialogue: Dialogue, turn: int
) -> AgentSpoke:
    async def perform() -> AgentSpoke:
        desk = TrialDesk(setup.world, journal, "agent", turn)
        reply = await setup.agent.reply(dialogue, desk)
        if not reply.text.strip():
            raise EmptyReply("The agent replied with nothing")
        return AgentSpoke(turn=turn, reply=reply)

    return await journal.step(f"agent/{turn}", perform)


async def _conclude(setup: TrialSetup, journal: Journal, dialogue: Dialogue) -> Concluded:
    async def perform() -> Concluded:
        desk = TrialDesk(setup.world, journal, "conclusion", dialogue.turn)
        return Concluded(prediction=await setup.agent.conclude(dialogue, desk))

    return await journal.step("conclusion", perform)


def _reason(error: Exception) -> tuple[Termination, str]:
    match error:
        case ModelCallError(context_overflow=True):
            return Termination.CONTEXT_OVERFLOW, str(error)
        case ModelCallError():
            return Termination.API_ERROR, str(error)
        case EmptyReply():
            return Termination.EMPTY_RESPONSE, str(error)
        case ErrorLoop():
            return Termination.ERROR_LOOP, str(error)
        case CuecardError():
            return Termination.INTERNAL_ERROR, str(error)
        case _:
            return Termination.INTERNAL_ERROR, told(error)
