"""Wizard of Oz: a second person plays the agent of a session, from their own window, seeing only what a model would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cuecard.core.agents.briefing import PublicTask, approach_to, complaint, public_task
from cuecard.core.archive import outlast
from cuecard.core.config import EMBEDDED, Config, find_prompt
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    Limits,
    Marked,
    ToolAnswered,
    TrialEnded,
    TrialRetried,
    UserSpoke,
    effective_log,
)
from cuecard.core.engine.messages import Act, AgentReply, ToolAnswer, ToolCall, ToolSpec, UserReply
from cuecard.core.engine.players import PERSON, NoPlayer, PersonAgent
from cuecard.core.engine.step_context import HandInMove, PlayMove, ReplyMove, ToolMove, move_place
from cuecard.core.errors import ConfigError, Conflict, DatabaseAway, NotAllowed
from cuecard.core.evaluation.plans import settings_of
from cuecard.core.families.registry import family_of
from cuecard.core.i18n import _
from cuecard.core.predictions import Prediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, TaskLanguage
from cuecard.core.text import contains_term, storable
from cuecard.core.worlds.closed import spec_of

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.records import RunRecord, TrialRecord
    from cuecard.core.tasks.models import Task


SOON, LOOK = 0.03, 0.25
"""Seconds between looks into the mailbox, at first and later."""

Result = TypeVar("Result")


class Mailbox:
    """A `AgentPlayer` whose person plays in another window: their moves are read from `workspace.player_moves`. `take`: gives the
    current attempt of the trial.
    """

    def __init__(self, workspace: Archive, trial_id: int, attempt: Callable[[], int]) -> None:
        self._workspace = workspace
        self._moves = workspace.player_moves
        self._trial_id = trial_id
        self._attempt = attempt

    async def taken(self) -> str:
        return await _found(self._workspace, lambda: self._moves.holder(self._trial_id) or None)

    async def next_move(self, place: str) -> PlayMove:
        def read() -> PlayMove | None:
            step = self._moves.find(self._trial_id, self._attempt(), place)
            return step.move if step else None

        return await _found(self._workspace, read)


async def _found(workspace: Archive, read: Callable[[], Result | None]) -> Result:
    """The first result of `read` that is not None. `read` is called in a thread, since it blocks for the database."""
    pause = SOON
    while True:
        found = await outlast(workspace, read)
        if found is not None:
            return found
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LOOK)


def person_agent(
    workspace: Archive, trial: TrialRecord, task: Task, attempt: Callable[[], int]
) -> PersonAgent | None:
    """The agent of a session whose agent is a person; None where it is any other."""
    if not played_by_person(trial):
        return None
    return PersonAgent(Mailbox(workspace, trial.id, attempt), task.language)


def absent_agent(name: str, task: Task) -> PersonAgent | None:
    """As `person_agent`, before there is a trial, when nobody plays the agent yet."""
    return PersonAgent(NoPlayer(), task.language) if name == PERSON else None


def played_by_person(trial: TrialRecord) -> bool:
    return trial.agent.kind == PersonAgent.ref.kind


PlayerPhase = Literal["user", "yours", "stopped", "working", "hand_in", "over"]
"""The state of the agent's player: the user is to speak; you are; the user has interrupted you and is to say how it goes on;
your move is being carried out; you are to hand in; the trial has ended."""
STOPPED = "stopped"
"""The reason of the attempt that begins when the user interrupts a person who has not replied yet."""


class Briefing(Frozen):
    """What the agent knows before anything is said (not even the columns of a table). `role` and `closing`: the prompts
    that a model would get at the beginning and at the end, in the task's language. `choose_act`: each turn must be
    declared an answer or a question.
    """

    trial_id: int
    user: str
    task: PublicTask
    role: str
    closing: str
    tools: tuple[ToolSpec, ...]
    choose_act: bool
    limits: Limits


class PlayerView(Frozen):
    """What the person who plays the agent sees. `events`: what was said, searched and found, without marks, decisions
    and notes of other parts. `turn`: the exchange, from 0. `take`, `place`: the attempt and key of the next move.
    `pending`: a move that was made but not carried out yet. `calls_left`: tool calls left in this turn. `newest_at`:
    when the session last recorded an event; `taken_back`: how often the user took words back or had a turn
    repeated. `columns`: the table's columns that the user has named.
    """

    events: tuple[Event, ...]
    phase: PlayerPhase
    turn: int
    take: int
    place: str
    calls_left: int
    pending: PlayMove | None = None
    newest_at: datetime | None = None
    newest: int = -1
    taken_back: int = 0
    columns: tuple[str, ...] = ()


def briefing_of(
    trial_id: int, user: str, task: Task, tools: Sequence[ToolSpec], limits: Limits, config: Config
) -> Briefing:
    """The briefing of a session's agent. Raises `ConfigError` for a prompt file that cannot be used."""
    approach = approach_to(task, Settings())
    role = find_prompt(approach.prompt, task.language, config, {})
    closing = find_prompt(family_of(task).conclusion, task.language, config, {})
    return Briefing(
        trial_id=trial_id,
        user=user,
        task=public_task(task).model_copy(update={"columns": ()}),
        role=role.render(**approach.values),
        closing=closing.render(),
        tools=tuple(tools) if approach.world_tools else (),
        choose_act=bool(approach.own_tools),
        limits=limits,
    )


