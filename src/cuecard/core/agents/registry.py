"""From an agent's name in the configuration to an agent that can play a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_agents import OfflineAgentConfig, ReactAgentConfig
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


def build_agent(name: str, config: Config, task: Task, hub: ModelHub) -> Agent:
    """The agent called `name`, made for one trial of `task`.

    Raises `ConfigError`: no such agent or model (the message lists the known ones), no key in the
    environment, or a prompt file that cannot be used.
    """
    match config.agent(name):
        case OfflineAgentConfig():
            from cuecard.core.players import offline_agent_for

            return offline_agent_for(task)
        case ReactAgentConfig() as react:
            from cuecard.core.agents.react import ReactAgent

            system: str = "react_checkpoints" if task.family == "checkpoints" else "react"
            return ReactAgent(
                name=name,
                client=hub.client(react.model),
                system=find_prompt(system, task.language, config, react.prompts),
                conclusion=find_prompt(
                    _CONCLUSIONS[task.family], task.language, config, react.prompts
                ),
                family=task.family,
                language=task.language,
                max_steps=react.max_steps,
            )
        case _:
            raise NotImplementedError
