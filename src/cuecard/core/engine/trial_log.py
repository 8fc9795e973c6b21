"""One trial's log while it is played: each step is performed and recorded once. And queries on logs, for scores."""

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
    """Where events are kept. `append` returns when the event is safe (on disk, for a store); when it is cancelled, it
    makes the event safe before it raises.
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
    """Answers the steps of a trial from an earlier recording; see `RecordedLog`."""

    def instead(
        self, key: str, asked: ToolCall | str | None, recorded: Callable[[str], bool]
    ) -> AsyncIterator[EventBody]:
        """The bodies to be recorded instead of performing step `key`, its own body last; none if the step is to be
        performed. `asked`: the tool call, or the name of the model called, by this step. `recorded` tells whether the
        trial log has a key by now. Raises `CuecardError` if the recording does not fit.
        """
        ...

    def kept(self) -> None:
        """Called when the trial log has got another event."""
        ...


class TrialLog:
    """Records events to a sink, and answers steps that are already recorded from `past`.

    Playing a trial again over its own past repeats nothing: each step finds its body by its key, and only steps
    without one are performed. `past` is the whole log, with earlier attempts. Steps that a `source` holds are taken
    from it instead of being performed.
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
        self._attempt = past[-1].take if past else 0
        self._rewound = max((event.take for event in past if _rewinds(event)), default=0)
        self._events = list(effective_log(past))
        self._by_key = {event.body.key: event for event in self._events}
        self._asked: dict[str, tuple[str, float]] = {}
        self._check: Callable[[], None] = lambda: None
        self._watch: Callable[[Event], None] = lambda _event: None

    def attach(self, check: Callable[[], None], watch: Callable[[Event], None]) -> None:
        """Have `check` called before a step is performed (it may raise `Halt`), and `watch` with each event when it is
        safe.
        """
        self._check, self._watch = check, watch

    @property
    def events(self) -> Sequence[Event]:
        """The trial's effective log so far. It grows while the trial is played; callers must not change it."""
        return self._events

    @property
    def attempt(self) -> int:
        """How often the trial was retried so far."""
        return self._attempt

    @property
    def rewound(self) -> int:
        """The attempt that began when a person last took words back, 0 if none did: see `StepContext.rewound`."""
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
        self, key: str, perform: Callable[[], Awaitable[Body]], asked: ToolCall | str | None = None
    ) -> Body:
        """The recorded body with this key; without one, that of `perform`, which is recorded before this returns.
        `asked`: the tool call, or the name of the model called, by this step.

        Raises `NotKept` if the body could not be recorded, `ValueError` if its key is another, the `Halt` of a run that
        is to stop, and what `perform` raises.
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
        """Record `body`, unless its key is recorded: then the recorded body is returned. Raises `NotKept`."""
        past = self._by_key.get(body.key)
        if past is not None:
            return cast(Body, past.body)
        await self._keep(body)
        return body

    async def retry(self, *, keep: bool, reason: str = "", back_to: int | None = None) -> None:
        """Begin another attempt. With `keep` it goes on where the ended trial stopped, or from before the event with
        `seq` `back_to`; without it the trial starts over. No player may be recording meanwhile. Raises `NotKept`.
        """
        retried = TrialRetried(keep=keep, reason=reason, back_to=back_to)
        # No await in between: even if this is cancelled, memory agrees with the recorded log.
        self._events = kept_by(self._events, retried)
        self._by_key = {event.body.key: event for event in self._events}
        self._attempt += 1
        if back_to is not None:
            self._rewound = self._attempt
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
        event = Event(seq=self._next, at=self._now(), body=body, take=self._attempt)
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
    """The tool calls of the agent's turns and conclusion, including refused ones."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ToolAnswered) and event.body.part != _USER
    ]


def agent_model_replies(events: Sequence[Event]) -> list[ModelReplied]:
    """The model calls of the agent's turns and conclusion, including those its world made; not those of the user."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ModelReplied) and event.body.part != _USER
    ]


def is_search(answered: ToolAnswered) -> bool:
    """Whether a tool call was a search: it gave search results or a hit record, or its name contains `search`."""
    answer = answered.answer
    return bool(answer.entries) or answer.hit is not None or "search" in answered.call.name.lower()


def user_turns(events: Sequence[Event]) -> list[UserSpoke]:
    return [event.body for event in events if isinstance(event.body, UserSpoke)]


def agent_turns(events: Sequence[Event]) -> list[AgentSpoke]:
    return [event.body for event in events if isinstance(event.body, AgentSpoke)]
