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
    free: frozenset[tuple[str, str]] = frozenset()
    """(field of this class, name) of those that call no model."""


@dataclass(frozen=True)
class PlayerRow:
    """One player of a configuration. `keys`: the environment variables that it wants."""

    part: str
    name: str
    kind: str
    baseline: bool
    model: str = ""
    endpoint: str = ""
    keys: tuple[str, ...] = ()


def player_rows(config: Config) -> list[PlayerRow]:
    """Every player, agents first, in the configuration's order."""
    parts: list[tuple[str, dict[str, Any]]] = [
        (_("agent"), dict(config.agents)),
        (_("user"), dict(config.users)),
        (_("world"), dict(config.worlds)),
        (_("judge"), dict(config.judges)),
    ]
    return [
        player_row(config, part, n, player) for part, found in parts for n, player in found.items()
    ]


def player_row(config: Config, part: str, name: str, player: Any) -> PlayerRow:
    """One player of the configuration; `player` is what it says of `name`, `part` what it is called."""
    named: str = getattr(player, "model", "")
    model = config.models.get(named) if player.kind not in ("acp", "http") else None
    own = (getattr(player, "api_key_env", ""), *getattr(player, "pass_env", ()))
    headers: dict[str, str] = getattr(player, "headers", {})
    keys = (model.api_key_env if model else "", *own, *headers.values())
    command = " ".join(getattr(player, "command", ()))
    return PlayerRow(
        part=part,
        name=name,
        kind=player.kind,
        baseline=player.kind in _BASELINES,
        model=model.model if model else named or getattr(player, "engine", ""),
        endpoint=model.base_url if model else getattr(player, "url", "") or command,
        keys=tuple(dict.fromkeys(key for key in keys if key)),
    )


def player_choices(config: Config) -> PlayerChoices:
    parts: dict[str, dict[str, Any]] = {
        "agents": dict(config.agents),
        "users": dict(config.users),
        "worlds": dict(config.worlds),
        "judges": dict(config.judges),
    }
    return PlayerChoices(
        agents=_choices(config, config.agents),
        users=_choices(config, config.users),
        worlds=_choices(config, config.worlds),
        judges=_choices(config, config.judges),
        currency=config.currency,
        free=frozenset(
            (part, name)
            for part, players in parts.items()
            for name, player in players.items()
            if player.kind in _BASELINES
        ),
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


def context_of(config: Config, agent: str) -> int | None:
    """Tokens that the model of an agent can read; None where that is not known."""
    model: str = getattr(config.agents.get(agent), "model", "")
    return config.models[model].context if model in config.models else None
