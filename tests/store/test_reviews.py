"""Contributions in the store; above all, that blind means blind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from cuecard.core.contributions import (
    Answered,
    Claimed,
    Commented,
    Contribution,
    GoldBuilt,
    Released,
    Submitted,
    TaskState,
    ThirdAsked,
    contribution_uid,
)
from cuecard.core.errors import Conflict, NotAllowed, NotFound
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

MakeTask = Callable[..., Task]
HandIn = Callable[..., Contribution]
NOW = datetime(2026, 1, 2, tzinfo=UTC)
EVERYBODY = ("Ann", "Cy", "Di", "Eve", "")


@pytest.fixture
def in_review(workspace: Workspace, make_task: MakeTask) -> Workspace:
    workspace.tasks.save(make_task(), author="Ann", message="secret")
    workspace.reviews.act("t", "Ann", Submitted())
    return workspace


def all_see(*names: str) -> dict[str, list[str]]:
    return {person: list(names) for person in EVERYBODY}


def readers(workspace: Workspace, revision: int = 1) -> dict[str, list[str]]:
    seen = {p: workspace.reviews.visible_to(p, "t", revision) for p in EVERYBODY}
    return {person: [review.reviewer for review in found] for person, found in seen.items()}


def test_a_guard_decides_with_the_whole_log_and_nothing_is_written_against_it(
    in_review: Workspace, hand_in: HandIn
) -> None:
    hand_in("Cy")
    seen: list[TaskLog] = []

    def refuse(log: TaskLog) -> None:
        seen.append(log)
        raise NotAllowed("no", "never")

    before = in_review.reviews.log("t")
    with pytest.raises(NotAllowed):
        in_review.reviews.act("t", "Zoe", Commented(place="", text="hi"), guard=refuse)
    assert seen == [before] == [in_review.reviews.log("t")]
    assert not in_review.people.exists("Zoe")
    for absent in ({"revision": 2}, {"task_id": "absent"}):
        with pytest.raises(NotFound):
            hand_in("Cy", **absent)
    with pytest.raises(NotFound):
        in_review.reviews.state("absent")


def test_an_entry_is_named_by_what_it_says_and_comes_back_as_it_was(
    in_review: Workspace, hand_in: HandIn
) -> None:
    entry = hand_in("Cy")
    log = in_review.reviews.log("t")
    assert log.contributions[-1] == entry
    node = log.revisions[0]
    assert entry.uid == contribution_uid("t", node.uid, "Cy", entry.at, entry.tick, entry.body)
    assert entry.tick > max(node.tick, *(other.tick for other in log.contributions[:-1]))
    assert in_review.reviews.standing("t") == standing_of(log)
    [review] = in_review.reviews.visible_to("Cy", "t")
    assert (review.uid, review.comments) == (entry.uid, entry.body.comments)


def test_one_review_per_person_and_revision(in_review: Workspace, hand_in: HandIn) -> None:
    hand_in("Cy")
    with pytest.raises(Conflict):
        hand_in("Cy", "return")
    assert in_review.reviews.counts("t", 1) == 1


def test_nobody_sees_anothers_review_before_the_second_is_in(
    in_review: Workspace, hand_in: HandIn
) -> None:
    entry = hand_in("Cy")
    assert readers(in_review) == {**all_see(), "Cy": ["Cy"]}
    assert [c.text for c in in_review.reviews.comments_for("Cy", "t")] == ["[red]right?[/]", "好"]
    for person in ("Ann", "Di", "Eve"):
        assert in_review.reviews.comments_for(person, "t") == []
        assert entry not in in_review.reviews.seen_log(person, "t").contributions
    hand_in("Di")
    assert readers(in_review) == all_see("Cy", "Di")
    assert in_review.reviews.state("t") is TaskState.APPROVED


def test_as_long_as_two_disagree_only_the_parties_read_why(
    in_review: Workspace, hand_in: HandIn
) -> None:
    returned = hand_in("Cy", "return")
    hand_in("Di")
    both = ["Cy", "Di"]
    assert readers(in_review) == {"Ann": both, "Cy": both, "Di": both, "Eve": [], "": []}
    in_review.reviews.act("t", "Ann", Answered(comment=f"{returned.uid}#0", text="It is right."))
    in_review.reviews.act("t", "Ann", ThirdAsked(reason="Cy is wrong"))
    assert in_review.reviews.state("t") is TaskState.IN_REVIEW
    seen = {entry.body.kind for entry in in_review.reviews.seen_log("Eve", "t").contributions}
    assert seen == {"submitted"}
    hand_in("Eve")
    assert in_review.reviews.state("t") is TaskState.APPROVED
    assert readers(in_review) == all_see("Cy", "Di", "Eve")
    [comment, _other] = [c for c in in_review.reviews.comments_for("", "t") if c.by == "Cy"]
    assert [(a.by, a.text) for a in comment.answers] == [("Ann", "It is right.")]


def test_a_finished_revision_does_not_open_the_next(
    in_review: Workspace, make_task: MakeTask, hand_in: HandIn
) -> None:
    for name in ("Cy", "Di"):
        hand_in(name)
    in_review.tasks.save(make_task(title="v2"), author="Ann", base=1)
    assert in_review.reviews.state("t") is TaskState.DRAFT
    in_review.reviews.act("t", "Ann", Submitted())
    hand_in("Di", revision=2)
    seen = [(r.revision, r.reviewer) for r in in_review.reviews.visible_to("Cy", "t")]
    assert seen == [(1, "Cy"), (1, "Di")]
    assert in_review.reviews.visible_to("Cy", "t", 2) == []


def test_leases_are_counted_for_others_and_named_for_their_owner(
    in_review: Workspace, hand_in: HandIn
) -> None:
    reviews = in_review.reviews
    until = NOW + timedelta(days=3)
    reviews.act("t", "Cy", Claimed(person="Cy", until=until), at=NOW)
    reviews.act("t", "Boss", Claimed(person="Di", until=until), at=NOW)
    reviews.act("t", "Eve", Released(person="Eve", reason="not mine"), at=NOW)

    def look(person: str, now: datetime = NOW) -> tuple[int, bool, bool]:
        [found] = reviews.open_rounds(person, now)
        assert found.task.author == ""
        return found.claims, found.mine == until, found.released

    assert look("Cy") == look("Di") == (1, True, False)
    assert look("Eve") == (2, False, True)
    assert look("Eve", until) == (0, False, True)
    kinds = {p: [c.body.kind for c in reviews.seen_log(p, "t").contributions] for p in EVERYBODY}
    assert kinds["Ann"] == kinds[""] == ["submitted"]
    assert kinds["Cy"] == kinds["Di"] == ["submitted", "claimed"]
    assert kinds["Eve"] == ["submitted", "released"]
    hand_in("Cy")
    [found] = reviews.open_rounds("Cy", NOW)
    assert (found.reviewed, found.mine, found.reviews, found.claims) == (True, None, 1, 1)


def test_an_independent_gold_is_for_its_maker_and_the_authors(in_review: Workspace) -> None:
    gold = in_review.reviews.act("t", "Eve", GoldBuilt(gold={"family": "graph", "triples": []}))

    def seen(person: str) -> bool:
        return gold in in_review.reviews.seen_log(person, "t").contributions

    assert [seen(p) for p in EVERYBODY] == [True, False, False, True, False]
    in_review.reviews.act("t", "Di", GoldBuilt(gold={"family": "graph", "triples": []}))
    assert seen("Di")


def test_authors_are_masked_while_a_task_is_in_review(
    in_review: Workspace, make_task: MakeTask, hand_in: HandIn
) -> None:
    def authors(person: str) -> tuple[str, str]:
        [line] = in_review.tasks.summaries(viewer=person)
        log = in_review.reviews.seen_log(person, "t")
        assert in_review.reviews.seen_logs(person) == {"t": log}
        assert log.contributions[0].by == line.author
        return line.author, in_review.reviews.seen_log(person, "t").revisions[0].authors[0]

    assert authors("Ann") == ("Ann", "Ann")
    assert authors("Cy") == ("", "")
    for name in ("Cy", "Di"):
        hand_in(name)
    assert authors("Cy") == authors("Eve") == ("Ann", "Ann")
    assert in_review.tasks.written_by("Ann") == {"t"}


def test_what_is_open_of_one_task_opens_no_other(
    in_review: Workspace, make_task: MakeTask, hand_in: HandIn
) -> None:
    for task_id in ("s", "u"):
        in_review.tasks.save(make_task(task_id), author="Bo", message="secret")
        in_review.reviews.act(task_id, "Bo", Submitted())
        for name in ("Cy", "Di"):
            hand_in(name, task_id=task_id)
    hand_in("Cy")
    assert in_review.reviews.seen_log("Cy", "t").revisions[0].authors == ("",)
    assert readers(in_review) == {p: ["Cy"] if p == "Cy" else [] for p in EVERYBODY}


def test_what_people_review_is_what_they_said_last(workspace: Workspace) -> None:
    workspace.reviews.set_skills("Cy", ["zh"], ["history"], at=NOW)
    workspace.reviews.set_skills("Cy", ["zh"], ["history"], at=NOW)
    workspace.reviews.set_skills("Cy", ["en"], at=NOW + timedelta(hours=1))
    skills = workspace.reviews.skills()
    assert (skills["Cy"].languages, skills["Cy"].domains) == (("en",), ())
