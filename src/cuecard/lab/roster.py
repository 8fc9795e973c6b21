"""How the configuration described the players of a run when it was entered: what a comparison of settings and a
report's method section are told from. Without addresses and keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, JsonValue

from cuecard.core.config import Config
from cuecard.core.tasks import Family

Section = Literal["agents", "users", "worlds", "judges", "models"]
Roster = dict[str, dict[str, JsonValue]]

_KEPT = {
    "agents": {
        "kind",
        "model",
        "max_steps",
        "calls",
        "context",
        "memory",
        "settings",
        "members",
        "member_steps",
        "world",
        "shared",
    },
    "models": {"model", "temperature", "max_tokens", "context"},
}
_NEVER = {"prompts", "url", "base_url", "command", "headers", "pass_env", "api_key_env", "extra"}


def roster_of(
    config: Config,
    *,
    agents: Iterable[str],
    users: Iterable[str],
    worlds: Iterable[str],
    judges: Iterable[str],
) -> Roster:
    """`agents/NAME`, `users/NAME`… and `models/NAME` for every model that one of them names; players that the
    configuration does not know (a person) are left out.
    """
    wanted: dict[Section, Iterable[str]] = {
        "agents": agents,
        "users": users,
        "worlds": worlds,
        "judges": judges,
    }
    found: Roster = {}
    models: dict[str, None] = {}
    for section, names in wanted.items():
        known: Mapping[str, BaseModel] = getattr(config, section)
        for name in names:
            if name not in known:
                continue
            described = _described(section, known[name])
            found[f"{section}/{name}"] = described
            models |= dict.fromkeys(_models(described))
    for name in models:
        if name in config.models:
            found[f"models/{name}"] = _described("models", config.models[name])
    return found


def setting_of(roster: Roster, agent: str, family: Family) -> str:
    """The paper's setting in which an agent meets a family: of facts, checkpoints and graphs as in its
    `settings`; of tables `single` or `team`. "" where the run did not record it.
    """
    described = roster.get(f"agents/{agent}")
    if described is None:
        return ""
    if family == "table":
        return "team" if described.get("kind") == "team" else "single"
    settings = described.get("settings")
    if isinstance(settings, dict) and isinstance(chosen := settings.get(family), str):
        return chosen
    return ""


def memory_of(roster: Roster, agent: str) -> str:
    """`none`, `local` or `lifelong`; "" where the run did not record it or the agent has no such choice."""
    memory = roster.get(f"agents/{agent}", {}).get("memory")
    return memory if isinstance(memory, str) else ""


def _described(section: Section, player: BaseModel) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = player.model_dump(mode="json", exclude=_NEVER)
    kept = _KEPT.get(section)
    return {name: value for name, value in data.items() if kept is None or name in kept}


def _models(described: Mapping[str, JsonValue]) -> Iterable[str]:
    for name, value in described.items():
        if name == "model" and isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _models(value)
