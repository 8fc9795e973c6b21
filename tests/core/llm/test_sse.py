from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.llm.streams import Events
from cuecard.core.validation import MOST_BYTES, TooLarge

STREAM = (
    "\ufeff: hello\n\ndata: one\n\ndata:zwei\r\n\r\nevent: x\nid: 4\ndata: 三\rdata: more\r\r"
    "data: {\n: ping\n\nretry: 5\n\n\n\ndata\n\ndata: last"
).encode()
EVENTS = [[b"one"], [b"zwei"], ["三".encode(), b"more"], [b"{"], [b""], [b"last"]]


def read(*pieces: bytes) -> list[list[bytes]]:
    events = Events()
    found = [event for piece in pieces for event in events.feed(piece)]
    return found + list(events.end())


def test_all_forms() -> None:
    assert read(STREAM) == EVENTS
    assert read(*(bytes([byte]) for byte in STREAM)) == EVENTS
    assert read() == read(b"") == []


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_the_cutting_does_not_matter(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in pairwise(edges)]
    assert read(*pieces) == EVENTS


def test_an_event_without_end_is_given_up() -> None:
    events, piece = Events(), b"x" * 1_000_000
    for _ in range(MOST_BYTES // len(piece)):
        list(events.feed(piece))
    with pytest.raises(TooLarge):
        list(events.feed(piece))
