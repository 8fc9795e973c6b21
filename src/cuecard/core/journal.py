"""One trial's log while it is played: do a thing once, record it, and never do it again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar, cast

from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)

Body = TypeVar(
    "Body", TrialStarted, UserSpoke, AgentSpoke, ModelReplied, ToolAnswered, Concluded, TrialEnded
)


class Sink(Protocol):
    """Where events go. `append` returns when the event is safe (on disk, for a store)."""

    async def append(self, event: Event) -> None: ...

    def stream(self, turn: int, text: str) -> None:
        """A piece of an unfinished reply, for screens; need not be kept."""
        ...


class MemorySink:
    """Keeps events in a list: for tests, notebooks and `cuecard judge`."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def append(self, event: Event) -> None:
        self.events.append(event)

    def stream(self, turn: int, text: str) -> None:
        pass


class Journal:
    """Records events to a sink, and answers from `past` for what is already recorded.

    Playing the same trial again over its own past repeats nothing: each step finds its body by key and
    only the first step without one is really performed.
    """

    def __init__(
        self,
        sink: Sink,
        past: Sequence[Event] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._sink = sink
        self._now = now
        self._events = list(past)
        self._by_key = {event.body.key: event for event in past}

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def recorded(self, key: str) -> bool:
        return key in self._by_key

    async def step(self, key: str, perform: Callable[[], Awaitable[Body]]) -> Body:
        """The recorded body with this key, or else the performed one, recorded before it returns."""
        past = self._by_key.get(key)
        if past is not None:
            return cast(Body, past.body)
        body = await perform()
        if body.key != key:
            raise ValueError(f"a step with key {key!r} performed {body.key!r}")
        # No await between the check and the claim: parallel steps get distinct sequence numbers.
        event = Event(seq=len(self._events), at=self._now(), body=body)
        self._events.append(event)
        self._by_key[key] = event
        await self._sink.append(event)
        return body

    async def record(self, body: Body) -> Body:
        """Record a body that needs no performing."""

        async def perform() -> Body:
            return body

        return await self.step(body.key, perform)

    def stream(self, turn: int, text: str) -> None:
        self._sink.stream(turn, text)
