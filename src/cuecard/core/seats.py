"""Who plays a trial: the names of a configuration, made into players for one task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.agents.registry import build_agent
from cuecard.core.agents.settings import approach_to
from cuecard.core.config_agents import Settings
from cuecard.core.config_models import Config
from cuecard.core.probes.settings import ProbeSetting
from cuecard.core.tasks.base import Frozen
from cuecard.core.users.oneshot import OneShotUser
from cuecard.core.users.registry import build_user
from cuecard.core.users.staged import StagedUser
from cuecard.core.worlds.no_tools import NoTools
from cuecard.core.worlds.registry import build_world

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import Agent, User, World
    from cuecard.core.tasks import Task
    from cuecard.core.worlds.tape import Tape


class Seating(Frozen):
    """Names in the configuration. With a `probe`, `agent` is the model that tries or examines, and `user`
    is not asked.
    """

    agent: str = "offline"
    user: str = "scripted"
    world: str = "closed"
    probe: ProbeSetting | None = None


@dataclass(frozen=True)
class Players:
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
    """Players for one trial. `human` takes the user's seat, `human_agent` the agent's. `notes`: what a
    lifelong memory holds.

    Raises `ConfigError`.
    """
    if seating.probe is not None:
        from cuecard.core.probes.seats import seat_probe

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
    """For graph tasks the agent's setting decides how the query comes to it."""
    if task.family == "graph" and settings.graph == "direct":
        return OneShotUser(task)
    if task.family == "graph" and settings.graph == "staged":
        return StagedUser(task)
    return build_user(seating.user, config, task, hub)
