"""The players of a probe's trial: a model that tries the task under the probe's conditions, or an examiner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.core.agents.model_agents import manner_for, options_of, prompts_for
from cuecard.core.agents.react import ReactAgent
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ModelAgentConfig, ReactAgentConfig, Settings
from cuecard.core.config_schema import Config
from cuecard.core.engine.players import build_world
from cuecard.core.families.registry import chain_of, family_of
from cuecard.core.probes.examiner import ExaminerAgent, ExaminerPrompts
from cuecard.core.probes.results import ProbeSetting
from cuecard.core.users.scripted import OneShotUser
from cuecard.core.worlds.replay import NoTools

if TYPE_CHECKING:
    from cuecard.core.engine.step_context import Agent, User, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks.models import Task
    from cuecard.core.worlds.replay import Tape

_MORE_STEPS = 2
"""Model calls of an attempt beyond one for each tool call: one that is told that no calls are left, and the answer."""
_MOST_STEPS = 200


def probe_players(
    task: Task,
    setting: ProbeSetting,
    model: str,
    world: str,
    config: Config,
    hub: ModelHub,
    tape: Tape | None = None,
) -> tuple[Agent, User, World]:
    """The players of one trial of a probe. The user says one thing and accepts any reply: what a user would say first
    to an agent that searches, the full query to others.

    Raises `ConfigError`.
    """
    opening = task.opening if setting.name in ("open_book", "ambiguity") else task.query
    user = OneShotUser(task, max_questions=0, opening=opening, baseline=False)
    place = build_world(world, config, task, hub, tape)
    if setting.name != "open_book":
        place = NoTools(place, task.language, baseline=False)
    if setting.baseline:
        return _offline(task, setting), user, place
    match setting.name:
        case "ambiguity" | "laws":
            agent = ExaminerAgent(model, hub.client(model), task, _examining(task, setting, config))
        case "closed_book" | "open_book" | "with_facts":
            agent = _trying(task, setting, model, config, hub)
    return agent, user, place


def _trying(
    task: Task, setting: ProbeSetting, model: str, config: Config, hub: ModelHub
) -> ReactAgent:
    react = _manners_of(model, setting, config)
    manner = replace(manner_for(react, config, task, hub.client(model)), turn_tools=())
    prompts = prompts_for(react, config, task)
    if setting.name == "closed_book":
        prompts = replace(
            prompts,
            system=_prompt("probe_closed_book", task, config),
            conclusion=_prompt(family_of(task).from_memory, task, config),
            values={},
            tagged=None,
        )
    elif setting.name == "open_book":
        prompts = replace(prompts, system=_prompt("probe_open_book", task, config), values={})
    return ReactAgent(model, manner, prompts, task.family, options=options_of(react))


def _manners_of(model: str, setting: ProbeSetting, config: Config) -> ReactAgentConfig:
    """The settings for calling the model: those of the first agent that is configured with it, without memory."""
    calls, context = ReactAgentConfig(model=model).calls, ReactAgentConfig(model=model).context
    for agent in config.agents.values():
        if isinstance(agent, ModelAgentConfig) and agent.model == model:
            calls, context = agent.calls, agent.context
            break
    return ReactAgentConfig(
        model=model,
        max_steps=min(setting.search_calls + _MORE_STEPS, _MOST_STEPS),
        calls=calls,
        context=context,
        settings=Settings(facts="oracle" if setting.name == "with_facts" else "end_to_end"),
    )


def _examining(task: Task, setting: ProbeSetting, config: Config) -> ExaminerPrompts:
    if setting.name == "laws":
        return ExaminerPrompts(known=_prompt("probe_laws", task, config))
    about = "step" if chain_of(task) else "need"
    return ExaminerPrompts(
        known=_prompt(f"probe_{about}_known", task, config),
        unseen=_prompt(f"probe_{about}_unseen", task, config),
    )


def _offline(task: Task, setting: ProbeSetting) -> Agent:
    from cuecard.core.agents.briefing import public_task
    from cuecard.core.agents.offline import OfflineAgent

    return OfflineAgent(public_task(task), setting.search_calls)


def _prompt(name: str, task: Task, config: Config) -> Prompt:
    return find_prompt(name, task.language, config, {})
