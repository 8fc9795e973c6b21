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


def build_user(name: str, config: Config, task: Task, hub: ModelHub, *, once: bool = False) -> User:
    """The user called `name`, made for one trial of `task`. `once`: one that calls its model once a turn
    and whose words are taken as they come (see `once.py`), to be looked at rather than played with.

    Raises `ConfigError`: no such user or model (the message lists the known ones), no key in the
    environment, or a prompt file that cannot be used.
    """
    from cuecard.core.players import scripted_user_for

    match config.user(name):
        case ScriptedUserConfig():
            return scripted_user_for(task)
        case SimulatorConfig() as simulator:
            return _simulator(name, simulator, config, task, hub, once)


def _simulator(
    name: str, simulator: SimulatorConfig, config: Config, task: Task, hub: ModelHub, once: bool
) -> User:
    def prompt(which: str) -> Prompt:
        return find_prompt(which, task.language, config, simulator.prompts)

    if task.family == "checkpoints":
        from cuecard.core.users.model_responder import ModelResponder
        from cuecard.core.users.once import ResponderOnce

        responder = ResponderOnce if once else ModelResponder
        return responder(name, hub.client(simulator.model), task, prompt("responder"))
    if task.persona is not None:
        from cuecard.core.users.once import PersonaOnce
        from cuecard.core.users.persona import PersonaUser

        client = hub.client(simulator.model)
        persona = PersonaOnce if once else PersonaUser
        return persona(name, client, task, prompt("persona"), prompt("persona_end"))
    return OneShotUser(task)
