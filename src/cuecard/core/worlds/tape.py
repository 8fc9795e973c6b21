"""What a run recorded of its worlds: tool calls and their answers, to be played again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

from cuecard.core.events import Event, ToolAnswered, TrialStarted, course_of
from cuecard.core.parts import ToolAnswer, ToolCall, ToolSpec


class Tape(Protocol):
    """Recorded answers. The same call may have been made several times, with several answers."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that were called."""
        ...

    def answers(self, call: ToolCall) -> Iterable[ToolAnswer]:
        """Every recorded answer to this call (same name, same arguments), oldest first."""
        ...


def call_key(call: ToolCall) -> str:
    """What makes two calls the same: the name and the arguments as canonical JSON, not the id."""
    asked = [call.name, call.arguments, call.broken]
    return json.dumps(asked, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class EventTape:
    """A tape of the trials of one task, from their logs.

    In order of preference: a call is answered as in the first trial that made it. `preferring` puts
    the trial in front over whose own recording is played, so that it is answered as it was.
    """

    def __init__(self, logs: Iterable[Sequence[Event]]) -> None:
        self._courses = [course_of(log) for log in logs]

    def preferring(self, agent: str, sample: int) -> EventTape:
        """The same tape with this agent's trials first, among them the one of this sample."""

        def distance(course: Sequence[Event]) -> tuple[bool, bool]:
            began = _began(course)
            return (began.agent.name != agent, began.sample != sample) if began else (True, True)

        return EventTape(sorted(self._courses, key=distance))

    @cached_property
    def _by_call(self) -> dict[str, tuple[ToolAnswer, ...]]:
        by_call: dict[str, tuple[ToolAnswer, ...]] = {}
        for course in self._courses:
            of_trial: dict[str, list[ToolAnswer]] = {}
            for body in _as_began(course):
                of_trial.setdefault(call_key(body.call), []).append(body.answer)
            for key, answers in of_trial.items():
                by_call.setdefault(key, tuple(answers))
        return by_call

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._tools

    @cached_property
    def _tools(self) -> tuple[ToolSpec, ...]:
        from cuecard.core.worlds.tool_specs import spec_of

        world = next((b.world.kind for c in self._courses if (b := _began(c))), "")
        calls: dict[str, list[ToolCall]] = {}
        for course in self._courses:
            for event in course:
                if isinstance(event.body, ToolAnswered):
                    calls.setdefault(event.body.call.name, []).append(event.body.call)
        names = sorted(calls.keys() - _own_tools())
        return tuple(spec_of(name, world, calls[name]) for name in names)

    def answers(self, call: ToolCall) -> tuple[ToolAnswer, ...]:
        return self._by_call.get(call_key(call), ())


def _own_tools() -> set[str]:
    """What agents answer themselves; logs do not tell it from a world's tools."""
    from cuecard.core.agents.memory import READ_NOTES, WRITE_NOTE
    from cuecard.core.agents.team import DELEGATE

    return {READ_NOTES.name, WRITE_NOTE.name, DELEGATE.name}


def _began(log: Iterable[Event]) -> TrialStarted | None:
    return next((e.body for e in log if isinstance(e.body, TrialStarted)), None)


def _as_began(course: Iterable[Event]) -> list[ToolAnswered]:
    """Tool calls in the order in which they were begun: of calls made at the same time the log has
    those first that were answered first.
    """
    groups: dict[tuple[str, int, str], list[ToolAnswered]] = {}
    for event in course:
        body = event.body
        if isinstance(body, ToolAnswered):
            groups.setdefault((body.part, body.turn, body.scope), []).append(body)
    return [body for group in groups.values() for body in sorted(group, key=lambda b: b.step)]
