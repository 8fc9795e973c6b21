"""From an engine's name in the configuration to an engine."""

from __future__ import annotations

from typing import Literal

from cuecard.core.worlds.engines.base import Engine
from cuecard.core.worlds.engines.brave import Brave
from cuecard.core.worlds.engines.searxng import SearXNG
from cuecard.core.worlds.engines.serper import Serper
from cuecard.core.worlds.engines.tavily import Tavily

EngineName = Literal["searxng", "tavily", "serper", "brave"]

_ENGINES: dict[EngineName, type[Engine]] = {
    "searxng": SearXNG,
    "tavily": Tavily,
    "serper": Serper,
    "brave": Brave,
}


def engine_called(name: EngineName) -> Engine:
    return _ENGINES[name]()
