"""Model calls that belong to a query, whichever tool call makes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cuecard.core.events import ModelReplied
from cuecard.core.parts import ModelReply, WorldDesk


class QueryDesk:
    """A `CallDesk` for the calls that answer one query.

    When the same query is made twice at the same time, timing decides which tool call leads and makes
    the model calls. A trial that was killed in between and is resumed may have the other one lead:
    so a reply is looked for under every tool call before the model is asked.
    """

    def __init__(self, desk: WorldDesk, place: str) -> None:
        self._desk = desk
        self._place = place
        self._calls = 0

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        place = f"{self._place}/{self._calls}"
        self._calls += 1
        for event in self._desk.log:
            body = event.body
            if isinstance(body, ModelReplied) and f"/{body.scope}".endswith(f"/{place}/"):
                return body.reply
        return await self._desk.scope(place).call_model(model, perform, prompt=prompt)

    def scope(self, name: str) -> QueryDesk:
        return QueryDesk(self._desk, f"{self._place}/{name}")
