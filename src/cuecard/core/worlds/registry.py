"""From a world's name in the configuration to a world for one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import (
    ClosedWorldConfig,
    ParallelWorldConfig,
    ReplayWorldConfig,
    WebWorldConfig,
    WorldConfig,
)

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import World
    from cuecard.core.tasks import Task
    from cuecard.core.worlds.tape import Tape


def build_world(
    name: str, config: Config, task: Task, hub: ModelHub, tape: Tape | None = None
) -> World:
    """The world called `name`, made for one trial of `task`. `tape`: what an earlier run recorded,
    wanted by worlds of the kind `replay`. Raises `ConfigError`.
    """
    settings = config.world(name)
    world = _world(name, settings, config, task, hub, tape)
    python = None if isinstance(settings, ReplayWorldConfig) else settings.python
    if python is None:
        return world
    from cuecard.core.worlds.python_tool import WithPython

    return WithPython(world, python, task.language)


def _world(
    name: str, settings: WorldConfig, config: Config, task: Task, hub: ModelHub, tape: Tape | None
) -> World:
    match settings:
        case ClosedWorldConfig():
            from cuecard.core.players import closed_world_for

            return closed_world_for(task)
        case ParallelWorldConfig() as parallel:
            from cuecard.core.prompts import find_prompt
            from cuecard.core.worlds.parallel import ParallelWorld

            return ParallelWorld(
                name=name,
                task=task,
                client=hub.client(parallel.model),
                prompt=find_prompt("parallel_search", task.language, config, parallel.prompts),
                attempts=parallel.attempts,
            )
        case ReplayWorldConfig() as replay:
            from cuecard.core.worlds.replay import ReplayWorld

            return ReplayWorld(name, replay.run, task.language, tape)
        case WebWorldConfig() as web:
            from cuecard.core.worlds.web import web_world

            return web_world(name, web, config, task.language, hub)
