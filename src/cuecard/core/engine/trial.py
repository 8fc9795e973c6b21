"""The one loop that plays a trial, whoever the players are, and the replay of a recorded trial."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cuecard import __version__
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
    effective_log,
)
from cuecard.core.engine.messages import (
    Dialogue,
    EmptyReply,
    ErrorLoop,
    NotesRead,
    StartOver,
    ToolCall,
    UserReply,
)
from cuecard.core.engine.step_context import Agent, Closable, TrialStepContext, User, World
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import CuecardError, Halt, ModelCallError, error_text
from cuecard.core.i18n import _
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.text import one_line
from cuecard.core.worlds.replay import call_key

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrialSetup:
    """What is played: a task and the players made for it. `sample`: which repetition (from 0) of the same task and
    players this is.
    """

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
    """How a trial ended and what was handed in. `detail`: the error's message, where it failed."""

    termination: Termination
    prediction: Prediction
    detail: str = ""


async def play(setup: TrialSetup, trial_log: TrialLog, *, leave_open: bool = False) -> TrialResult:
    """Play the trial to its end, or resume it from what `trial_log` already holds. `leave_open`: do not close the
    players; the caller does it with `close_players`.

    An exception of a player becomes the termination, with an unusable prediction. Cancellation and `Halt` pass
    through and leave the trial open, to be resumed. A trial that has ended, even by a failure, is not played again:
    its result is read from the log. Where a player cannot resume from the record (`StartOver`), the trial starts over,
    once.
    """
    try:
        return await _play_or_start_over(setup, trial_log)
    finally:
        if not leave_open:
            await close_players(setup)


async def _play_or_start_over(setup: TrialSetup, trial_log: TrialLog) -> TrialResult:
    try:
        return await _play(setup, trial_log, may_start_over=bool(trial_log.events))
    except StartOver as signal:
        await trial_log.retry(keep=False, reason=str(signal))
        return await _play(setup, trial_log, may_start_over=False)


