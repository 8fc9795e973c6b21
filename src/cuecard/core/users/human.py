"""The user part played by a person at a screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cuecard.core.parts import Desk, Dialogue, PlayerRef, UserReply

Ask = Callable[[Dialogue | None], Awaitable[UserReply]]


class HumanUser:
    """Says what `ask` returns: a screen shows the dialogue (None: nothing has been said yet), waits
    for the person, and returns the reply with the decisions that came with it.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self._name = name
        self._ask = ask

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self._name, kind="human")

    async def open(self, desk: Desk) -> UserReply:
        return await self._ask(None)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        return await self._ask(dialogue)
