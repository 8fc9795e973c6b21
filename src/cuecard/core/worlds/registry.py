"""From a world's name in the configuration to a world for one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import ClosedWorldConfig

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
    from cuecard.core.players import closed_world_for

    match config.world(name):
        case ClosedWorldConfig():
            return closed_world_for(task)
        case _:
            raise NotImplementedError
