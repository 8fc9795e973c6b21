"""The rules of review told once more, as simply as possible: a model to play random people against.

It knows nothing of contributions, folds or queries. One task, one workspace, nobody works apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

AUTHOR, COORDINATOR = "Ana-au", "Cleo-co"
PEOPLE = (AUTHOR, "Bob-re", "Cho-re", "Dee-re", "Eva-re", "Fay-au", COORDINATOR)
"""Names that occur in no other text."""
LEASE = timedelta(hours=72)

ACTIONS = (
    *("save", "submit", "submit", "submit third", "withdraw", "reopen", "retire", "restore"),
    *("ask third", "approve", "approve", "approve", "return", "return", "take", "take", "skip"),
    *("assign", "unassign", "prioritise", "answer", "build gold", "wait"),
)


@dataclass
class Round:
    """One revision. `given`: its reviews, in their order."""

    given: dict[str, str] = field(default_factory=dict[str, str])
    third_by_rule: bool = False
    third_asked: bool = False
    leases: dict[str, datetime] = field(default_factory=dict[str, datetime])

    @property
    def split(self) -> bool:
        return len(set(self.given.values())) == 2

    @property
    def needed(self) -> int:
        return 3 if self.third_asked or (self.third_by_rule and self.split) else 2

    @property
    def result(self) -> str:
        """What its reviews decide, "" while some are missing."""
        if len(self.given) < self.needed:
            return ""
        returns = list(self.given.values()).count("return")
        return (
            "approved"
            if returns * 2 < len(self.given) and (self.needed == 3 or not returns)
            else "returned"
        )

    def open_to(self, person: str, authors: set[str]) -> bool:
        """Whether somebody may read everybody's reviews."""
        if len(self.given) < 2:
            return False
        if self.split and len(self.given) == 2:
            return person in authors or person in self.given
        return True