async def _play(setup: TrialSetup, trial_log: TrialLog, *, may_start_over: bool) -> TrialResult:
    ended = next((e.body for e in trial_log.events if isinstance(e.body, TrialEnded)), None)
    if ended is not None:
        return TrialResult(ended.termination, prediction_of(trial_log.events), ended.detail)
    await trial_log.record(
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
        dialogue, termination = await _converse(setup, trial_log)
        concluded = await _conclude(setup, trial_log, dialogue)
    except Halt:
        raise
    except Exception as error:
        if isinstance(error, StartOver) and may_start_over:
            raise
        termination, detail = _reason(error)
        await trial_log.record(TrialEnded(termination=termination, detail=detail))
    else:
        await trial_log.record(TrialEnded(termination=termination))
        return TrialResult(termination, concluded.prediction)
    return TrialResult(termination, prediction_of(trial_log.events), detail)


async def close_players(setup: TrialSetup) -> None:
    """Close the players that are `Closable`. Their exceptions are logged, not raised."""
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


async def _converse(setup: TrialSetup, trial_log: TrialLog) -> tuple[Dialogue, Termination]:
    dialogue = Dialogue()
    turn = 0
    spoke = await _user_turn(setup, trial_log, dialogue, turn)
    while True:
        dialogue = dialogue.plus(spoke.message)
        if spoke.reply.done:
            return dialogue, Termination.ANSWERED if spoke.reply.answered else Termination.USER_DONE
        if turn >= setup.limits.max_turns:
            return dialogue, Termination.MAX_TURNS
        replied = await _agent_turn(setup, trial_log, dialogue, turn)
        dialogue = dialogue.plus(replied.message)
        turn += 1
        spoke = await _user_turn(setup, trial_log, dialogue, turn)


async def _user_turn(
    setup: TrialSetup, trial_log: TrialLog, dialogue: Dialogue, turn: int
) -> UserSpoke:
    async def perform() -> UserSpoke:
        context = TrialStepContext(setup.world, trial_log, "user", turn)
        reply: UserReply
        reply = await (setup.user.reply(dialogue, context) if turn else setup.user.open(context))
        return UserSpoke(turn=turn, reply=reply)

    return await trial_log.step(f"user/{turn}", perform)


async def _agent_turn(
    setup: TrialSetup, trial_log: TrialLog, dialogue: Dialogue, turn: int
) -> AgentSpoke:
    async def perform() -> AgentSpoke:
        context = TrialStepContext(setup.world, trial_log, "agent", turn)
        reply = await setup.agent.reply(dialogue, context)
        if not reply.text.strip():
            raise EmptyReply("The agent replied with nothing")
        return AgentSpoke(turn=turn, reply=reply)

    return await trial_log.step(f"agent/{turn}", perform)


async def _conclude(setup: TrialSetup, trial_log: TrialLog, dialogue: Dialogue) -> Concluded:
    async def perform() -> Concluded:
        context = TrialStepContext(setup.world, trial_log, "conclusion", dialogue.turn)
        return Concluded(prediction=await setup.agent.conclude(dialogue, context))

    return await trial_log.step("conclusion", perform)


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
            return Termination.INTERNAL_ERROR, error_text(error)


# Kinds of players whose words come from outside and leave no model call in the log that a replay could answer.
_OUTSIDERS = frozenset({"acp", "human", "python"})
_PATIENCE = 0.3


class RecordedLog:
    """Replays a recorded trial of the same task, agent and sample: a trial log's `Source`.

        trial_log = TrialLog(sink, past, source=RecordedLog(log))

    Replies of models and answers of the world are taken from the recording by their keys, an answer together with the
    model calls that the world made for it. Turns of a harness or a person are taken whole. Concurrent calls are
    recorded in the order of the recording.

    A step that the recording does not hold, or holds for another call, raises a `CuecardError` that names its key. If
    the recorded trial failed there, the error that it failed with is raised again.
    """

    def __init__(self, log: Sequence[Event]) -> None:
        bodies = [event.body for event in effective_log(log)]
        self._ended = next((b for b in bodies if isinstance(b, TrialEnded)), None)
        self._notes = next(
            (
                b.mark.notes
                for b in bodies
                if isinstance(b, Marked) and isinstance(b.mark, NotesRead)
            ),
            (),
        )
        self._outside = _outside_parts(bodies)
        self._groups: dict[str, list[EventBody]] = {
            body.key: [] for body in bodies if _stands_in(body, self._outside)
        }
        self._order: list[str] = []
        for body in bodies:
            within = [self._groups[place] for place in _places(body.key) if place in self._groups]
            for group in within:
                group.append(body)
            if within:
                self._order.append(body.key)
        self._places = {key: place for place, key in enumerate(self._order)}
        self._at = 0
        self._moved = asyncio.Event()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the agent's lifelong memory held when the recorded trial began."""
        return self._notes

    async def instead(
        self, key: str, asked: ToolCall | str | None, recorded: Callable[[str], bool]
    ) -> AsyncIterator[EventBody]:
        outside = key.split("/", maxsplit=1)[0] in self._outside
        if asked is None and not outside:
            return
        group = self._groups.get(key)
        if group is None:
            raise await self._not_held(key, recorded)
        _check_same(key, group[-1], asked)
        for body in group:
            if not recorded(body.key):
                # A concurrent call waits for those that were answered before it in the recording.
                await self._all_before(self._places[body.key], recorded)
                yield body

    def kept(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def _all_before(self, place: int, recorded: Callable[[str], bool]) -> bool:
        """Wait until everything recorded before `place` is recorded again. False if nothing new comes for `_PATIENCE`
        seconds: the current code seems not to repeat it.
        """
        while True:
            while self._at < place and recorded(self._order[self._at]):
                self._at += 1
            if self._at >= place:
                return True
            try:
                await asyncio.wait_for(self._moved.wait(), _PATIENCE)
            except TimeoutError:
                self._at = max(self._at, place)
                return False

    async def _not_held(self, key: str, recorded: Callable[[str], bool]) -> CuecardError:
        error = _error_of(self._ended)
        if error and await self._all_before(len(self._order), recorded):
            return error
        return CuecardError(
            _("The recording does not go this far"),
            _("it holds no {key}").format(key=key),
            _("The code, the prompts or the configuration have changed; start a new run."),
        )


def _error_of(ended: TrialEnded | None) -> CuecardError | None:
    """The error that a trial failed with, where a call may have caused it (a failed call leaves no event), or None."""
    match ended:
        case TrialEnded(termination=Termination.API_ERROR, detail=detail):
            return ModelCallError(detail)
        case TrialEnded(termination=Termination.CONTEXT_OVERFLOW, detail=detail):
            return ModelCallError(detail, context_overflow=True)
        case TrialEnded(termination=Termination.INTERNAL_ERROR, detail=detail):
            return CuecardError(detail)
        case _:
            return None


def _outside_parts(bodies: Sequence[EventBody]) -> frozenset[str]:
    """The parts that a harness or a person played."""
    started = next((b for b in bodies if isinstance(b, TrialStarted)), None)
    if started is None:
        return frozenset()
    players = {"agent": started.agent, "conclusion": started.agent, "user": started.user}
    return frozenset(part for part, ref in players.items() if ref.kind in _OUTSIDERS)


def _stands_in(body: EventBody, outside: frozenset[str]) -> bool:
    """Whether a replay takes this body from the recording, rather than perform its step."""
    match body:
        case ModelReplied() | ToolAnswered():
            return True
        case AgentSpoke() | Concluded():
            return "agent" in outside
        case UserSpoke():
            return "user" in outside
        case _:
            return False


def _places(key: str) -> Iterator[str]:
    """`key` and the keys of steps that may contain it: `agent`, `agent/3`, `agent/3/tool`, `agent/3/tool/0`."""
    parts = key.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def _check_same(key: str, body: EventBody, asked: ToolCall | str | None) -> None:
    match body, asked:
        case ToolAnswered(call=call), ToolCall() if call_key(call) != call_key(asked):
            then, now = call_key(call), call_key(asked)
        case ModelReplied(model=model), str() if model != asked:
            then, now = model, asked
        case _:
            return
    raise CuecardError(
        _("The recording is of another call"),
        _("{key} was {then}, now it is {now}").format(
            key=key, then=one_line(then, 200), now=one_line(now, 200)
        ),
        _("The code, the prompts or the configuration have changed; start a new run."),
    )
