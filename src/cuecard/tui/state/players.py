"""Which players there are to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cuecard.core.config_models import Config
from cuecard.core.i18n import _
from cuecard.core.text import one_line

Choices = list[tuple[str, str]]
_BASELINES = ("offline", "scripted", "closed", "lexical")


@dataclass(frozen=True)
class PlayerChoices:
    """(name, what to show) of every player of a configuration, in its order."""

    agents: Choices
    users: Choices
    worlds: Choices
    judges: Choices
    currency: str = "USD"


def player_choices(config: Config) -> PlayerChoices:
    return PlayerChoices(
        agents=_choices(config, config.agents),
        users=_choices(config, config.users),
        worlds=_choices(config, config.worlds),
        judges=_choices(config, config.judges),
        currency=config.currency,
    )


def agent_choices(config: Config) -> Choices:
    return _choices(config, config.agents)


def _choices(config: Config, players: dict[str, Any]) -> Choices:
    return [(name, _label(config, name, player)) for name, player in players.items()]


def _label(config: Config, name: str, player: Any) -> str:
    if player.kind in _BASELINES:
        return f"{name} · {_('offline baseline')}"
    model: str = getattr(player, "model", "") or getattr(player, "engine", "")
    served = config.models[model].model if model in config.models else model
    return f"{name} · {one_line(served, 60) or player.kind}"
