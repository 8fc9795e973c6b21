"""Agents on a model, alone or as a team, as the configuration says: their prompts, how they take turns, when they are cut."""

from dataclasses import replace

from pydantic import JsonValue

from cuecard.core.agents.briefing import approach_to
from cuecard.core.agents.calling import NATIVE, TAGGED
from cuecard.core.agents.react import ReactAgent, ReactPrompts
from cuecard.core.agents.thread import PromptLimit
from cuecard.core.agents.turn import Delegation, TurnSettings
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ModelAgentConfig, ReactAgentConfig, TeamAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.families.registry import family_of
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Task, TaskLanguage


def make_agent(
    name: str,
    agent: ReactAgentConfig | TeamAgentConfig,
    config: Config,
    hub: ModelHub,
    task: Task,
    notes: tuple[str, ...],
    *_rest: object,
) -> ReactAgent:
    """The agent for one trial of `task`. `notes`: its lessons of earlier tasks. Raises `ConfigError`."""
    turn_settings = turn_settings_for(agent, config, task, hub.client(agent.model))
    prompts = prompts_for(agent, config, task)
    if isinstance(agent, TeamAgentConfig):
        turn_settings = team_turn_settings_for(agent, turn_settings, config, prompts)
        team = find_prompt("team", task.language, config, agent.prompts)
        prompts = replace(prompts, team=team)
    options = options_of(agent)
    return ReactAgent(
        name, turn_settings, prompts, task.family, lessons=notes, options=options, kind=agent.kind
    )


def prompts_for(agent: ModelAgentConfig, config: Config, task: Task) -> ReactPrompts:
    """The prompts that such an agent needs for a task. Raises `ConfigError`."""

    def find(name: str) -> Prompt:
        return find_prompt(name, task.language, config, agent.prompts)

    approach = approach_to(task, agent.settings)
    memory = {"local": "memory_local", "lifelong": "memory_lifelong"}.get(agent.memory)
    return ReactPrompts(
        system=find(approach.prompt),
        values=approach.values,
        conclusion=find(family_of(task).conclusion),
        tagged=find("react_tagged") if agent.calls == "tagged" else None,
        memory=find(memory) if memory else None,
        lessons=find("memory_lessons") if agent.memory == "lifelong" else None,
    )


def turn_settings_for(
    agent: ModelAgentConfig, config: Config, task: Task, client: ChatClient
) -> TurnSettings:
    """The `TurnSettings` of an agent with this configuration. Raises `ConfigError`."""
    return TurnSettings(
        client=client,
        language=task.language,
        max_steps=agent.max_steps,
        wire=TAGGED if agent.calls == "tagged" else NATIVE,
        reach=reach_for(agent, config, task.language, client),
        turn_tools=approach_to(task, agent.settings).own_tools,
    )


def team_turn_settings_for(
    agent: TeamAgentConfig, turn_settings: TurnSettings, config: Config, prompts: ReactPrompts
) -> TurnSettings:
    """`manner` with the tool that delegates work to members. Raises `ConfigError`."""
    prompt = find_prompt("team_member", turn_settings.language, config, agent.prompts)
    member = replace(turn_settings, max_steps=agent.member_steps, turn_tools=(), prompt=prompt.hash)
    delegation = Delegation(member, prompt, prompts.tagged, agent.members)
    return replace(turn_settings, own_tools=(*turn_settings.own_tools, delegation))


def reach_for(
    agent: ModelAgentConfig, config: Config, language: TaskLanguage, client: ChatClient
) -> PromptLimit | None:
    """When and how its messages are compacted; None if they never are. Raises `ConfigError`."""
    context = agent.context
    if context.strategy == "none":
        return None
    return PromptLimit(
        strategy=context.strategy,
        limit=int(context.at * client.config.context),
        keep=context.keep,
        ask=find_prompt("compact", language, config, agent.prompts),
        stand=find_prompt("compacted", language, config, agent.prompts),
    )


def options_of(agent: ModelAgentConfig) -> dict[str, JsonValue]:
    """The agent's settings besides its model and prompts, for its version."""
    return agent.model_dump(mode="json", exclude={"model", "prompts"})