def view_of(log: Sequence[Event], limits: Limits, columns: Sequence[str] = ()) -> PlayerView:
    """The view that a trial's whole log gives, without moves that are not carried out yet. `columns`: all columns of the
    task's table.
    """
    effective = effective_log(log)
    shown = tuple(_blind_events(effective))
    spoken = [e.body for e in effective if isinstance(e.body, UserSpoke | AgentSpoke)]
    said = "\n".join(body.reply.text for body in spoken if isinstance(body, UserSpoke))
    last = spoken[-1] if spoken else None
    turn = last.turn if last else 0
    phase: PlayerPhase = "user"
    if any(isinstance(event.body, TrialEnded | Concluded) for event in effective):
        phase = "over"
    elif isinstance(last, UserSpoke):
        phase = "hand_in" if last.reply.done or turn >= limits.max_turns else "yours"
        if is_stopped(log):
            phase = "stopped"
    part = "conclusion" if phase == "hand_in" else "agent"
    keys = {event.body.key for event in effective}
    number = 0
    while f"{part}/{turn}/tool/{number}" in keys:
        number += 1
    return PlayerView(
        events=shown,
        phase=phase,
        turn=turn,
        take=log[-1].take if log else 0,
        place=move_place(part, turn, number),
        calls_left=max(limits.max_tool_calls_per_turn - number, 0) if phase == "yours" else 0,
        newest_at=log[-1].at if log else None,
        newest=log[-1].seq if log else -1,
        taken_back=sum(
            isinstance(event.body, TrialRetried) and event.body.reason != STOPPED for event in log
        ),
        columns=tuple(name for name in columns if contains_term(said, name)),
    )


def is_stopped(log: Sequence[Event]) -> bool:
    """Whether the user has interrupted the agent, and nothing has happened since but remarks."""
    last = next((e.body for e in reversed(log) if not isinstance(e.body, Marked)), None)
    return isinstance(last, TrialRetried) and last.reason == STOPPED


def _blind_events(effective: Iterable[Event]) -> Iterable[Event]:
    for event in effective:
        match event.body:
            case UserSpoke(turn=turn, reply=said):
                body = UserSpoke(turn=turn, reply=UserReply(text=said.text))
            case AgentSpoke(turn=turn, reply=reply):
                told = AgentReply(text=reply.text, act=reply.act, interrupted=reply.interrupted)
                body = AgentSpoke(turn=turn, reply=told)
            case ToolAnswered(part="agent" | "conclusion", scope="") as found:
                answer = ToolAnswer(text=found.answer.text, ok=found.answer.ok)
                body = ToolAnswered(
                    part=found.part,
                    turn=found.turn,
                    step=found.step,
                    call=found.call,
                    answer=answer,
                )
            case Concluded(prediction=prediction):
                body = Concluded(prediction=prediction)
            case TrialEnded(termination=termination):
                body = TrialEnded(termination=termination)
            case _:
                continue
        yield Event(seq=event.seq, at=event.at, take=event.take, body=body)


