"""Logs of reviews written down by hand, without a workspace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cuecard.core.contributions import (
    Body,
    Claimed,
    Contribution,
    PinnedComment,
    Rating,
    ReviewDecision,
    Reviewed,
    Submitted,
    contribution_uid,
    revision_uid,
)
from cuecard.core.review import RevisionNode, TaskLog

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MARKS: dict[str, Rating] = {"p": "pass", "f": "fail", "c": "cannot_judge"}


class LogMaker:
    """One task's log, an hour between entries. `ratings` are letters of `MARKS` by dimension."""

    def __init__(self, task_id: str, author: str = "Ana", start: datetime = START) -> None:
        self.task_id = task_id
        self.nodes: list[RevisionNode] = []
        self.entries: list[Contribution] = []
        self.start = start
        self.revise(author)

    @property
    def log(self) -> TaskLog:
        return TaskLog(
            task_id=self.task_id,
            revisions=tuple(self.nodes),
            contributions=tuple(reversed(self.entries)),
        )

    def revise(self, author: str = "Ana") -> LogMaker:
        number = len(self.nodes) + 1
        parents = (self.nodes[-1].uid,) if self.nodes else ()
        uid = revision_uid(self.task_id, f"hash {number}", parents)
        self.nodes.append(
            RevisionNode(
                number=number,
                uid=uid,
                hash=f"hash {number}",
                parents=parents,
                authors=(author,),
                at=self._now,
                tick=self._tick,
            )
        )
        return self

    def add(self, by: str, body: Body) -> LogMaker:
        node, at, tick = self.nodes[-1], self._now, self._tick
        uid = contribution_uid(self.task_id, node.uid, by, at, tick, body)
        self.entries.append(
            Contribution(
                uid=uid,
                task_id=self.task_id,
                revision=node.number,
                by=by,
                at=at,
                tick=tick,
                body=body,
            )
        )
        return self

    def submit(self, by: str = "Ana", *, third: bool = False) -> LogMaker:
        return self.add(by, Submitted(on_split="third" if third else "return"))

    def claim(self, person: str, by: str = "", hours: float = 72) -> LogMaker:
        until = self._now + timedelta(hours=hours)
        return self.add(by or person, Claimed(person=person, until=until))

    def review(
        self,
        by: str,
        decision: str,
        seconds: float = 0,
        comment_on: str = "",
        **ratings: str,
    ) -> LogMaker:
        comments = (PinnedComment(place="", text="why", dimension=comment_on),)
        return self.add(
            by,
            Reviewed(
                ratings={key: MARKS[mark] for key, mark in ratings.items()},
                decision=ReviewDecision.APPROVE if decision == "A" else ReviewDecision.RETURN,
                comments=comments if comment_on else (),
                seconds=seconds,
            ),
        )

    @property
    def _tick(self) -> int:
        return len(self.nodes) + len(self.entries) + 1

    @property
    def _now(self) -> datetime:
        return self.start + timedelta(hours=self._tick)
