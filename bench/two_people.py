"""Two processes review and edit one SQLite workspace at once; then everything that was acknowledged is counted.

python bench/two_people.py [--seconds 60] [--folder DIR]

Each process is a person with a colleague at the same machine: they edit tasks that the others edit too, save
drafts and effort, write and submit tasks, take what waits, review, answer and revise. A person may be told
that somebody else was first (`Conflict`) or that something is not possible any more (`NotAllowed`), and then
looks again. Nothing else may reach them. Exit code 1 if a row is lost, another error came up, or nobody was
ever in anybody's way, which would prove nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cuecard.annotate.review import workflow
from cuecard.annotate.review.assignment import queue_for, skip, take
from cuecard.annotate.review.comments import answer
from cuecard.annotate.review.reviewing import review
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL
from cuecard.core.contributions import PinnedComment, ReviewDecision, TaskState
from cuecard.core.errors import Conflict, CuecardError, NotAllowed
from cuecard.core.records import Review
from cuecard.core.review import standing_of
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from team_account import check_lawful

TEAMS = (("Ana", "Cy"), ("Bo", "Dee"))
SHARED = ("shared-0", "shared-1")


def make_task(task_id: str, note: str = "") -> Task:
    gold = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}
    data = {
        "id": task_id,
        "title": "T",
        "language": "en",
        "query": "?",
        "notes": note,
        "gold": gold,
    }
    return Task.model_validate(data)


@dataclass
class Work:
    """One process. `log` holds a line for all that was acknowledged, `told` what people were told."""

    ws: Workspace
    names: tuple[str, str]
    dice: random.Random
    log: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    told: Counter[str] = field(default_factory=Counter[str])
    done: Counter[str] = field(default_factory=Counter[str])
    slowest: float = 0.0
    number: int = 0

    def run(self, seconds: float) -> None:
        acts: tuple[tuple[Callable[[str], None], int], ...] = (
            (self.edit_shared, 4),
            (self.write, 2),
            (self.review_next, 5),
            (self.revise, 3),
            (self.type, 4),
            (self.look, 2),
        )
        weights = [weight for _act, weight in acts]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            act = self.dice.choices([act for act, _weight in acts], weights)[0]
            self.number += 1
            begun = time.monotonic()
            try:
                act(self.dice.choice(self.names))
                self.done[act.__name__] += 1
            except (Conflict, NotAllowed) as told:
                self.told[type(told).__name__] += 1
            except CuecardError as error:
                self.told[f"ERROR {error}"] += 1
            self.slowest = max(self.slowest, time.monotonic() - begun)

    def kept(self, **what: Any) -> None:
        self.log.append(what)

    def unique(self) -> str:
        return f"{self.names[0]} {self.number}"

    def save(self, task_id: str, me: str, base: int) -> None:
        saved = self.ws.tasks.save(make_task(task_id, self.unique()), author=me, base=base)
        self.kept(kind="revision", task=task_id, uid=saved.uid, note=saved.task.notes)

    def edit_shared(self, me: str) -> None:
        """On top of what one saw, as the editor does; somebody may have saved in the meantime."""
        task_id = self.dice.choice(SHARED)
        base = self.ws.tasks.revision(task_id).number
        time.sleep(self.dice.random() * 0.03)
        self.save(task_id, me, base)

    def write(self, me: str) -> None:
        task_id = f"{me}-{self.number}".lower()
        self.save(task_id, me, 0)
        self.submit(task_id, me)

    def submit(self, task_id: str, me: str) -> None:
        at = datetime.now(UTC)
        workflow.submit(self.ws, task_id, me, at=at)
        self.entry(task_id, me, at)

    def entry(self, task_id: str, me: str, at: datetime) -> None:
        self.kept(kind="entry", task=task_id, by=me, at=at.isoformat())

    def review_next(self, me: str) -> None:
        lines = queue_for(self.ws, me, EMBEDDED_PROTOCOL, datetime.now(UTC))
        if not lines:
            return
        # Both look at the same first lines, so they reach for the same places.
        task_id = self.dice.choice(lines[:3]).task.id
        at = datetime.now(UTC)
        take(self.ws, task_id, me, EMBEDDED_PROTOCOL, at)
        self.entry(task_id, me, at)
        at = datetime.now(UTC)
        if self.dice.random() < 0.1:
            skip(self.ws, task_id, me, "no time", at)
        else:
            review(self.ws, self.judged(task_id, me, at), at=at)
        self.entry(task_id, me, at)

    def judged(self, task_id: str, me: str, at: datetime) -> Review:
        returns = self.dice.random() < 0.4
        said = (PinnedComment(place="query", text=self.unique()),) if returns else ()
        return Review(
            task_id=task_id,
            revision=self.ws.reviews.standing(task_id).head,
            reviewer=me,
            ratings={d.key: "pass" for d in EMBEDDED_PROTOCOL.dimensions("facts")},
            decision=ReviewDecision.RETURN if returns else ReviewDecision.APPROVE,
            comments=said,
            created_at=at,
        )

    def revise(self, me: str) -> None:
        mine = self.ws.tasks.written_by(me)
        returned = [t.id for t in self.ws.tasks.summaries(state=TaskState.RETURNED) if t.id in mine]
        if not returned:
            return
        task_id = self.dice.choice(returned)
        for comment in self.ws.reviews.comments_for(me, task_id):
            if not comment.resolved:
                at = datetime.now(UTC)
                answer(self.ws, comment, me, "done", turns="resolved", at=at)
                self.entry(task_id, me, at)
        self.save(task_id, me, self.ws.tasks.revision(task_id).number)
        self.submit(task_id, me)

    def type(self, me: str) -> None:
        """The draft that is written while one types, and the time that it took."""
        task_id = self.dice.choice(SHARED)
        self.ws.drafts.save(task_id, me, 1, {"notes": self.unique()})
        self.kept(kind="draft", task=task_id, by=me, note=self.unique())
        self.ws.effort.add(task_id, me, "page", 1, self.unique())
        self.kept(kind="effort", task=task_id, by=me, note=self.unique())

    def look(self, me: str) -> None:
        for task in self.ws.tasks.summaries(viewer=me)[:5]:
            self.ws.reviews.visible_to(me, task.id)
            self.ws.reviews.comments_for(me, task.id)


def work(url: str, names: tuple[str, str], seconds: float, barrier: Any, told: Any) -> None:
    with Workspace.open(url) as ws:
        barrier.wait(60)
        one = Work(ws, names, random.Random(names[0]))
        try:
            one.run(seconds)
        finally:
            told.put((names, one.log, dict(one.told), dict(one.done), one.slowest))


def missing(ws: Workspace, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was acknowledged and is not there."""
    logs = ws.reviews.logs()
    uids = {node.uid for log in logs.values() for node in log.revisions}
    entries = {
        (e.task_id, e.by, e.at.isoformat()) for log in logs.values() for e in log.contributions
    }
    efforts = {(e.task_id, e.person, e.text) for task_id in SHARED for e in ws.effort.of(task_id)}
    last = {(line["task"], line["by"]): line for line in lines if line["kind"] == "draft"}
    lost: list[dict[str, Any]] = []
    for line in lines:
        match line["kind"]:
            case "revision":
                found = line["uid"] in uids
            case "entry":
                found = (line["task"], line["by"], line["at"]) in entries
            case "effort":
                found = (line["task"], line["by"], line["note"]) in efforts
            case _:
                newest = last[line["task"], line["by"]]
                draft = ws.drafts.get(line["task"], line["by"])
                found = draft is not None and draft.data == {"notes": newest["note"]}
        if not found:
            lost.append(line)
    return lost


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        url = str(Path(folder) / "shared.db")
        with Workspace.open(url) as ws:
            for task_id in SHARED:
                ws.tasks.save(make_task(task_id), author=TEAMS[0][0])
        context = multiprocessing.get_context("spawn")
        barrier, told = context.Barrier(len(TEAMS)), context.Queue()
        people = [
            context.Process(target=work, args=(url, names, options.seconds, barrier, told))
            for names in TEAMS
        ]
        for process in people:
            process.start()
        reports = [told.get(timeout=options.seconds + 120) for _ in people]
        for process in people:
            process.join(60)
        with Workspace.open(url) as ws:
            return judge(ws, reports, [process.exitcode for process in people])


