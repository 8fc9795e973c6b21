"""Agents that are other programs, made for one trial of a task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cuecard.core.agents.settings import approach_to
from cuecard.core.config_agents import AcpAgentConfig, HttpAgentConfig
from cuecard.core.config_models import Config
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.prompts import find_prompt

if TYPE_CHECKING:
    from cuecard.core.agents.acp import AcpAgent
    from cuecard.core.agents.http import HttpAgent
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks import Task


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
    from cuecard.core.agents.acp import AcpAgent
    from cuecard.core.agents.acp_retelling import Retelling

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
    name: str, agent: HttpAgentConfig, config: Config, task: Task, conclusion: str
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
        headers={header: _value(name, variable) for header, variable in agent.headers.items()},
        role=role.render(**approach.values),
        role_prompt=role,
        conclusion=find_prompt(conclusion, task.language, config, {}),
        family=task.family,
        language=task.language,
    )


def _value(agent: str, variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise ConfigError(
            _("The agent {name} cannot be used").format(name=agent),
            _("the environment variable {name} is not set").format(name=variable),
        )
    return value
