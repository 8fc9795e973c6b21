"""A turn that was played before, played again from what is recorded of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from cuecard.core.events import Event, EventBody, Marked, ModelReplied, ToolAnswered
from cuecard.core.marks import Mark
from cuecard.core.parts import ModelReply, ToolAnswer, ToolCall, ToolSpec


class NotRecorded(LookupError):
    """The log does not hold this step: the turn was played by someone else."""


def by_key(log: Sequence[Event]) -> dict[str, EventBody]:
    """Everything that is recorded, by its place."""
    return {event.body.key: event.body for event in log}


class PastTurn:
    """A `Desk` that hands back one recorded turn of the agent, step by step, and does nothing.

    `course`: everything that is recorded, by its key. All its calls raise `NotRecorded`.
    """

    def __init__(
        self,
        log: Sequence[Event],
        course: Mapping[str, EventBody],
        turn: int,
        tools: tuple[ToolSpec, ...],
        scope: str = "",
    ) -> None:
        self.log = log
        self.tools = tools
        self._course = course
        self._turn = turn
        self._scope = scope
        self._steps: dict[str, int] = {}

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        body = self._next("model")
        if not isinstance(body, ModelReplied):
            raise NotRecorded
        return body.reply

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        """Also raises when the recorded call was another one."""
        body = self._next("tool")
        if not isinstance(body, ToolAnswered) or (body.call.name, body.call.arguments) != (
            call.name,
            call.arguments,
        ):
            raise NotRecorded
        return body.answer

    async def mark(self, mark: Mark) -> Mark:
        body = self._next(mark.kind)
        if not isinstance(body, Marked):
            raise NotRecorded
        return body.mark

    @property
    def rewound(self) -> int:
        return 0

    def onward(self) -> PastTurn:
        return self

    def scope(self, name: str) -> PastTurn:
        return PastTurn(self.log, self._course, self._turn, self.tools, f"{self._scope}{name}/")

    def stream(self, text: str) -> None:
        pass

    def _next(self, kind: str) -> EventBody | None:
        step = self._steps.get(kind, 0)
        self._steps[kind] = step + 1
        return self._course.get(f"agent/{self._turn}/{self._scope}{kind}/{step}")
