"""The desk of one part in one turn of a trial: every call is a journal step with a key of its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from cuecard.core.events import Event, Marked, ModelReplied, ToolAnswered
from cuecard.core.journal import Journal
from cuecard.core.marks import Mark
from cuecard.core.parts import ModelReply, ToolAnswer, ToolCall, ToolSpec, World
from cuecard.core.scrubbing import scrub_model


class TrialDesk:
    """A `Desk`, and a `WorldDesk` for the world while it answers."""

    def __init__(
        self, world: World, journal: Journal, part: str, turn: int, scope: str = ""
    ) -> None:
        self._world = world
        self._journal = journal
        self._part = part
        self._turn = turn
        self._scope = scope
        self._steps: Counter[str] = Counter()
        self._onward = False

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._world.tools

    @property
    def log(self) -> Sequence[Event]:
        return self._journal.events

    @property
    def rewound(self) -> int:
        return self._journal.rewound

    def onward(self) -> TrialDesk:
        desk = TrialDesk(self._world, self._journal, self._part, self._turn, self._scope)
        desk._steps, desk._onward = self._steps, True
        return desk

    def scope(self, name: str) -> TrialDesk:
        return TrialDesk(
            self._world, self._journal, self._part, self._turn, f"{self._scope}{name}/"
        )

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        step = self._next("tool")
        call = scrub_model(call)

        async def answered() -> ToolAnswered:
            if perform is not None:
                answer = await perform()
            else:
                answer = await self._world.answer(call, self.scope(f"tool/{step}"))
            answer = scrub_model(answer)
            return ToolAnswered(
                part=self._part,
                turn=self._turn,
                step=step,
                call=call,
                answer=answer,
                scope=self._scope,
            )

        # What an agent answers itself, it answers itself again when the trial is replayed.
        asked = call if perform is None else None
        return (await self._journal.step(self._key("tool", step), answered, asked)).answer

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        step = self._next("model")

        async def call() -> ModelReplied:
            reply = await perform()
            return ModelReplied(
                part=self._part,
                turn=self._turn,
                step=step,
                model=model,
                reply=reply,
                scope=self._scope,
                prompt=prompt,
            )

        return (await self._journal.step(self._key("model", step), call, model)).reply

    async def mark(self, mark: Mark) -> Mark:
        body = Marked(
            part=self._part,
            turn=self._turn,
            step=self._next(mark.kind),
            mark=scrub_model(mark),
            scope=self._scope,
        )
        return (await self._journal.record(body)).mark

    def stream(self, text: str) -> None:
        # What is done within a scope is not the reply.
        if not self._scope:
            self._journal.stream(self._turn, text)

    def _next(self, kind: str) -> int:
        step = self._steps[kind]
        while self._onward and kind != "model" and self._journal.recorded(self._key(kind, step)):
            step += 1
        self._steps[kind] = step + 1
        return step

    def _key(self, kind: str, step: int) -> str:
        return f"{self._part}/{self._turn}/{self._scope}{kind}/{step}"
