"""Which agents there are to choose from."""

from __future__ import annotations

from cuecard.core.config_models import Config, OfflineAgentConfig, ReactAgentConfig
from cuecard.core.i18n import _
from cuecard.core.text import one_line


def agent_choices(config: Config) -> list[tuple[str, str]]:
    """(name, what to show) of every agent of the configuration, in its order."""
    return [(name, _label(config, name)) for name in config.agents]


def _label(config: Config, name: str) -> str:
    match config.agents[name]:
        case OfflineAgentConfig():
            return f"{name} · {_('offline baseline')}"
        case ReactAgentConfig(model=model):
            served = config.models[model].model if model in config.models else model
            return f"{name} · {one_line(served, 60)}"
