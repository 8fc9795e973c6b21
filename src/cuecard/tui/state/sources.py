"""Where a dialogue's knowledge comes from: every page that was found or visited, once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cuecard.core.events import AgentSpoke, Event, ToolAnswered
from cuecard.core.parts import SearchEntry
from cuecard.core.text import contains_term, normalise, storable
from cuecard.tui.state.tool_words import addresses_of, goal_of, queries_of

_TELLING = 4
"""Characters from which on a title in a reply is taken for a citation."""


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


@dataclass
class _Gathered:
    url: str = ""
    title: str = ""
    date: str = ""
    text: str = ""
    visited: bool = False
    turns: dict[int, None] = field(default_factory=dict[int, None])
    found_by: dict[str, None] = field(default_factory=dict[str, None])
    goals: dict[str, None] = field(default_factory=dict[str, None])

    def take(self, entry: SearchEntry, body: ToolAnswered, *, visited: bool) -> None:
        self.url = self.url or entry.url
        self.title = self.title or entry.title
        self.date = self.date or entry.date
        if len(entry.content) > len(self.text):
            self.text = entry.content
        self.turns[body.turn] = None
        if visited:
            self.visited = True
            self.goals |= dict.fromkeys(filter(None, [goal_of(body.call)]))
        else:
            self.found_by |= dict.fromkeys(queries_of(body.call))


def sources_of(events: Iterable[Event]) -> list[Source]:
    """The sources of a log's course in the order in which they came up."""
    gathered: dict[str, _Gathered] = {}
    said: list[str] = []
    for event in events:
        body = event.body
        if isinstance(body, AgentSpoke):
            said.append(body.reply.text)
        elif isinstance(body, ToolAnswered) and body.answer.ok:
            visited = bool(addresses_of(body.call))
            for entry in _pages(body):
                if key := _key(entry):
                    gathered.setdefault(key, _Gathered()).take(entry, body, visited=visited)
    replies = normalise("\n".join(said))
    return [_source(one, replies) for one in gathered.values()]


def matching(sources: Sequence[Source], typed: str) -> list[Source]:
    """Those that hold every word of `typed` in title, address or query."""
    words = normalise(typed).split()
    if not words:
        return list(sources)
    found: list[Source] = []
    for source in sources:
        text = normalise(" ".join((source.title, source.url, *source.found_by, *source.goals)))
        if all(word in text for word in words):
            found.append(source)
    return found


def _pages(body: ToolAnswered) -> Iterable[SearchEntry]:
    """What a call brought; of a tool that only gives text, the one page that was asked for."""
    addresses = addresses_of(body.call)
    if body.answer.entries or len(addresses) != 1:
        return body.answer.entries
    return (SearchEntry(id="", title="", content=body.answer.text, url=storable(addresses[0])),)


def _key(entry: SearchEntry) -> str:
    bare = _bare(entry.url)
    return bare or (f" {normalise(entry.title)}" if entry.title.strip() else "")


def _bare(url: str) -> str:
    """An address without what does not tell pages apart."""
    return url.strip().partition("#")[0].partition("://")[2].rstrip("/") or url.strip()


def _source(one: _Gathered, replies: str) -> Source:
    address, title = normalise(_bare(one.url)), normalise(one.title)
    cited = bool(address) and address in replies
    if not cited and len(title) >= _TELLING and title in replies:
        cited = contains_term(replies, title)
    return Source(
        url=one.url,
        title=one.title,
        date=one.date,
        turns=tuple(sorted(one.turns)),
        found_by=tuple(one.found_by),
        visited=one.visited,
        goals=tuple(one.goals),
        cited=cited,
        text=one.text,
    )
