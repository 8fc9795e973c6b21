"""Who plays in `team_play`, what they work on, and where: one database, or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from apart import fresh, merge_files
from cuecard.annotate.review.workflow import Protocol as ReviewProtocol
from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
COORDINATOR = "Cleo"
DOMAINS = ("rail", "tea", "stars")
NAMES = (
    "Ana",
    "Bo",
    "李雷",
    "Dee",
    "Eva O'Neil",
    "Finn",
    "韩梅梅",
    "Gus",
    "Hal",
    "Ida",
    "Jo",
    "Kim",
)


@dataclass(frozen=True)
class Member:
    """`reviews`: the domain they review, "" for none. `turn`: when they pull; of the members of one turn
    no two review the same domain, so that they may pull without knowing of each other.
    """

    name: str
    reviews: str = ""
    turn: int = 0


@dataclass(frozen=True)
class Team:
    members: tuple[Member, ...]
    protocol: ReviewProtocol

    @classmethod
    def of(cls, domains: int = 3) -> Team:
        """A coordinator, three reviewers for each domain, and two who only write: 12 for 3 domains."""
        names = iter(NAMES)
        reviewers = [
            Member(next(names), DOMAINS[index], turn)
            for turn in range(3)
            for index in range(domains)
        ]
        writers = [Member(next(names)), Member(next(names))]
        protocol = ReviewProtocol(coordinators=frozenset({COORDINATOR}))
        return cls((*reviewers, *writers, Member(COORDINATOR)), protocol)

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    def reviewers(self, domain: str = "") -> list[Member]:
        return [m for m in self.members if m.reviews and (not domain or m.reviews == domain)]

    def writers(self, domain: str) -> list[str]:
        """Who writes about a domain: everybody who does not review it."""
        return [m.name for m in self.members if m.reviews != domain and m.name != COORDINATOR]


class Stage(Protocol):
    """Where the play happens."""

    def at(self, person: str) -> Workspace:
        """The workspace that this person works in, with all that they know."""
        ...

    def meet(self) -> None:
        """Everybody hands round what they did."""
        ...


@dataclass
class OneDatabase:
    workspace: Workspace

    def at(self, person: str) -> Workspace:
        return self.workspace

    def meet(self) -> None:
        pass


@dataclass
class ManyDatabases:
    """Each person has a database of their own; what one did goes round as packed files. A person brings
    in what is new when they next sit down.
    """

    folder: Path
    people: Sequence[str]
    opened: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    busy: set[str] = field(default_factory=set[str])
    idle: set[str] = field(default_factory=set[str])
    posted: list[tuple[str, Path]] = field(default_factory=list[tuple[str, Path]])
    read: dict[str, int] = field(default_factory=dict[str, int])

    def at(self, person: str) -> Workspace:
        if person not in self.opened:
            path = self.folder / f"{self.people.index(person)}.db"
            self.opened[person] = fresh(path)
            self.opened[person].people.add(person)
            self.idle.add(person)
        self.catch_up(person)
        self.busy.add(person)
        return self.opened[person]

    def meet(self) -> None:
        for person in sorted(self.busy):
            path = self.folder / f"{len(self.posted)}.pack"
            if person in self.idle and self.opened[person].exchange.bundle(person).empty:
                continue
            self.idle.discard(person)
            write_bundle(self.opened[person], person, path)
            self.posted.append((person, path))
        self.busy.clear()

    def catch_up(self, person: str) -> None:
        new = self.posted[self.read.get(person, 0) :]
        # Who posted twice posted everything the second time.
        latest = {by: path for by, path in new if by != person}
        if latest:
            merge_files(self.opened[person], list(latest.values()), person)
        self.read[person] = len(self.posted)

    def close(self) -> None:
        for workspace in self.opened.values():
            workspace.close()


_GOLDS: tuple[dict[str, Any], ...] = (
    {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"},
    {
        "family": "graph",
        "triples": [
            {"head": "a", "relation": "r", "tail": "b", "sources": ["https://graph.example/1"]}
        ],
    },
    {
        "family": "table",
        "columns": [{"name": "k"}, {"name": "v"}],
        "unique_columns": ["k"],
        "rows": [["x", "1"], ["y", "2"]],
    },
)


def make_task(index: int, domain: str) -> Task:
    """A small task; families, languages and difficulties go round."""
    zh = index % 4 == 1
    return Task.model_validate(
        {
            "id": f"t{index:03}",
            "title": f"任务 {index}" if zh else f"Task {index}",
            "language": "zh" if zh else "en",
            "domain": domain,
            "difficulty": ("easy", "medium", "hard", None)[index % 4],
            "query": "有多少？" if zh else "How many are there?",
            "gold": _GOLDS[index % len(_GOLDS)],
            "sources": [{"url": f"https://www.{domain}.example.org/{index}"}] if index % 7 else [],
        }
    )
