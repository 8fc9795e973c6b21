from __future__ import annotations

import asyncio

from textual.message import Message

from cuecard.tui.screens.play.link import FRAME, Streamed, TextBatcher


def texts(posted: list[Message]) -> list[tuple[int, str]]:
    return [(m.turn, m.text) for m in posted if isinstance(m, Streamed)]


async def test_the_first_piece_comes_at_once_and_a_flood_as_a_few_frames() -> None:
    posted: list[Message] = []
    gathering = TextBatcher(posted.append)
    gathering.add(0, "first ")
    assert texts(posted) == [(0, "first ")]
    for _number in range(5_000):
        gathering.add(0, "word ")
    assert len(posted) == 1, "what comes within the frame waits for it"
    await asyncio.sleep(FRAME * 2)
    assert texts(posted)[1:] == [(0, "word " * 5_000)]
    await asyncio.sleep(FRAME * 2)
    gathering.add(0, "later")
    assert texts(posted)[2:] == [(0, "later")], "after a pause a piece comes at once again"


async def test_another_turn_and_whatever_is_flushed_keep_their_order() -> None:
    posted: list[Message] = []
    gathering = TextBatcher(posted.append)
    gathering.add(0, "a")
    gathering.add(0, "b")
    gathering.add(1, "c")
    assert texts(posted) == [(0, "a"), (0, "b"), (1, "c")]
    gathering.add(1, "d")
    gathering.flush()
    gathering.add(1, "e")
    assert texts(posted)[3:] == [(1, "d"), (1, "e")]
    gathering.flush()
    await asyncio.sleep(FRAME * 2)
    assert len(posted) == 5, "nothing is posted when there is nothing new"
