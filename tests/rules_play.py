"""Random people at one task: what they try is tried in a workspace and in the model of `review_rules`, and
what everybody can see then is compared with what they may.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from cuecard.annotate.independent_gold.building import only_blind
from cuecard.annotate.review import assignment, workflow
from cuecard.annotate.review.assignment import queue_for
from cuecard.annotate.review.board import load_board
from cuecard.annotate.review.comments import answer, threads_for
from cuecard.annotate.review.reviewing import review, review_sheet
from cuecard.annotate.review.workflow import Protocol
from cuecard.core.contributions import GoldBuilt, PinnedComment, ReviewDecision, Reviewed
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.records import Review
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from review_rules import ACTIONS, AUTHOR, COORDINATOR, LEASE, PEOPLE, Rules
from team_account import check_lawful
from team_cast import START
from verbs_play import run_verb

TASK = "t"
REVIEW_VERBS = (
    *(
        "review --json",
        "review",
        "review --skipped --json",
        "board --json",
        "board",
        "datasheet --json",
    ),
    *("datasheet", "export -o out", "qc --known --json t", "sessions --json", "runs --json"),
)
Step = tuple[str, str, str, int]
"""What is done, by whom, whom it concerns, and which."""
STEPS = {
    "submit": "submit",
    "withdraw": "withdraw",
    "reopen": "reopen",
    "retire": "retire",
    "restore": "restore",
    "ask third": "ask_third",
}


def small_task(note: str = "") -> Task:
    gold = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}
    data = {
        "id": TASK,
        "title": "Seven",
        "language": "en",
        "query": "?",
        "notes": note,
        "gold": gold,
    }
    return Task.model_validate(data)


@dataclass
class Game:
    """`rules` is told of everything that was done to the task in `ws`."""

    ws: Workspace
    rules: Rules
    protocol: Protocol

    @classmethod
    def begin(cls, ws: Workspace) -> Game:
        rules = Rules(now=START)
        ws.tasks.save(small_task(), author=rules.writers[0], base=0, at=START)
        for person in PEOPLE:
            ws.people.add(person)
        return cls(ws, rules, Protocol(coordinators=frozenset({COORDINATOR}), lease=LEASE))

    def step(self, action: str, by: str, other: str, pick: int) -> bool:
        """Try something; whether it was allowed, which must be as the model says."""
        self.rules.now += timedelta(hours=40 if action == "wait" else 1)
        allowed = self.rules.allows(action, by, other, pick)
        before = self.ws.reviews.log(TASK)
        refused = ""
        try:
            self._do(action, by, other, pick)
        except (NotAllowed, Conflict) as error:
            refused = str(error)
        assert (not refused) == allowed, (action, by, other, refused, self.rules)
        if allowed:
            self.rules.apply(action, by, other, pick)
        else:
            assert self.ws.reviews.log(TASK) == before
        standing = self.ws.reviews.standing(TASK)
        assert self.ws.reviews.state(TASK) == standing.state == self.rules.state, (
            action,
            self.rules,
        )
        assert standing.head == len(self.rules.rounds)
        check_lawful(standing.history)
        return allowed

    def likely(self, dice: random.Random) -> Step:
        """Something that is allowed now, if a few tries find it, so that games get far."""
        step: Step = ("wait", AUTHOR, AUTHOR, 0)
        for _ in range(30):
            step = (
                dice.choice(ACTIONS),
                dice.choice(PEOPLE),
                dice.choice(PEOPLE),
                dice.randrange(10),
            )
            if step[0] not in ("save", "wait") and self.rules.allows(*step):
                break
        return step

    def _do(self, action: str, by: str, other: str, pick: int) -> None:
        ws, at = self.ws, self.rules.now
        match action:
            case "save":
                note = f"{len(self.rules.rounds)}"
                ws.tasks.save(small_task(note), author=by, message="because", at=at)
            case "submit" | "submit third":
                split = "third" if action == "submit third" else "return"
                protocol = Protocol(on_split=split, coordinators=self.protocol.coordinators)
                workflow.submit(ws, TASK, by, protocol=protocol, at=at)
            case "withdraw" | "reopen" | "retire" | "restore" | "ask third":
                act = getattr(workflow, STEPS[action])
                act(ws, TASK, by, "a reason", at=at)
            case "approve" | "return":
                review(ws, self._review(action, by), protocol=self.protocol, at=at)
            case "take":
                assignment.take(ws, TASK, by, self.protocol, at)
            case "skip":
                assignment.skip(ws, TASK, by, "no time", at)
            case "assign":
                assignment.assign(ws, TASK, other, by, self.protocol, at)
            case "unassign":
                assignment.unassign(ws, TASK, other, by, "away", self.protocol, at)
            case "prioritise":
                assignment.prioritise(ws, TASK, by, pick % 5 - 2, self.protocol, at)
            case "answer":
                self._answer(by, pick)
            case "build gold":
                gold: dict[str, Any] = small_task().model_dump(mode="json")["gold"]
                guard = only_blind(by, len(self.rules.rounds))
                ws.reviews.act(TASK, by, GoldBuilt(gold=gold), guard=guard, at=at)
            case _:
                pass

    def _review(self, action: str, by: str) -> Review:
        keys = [dimension.key for dimension in self.protocol.dimensions("facts")]
        comments = (PinnedComment(place="query", text="please mend"),) if action == "return" else ()
        return Review(
            task_id=TASK,
            revision=len(self.rules.rounds),
            reviewer=by,
            ratings=dict.fromkeys(keys, "pass"),
            decision=ReviewDecision(action),
            comments=comments,
            created_at=self.rules.now,
        )

    def _answer(self, by: str, pick: int) -> None:
        chosen = self.rules.comment(pick)
        if chosen is None:
            raise NotAllowed("nothing", "there is no comment")
        number, reviewer = chosen
        # The one who wrote it sees it whatever others may.
        comments = self.ws.reviews.comments_for(reviewer, TASK)
        comment = next(c for c in comments if (c.revision, c.by) == (number, reviewer))
        answer(self.ws, comment, by, "done", turns="resolved", at=self.rules.now)

    def look(self, people: Sequence[str] = PEOPLE, *, screens: bool = True) -> None:
        """What the workspace gives a person holds what they may see, and no more; with `screens` also
        what is made of it for them.
        """
        for person in people:
            self._look_as(person, screens)

    def _look_as(self, person: str, screens: bool) -> None:
        ws, rules = self.ws, self.rules
        reviews = ws.reviews.visible_to(person, TASK)
        comments = ws.reviews.comments_for(person, TASK)
        log = ws.reviews.seen_log(person, TASK)
        for number in range(1, len(rules.rounds) + 1):
            wanted = rules.reviewers_seen(person, number)
            given = {r.reviewer for r in reviews if r.revision == number}
            assert given == wanted, (person, number, given, wanted, rules)
            # Who reviewed it once and works on it now is as nameless as the other authors.
            hidden = rules.authors if rules.blind(person) else set[str]()
            named = {name: "" if name in hidden else name for name in wanted}
            asked = {named[name] for name in wanted if (number, name) in rules.comments}
            found = {c.by for c in comments if c.revision == number}
            assert found == asked, (person, number, found, asked, rules)
            entries = [e for e in log.contributions if e.revision == number]
            assert {e.by for e in entries if isinstance(e.body, Reviewed)} == set(named.values())
        assert [line.id for line in ws.reviews.reviewed(person)] == [TASK] * rules.on_list(person)
        told = [reviews, comments, log, self._rounds(person), ws.reviews.reviewed(person)]
        told += [ws.tasks.summaries(viewer=person)]
        if screens:
            told += [threads_for(ws, person, TASK), review_sheet(ws, TASK, person, now=rules.now)]
        if screens and person != COORDINATOR:
            told.append(load_board(ws, person, self.protocol.coordinators, rules.now))
        for name in set(PEOPLE) - rules.names_known(person):
            slips = [thing for thing in told if name in repr(thing)]
            assert not slips, (person, name, slips, rules)

    def look_through_verbs(self, people: Sequence[str] = PEOPLE) -> None:
        """No verb prints or writes a name that a person must not know. Packs do, for the workspaces that they are for."""
        config = f"review: {{coordinators: [{COORDINATOR}]}}\n"
        for person in people:
            hidden = set(PEOPLE) - self.rules.names_known(person)
            for verb in REVIEW_VERBS:
                if person == COORDINATOR and verb.startswith("board"):
                    continue
                told = run_verb(Path(self.ws.public_url), person, verb.split(), config)
                assert told.code in (0, 1), (verb, told.printed)
                text = told.text.replace(config, "")
                slips = sorted(name for name in hidden if name in text)
                assert not slips, (person, verb, slips, self.rules)

    def _rounds(self, person: str) -> Any:
        """The queue, and what it is made from."""
        rules = self.rules
        rounds = self.ws.reviews.open_rounds(person, rules.now)
        assert len(rounds) == (rules.state == "in_review")
        for line in rounds:
            assert line.reviews == len(rules.head.given)
            assert line.needed == rules.head.needed
            assert line.claims == rules.others_holding(person)
            assert (line.mine is not None) == rules.holds(person)
            assert line.wrote == (person in rules.authors)
            assert line.reviewed == (person in rules.head.given)
        queue = queue_for(self.ws, person, self.protocol, rules.now, with_skipped=True)
        assert len(queue) == rules.fit(person), (person, rules)
        possible = {action.value for action in workflow.actions_of(self.ws, TASK, person)}
        assert possible == {
            step for action, step in STEPS.items() if rules.allows(action, person, "", 0)
        }, (person, rules)
        return rounds, queue
