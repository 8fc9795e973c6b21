"""Builds the players of a trial, and judges, from their names in the configuration; the embedded offline players; and the
parts that people play: the user at a screen, and the agent as a Wizard of Oz.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from cuecard.core.agents.briefing import Note, approach_to, complaint, say
from cuecard.core.config_players import PERSON, AcpAgentConfig, Settings
from cuecard.core.config_schema import Config
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
    User,
    limits_of,
    move_place,
)
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, kind_of
from cuecard.core.predictions import Prediction
from cuecard.core.probes.results import ProbeSetting
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.users.scripted import OneShotUser, StagedUser
from cuecard.core.worlds.replay import NoTools

if TYPE_CHECKING:
    from cuecard.core.engine.step_context import Agent, Judge, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.worlds.replay import RecordedAnswers


class PlayerNames(Frozen):
    """Which players of the configuration play a trial, by name. With a `probe`, `agent` names the model that the probe
    asks, and `user` is not used.
    """

    agent: str = DEFAULT_AGENT
    user: str = DEFAULT_USER
    world: str = DEFAULT_WORLD
    probe: ProbeSetting | None = None


@dataclass(frozen=True)
class Players:
    """The players of one trial, made for it."""

    agent: Agent
    user: User
    world: World


def build_players(
    task: Task,
    named: PlayerNames,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
    tape: RecordedAnswers | None = None,
    notes: tuple[str, ...] = (),
) -> Players:
    """The players of one trial of `task`. `human` plays the user part instead of `named.user`, `human_agent` the
    agent. `tape`: recorded tool answers, for the replay world. `notes`: what the agent remembers of earlier tasks.

    Raises `ConfigError` for a name that the configuration does not have.
    """
    if named.probe is not None:
        from cuecard.core.probes.findings import probe_players

        return Players(
            *probe_players(task, named.probe, named.agent, named.world, config, hub, tape)
        )
    settings = Settings()
    if human_agent is None:
        settings = getattr(config.agent(named.agent), "settings", settings)
    world = build_world(named.world, config, task, hub, tape)
    if not approach_to(task, settings).world_tools:
        world = NoTools(world, task.language)
    return Players(
        agent=human_agent
        or build_agent(named.agent, config, task, hub, notes, retell=human is not None),
        user=human or _user(task, settings, named, config, hub),
        world=world,
    )


def _user(
    task: Task, settings: Settings, named: PlayerNames, config: Config, hub: ModelHub
) -> User:
    """The user part. The agent's setting for the task's family may choose another than `named.user`."""
    match settings.of(task.family):
        case "direct":
            return OneShotUser(task)
        case "staged":
            return StagedUser(task)
        case _:
            return build_user(named.user, config, task, hub)


def build_agent(
    name: str,
    config: Config,
    task: Task,
    hub: ModelHub,
    notes: tuple[str, ...] = (),
    *,
    retell: bool = False,
) -> Agent:
    """The agent called `name`, made for one trial of `task`. `notes`: what a lifelong memory holds. `retell`: a person
    plays the user, so an agent with a memory of its own that is lost is told the dialogue so far, rather than have the
    trial start over.

    Raises `ConfigError`: no such agent or model (the message lists the known ones), no key in the environment, or a
    prompt file that cannot be used.
    """
    settings = config.agent(name)
    return kind_of("agent", settings.kind).make(name, settings, config, hub, task, notes, retell)


def build_user(name: str, config: Config, task: Task, hub: ModelHub, *, once: bool = False) -> User:
    """The user called `name`, made for one trial of `task`. `once`: one that calls its model once a turn and whose words
    are taken as they come, to be looked at rather than played with. Raises `ConfigError`, as `build_agent` does.
    """
    settings = config.user(name)
    return kind_of("user", settings.kind).make(name, settings, config, hub, task, once)


def build_world(
    name: str, config: Config, task: Task, hub: ModelHub, tape: RecordedAnswers | None = None
) -> World:
    """The world called `name`, made for one trial of `task`. `tape`: what an earlier run recorded, wanted by worlds of
    the kind `replay`. Raises `ConfigError`.
    """
    settings = config.world(name)
    world = kind_of("world", settings.kind).make(name, settings, config, hub, task, tape)
    python = getattr(settings, "python", None)
    if python is None:
        return world
    from cuecard.core.worlds.python_tool import WithPython

    return WithPython(world, python, task.language)


def build_judge(name: str, config: Config, hub: ModelHub) -> Judge:
    """The judge called `name`. Raises `ConfigError`."""
    settings = config.judge(name)
    return kind_of("judge", settings.kind).make(name, settings, config, hub)


def check_commands(names: Collection[str], config: Config) -> None:
    """Raises `ConfigError` where one of these agents is a harness whose program is not there."""
    for name in names:
        agent = config.agents.get(name)
        if isinstance(agent, AcpAgentConfig):
            from cuecard.core.agents.programs import find_command

            find_command(name, agent)


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
        marks = (event.body.mark for event in context.log if isinstance(event.body, Marked))
        if not any(isinstance(mark, PartTaken) for mark in marks):
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
