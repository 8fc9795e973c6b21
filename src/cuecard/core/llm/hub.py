"""All models of a configuration, for one run or session: their shared connections, limits and circuit breakers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Self

from cuecard.core.config_schema import Config, guard_config
from cuecard.core.errors import Halt
from cuecard.core.secrets import public_form, scrub

if TYPE_CHECKING:
    from cuecard.core.config_models import ModelConfig
    from cuecard.core.llm.client import ChatClient
    from cuecard.core.llm.failures import AgentBreaker
    from cuecard.core.llm.limiter import RateLimiter
    from cuecard.core.llm.pool import Pool


class ModelHub:
    """Provides one client per model; all players that use a model share its connections and limits.

    Belongs to one event loop. Nothing is opened before the first call.
    """

    def __init__(self, config: Config) -> None:
        guard_config(config)
        self._config = config
        self._clients: dict[str, ChatClient] = {}
        self._breakers: dict[str, AgentBreaker] = {}
        self._pool: Pool | None = None
        self._halt: Halt | None = None
        self._short: Callable[[], None] | None = None
        self._held = False
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def client(self, name: str) -> ChatClient:
        """The client of a model. Raises `ConfigError` if there is no such model, or no key in the environment."""
        from cuecard.core.llm.client import ChatClient
        from cuecard.core.llm.pool import Pool

        if name not in self._clients:
            self._pool = self._pool or Pool()
            client = ChatClient(self._config.model(name), name=name, pool=self._pool)
            if self._halt is not None:
                client.limiter.stop(self._halt)
            if self._short is not None:
                client.limiter.share_out(self._short)
                client.limiter.hold(self._held)
            self._clients[name] = client
        return self._clients[name]

    @property
    def limiters(self) -> dict[str, RateLimiter]:
        """The limiters of all models that were asked for, by model, server and where the key is."""
        return {
            f"{name} ({_source(client.config)})": client.limiter
            for name, client in self._clients.items()
        }

    def share_out(self, short: Callable[[], None] | None) -> None:
        """See `RateLimiter.share_out`, of every model; None: nobody else uses them."""
        self._short = short
        self.hold(False)
        for client in self._clients.values():
            client.limiter.share_out(short)

    def hold(self, held: bool) -> None:
        """Begin no calls as long as it is `held`; they wait."""
        self._held = held
        for client in self._clients.values():
            client.limiter.hold(held)

    def breaker(self, agent: str, give_up_after: int) -> AgentBreaker:
        """The circuit breaker of an agent that is another program; one for all its trials."""
        from cuecard.core.llm.failures import AgentBreaker

        if agent not in self._breakers:
            self._breakers[agent] = AgentBreaker(agent, give_up_after)
        return self._breakers[agent]

    def stop(self, halt: Halt) -> None:
        """Make every call raise `halt` that waits for its turn or its next attempt, or is made later. Calls under way
        are finished.
        """
        self._halt = self._halt or halt
        for client in self._clients.values():
            client.limiter.stop(halt)

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Have `closer` called each time the hub is closed."""
        self._closers.append(closer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The hub can be used again afterwards."""
        self._halt = None
        self._breakers.clear()
        for closer in self._closers:
            await closer()
        for client in self._clients.values():
            client.reset()
        if self._pool is not None:
            await self._pool.close()


def _source(config: ModelConfig) -> str:
    """A model's name, its server and where its key is: never a secret."""
    command = config.api_key_command[0] if config.api_key_command else ""
    key = config.api_key_env or config.api_key_file or command
    return scrub(" ".join(filter(None, (config.model, public_form(config.base_url), key))))