def judge(ws: Workspace, reports: list[Any], codes: list[int | None]) -> int:
    lines = [line for _names, log, *_rest in reports for line in log]
    told: Counter[str] = Counter()
    for names, log, heard, done, slowest in reports:
        told.update(heard)
        print(f"{' and '.join(names)}: {len(log)} rows in {done}; told {heard};", end=" ")
        print(f"the slowest act took {slowest * 1000:.0f} ms")
    lost = missing(ws, lines)
    states: Counter[str] = Counter()
    for log in ws.reviews.logs().values():
        standing = standing_of(log)
        check_lawful(standing.history)
        assert (standing.forks, standing.clashes) == ((), ()), standing
        assert sorted(node.number for node in log.revisions) == [*range(1, len(log.revisions) + 1)]
        states[standing.state.value] += 1
    print(f"{len(lines)} rows acknowledged, {len(lost)} lost; tasks: {dict(states)}")
    print(json.dumps(Counter(line["kind"] for line in lines)))
    errors = {text: count for text, count in told.items() if text.startswith("ERROR")}
    for text, count in errors.items():
        print(f"{count} times {text}")
    if lost:
        print("lost:", *lost[:10], sep="\n  ")
    if not told["Conflict"]:
        print("nobody was ever in anybody's way")
    return 1 if lost or errors or any(codes) or not told["Conflict"] else 0


if __name__ == "__main__":
    sys.exit(main())
