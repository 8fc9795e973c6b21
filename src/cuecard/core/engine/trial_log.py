"""One trial's log while it is played: do a thing once, record it, never do it again; and what scores read from it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar, cast

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    TrialRetried,
    TrialStarted,
    UserSpoke,
    effective_log,
    kept_by,
)
from cuecard.core.engine.messages import CutCall, ToolCall
from cuecard.core.errors import CuecardError, Halt, NotKept
from cuecard.core.i18n import _

Body = TypeVar(
    "Body",
    TrialStarted,
    UserSpoke,
    AgentSpoke,
    ModelReplied,
    ToolAnswered,
    Marked,
    Concluded,
    TrialEnded,
    TrialRetried,
)


class Sink(Protocol):
    """Where events go. `append` returns when the event is safe (on disk, for a store); cancelled, it
    still sees to that before it raises.
    """

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


class Source(Protocol):
    """Stands in for the performing of a trial that was played before."""

    def instead(
        self, key: str, asked: ToolCall | str | None, recorded: Callable[[str], bool]
    ) -> AsyncIterator[EventBody]:
        """The bodies to be recorded in place of performing the step `key`, its own body last; none if
        the step is to be performed. `asked`: the call of a world's tool or the model that the step is
        about; `recorded` tells which keys the trial log has by now. Raises `CuecardError`.
        """
        ...

    def kept(self) -> None:
        """The trial log has another event."""
        ...


class TrialLog:
    """Records events to a sink, and answers from `past` for what is already recorded.

    Playing the same trial again over its own past repeats nothing: each step finds its body by key and
    only the first step without one is really performed. `past` is the whole log, with earlier takes.
    With a `source`, what that holds is taken from it rather than performed.
    """

    def __init__(
        self,
        sink: Sink,
        past: Sequence[Event] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        source: Source | None = None,
    ) -> None:
        self._sink = sink
        self._source = source
        self._now = now
        self._next = past[-1].seq + 1 if past else 0
        self._take = past[-1].take if past else 0
        self._rewound = max((event.take for event in past if _rewinds(event)), default=0)
        self._events = list(effective_log(past))
        self._by_key = {event.body.key: event for event in self._events}
        self._asked: dict[str, tuple[str, float]] = {}
        self._check: Callable[[], None] = lambda: None
        self._watch: Callable[[Event], None] = lambda _event: None

    def attach(self, check: Callable[[], None], watch: Callable[[Event], None]) -> None:
        """Have `check` called before anything is performed (it may raise `Halt`), and `watch` told of
        each event when it is safe.
        """
        self._check, self._watch = check, watch

    @property
    def events(self) -> Sequence[Event]:
        """The trial's effective log so far. Grows while the trial goes on; never change it."""
        return self._events

    @property
    def take(self) -> int:
        """How often the trial was retried so far."""
        return self._take

    @property
    def rewound(self) -> int:
        """The take that began when words were last taken back, 0 if never: what was told to anybody
        outside the log in an earlier take may not stand any more.
        """
        return self._rewound

    @property
    def under_way(self) -> tuple[CutCall, ...]:
        """The calls of models and tools that have not been answered yet, oldest first."""
        now = time.monotonic()
        return tuple(
            CutCall(what=what, seconds=round(now - began, 1))
            for what, began in self._asked.values()
        )

    def recorded(self, key: str) -> bool:
        return key in self._by_key

    async def step(
        self,
        key: str,
        perform: Callable[[], Awaitable[Body]],
        asked: ToolCall | str | None = None,
    ) -> Body:
        """The recorded body with this key, or else the performed one, recorded before it returns.
        `asked`: the call of a world's tool or the model that the step is about.

        Raises `NotKept` if it could not be recorded, and what `perform` raises.
        """
        past = self._by_key.get(key)
        if past is not None:
            return cast(Body, past.body)
        self._check()
        if self._source is not None:
            async for taken in self._source.instead(key, asked, self.recorded):
                if taken.key not in self._by_key:
                    await self._keep(taken)
            past = self._by_key.get(key)
            if past is not None:
                return cast(Body, past.body)
        if asked is not None:
            what = asked if isinstance(asked, str) else asked.name
            self._asked[key] = (what, time.monotonic())
        try:
            body = await perform()
        finally:
            self._asked.pop(key, None)
        if body.key != key:
            raise ValueError(f"a step with key {key!r} performed {body.key!r}")
        await self._keep(body)
        return body

    async def record(self, body: Body) -> Body:
        """Record a body that needs no performing. Raises `NotKept`."""
        past = self._by_key.get(body.key)
        if past is not None:
            return cast(Body, past.body)
        await self._keep(body)
        return body

    async def retry(self, *, keep: bool, reason: str = "", back_to: int | None = None) -> None:
        """Begin another take: go on where an ended trial stopped (`keep`), or from before the event with
        the number `back_to`, or start it over. No player may be recording meanwhile.
        """
        retried = TrialRetried(keep=keep, reason=reason, back_to=back_to)
        # All at once: however this is left, the effective log in memory is that of the log.
        self._events = kept_by(self._events, retried)
        self._by_key = {event.body.key: event for event in self._events}
        self._take += 1
        if back_to is not None:
            self._rewound = self._take
        await self._append(self._numbered(retried))

    async def _keep(self, body: EventBody) -> None:
        # No await between counting and claiming: parallel steps get distinct sequence numbers.
        event = self._numbered(body)
        self._events.append(event)
        self._by_key[body.key] = event
        if self._source is not None:
            self._source.kept()
        await self._append(event)

    def _numbered(self, body: EventBody) -> Event:
        event = Event(seq=self._next, at=self._now(), body=body, take=self._take)
        self._next += 1
        return event

    async def _append(self, event: Event) -> None:
        try:
            await self._sink.append(event)
        except asyncio.CancelledError:
            self._watch(event)
            raise
        except Halt:
            raise
        except CuecardError as error:
            raise NotKept(error.title, error.message, error.hint) from error
        except Exception as error:  # a sink's failure is never the trial's
            title = _("An event could not be recorded")
            raise NotKept(title, f"{type(error).__name__}: {error}") from error
        self._watch(event)

    def stream(self, turn: int, text: str) -> None:
        self._sink.stream(turn, text)


def _rewinds(event: Event) -> bool:
    return isinstance(event.body, TrialRetried) and event.body.back_to is not None


_USER = "user"


def agent_tool_answers(events: Sequence[Event]) -> list[ToolAnswered]:
    """Every tool call of the agent, refused ones included: it made them."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ToolAnswered) and event.body.part != _USER
    ]


def agent_model_replies(events: Sequence[Event]) -> list[ModelReplied]:
    """Every model call of the agent (a model that plays the user is not its cost)."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ModelReplied) and event.body.part != _USER
    ]


def is_search(answered: ToolAnswered) -> bool:
    """Whether a tool call was a search: by what it gave, or by its name when it gave nothing."""
    answer = answered.answer
    return bool(answer.entries) or answer.hit is not None or "search" in answered.call.name.lower()


def user_turns(events: Sequence[Event]) -> list[UserSpoke]:
    return [event.body for event in events if isinstance(event.body, UserSpoke)]


def agent_turns(events: Sequence[Event]) -> list[AgentSpoke]:
    return [event.body for event in events if isinstance(event.body, AgentSpoke)]
