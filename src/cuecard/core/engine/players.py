"""Builds the players of a trial, and judges, from their names in the configuration; the embedded offline players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.agents.briefing import approach_to
from cuecard.core.config_players import Settings
from cuecard.core.config_schema import Config
from cuecard.core.engine.step_context import User
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, kind_of
from cuecard.core.probes.results import ProbeSetting
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import OneShotUser, StagedUser
from cuecard.core.worlds.replay import NoTools

if TYPE_CHECKING:
    from cuecard.core.engine.step_context import Agent, Judge, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.worlds.replay import Tape


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
    tape: Tape | None = None,
    notes: tuple[str, ...] = (),
) -> Players:
    """The players of one trial of `task`. `human` plays the user part instead of `named.user`, `human_agent` the
    agent. `tape`: recorded tool answers, for the replay world. `notes`: what the agent remembers of earlier tasks.

    Raises `ConfigError` for a name that the configuration does not have.
    """
    if named.probe is not None:
        from cuecard.core.probes.players import probe_players

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
    name: str, config: Config, task: Task, hub: ModelHub, tape: Tape | None = None
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
