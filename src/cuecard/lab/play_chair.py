"""The person's place in a live session: where they are asked for words and hear that these are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cuecard.core.parts import Dialogue, UserReply


class Chair:
    """`ask` is the user part's; `on_asked` is told of the dialogue (None: nothing has been said yet) when
    it is the person's turn. `turn`: set while it is.
    """

    def __init__(self, on_asked: Callable[[Dialogue | None], None]) -> None:
        self._on_asked = on_asked
        self._asked: asyncio.Future[UserReply] | None = None
        self._kept: asyncio.Future[None] | None = None
        self.turn = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return self._asked is not None and not self._asked.done()

    async def ask(self, dialogue: Dialogue | None) -> UserReply:
        self._asked = asyncio.get_running_loop().create_future()
        self.turn.set()
        self._on_asked(dialogue)
        try:
            return await self._asked
        finally:
            self._asked = None
            self.turn.clear()

    async def say(self, reply: UserReply, session: asyncio.Task[None]) -> bool:
        """Whether the words are on the disk: True as soon as they are, False if the session ends before.
        Only while `waiting`.
        """
        assert self._asked is not None
        self._kept = asyncio.get_running_loop().create_future()
        self._asked.set_result(reply)
        await asyncio.wait({self._kept, session}, return_when=asyncio.FIRST_COMPLETED)
        return self._kept.done()

    def kept(self) -> None:
        """The words that were said last are on the disk."""
        if self._kept is not None and not self._kept.done():
            self._kept.set_result(None)
