"""From the names of a configuration to agents, users and worlds that can play a task, other programs included."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.core.agents.briefing import approach_to
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import (
    AcpAgentConfig,
    ClosedWorldConfig,
    HttpAgentConfig,
    OfflineAgentConfig,
    ParallelWorldConfig,
    ReactAgentConfig,
    ReplayWorldConfig,
    ScriptedUserConfig,
    SimulatorConfig,
    TeamAgentConfig,
    WebWorldConfig,
    WorldConfig,
)
from cuecard.core.config_schema import Config
from cuecard.core.errors import ConfigError
from cuecard.core.families.registry import chain_of, family_of
from cuecard.core.i18n import _
from cuecard.core.users.scripted import OneShotUser

if TYPE_CHECKING:
    from cuecard.core.agents.acp import AcpAgent
    from cuecard.core.agents.http import HttpAgent
    from cuecard.core.engine.step_context import Agent, User, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks.models import Task
    from cuecard.core.worlds.replay import Tape


def build_agent(
    name: str,
    config: Config,
    task: Task,
    hub: ModelHub,
    notes: tuple[str, ...] = (),
    *,
    retell: bool = False,
) -> Agent:
    """The agent called `name`, made for one trial of `task`. `notes`: what a lifelong memory holds.
    `retell`: a person plays the user, so an agent with a memory of its own that is lost is told the
    dialogue so far, rather than have the trial start over.

    Raises `ConfigError`: no such agent or model (the message lists the known ones), no key in the
    environment, or a prompt file that cannot be used.
    """
    match config.agent(name):
        case OfflineAgentConfig():
            from cuecard.core.engine.players import offline_agent_for

            return offline_agent_for(task)
        case ReactAgentConfig() as react:
            from cuecard.core.agents.react import ReactAgent, manner_for, options_of, prompts_for

            return ReactAgent(
                name,
                manner_for(react, config, task, hub.client(react.model)),
                prompts_for(react, config, task),
                task.family,
                lessons=notes,
                options=options_of(react),
            )
        case TeamAgentConfig() as team:
            from cuecard.core.agents.react import (
                ReactAgent,
                manner_for,
                options_of,
                prompts_for,
                team_manner_for,
            )

            client = hub.client(team.model)
            prompts = prompts_for(team, config, task)
            return ReactAgent(
                name,
                team_manner_for(team, manner_for(team, config, task, client), config, prompts),
                replace(prompts, team=find_prompt("team", task.language, config, team.prompts)),
                task.family,
                lessons=notes,
                options=options_of(team),
                kind="team",
            )
        case AcpAgentConfig() as harness:
            conclusion = family_of(task).conclusion
            return acp_agent_for(name, harness, config, task, hub, conclusion, retell=retell)
        case HttpAgentConfig() as served:
            return http_agent_for(name, served, config, task, hub, family_of(task).conclusion)


def acp_agent_for(
    name: str,
    agent: AcpAgentConfig,
    config: Config,
    task: Task,
    hub: ModelHub,
    conclusion: str,
    *,
    retell: bool = False,
) -> AcpAgent:
    """`conclusion`: the name of the prompt. `retell`: a person plays the user. Raises `ConfigError`: a
    prompt file cannot be used.
    """
    from cuecard.core.agents.acp import AcpAgent, Retelling

    approach = approach_to(task, agent.settings)
    # The tools that end a turn are offered with the world: without it the prompt must not name them.
    plain = bool(approach.own_tools) and not agent.world
    role = find_prompt("react" if plain else approach.prompt, task.language, config, {})
    intro_name = "harness_world" if agent.world else "harness_own"
    intro = find_prompt(intro_name, task.language, config, {})
    told = intro.render(role=role.render(**({} if plain else approach.values)))
    retold = find_prompt("harness_retold", task.language, config, {})
    return AcpAgent(
        name=name,
        config=agent,
        hub=hub,
        intro=told,
        prompts=(intro, role),
        conclusion=find_prompt(conclusion, task.language, config, {}),
        family=task.family,
        language=task.language,
        own_tools=approach.own_tools,
        retelling=Retelling(told, retold, task.language) if retell else None,
    )


def http_agent_for(
    name: str, agent: HttpAgentConfig, config: Config, task: Task, hub: ModelHub, conclusion: str
) -> HttpAgent:
    """`conclusion`: the name of the prompt. Raises `ConfigError`: a prompt file cannot be used, or a
    header's variable is not set.
    """
    from cuecard.core.agents.http import HttpAgent

    approach = approach_to(task, agent.settings)
    role = find_prompt(approach.prompt, task.language, config, {})
    return HttpAgent(
        name=name,
        config=agent,
        breaker=hub.breaker(name, agent.give_up_after),
        headers=headers_of(name, agent),
        role=role.render(**approach.values),
        role_prompt=role,
        conclusion=find_prompt(conclusion, task.language, config, {}),
        family=task.family,
        language=task.language,
    )


def headers_of(name: str, agent: HttpAgentConfig) -> dict[str, str]:
    """The headers with the values that the environment holds. Raises `ConfigError` where one is not set."""
    return {header: _value(name, variable) for header, variable in agent.headers.items()}


def find_command(name: str, agent: AcpAgentConfig) -> str:
    """Where the harness's program is. Raises `ConfigError` if it is not there.

    A harness is started in a folder of its own, with the PATH of this process.
    """
    program = agent.command[0]
    # A path that is relative would be so to that folder.
    lost = os.path.dirname(program) and not os.path.isabs(program)
    found = None if lost else shutil.which(program)
    if found is None:
        raise ConfigError(
            _("The harness of the agent {name} cannot be started").format(name=name),
            _("there is no program {program}").format(program=program),
            _("give its whole path") if lost else _("is it installed, and on the PATH?"),
        )
    return found


def check_commands(names: Collection[str], config: Config) -> None:
    """Raises `ConfigError` where one of these agents is a harness whose program is not there."""
    for name in names:
        agent = config.agents.get(name)
        if isinstance(agent, AcpAgentConfig):
            find_command(name, agent)


def _value(agent: str, variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise ConfigError(
            _("The agent {name} cannot be used").format(name=agent),
            _("the environment variable {name} is not set").format(name=variable),
        )
    return value


def build_user(name: str, config: Config, task: Task, hub: ModelHub, *, once: bool = False) -> User:
    """The user called `name`, made for one trial of `task`. `once`: one that calls its model once a turn
    and whose words are taken as they come (see `once.py`), to be looked at rather than played with.

    Raises `ConfigError`: no such user or model (the message lists the known ones), no key in the
    environment, or a prompt file that cannot be used.
    """
    from cuecard.core.engine.players import scripted_user_for

    match config.user(name):
        case ScriptedUserConfig():
            return scripted_user_for(task)
        case SimulatorConfig() as simulator:
            return _simulator(name, simulator, config, task, hub, once)


def _simulator(
    name: str, simulator: SimulatorConfig, config: Config, task: Task, hub: ModelHub, once: bool
) -> User:
    def prompt(which: str) -> Prompt:
        return find_prompt(which, task.language, config, simulator.prompts)

    if chain_of(task):
        from cuecard.core.users.simulators import ModelResponder, ResponderOnce

        responder = ResponderOnce if once else ModelResponder
        return responder(name, hub.client(simulator.model), task, prompt("responder"))
    if task.persona is not None:
        from cuecard.core.users.simulators import PersonaOnce, PersonaUser

        client = hub.client(simulator.model)
        persona = PersonaOnce if once else PersonaUser
        return persona(name, client, task, prompt("persona"), prompt("persona_end"))
    return OneShotUser(task)


def build_world(
    name: str, config: Config, task: Task, hub: ModelHub, tape: Tape | None = None
) -> World:
    """The world called `name`, made for one trial of `task`. `tape`: what an earlier run recorded,
    wanted by worlds of the kind `replay`. Raises `ConfigError`.
    """
    settings = config.world(name)
    world = _world(name, settings, config, task, hub, tape)
    python = None if isinstance(settings, ReplayWorldConfig) else settings.python
    if python is None:
        return world
    from cuecard.core.worlds.python_tool import WithPython

    return WithPython(world, python, task.language)


def _world(
    name: str, settings: WorldConfig, config: Config, task: Task, hub: ModelHub, tape: Tape | None
) -> World:
    match settings:
        case ClosedWorldConfig():
            from cuecard.core.engine.players import closed_world_for

            return closed_world_for(task)
        case ParallelWorldConfig() as parallel:
            from cuecard.core.config import find_prompt
            from cuecard.core.worlds.parallel import ParallelWorld

            return ParallelWorld(
                name=name,
                task=task,
                client=hub.client(parallel.model),
                prompt=find_prompt("parallel_search", task.language, config, parallel.prompts),
                attempts=parallel.attempts,
            )
        case ReplayWorldConfig() as replay:
            from cuecard.core.worlds.replay import ReplayWorld

            return ReplayWorld(name, replay.run, task.language, tape)
        case WebWorldConfig() as web:
            from cuecard.core.worlds.web import web_world

            return web_world(name, web, config, task.language, hub)
