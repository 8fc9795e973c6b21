"""From an agent's configuration to the parts of a model agent."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from cuecard.core.agents.compaction import Reach
from cuecard.core.agents.react import ReactPrompts
from cuecard.core.agents.settings import approach_to
from cuecard.core.agents.tagged import TAGGED
from cuecard.core.agents.team import Delegation
from cuecard.core.agents.turn import Manner
from cuecard.core.agents.wires import NATIVE
from cuecard.core.config_agents import ModelAgentConfig, TeamAgentConfig
from cuecard.core.config_models import Config
from cuecard.core.llm.client import ChatClient
from cuecard.core.prompts import Prompt, find_prompt
from cuecard.core.tasks import Family, Task, TaskLanguage

CONCLUSIONS: dict[Family, str] = {
    "graph": "conclude_graph",
    "table": "conclude_table",
    "checkpoints": "conclude_checkpoints",
    "facts": "conclude_facts",
}


def prompts_for(agent: ModelAgentConfig, config: Config, task: Task) -> ReactPrompts:
    """The prompts that such an agent needs for a task. Raises `ConfigError`."""

    def find(name: str) -> Prompt:
        return find_prompt(name, task.language, config, agent.prompts)

    approach = approach_to(task, agent.settings)
    memory = {"local": "memory_local", "lifelong": "memory_lifelong"}.get(agent.memory)
    return ReactPrompts(
        system=find(approach.prompt),
        values=approach.values,
        conclusion=find(CONCLUSIONS[task.family]),
        tagged=find("react_tagged") if agent.calls == "tagged" else None,
        memory=find(memory) if memory else None,
        lessons=find("memory_lessons") if agent.memory == "lifelong" else None,
    )


def manner_for(agent: ModelAgentConfig, config: Config, task: Task, client: ChatClient) -> Manner:
    """How such an agent takes its turns. Raises `ConfigError`."""
    return Manner(
        client=client,
        language=task.language,
        max_steps=agent.max_steps,
        wire=TAGGED if agent.calls == "tagged" else NATIVE,
        reach=reach_for(agent, config, task.language, client),
        turn_tools=approach_to(task, agent.settings).own_tools,
    )


def team_manner_for(
    agent: TeamAgentConfig, manner: Manner, config: Config, prompts: ReactPrompts
) -> Manner:
    """`manner` with the tool that sends members out. Raises `ConfigError`."""
    prompt = find_prompt("team_member", manner.language, config, agent.prompts)
    member = replace(manner, max_steps=agent.member_steps, turn_tools=(), prompt=prompt.hash)
    delegation = Delegation(member, prompt, prompts.tagged, agent.members)
    return replace(manner, own_tools=(*manner.own_tools, delegation))


def reach_for(
    agent: ModelAgentConfig, config: Config, language: TaskLanguage, client: ChatClient
) -> Reach | None:
    """When its conversations are cut; None if they never are. Raises `ConfigError`."""
    context = agent.context
    if context.strategy == "none":
        return None
    return Reach(
        strategy=context.strategy,
        limit=int(context.at * client.config.context),
        keep=context.keep,
        ask=find_prompt("compact", language, config, agent.prompts),
        stand=find_prompt("compacted", language, config, agent.prompts),
    )


def options_of(agent: ModelAgentConfig) -> dict[str, JsonValue]:
    """What the configuration says about the agent beside its model and prompts, for its version."""
    return agent.model_dump(mode="json", exclude={"model", "prompts"})
