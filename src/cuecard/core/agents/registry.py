"""From an agent's name in the configuration to an agent that can play a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.config_models import Config, OfflineAgentConfig, PromptName, ReactAgentConfig
from cuecard.core.prompts import Prompt, load_prompt, read_prompt

if TYPE_CHECKING:
    from cuecard.core.parts import Agent
    from cuecard.core.tasks import Family, Task, TaskLanguage

_CONCLUSIONS: dict[Family, PromptName] = {
    "graph": "conclude_graph",
    "table": "conclude_table",
    "checkpoints": "conclude_checkpoints",
    "facts": "conclude_facts",
}


def build_agent(name: str, config: Config, task: Task) -> Agent:
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
            from cuecard.core.llm.client import ChatClient

            system: PromptName = "react_checkpoints" if task.family == "checkpoints" else "react"
            return ReactAgent(
                name=name,
                client=ChatClient(config.model(react.model)),
                system=_prompt(react, system, task.language),
                conclusion=_prompt(react, _CONCLUSIONS[task.family], task.language),
                family=task.family,
                language=task.language,
                max_steps=react.max_steps,
            )


def _prompt(config: ReactAgentConfig, name: PromptName, language: TaskLanguage) -> Prompt:
    embedded = load_prompt(name, language)
    own = config.prompts.get(name)
    return read_prompt(Path(own), embedded) if own else embedded