@dataclass
class Rules:
    now: datetime
    state: str = "draft"
    before: str = "draft"
    writers: list[str] = field(default_factory=lambda: [AUTHOR])
    rounds: list[Round] = field(default_factory=lambda: [Round()])
    builders: dict[str, int] = field(default_factory=dict[str, int])
    had: set[str] = field(default_factory=set[str])
    assigned: set[str] = field(default_factory=set[str])
    prioritised: bool = False
    comments: dict[tuple[int, str], bool] = field(default_factory=dict[tuple[int, str], bool])
    """By revision and reviewer: whether it is resolved."""

    @property
    def head(self) -> Round:
        return self.rounds[-1]

    @property
    def authors(self) -> set[str]:
        return set(self.writers)

    def holds(self, person: str) -> bool:
        until = self.head.leases.get(person)
        return until is not None and until > self.now

    def others_holding(self, person: str) -> int:
        return sum(self.holds(other) for other in self.head.leases if other != person)

    def fit(self, person: str) -> bool:
        """Whether somebody may have the newest revision to review."""
        if self.state != "in_review" or person in self.authors or person == COORDINATOR:
            return False
        if person in self.head.given or len(self.head.given) >= self.head.needed:
            return False
        free = self.head.needed - len(self.head.given) - self.others_holding(person)
        return self.holds(person) or free > 0

    def comment(self, pick: int) -> tuple[int, str] | None:
        return sorted(self.comments)[pick % len(self.comments)] if self.comments else None

    def answerable(self, by: str, pick: int) -> bool:
        """Whether somebody may settle a comment."""
        chosen = self.comment(pick)
        if chosen is None or self.comments[chosen]:
            return False
        number, reviewer = chosen
        if not self.rounds[number - 1].open_to(by, self.authors):
            return False
        return by in self.authors or (by == reviewer and self.state != "in_review")

    def allows(self, action: str, by: str, other: str, pick: int) -> bool:
        mine = by in self.authors
        match action:
            case "save" | "wait":
                return True
            case "submit" | "submit third":
                missing = len(self.head.given) < self.head.needed
                return mine and self.state in ("draft", "returned") and missing
            case "withdraw":
                return mine and self.state == "in_review"
            case "reopen":
                return mine and self.state == "approved"
            case "retire":
                return mine and self.state in ("draft", "returned", "approved")
            case "restore":
                return mine and self.state == "retired"
            case "ask third":
                two = self.head.split and len(self.head.given) == 2
                return mine and self.state == "returned" and two
            case "approve" | "return" | "take":
                return self.fit(by)
            case "skip":
                in_review = self.state == "in_review"
                return in_review and not mine and by not in self.head.given
            case "assign":
                return by == COORDINATOR and not mine and self.fit(other)
            case "unassign":
                return by == COORDINATOR and not mine and self.holds(other)
            case "prioritise":
                return by == COORDINATOR
            case "answer":
                return self.answerable(by, pick)
            case "build gold":
                known = mine or by in self.had or by in self.builders
                return self.state != "retired" and not known
            case _:
                raise AssertionError(action)

    def apply(self, action: str, by: str, other: str, pick: int) -> None:
        head = self.head
        match action:
            case "save":
                self.writers.append(by)
                self.rounds.append(Round())
                self.before = "draft"
                if self.state != "retired":
                    self.state = "draft"
            case "submit" | "submit third":
                head.third_by_rule = action == "submit third"
                self.state = "in_review"
                self.weigh()
            case "withdraw" | "reopen":
                self.state = "draft"
            case "retire":
                self.before, self.state = self.state, "retired"
            case "restore":
                self.state = self.before
            case "ask third":
                head.third_asked = True
                self.state = "in_review"
            case "approve" | "return":
                head.given[by] = action
                if action == "return":
                    self.comments[len(self.rounds), by] = False
                head.leases.pop(by, None)
                self.had.add(by)
                self.weigh()
            case "take":
                head.leases[by] = self.now + LEASE
                self.had.add(by)
            case "skip":
                head.leases.pop(by, None)
            case "assign":
                self.assigned.add(other)
                head.leases[other] = self.now + LEASE
                self.had.add(other)
            case "unassign":
                self.assigned.add(other)
                head.leases.pop(other)
            case "prioritise":
                self.prioritised = True
            case "answer":
                chosen = self.comment(pick)
                assert chosen
                self.comments[chosen] = True
            case "build gold":
                self.builders[by] = len(self.rounds)
            case _:
                pass

    def weigh(self) -> None:
        if self.head.result:
            self.state = self.head.result

    # What somebody may know.

    def reviewers_seen(self, person: str, number: int) -> set[str]:
        """Whose reviews of a revision they may read."""
        round_ = self.rounds[number - 1]
        return {name for name in round_.given if name == person or self.opened(person, number)}

    def opened(self, person: str, number: int) -> bool:
        return self.rounds[number - 1].open_to(person, self.authors)

    def author_seen(self, person: str, number: int) -> str:
        """Who saved a revision, "" for one that the person must not know of."""
        writer = self.writers[number - 1]
        reviewed = person in self.rounds[number - 1].given and self.opened(person, number)
        return writer if writer == person or reviewed else ""

    def blind(self, person: str) -> bool:
        """Whether the person must not learn who wrote the task."""
        mine = person in self.authors or bool(self.author_seen(person, len(self.rounds)))
        return self.state == "in_review" and not mine

    def names_known(self, person: str) -> set[str]:
        """The people whom anything about the task may mention to this person."""
        known = {person}
        for number in range(1, len(self.rounds) + 1):
            known |= self.reviewers_seen(person, number) | {self.author_seen(person, number)}
        if not self.blind(person):
            known |= self.authors
        if person in self.authors:
            known |= set(self.builders)
        else:
            known |= {b for b, at in self.builders.items() if at == self.builders.get(person)}
        if self.prioritised or person in self.had:
            known.add(COORDINATOR)
        if person == COORDINATOR:
            known |= self.assigned
        return known

    def on_list(self, person: str) -> bool:
        """Whether the task is among those whose reviews the person may read."""
        reviewed = any(person in round_.given for round_ in self.rounds)
        complete = any(len(round_.given) >= 2 for round_ in self.rounds)
        return reviewed or (person in self.authors and complete)
