"""From a user's name in the configuration to a user that can play a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import ScriptedUserConfig, SimulatorConfig
from cuecard.core.prompts import Prompt, find_prompt
from cuecard.core.users.oneshot import OneShotUser

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import User
    from cuecard.core.tasks import Task


def build_user(name: str, config: Config, task: Task, hub: ModelHub) -> User:
    """The user called `name`, made for one trial of `task`.

    Raises `ConfigError`: no such user or model (the message lists the known ones), no key in the
    environment, or a prompt file that cannot be used.
    """
    from cuecard.core.players import scripted_user_for

    match config.user(name):
        case ScriptedUserConfig():
            return scripted_user_for(task)
        case SimulatorConfig() as simulator:
            return _simulator(name, simulator, config, task, hub)


def _simulator(
    name: str, simulator: SimulatorConfig, config: Config, task: Task, hub: ModelHub
) -> User:
    def prompt(which: str) -> Prompt:
        return find_prompt(which, task.language, config, simulator.prompts)

    if task.family == "checkpoints":
        from cuecard.core.users.model_responder import ModelResponder

        return ModelResponder(name, hub.client(simulator.model), task, prompt("responder"))
    if task.persona is not None:
        from cuecard.core.users.persona import PersonaUser

        client = hub.client(simulator.model)
        return PersonaUser(name, client, task, prompt("persona"), prompt("persona_end"))
    return OneShotUser(task)
