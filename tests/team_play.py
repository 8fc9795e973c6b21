"""A team at work, without a screen: people write, submit, take, review, skip, answer, revise, in rounds.

The same script runs on one database that all share, and on one for each person with packed files that go
around between its steps. What people do follows from the seed, the task and what they can see, never
from the order in which things were stored; the clock is simulated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pydantic import JsonValue

from cuecard.annotate.review import workflow
from cuecard.annotate.review.assignment import assign, prioritise, queue_for, skip, take, unassign
from cuecard.annotate.review.comments import answer
from cuecard.annotate.review.reviewing import review
from cuecard.core.contributions import (
    Action,
    Commented,
    PinnedComment,
    QcDecided,
    Rating,
    ReviewDecision,
    TaskState,
)
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.records import Review
from cuecard.store.workspace import Workspace
from team_cast import COORDINATOR, DOMAINS, START, Stage, Team, make_task


@dataclass
class Clock:
    now: datetime = START

    def tick(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@dataclass
class Play:
    """`tasks` tasks through `rounds` rounds. `after` is called behind every step with its name."""

    stage: Stage
    team: Team
    tasks: int
    rounds: int
    seed: int = 5
    quota: int = 0
    after: Callable[[str], None] = lambda step: None
    clock: Clock = field(default_factory=Clock)
    acts: int = 0

    def run(self) -> None:
        for member in self.team.reviewers():
            ws = self.stage.at(member.name)
            ws.reviews.set_skills(member.name, (), (member.reviews,), at=self.clock.tick())
        self._done("skills")
        for number in range(self.rounds):
            ids = list(self.ids())
            writers = {self.author(index, domain) for index, _id, domain in ids}
            self._each("write", number, sorted(writers), self._write)
            helped = [task for task in ids if self._is_helped(number, task[1])]
            helpers = {self.author(index, domain, helper=True) for index, _id, domain in helped}
            self._each("help", number, sorted(helpers), self._help)
            self._each("coordinate", number, [COORDINATOR], self._coordinate)
            for sitting in ("first", "second"):
                for turn in range(3):
                    pullers = [m.name for m in self.team.reviewers() if m.turn == turn]
                    self._each(f"{sitting} pull {turn}", number, pullers, self._pull)
                reviewers = [member.name for member in self.team.reviewers()]
                act = self._review_some if sitting == "first" else self._review_all
                self._each(f"{sitting} review", number, reviewers, act)
                # What was taken and left lying is free again.
                self.clock.now += self.team.protocol.lease + timedelta(hours=1)
            self._each("decide", number, [COORDINATOR], self._decide)

    def _each(
        self,
        step: str,
        number: int,
        people: Sequence[str],
        act: Callable[[Workspace, str, int], None],
    ) -> None:
        for person in people:
            act(self.stage.at(person), person, number)
        self._done(f"{number}: {step}")

    def _done(self, step: str) -> None:
        self.stage.meet()
        self.after(step)

    def _dice(self, *words: object) -> random.Random:
        return random.Random("/".join(map(str, (self.seed, *words))))

    def _tick(self) -> datetime:
        self.acts += 1
        return self.clock.tick()

    def ids(self) -> Iterator[tuple[int, str, str]]:
        """Number, id and domain of every task there will be."""
        domains = [name for name in DOMAINS if self.team.reviewers(name)]
        for index in range(self.tasks):
            yield index, f"t{index:03}", domains[index % len(domains)]

    def author(self, index: int, domain: str, helper: bool = False) -> str:
        writers = self.team.writers(domain)
        return writers[(index // len(DOMAINS) + helper) % len(writers)]

    # What authors do.

    def _write(self, ws: Workspace, person: str, number: int) -> None:
        for index, task_id, domain in self.ids():
            if self.author(index, domain) == person:
                self._write_one(ws, person, number, index, task_id, domain)

    def _write_one(
        self, ws: Workspace, person: str, number: int, index: int, task_id: str, domain: str
    ) -> None:
        dice = self._dice("write", number, task_id)
        try:
            state = ws.reviews.state(task_id)
        except NotFound:
            # Most tasks are there from the start, some come later.
            if number >= (0, 0, 0, 1, 2)[index % 5] or number == self.rounds - 1:
                self._begin(ws, person, index, task_id, domain, submits=dice.random() < 0.95)
            return
        chance = dice.random()
        match state:
            case TaskState.DRAFT:
                self._revise(ws, person, task_id, f"round {number}")
            case TaskState.RETURNED if chance < 0.05:
                workflow.retire(ws, task_id, person, "not worth mending", at=self._tick())
            case TaskState.RETURNED if Action.ASK_THIRD in workflow.actions_of(ws, task_id, person):
                workflow.ask_third(ws, task_id, person, "they differ", at=self._tick())
            case TaskState.RETURNED if not self._is_helped(number, task_id):
                self._answer_all(ws, person, task_id)
                self._revise(ws, person, task_id, f"mended in round {number}")
            case TaskState.APPROVED if chance < 0.08:
                workflow.reopen(ws, task_id, person, "a source is gone", at=self._tick())
                self._revise(ws, person, task_id, f"reopened in round {number}")
            case TaskState.APPROVED if chance < 0.14:
                workflow.retire(
                    ws, task_id, person, f"{person} found it elsewhere", at=self._tick()
                )
            case TaskState.IN_REVIEW if chance < 0.15:
                workflow.withdraw(ws, task_id, person, "too early", at=self._tick())
            case TaskState.RETIRED if chance < 0.4:
                workflow.restore(ws, task_id, person, at=self._tick())
            case _:
                pass

    def _begin(
        self, ws: Workspace, person: str, index: int, task_id: str, domain: str, submits: bool
    ) -> None:
        ws.tasks.save(make_task(index, domain), author=person, base=0, at=self._tick())
        dice = self._dice("effort", task_id)
        ws.effort.add(task_id, person, "time", 60.0 * dice.randint(4, 40))
        for page in range(dice.randint(2, 4)):
            ws.effort.add(task_id, person, "page", 1, f"https://{domain}.example.org/{page}")
        if submits:
            self._submit(ws, person, task_id)

    def _submit(self, ws: Workspace, person: str, task_id: str) -> None:
        # Some rounds go to a third person by themselves when two disagree, others when it is asked for.
        alone = self._dice("split", task_id).random() < 0.5
        protocol = replace(self.team.protocol, on_split="third" if alone else "return")
        workflow.submit(ws, task_id, person, protocol=protocol, at=self._tick())

    def _revise(self, ws: Workspace, person: str, task_id: str, note: str) -> None:
        head = ws.tasks.revision(task_id)
        task = head.task.model_copy(update={"notes": f"{head.task.notes}\n{note}".strip()})
        ws.tasks.save(task, author=person, message=note, base=head.number, at=self._tick())
        self._submit(ws, person, task_id)

    def _answer_all(self, ws: Workspace, person: str, task_id: str) -> None:
        for comment in ws.reviews.comments_for(person, task_id):
            if not comment.resolved:
                answer(ws, comment, person, "Done.", turns="resolved", at=self._tick())

    def _is_helped(self, number: int, task_id: str) -> bool:
        return self._dice("help", number, task_id).random() < 0.2

    def _help(self, ws: Workspace, person: str, number: int) -> None:
        """Somebody else mends what the author leaves to them."""
        for index, task_id, domain in self.ids():
            if self.author(index, domain, helper=True) != person:
                continue
            if not self._is_helped(number, task_id):
                continue
            try:
                returned = ws.reviews.state(task_id) is TaskState.RETURNED
            except NotFound:
                continue
            if returned:
                self._revise_as_helper(ws, person, number, task_id)

    def _revise_as_helper(self, ws: Workspace, person: str, number: int, task_id: str) -> None:
        head = ws.tasks.revision(task_id)
        task = head.task.model_copy(update={"notes": f"{head.task.notes}\nhelped {number}".strip()})
        ws.tasks.save(task, author=person, message="helped", base=head.number, at=self._tick())
        self._answer_all(ws, person, task_id)
        self._submit(ws, person, task_id)

    # What the coordinator does.

    def _coordinate(self, ws: Workspace, person: str, number: int) -> None:
        protocol = self.team.protocol
        for line in ws.reviews.open_rounds(person, self.clock.now):
            task_id = line.task.id
            dice = self._dice("coordinate", number, task_id)
            if dice.random() < 0.1:
                prioritise(ws, task_id, person, dice.choice((-1, 1, 2)), protocol, self._tick())
            if dice.random() < 0.2:
                chosen = dice.choice(self.team.reviewers(line.task.domain)).name
                try:
                    assign(ws, task_id, chosen, person, protocol, self._tick())
                except NotAllowed:
                    continue
                if dice.random() < 0.2:
                    unassign(ws, task_id, chosen, person, "is away", protocol, self._tick())

    def _decide(self, ws: Workspace, person: str, number: int) -> None:
        for line in ws.tasks.summaries(state=TaskState.APPROVED):
            dice = self._dice("decide", number, line.id)
            if dice.random() < 0.15:
                verdict = dice.choice(("keep", "keep", "revise", "remove"))
                signals: dict[str, JsonValue] = {
                    "leaked": dice.choice(("clear", "some", "most")),
                    "shallow": "open",
                }
                rules = ("glimpsed",) if signals["leaked"] != "clear" else ("nothing_so_far",)
                body = QcDecided(verdict=verdict, proposed="keep", signals=signals, rules=rules)
                ws.reviews.act(line.id, person, body, at=self._tick())

    # What reviewers do.

    def _pull(self, ws: Workspace, person: str, number: int) -> None:
        quota = self.quota or 2 * self.tasks // len(self.team.reviewers()) + 1
        lines = queue_for(ws, person, self.team.protocol, self.clock.now)
        for line in [line for line in lines if line.fits and line.mine is None][:quota]:
            take(ws, line.task.id, person, self.team.protocol, self._tick())

    def _review_some(self, ws: Workspace, person: str, number: int) -> None:
        self._review(ws, person, number, idle=0.15)

    def _review_all(self, ws: Workspace, person: str, number: int) -> None:
        self._review(ws, person, number, idle=0.0)

    def _review(self, ws: Workspace, person: str, number: int, idle: float) -> None:
        for line in ws.reviews.open_rounds(person, self.clock.now):
            if line.mine is None:
                continue
            dice = self._dice("review", number, line.task.id, person, idle)
            chance = dice.random()
            if chance < idle / 2:
                skip(ws, line.task.id, person, "I know the author's work", self._tick())
            elif chance >= idle:
                self._judge(ws, person, line.task.id, dice)

    def _judge(self, ws: Workspace, person: str, task_id: str, dice: random.Random) -> None:
        revision = ws.tasks.revision(task_id)
        protocol = self.team.protocol
        keys = [d.key for d in protocol.dimensions(revision.task.family)]
        # The quality is the revision's; reviewers see it more or less sharply.
        bad = self._dice("quality", task_id, revision.task.notes).random() < 0.4
        sees = bad if dice.random() < 0.85 else not bad
        ratings: dict[str, Rating] = dict.fromkeys(keys, "pass")
        comments: tuple[PinnedComment, ...] = ()
        if sees:
            failed = dice.choice(keys)
            ratings[failed] = "fail"
            comments = (PinnedComment(place="query", text=f"{failed} fails", dimension=failed),)
        elif dice.random() < 0.2:
            ratings[dice.choice(keys)] = "cannot_judge"
        if dice.random() < 0.1:
            body = Commented(place="title", text=f"seen by somebody on {self.clock.now:%d %B}")
            ws.reviews.act(task_id, person, body, at=self._tick())
        given = Review(
            task_id=task_id,
            revision=revision.number,
            reviewer=person,
            ratings=ratings,
            decision=ReviewDecision.RETURN if sees else ReviewDecision.APPROVE,
            comments=comments,
            seconds=60.0 * dice.randint(2, 30),
            created_at=self.clock.now,
        )
        review(ws, given, protocol=protocol, at=self._tick())