class WaitingTrial(Frozen):
    """A session whose agent is to be played by a person, without the task's title and id, which may reveal something.
    `mine`: this person plays it already; `since`: when the session began.
    """

    trial_id: int
    user: str
    family: Family
    language: TaskLanguage
    since: datetime
    mine: bool


class WizardPlayer:
    """What a person needs to play the agent of a session. Blocks for the database: call it in a thread.

    Nothing that it returns contains the task's gold, its persona or decisions of the user part.
    """

    def __init__(
        self,
        workspace: Archive,
        person: str,
        briefing: Briefing,
        task: Task,
        put: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.briefing = briefing
        self._put = put
        self._kept: PlayerView | None = None
        self._workspace = workspace
        self._person = person
        self._language: TaskLanguage = task.language
        self._columns = public_task(task).columns
        self._view: PlayerView | None = None

    @classmethod
    def take(
        cls,
        workspace: Archive,
        trial_id: int,
        by: str,
        config: Config = EMBEDDED,
        put: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> WizardPlayer:
        """Begin, or go on, to play the agent of a session. `put` records a move by `make_move`, given its arguments, now
        (true) or when the database is back. Raises `NotFound`, `ConfigError`, and `NotAllowed` if the
        agent is not played by a person, the trial has ended, somebody else plays it, it is `by`'s own session, or
        `by` may know the gold.
        """
        trial = workspace.runs.trial(trial_id)
        if reason := _why_not(workspace, trial, by.strip()):
            raise NotAllowed(_("You cannot play this agent"), reason)
        run = workspace.runs.get(trial.run_id)
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        tools = tools_of(trial, run, config)
        briefing = briefing_of(trial.id, trial.user.name, task, tools, run.limits, config)
        workspace.player_moves.become_player(trial_id, by)
        return cls(workspace, by.strip(), briefing, task, put)

    def view(self) -> PlayerView:
        """The present view. Cheap if nothing has happened since the last call. While the database is away and a move waits
        for it, how things stood then.
        """
        try:
            self._view = self._look()
        except DatabaseAway:
            if self._kept is None:
                raise
            return self._kept
        return self._view

    def _look(self) -> PlayerView:
        moves, trial_id = self._workspace.player_moves, self.briefing.trial_id
        pulse = moves.pulse(trial_id)
        view = self._view
        if view is None or (pulse.seq if pulse else -1) != view.newest:
            log = self._workspace.runs.log(trial_id)
            view = view_of(log, self.briefing.limits, self._columns)
        if view.phase in ("yours", "hand_in") and view.pending is None:
            made, kept = moves.find(trial_id, view.take, view.place), self._kept
            if made is not None:
                return view.model_copy(update={"phase": "working", "pending": made.move})
            if kept is not None and (kept.take, kept.place) == (view.take, view.place):
                return view.model_copy(update={"phase": "working", "pending": kept.pending})
        return view

    def search(self, call: ToolCall, seen: PlayerView | None = None) -> None:
        """Call a tool of the world. Raises `NotAllowed` if it is not one's turn, the tool does not exist, an argument is
        missing or no calls are left; `Conflict` if the dialogue has changed since the view `seen`.
        """
        view = self._on_turn("yours", seen)
        if view.calls_left <= 0:
            raise NotAllowed(
                _("No more searches in this turn"), _("Answer the user with what you have.")
            )
        if problem := complaint(call, self.briefing.tools, self._language):
            raise NotAllowed(_("This cannot be looked up"), problem)
        self._make(view, ToolMove(call=call))

    def say(self, text: str, act: Act = Act.REPLY, seen: PlayerView | None = None) -> None:
        """Answer the user, which ends the turn. Raises as `search` does, and for an empty text."""
        view = self._on_turn("yours", seen)
        if not text.strip():
            raise NotAllowed(_("Say something first"))
        if (act is Act.REPLY) == self.briefing.choose_act:
            raise NotAllowed(_("Say whether you ask or answer"))
        self._make(view, ReplyMove(text=storable(text).strip(), act=act))

    def hand_in(self, prediction: Prediction, seen: PlayerView | None = None) -> None:
        """Hand in the prediction, which ends the trial. Raises as `search` does."""
        self._make(self._on_turn("hand_in", seen), HandInMove(prediction=prediction))

    def _on_turn(self, phase: str, seen: PlayerView | None) -> PlayerView:
        try:
            view = self.view()
        except DatabaseAway:
            if seen is None or self._put is None:
                raise
            view = seen
        if view.phase != phase:
            raise NotAllowed(_("It is not your turn"), _("What you typed stays."))
        if seen is not None and (seen.take, seen.place) != (view.take, view.place):
            raise _changed()
        return view

    def _make(self, view: PlayerView, move: PlayMove) -> None:
        at = {"attempt": view.take, "place": view.place, "person": self._person}
        given: dict[str, Any] = {"trial_id": self.briefing.trial_id, "move": move, **at}
        if self._put is None:
            make_move(self._workspace, **given)
        elif not self._put(given):
            self._kept = view.model_copy(update={"phase": "working", "pending": move})


def make_move(
    workspace: Archive, trial_id: int, attempt: int, place: str, person: str, move: PlayMove
) -> None:
    """Record what `person` did at a step, if the dialogue stands there; the same again changes nothing. Raises
    `NotFound`, `NotAllowed`, `Conflict`.
    """
    if workspace.player_moves.find(trial_id, attempt, place) is None:
        run = workspace.runs.get(workspace.runs.trial(trial_id).run_id)
        view = view_of(workspace.runs.log(trial_id), run.limits)
        if (view.take, view.place) != (attempt, place) or view.phase not in ("yours", "hand_in"):
            raise _changed()
    workspace.player_moves.add(trial_id, attempt, place, person, move)


def _changed() -> Conflict:
    return Conflict(
        _("The dialogue has changed"), _("What you typed stays."), _("Look at it again.")
    )


def waiting_trials(workspace: Archive, person: str) -> list[WaitingTrial]:
    """The open sessions that wait for `person`, or for anybody, to play the agent, newest first; without those that
    this person must not play.
    """
    person = person.strip()
    found: list[WaitingTrial] = []
    for trial in workspace.runs.open_trials(kind="play"):
        if not played_by_person(trial) or _why_not(workspace, trial, person):
            continue
        holder = workspace.player_moves.holder(trial.id)
        if holder not in ("", person):
            continue
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        found.append(
            WaitingTrial(
                trial_id=trial.id,
                user=trial.user.name,
                family=task.family,
                language=task.language,
                since=trial.created_at,
                mine=bool(holder),
            )
        )
    return found[::-1]


def tools_of(trial: TrialRecord, run: RunRecord, config: Config) -> tuple[ToolSpec, ...]:
    """The tools of a session's world, derived from its kind where this machine's configuration does not have that
    world. The session's own process answers them.
    """
    kind, names = trial.world.kind, ["search"]
    try:
        world = config.world(settings_of(run).world)
    except ConfigError:
        names += ["visit"] if kind == "web" else []
    else:
        names = list(getattr(world, "tools", names))
        names += ["python"] if getattr(world, "python", None) is not None else []
    return tuple(spec_of(name, kind, ()) for name in dict.fromkeys(names))


def _why_not(workspace: Archive, trial: TrialRecord, person: str) -> str:
    """The reason why `person` may not play this trial's agent; "" if they may."""
    if not person:
        return _("Say who you are first.")
    if not played_by_person(trial):
        return _("The agent of this session is not played by a person.")
    if trial.user.name.casefold() == person.casefold():
        return _("It is your own session: somebody else must play the agent.")
    holder = workspace.player_moves.holder(trial.id)
    if trial.termination is not None:
        return "" if holder == person else _("It has ended.")
    if holder not in ("", person):
        return _("{name} plays it.").format(name=holder)
    match workspace.player_moves.known(trial.task_id, person):
        case "wrote" | "edited":
            return _("You have worked on this task, so you know its gold.")
        case "reviewed":
            return _("You have had this task to review, so you may have seen its gold.")
        case "built":
            return _("You have built an independent gold of this task.")
        case "judged":
            return _("You have seen verdicts on this task, so you know its gold.")
        case "played":
            return _("You have played the user of this task, so you know what it is about.")
        case "":
            return ""
