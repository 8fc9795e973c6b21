"""Where a dialogue's knowledge comes from: every page that was found or visited, once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuecard.core.events import Event


@dataclass(frozen=True)
class Source:
    """A page by its address, or by its title where it has none. `turns` counts from 0, in order.
    `found_by`: the queries whose results it was among. `visited`: it was opened, for `goals`. `cited`: its
    address or title stands in a reply of the agent. `text`: the longest of what was seen of it.
    """

    url: str
    title: str
    date: str
    turns: tuple[int, ...]
    found_by: tuple[str, ...]
    visited: bool
    goals: tuple[str, ...]
    cited: bool
    text: str


def sources_of(events: Iterable[Event]) -> list[Source]:
    """The sources of a log's course in the order in which they came up."""
    raise NotImplementedError


def matching(sources: Sequence[Source], typed: str) -> list[Source]:
    """Those that hold every word of `typed` in title, address or query."""
    raise NotImplementedError
