"""Agents that are other programs, as the configuration says: harnesses that are started here, and agents at an address."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from cuecard.core.agents.briefing import approach_to
from cuecard.core.config import find_prompt
from cuecard.core.config_players import AcpAgentConfig, HttpAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.errors import ConfigError
from cuecard.core.families.registry import family_of
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.core.agents.acp import AcpAgent
    from cuecard.core.agents.http import HttpAgent
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks.models import Task


def make_harness(
    name: str,
    agent: AcpAgentConfig,
    config: Config,
    hub: ModelHub,
    task: Task,
    _notes: tuple[str, ...],
    retell: bool,
) -> AcpAgent:
    """A harness, for one trial of `task`. `retell`: a person plays the user, so the harness is told the dialogue so far
    where its own memory of it is lost. Raises `ConfigError`: a prompt file cannot be used.
    """
    from cuecard.core.agents.acp import AcpAgent, SessionBriefing

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
        conclusion=find_prompt(family_of(task).conclusion, task.language, config, {}),
        family=task.family,
        language=task.language,
        own_tools=approach.own_tools,
        retelling=SessionBriefing(told, retold, task.language) if retell else None,
    )


def make_remote(
    name: str, agent: HttpAgentConfig, config: Config, hub: ModelHub, task: Task, *_rest: object
) -> HttpAgent:
    """An agent at an address, for one trial of `task`. Raises `ConfigError`: a prompt file cannot be used, or a
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
        conclusion=find_prompt(family_of(task).conclusion, task.language, config, {}),
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


def _value(agent: str, variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise ConfigError(
            _("The agent {name} cannot be used").format(name=agent),
            _("the environment variable {name} is not set").format(name=variable),
            _("Set it in the shell that starts Cuecard."),
        )
    return value
