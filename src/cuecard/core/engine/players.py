"""Builds the players of a trial, and judges, from their names in the configuration; the embedded offline players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.agents.briefing import approach_to, public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.config_players import Settings
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Limits
from cuecard.core.engine.step_context import User
from cuecard.core.families.registry import chain_of
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, kind_of
from cuecard.core.probes.results import ProbeSetting
from cuecard.core.registry import build_agent, build_user, build_world
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.users.responder import ScriptedResponder
from cuecard.core.users.scripted import PATIENCE, OneShotUser, ScriptedUser, StagedUser
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.replay import NoTools

if TYPE_CHECKING:
    from cuecard.core.engine.step_context import Agent, Judge, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.worlds.replay import Tape


class Seating(Frozen):
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


def seat(
    task: Task,
    seating: Seating,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
    tape: Tape | None = None,
    notes: tuple[str, ...] = (),
) -> Players:
    """The players of one trial of `task`. `human` plays the user part instead of `seating.user`, `human_agent` the
    agent. `tape`: recorded tool answers, for the replay world. `notes`: what the agent remembers of earlier tasks.

    Raises `ConfigError` for a name that the configuration does not have.
    """
    if seating.probe is not None:
        from cuecard.core.probes.players import seat_probe

        return Players(
            *seat_probe(task, seating.probe, seating.agent, seating.world, config, hub, tape)
        )
    settings = Settings()
    if human_agent is None:
        settings = getattr(config.agent(seating.agent), "settings", settings)
    world = build_world(seating.world, config, task, hub, tape)
    if not approach_to(task, settings).world_tools:
        world = NoTools(world, task.language)
    return Players(
        agent=human_agent
        or build_agent(seating.agent, config, task, hub, notes, retell=human is not None),
        user=human or _user(task, settings, seating, config, hub),
        world=world,
    )


def _user(task: Task, settings: Settings, seating: Seating, config: Config, hub: ModelHub) -> User:
    """The user part. The agent's setting for the task's family may choose another than `seating.user`."""
    match settings.of(task.family):
        case "direct":
            return OneShotUser(task)
        case "staged":
            return StagedUser(task)
        case _:
            return build_user(seating.user, config, task, hub)


def scripted_user_for(task: Task) -> User:
    """The offline user for `task`: a responder where the user leads through steps, a scripted user for a persona,
    otherwise a user who asks once.

    With many stages the scripted user waits fewer turns for each cue, so that even an agent that never meets one
    hears the last stage within the usual limit of turns.
    """
    if chain_of(task):
        return ScriptedResponder(task)
    if task.persona is None:
        return OneShotUser(task)
    turns_a_stage = (Limits().max_turns - 1) // len(task.stages)
    return ScriptedUser(task, patience=min(PATIENCE, max(turns_a_stage - 1, 0)))


def closed_world_for(task: Task) -> ClosedWorld:
    """The offline world, which answers searches from the task's gold alone."""
    return ClosedWorld(task)


def offline_agent_for(task: Task) -> OfflineAgent:
    """The offline agent; it is given the public part of the task only, without gold."""
    return OfflineAgent(public_task(task))


def build_judge(name: str, config: Config, hub: ModelHub) -> Judge:
    """The judge called `name`. Raises `ConfigError`."""
    settings = config.judge(name)
    return kind_of("judge", settings.kind).make(name, settings, config, hub)
