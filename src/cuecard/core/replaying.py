"""Playing a trial again from its recording: nothing is called, all the rest is today's code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from cuecard.core.errors import CuecardError, ModelCallError
from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Marked,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
    course_of,
)
from cuecard.core.i18n import _
from cuecard.core.marks import NotesRead
from cuecard.core.parts import ToolCall
from cuecard.core.text import one_line
from cuecard.core.worlds.tape import call_key

# Players whose words come from outside and leave no call behind that could be answered instead.
_OUTSIDERS = frozenset({"acp", "human"})
_PATIENCE = 0.3


class RecordedCourse:
    """What an earlier trial of the same task, agent and sample was answered: a journal's `Source`.

        journal = Journal(sink, past, source=RecordedCourse(log))

    Every model's reply and world's answer is taken from the recording by its key; a world's together
    with the model calls that it made for it. What an outsider said (a harness, a person) is taken
    whole. Calls made at the same time are recorded in the order in which they were then.

    A step that the recording does not hold, or holds for another call, raises a `CuecardError` that
    names its key; where the recorded trial failed by such a call, the error it failed with.
    """

    def __init__(self, log: Sequence[Event]) -> None:
        bodies = [event.body for event in course_of(log)]
        self._ended = next((b for b in bodies if isinstance(b, TrialEnded)), None)
        self._notes = next(
            (
                b.mark.notes
                for b in bodies
                if isinstance(b, Marked) and isinstance(b.mark, NotesRead)
            ),
            (),
        )
        self._outside = _outside_parts(bodies)
        self._groups: dict[str, list[EventBody]] = {
            body.key: [] for body in bodies if _stands_in(body, self._outside)
        }
        self._order: list[str] = []
        for body in bodies:
            within = [self._groups[place] for place in _places(body.key) if place in self._groups]
            for group in within:
                group.append(body)
            if within:
                self._order.append(body.key)
        self._places = {key: place for place, key in enumerate(self._order)}
        self._at = 0
        self._moved = asyncio.Event()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a lifelong memory held when the trial began: to be given to the agent again."""
        return self._notes

    async def instead(
        self, key: str, asked: ToolCall | str | None, recorded: Callable[[str], bool]
    ) -> AsyncIterator[EventBody]:
        outside = key.split("/", maxsplit=1)[0] in self._outside
        if asked is None and not outside:
            return
        group = self._groups.get(key)
        if group is None:
            raise await self._not_held(key, recorded)
        _check_same(key, group[-1], asked)
        for body in group:
            if not recorded(body.key):
                # Calls made at the same time each wait for those that were answered before them.
                await self._all_before(self._places[body.key], recorded)
                yield body

    def kept(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def _all_before(self, place: int, recorded: Callable[[str], bool]) -> bool:
        """Wait until all that was recorded before `place` is recorded again. False: today's code does
        not seem to come to it, and it is no longer waited for.
        """
        while True:
            while self._at < place and recorded(self._order[self._at]):
                self._at += 1
            if self._at >= place:
                return True
            try:
                await asyncio.wait_for(self._moved.wait(), _PATIENCE)
            except TimeoutError:
                self._at = max(self._at, place)
                return False

    async def _not_held(self, key: str, recorded: Callable[[str], bool]) -> CuecardError:
        error = _error_of(self._ended)
        if error and await self._all_before(len(self._order), recorded):
            return error
        return CuecardError(
            _("The recording does not go this far"),
            _("it holds no {key}").format(key=key),
            _("The code, the prompts or the configuration have changed; start a new run."),
        )


def _error_of(ended: TrialEnded | None) -> CuecardError | None:
    """What a trial failed with, if a call can have been the cause: a failed call leaves no event."""
    match ended:
        case TrialEnded(termination=Termination.API_ERROR, detail=detail):
            return ModelCallError(detail)
        case TrialEnded(termination=Termination.CONTEXT_OVERFLOW, detail=detail):
            return ModelCallError(detail, context_overflow=True)
        case TrialEnded(termination=Termination.INTERNAL_ERROR, detail=detail):
            return CuecardError(detail)
        case _:
            return None


def _outside_parts(bodies: Sequence[EventBody]) -> frozenset[str]:
    """The parts that outsiders played."""
    started = next((b for b in bodies if isinstance(b, TrialStarted)), None)
    if started is None:
        return frozenset()
    seats = {"agent": started.agent, "conclusion": started.agent, "user": started.user}
    return frozenset(part for part, ref in seats.items() if ref.kind in _OUTSIDERS)


def _stands_in(body: EventBody, outside: frozenset[str]) -> bool:
    """Whether a body is taken for its step, rather than recorded by today's code."""
    match body:
        case ModelReplied() | ToolAnswered():
            return True
        case AgentSpoke() | Concluded():
            return "agent" in outside
        case UserSpoke():
            return "user" in outside
        case _:
            return False


def _places(key: str) -> Iterator[str]:
    """The key and the keys of the steps that it may be a part of."""
    parts = key.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def _check_same(key: str, body: EventBody, asked: ToolCall | str | None) -> None:
    match body, asked:
        case ToolAnswered(call=call), ToolCall() if call_key(call) != call_key(asked):
            then, now = call_key(call), call_key(asked)
        case ModelReplied(model=model), str() if model != asked:
            then, now = model, asked
        case _:
            return
    raise CuecardError(
        _("The recording is of another call"),
        _("{key} was {then}, now it is {now}").format(
            key=key, then=one_line(then, 200), now=one_line(now, 200)
        ),
        _("The code, the prompts or the configuration have changed; start a new run."),
    )
