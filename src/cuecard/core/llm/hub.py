"""All models of a configuration, for one run or session: their connections, limits and troubles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.errors import Halt

if TYPE_CHECKING:
    from cuecard.core.llm.client import ChatClient


class ModelHub:
    """Gives out one client per model; all users of a model share its connections and its limits.

    Belongs to one event loop. Nothing is opened before the first call.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._clients: dict[str, ChatClient] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def client(self, name: str) -> ChatClient:
        """Raises `ConfigError`: no such model, or no key in the environment."""
        from cuecard.core.llm.client import ChatClient

        if name not in self._clients:
            self._clients[name] = ChatClient(self._config.model(name))
        return self._clients[name]

    def stop(self, halt: Halt) -> None:
        """Have every call that still waits for its turn or its next attempt raise `halt`."""

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Have `closer` called each time the hub is closed."""
        self._closers.append(closer)

    async def close(self) -> None:
        """Close all connections. The hub opens new ones if it is used again."""
        for closer in self._closers:
            await closer()
