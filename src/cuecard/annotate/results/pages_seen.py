"""Pages that agents were given in trials, what they name, and the passage that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.results.pool import Row
from cuecard.core.engine.events import effective_log
from cuecard.core.engine.trial_log import agent_tool_answers
from cuecard.core.text import contains_term, normalise, one_line

if TYPE_CHECKING:
    from cuecard.core.engine.events import Event
    from cuecard.store.workspace import Workspace

_AT_ONCE = 20
_AROUND = 140


@dataclass(frozen=True)
class SeenPage:
    """A page that an agent was given: in which trial and event, its title, address and text."""

    trial: int
    seq: int
    agent: str
    title: str
    url: str
    text: str

    def names(self, values: Sequence[str], beside: Sequence[str]) -> bool:
        """Whether it has one of these values, and one of the names of what they are said of, if there are any."""
        plain = normalise(f"{self.title}\n{self.text}")
        return _holds(plain, values) and (not beside or _holds(plain, beside))

    def passage(self, values: Sequence[str]) -> str:
        """What stands around the first of these values, on one line."""
        at = min((p for p in map(self.text.casefold().find, map(str.casefold, values)) if p >= 0), default=0)  # fmt: skip
        cut = one_line(self.text[max(0, at - _AROUND) : at + _AROUND])
        return f"{'…' if at > _AROUND else ''}{cut}{'…' if at + _AROUND < len(self.text) else ''}"


def _holds(plain: str, terms: Sequence[str]) -> bool:
    return any((t := normalise(term)) and t in plain and contains_term(plain, t) for term in terms)


def logs(workspace: Workspace, trials: Sequence[int]) -> Iterator[tuple[int, Sequence[Event]]]:
    """The effective logs of these trials, by trial, some read at a time."""
    for start in range(0, len(trials), _AT_ONCE):
        read = workspace.runs.logs(trials[start : start + _AT_ONCE])
        for trial, events in read.items():
            yield trial, effective_log(events)


def pages(row: Row, events: Sequence[Event]) -> list[SeenPage]:
    """What the agent's tools showed it: each search result, and whole answers of tools that list none."""
    found: list[SeenPage] = []
    bodies = {id(event.body): event.seq for event in events}
    for body in agent_tool_answers(events):
        if not body.answer.ok:
            continue
        head = row.trial.id, bodies[id(body)], row.trial.agent.name
        found += [SeenPage(*head, e.title, e.url, e.content) for e in body.answer.entries]
        if not body.answer.entries:
            url = body.call.arguments.get("url")
            found.append(SeenPage(*head, body.call.name, url if isinstance(url, str) else "", body.answer.text))  # fmt: skip
    return found
