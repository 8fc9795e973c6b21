"""From an agent's name in the configuration to an agent that can play a task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.core.config_agents import (
    AcpAgentConfig,
    HttpAgentConfig,
    OfflineAgentConfig,
    ReactAgentConfig,
    TeamAgentConfig,
)
from cuecard.core.config_models import Config
from cuecard.core.prompts import find_prompt

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import Agent
    from cuecard.core.tasks import Family, Task

_CONCLUSIONS: dict[Family, str] = {
    "graph": "conclude_graph",
    "table": "conclude_table",
    "checkpoints": "conclude_checkpoints",
    "facts": "conclude_facts",
}


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
            from cuecard.core.players import offline_agent_for

            return offline_agent_for(task)
        case ReactAgentConfig() as react:
            from cuecard.core.agents.building import manner_for, options_of, prompts_for
            from cuecard.core.agents.react import ReactAgent

            return ReactAgent(
                name,
                manner_for(react, config, task, hub.client(react.model)),
                prompts_for(react, config, task),
                task.family,
                lessons=notes,
                options=options_of(react),
            )
        case TeamAgentConfig() as team:
            from cuecard.core.agents.building import (
                manner_for,
                options_of,
                prompts_for,
                team_manner_for,
            )
            from cuecard.core.agents.react import ReactAgent

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
            from cuecard.core.agents.external import acp_agent_for

            conclusion = _CONCLUSIONS[task.family]
            return acp_agent_for(name, harness, config, task, hub, conclusion, retell=retell)
        case HttpAgentConfig() as served:
            from cuecard.core.agents.external import http_agent_for

            return http_agent_for(name, served, config, task, hub, _CONCLUSIONS[task.family])
