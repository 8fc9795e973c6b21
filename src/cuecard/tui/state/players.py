"""Which agents there are to choose from."""

from __future__ import annotations

from cuecard.core.config_models import Config
from cuecard.core.i18n import _
from cuecard.core.text import one_line


def agent_choices(config: Config) -> list[tuple[str, str]]:
    """(name, what to show) of every agent of the configuration, in its order."""
    return [(name, _label(config, name)) for name in config.agents]


def _label(config: Config, name: str) -> str:
    agent = config.agents[name]
    if agent.kind == "offline":
        return f"{name} · {_('offline baseline')}"
    served = config.models[agent.model].model if agent.model in config.models else agent.model
    return " · ".join(filter(None, (name, one_line(served, 60) or agent.kind)))
