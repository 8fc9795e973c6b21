"""From a user's name in the configuration to a user that can play a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import ScriptedUserConfig, SimulatorConfig

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import User
    from cuecard.core.tasks import Task


def build_user(name: str, config: Config, task: Task, hub: ModelHub) -> User:
    """The user called `name`, made for one trial of `task`. Raises `ConfigError`."""
    from cuecard.core.players import scripted_user_for

    match config.user(name):
        case ScriptedUserConfig():
            return scripted_user_for(task)
        case SimulatorConfig():
            raise NotImplementedError
