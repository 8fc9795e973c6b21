"""Recorded tool answers of a run, the world that answers from them, and one that has no tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

from cuecard.core.config_players import ReplayWorldConfig
from cuecard.core.engine.events import Event, ToolAnswered, TrialStarted, effective_log
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import Closable, World, WorldContext
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import one_line


class RecordedAnswers(Protocol):
    """Recorded answers. The same call may have been made several times, with several answers."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that were called."""
        ...

    def answers(self, call: ToolCall) -> Iterable[ToolAnswer]:
        """Every recorded answer to this call (same name, same arguments), oldest first."""
        ...


def call_key(call: ToolCall) -> str:
    """A key that is equal for equal calls: the name and the arguments as canonical JSON, without the id."""
    asked = [call.name, call.arguments, call.broken]
    return json.dumps(asked, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class EventTape:
    """The tape of the trials of one task, from their logs, in order of preference: a call is answered as in the first
    trial that made it.
    """

    def __init__(self, logs: Iterable[Sequence[Event]]) -> None:
        self._logs = [effective_log(log) for log in logs]

    def preferring(self, agent: str, sample: int) -> EventTape:
        """The tape with the trials of this agent first, and the one of this sample before its others."""

        def distance(effective: Sequence[Event]) -> tuple[bool, bool]:
            began = _began(effective)
            return (began.agent.name != agent, began.sample != sample) if began else (True, True)

        return EventTape(sorted(self._logs, key=distance))

    @cached_property
    def _by_call(self) -> dict[str, tuple[ToolAnswer, ...]]:
        by_call: dict[str, tuple[ToolAnswer, ...]] = {}
        for effective in self._logs:
            of_trial: dict[str, list[ToolAnswer]] = {}
            for body in _as_began(effective):
                of_trial.setdefault(call_key(body.call), []).append(body.answer)
            for key, answers in of_trial.items():
                by_call.setdefault(key, tuple(answers))
        return by_call

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._tools

    @cached_property
    def _tools(self) -> tuple[ToolSpec, ...]:
        from cuecard.core.worlds.closed import spec_of

        world = next((b.world.kind for c in self._logs if (b := _began(c))), "")
        calls: dict[str, list[ToolCall]] = {}
        for effective in self._logs:
            for event in effective:
                if isinstance(event.body, ToolAnswered):
                    calls.setdefault(event.body.call.name, []).append(event.body.call)
        names = sorted(calls.keys() - _own_tools())
        return tuple(spec_of(name, world, calls[name]) for name in names)

    def answers(self, call: ToolCall) -> tuple[ToolAnswer, ...]:
        return self._by_call.get(call_key(call), ())


def _own_tools() -> set[str]:
    """The names of tools that agents answer themselves; in a log they look like tools of the world."""
    from cuecard.core.agents.turn import DELEGATE, READ_NOTES, WRITE_NOTE

    return {READ_NOTES.name, WRITE_NOTE.name, DELEGATE.name}


def _began(log: Iterable[Event]) -> TrialStarted | None:
    return next((e.body for e in log if isinstance(e.body, TrialStarted)), None)


def _as_began(effective: Iterable[Event]) -> list[ToolAnswered]:
    """Tool calls in the order in which they were begun. The log has concurrent calls in the order of their answers."""
    groups: dict[tuple[str, int, str], list[ToolAnswered]] = {}
    for event in effective:
        body = event.body
        if isinstance(body, ToolAnswered):
            groups.setdefault((body.part, body.turn, body.scope), []).append(body)
    return [body for group in groups.values() for body in sorted(group, key=lambda b: b.step)]


_NOT_RECORDED: dict[TaskLanguage, str] = {
    "en": (
        "Nothing is recorded for this call: {call}. Only calls that were made before, with the same"
        " arguments, can be answered."
    ),
    "zh": "没有这次调用的记录：{call}。只能回答以前以相同参数做过的调用。",
}


class ReplayWorld:
    """Answers the n-th identical call of a trial with the n-th recorded answer, or the last one if fewer were recorded.
    A call that was never made is refused.

    `run`: the run that the tape was made from. Without a tape nothing can be played, but `ref` works.
    """

    def __init__(
        self, name: str, run: int, language: TaskLanguage, tape: RecordedAnswers | None
    ) -> None:
        self._name = name
        self._run = run
        self._language: TaskLanguage = language
        self._tape = tape

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self._name, kind="replay", version=str(self._run))

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._recording().tools

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        # There is no await in here, so that each of several concurrent calls finds the earlier ones in the log.
        recorded = tuple(self._recording().answers(call))
        if not recorded:
            shown = one_line(call_key(call), 200)
            return ToolAnswer(text=_NOT_RECORDED[self._language].format(call=shown), ok=False)
        wanted = call_key(call)
        before = sum(
            isinstance(event.body, ToolAnswered) and call_key(event.body.call) == wanted
            for event in context.log
        )
        return recorded[min(before, len(recorded) - 1)]

    def _recording(self) -> RecordedAnswers:
        if self._tape is None:
            raise CuecardError(
                _("There is no recording to play from"),
                _("The answers of run {run} were not loaded.").format(run=self._run),
            )
        return self._tape


_REFUSAL: dict[TaskLanguage, str] = {"en": "There are no tools here.", "zh": "这里没有可用的工具。"}


class NoTools:
    """Replaces `world`, under its name, and offers no tools. `baseline` is false where playing without tools is the
    intended setting.
    """

    def __init__(self, world: World, language: TaskLanguage, *, baseline: bool = True) -> None:
        self._world = world
        self._baseline = baseline
        self._language: TaskLanguage = language

    @property
    def ref(self) -> PlayerRef:
        ref = self._world.ref
        return ref.model_copy(
            update={
                "version": f"{ref.version}-no-tools",
                "baseline": ref.baseline and self._baseline,
            }
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return ()

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        return ToolAnswer(text=_REFUSAL[self._language], ok=False)

    async def close(self) -> None:
        if isinstance(self._world, Closable):
            await self._world.close()


def make_world(
    name: str,
    replay: ReplayWorldConfig,
    _config: object,
    _hub: object,
    task: Task,
    tape: RecordedAnswers | None,
) -> ReplayWorld:
    """The world for one trial of `task`, which answers from `tape`."""
    return ReplayWorld(name, replay.run, task.language, tape)
