"""Who gets which task to review: the queue, leases, skipping, coordinators."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cuecard.annotate.review.assignment import (
    PATIENCE,
    assign,
    lines_of,
    may_review,
    next_line,
    prioritise,
    queue_for,
    renew,
    skip,
    take,
    unassign,
)
from cuecard.annotate.review.queue_rows import CoordinatorLine, candidates, lines_for
from cuecard.annotate.review.reviewing import review
from cuecard.annotate.review.workflow import DIMENSIONS, EMBEDDED_PROTOCOL, ask_third, submit
from cuecard.core.contributions import (
    OnSplit,
    PinnedComment,
    Prioritised,
    ReviewDecision,
    SkillsSet,
    TaskState,
)
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.records import OpenRound, Review, TaskSummary
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

pytestmark = pytest.mark.both_databases

MakeTask = Callable[..., Task]
PROTOCOL = replace(EMBEDDED_PROTOCOL, coordinators=frozenset({"Cleo"}))
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def later(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def put(
    workspace: Workspace, task: Task, at: datetime = START, *, on_split: OnSplit = "return"
) -> None:
    workspace.tasks.save(task, author="Ana")
    protocol = replace(PROTOCOL, on_split=on_split)
    submit(workspace, task.id, "Ana", protocol=protocol, at=at)


def hand_in(
    workspace: Workspace, task_id: str, reviewer: str, at: datetime, *, back: bool = False
) -> TaskState:
    given = Review(
        task_id=task_id,
        revision=workspace.tasks.revision(task_id).number,
        reviewer=reviewer,
        ratings={d.key: "pass" for d in DIMENSIONS["facts"]},
        decision=ReviewDecision.RETURN if back else ReviewDecision.APPROVE,
        comments=(PinnedComment(place="", text="more"),) if back else (),
        created_at=at,
    )
    return review(workspace, given, protocol=PROTOCOL, at=at)


def ids(workspace: Workspace, person: str, now: datetime, **options: bool) -> list[str]:
    return [line.task.id for line in queue_for(workspace, person, PROTOCOL, now, **options)]


def test_a_lease_takes_a_place_until_it_ends(workspace: Workspace, make_task: MakeTask) -> None:
    put(workspace, make_task("t"))
    assert take(workspace, "t", "Bo", PROTOCOL, START) == START + PROTOCOL.lease
    take(workspace, "t", "Dee", PROTOCOL, START)
    assert ids(workspace, "Eve", later(1)) == []
    with pytest.raises(NotAllowed, match="Enough people"):
        take(workspace, "t", "Eve", PROTOCOL, later(1))
    with pytest.raises(NotAllowed, match="worked on"):
        take(workspace, "t", "Ana", PROTOCOL, later(1))
    with pytest.raises(NotAllowed, match="Coordinators"):
        take(workspace, "t", "Cleo", PROTOCOL, later(1))
    # Who has it may hand in; who has it not may only while a place is free.
    log = workspace.reviews.log("t")
    assert may_review(log, "Bo", later(1), PROTOCOL) == ""
    assert "taken the places" in may_review(log, "Eve", later(1), PROTOCOL)
    with pytest.raises(NotAllowed):
        hand_in(workspace, "t", "Eve", later(1))
    # By time alone, the places are free again.
    assert ids(workspace, "Eve", later(73)) == ["t"]
    assert may_review(log, "Bo", later(73), PROTOCOL) == ""
    take(workspace, "t", "Eve", PROTOCOL, later(73))
    hand_in(workspace, "t", "Dee", later(74))
    with pytest.raises(NotAllowed, match="Your time for this task"):
        hand_in(workspace, "t", "Bo", later(75))
    assert hand_in(workspace, "t", "Eve", later(75)) is TaskState.APPROVED


def test_working_keeps_a_lease_and_adds_little(workspace: Workspace, make_task: MakeTask) -> None:
    put(workspace, make_task("t"))
    until = take(workspace, "t", "Bo", PROTOCOL, START)
    entries = len(workspace.reviews.log("t").contributions)
    assert renew(workspace, "t", "Bo", PROTOCOL, later(1)) == until
    assert len(workspace.reviews.log("t").contributions) == entries
    assert renew(workspace, "t", "Bo", PROTOCOL, later(40)) == later(40) + PROTOCOL.lease
    # A lease that ran out is taken anew while there is room, and lost when there is none.
    assert renew(workspace, "t", "Bo", PROTOCOL, later(200)) == later(200) + PROTOCOL.lease
    for name in ("Dee", "Eve"):
        take(workspace, "t", name, PROTOCOL, later(300))
    assert renew(workspace, "t", "Bo", PROTOCOL, later(300)) is None


def test_two_who_reach_for_the_last_place_do_not_both_get_it(
    workspace: Workspace, make_task: MakeTask
) -> None:
    put(workspace, make_task("t"))
    take(workspace, "t", "Bo", PROTOCOL, START)
    outcomes: list[str] = []

    def reach(name: str) -> None:
        try:
            take(workspace, "t", name, PROTOCOL, START)
            outcomes.append("got")
        except NotAllowed:
            outcomes.append("refused")

    threads = [threading.Thread(target=reach, args=(name,)) for name in ("Dee", "Eve", "Fay")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["got", "refused", "refused"]


def test_what_is_skipped_goes_to_others(workspace: Workspace, make_task: MakeTask) -> None:
    put(workspace, make_task("t"))
    take(workspace, "t", "Bo", PROTOCOL, START)
    take(workspace, "t", "Dee", PROTOCOL, START)
    with pytest.raises(NotAllowed, match="reason"):
        skip(workspace, "t", "Bo", " ", START)
    skip(workspace, "t", "Bo", "I know the author's source", later(1))
    assert ids(workspace, "Bo", later(1)) == []
    (line,) = queue_for(workspace, "Bo", PROTOCOL, later(1), with_skipped=True)
    assert (line.skipped, line.places) == (True, 1)
    assert ids(workspace, "Eve", later(1)) == ["t"]
    take(workspace, "t", "Bo", PROTOCOL, later(2))  # a change of mind
    assert ids(workspace, "Bo", later(2)) == ["t"]
    with pytest.raises(NotAllowed):
        skip(workspace, "t", "Ana", "mine", later(2))


def test_the_order_is_mine_priority_last_places_and_age(
    workspace: Workspace, make_task: MakeTask
) -> None:
    for hours, name in enumerate(("old", "half", "leased", "urgent", "mine")):
        put(workspace, make_task(name), later(hours))
    now = later(10)
    hand_in(workspace, "half", "Dee", later(6))
    take(workspace, "leased", "Dee", PROTOCOL, later(6))
    prioritise(workspace, "urgent", "Cleo", 1, PROTOCOL, later(6))
    take(workspace, "mine", "Bo", PROTOCOL, later(6))
    assert ids(workspace, "Bo", now) == ["mine", "urgent", "half", "leased", "old"]
    workspace.reviews.act("old", "Cleo", Prioritised(priority=-2), at=later(7))
    workspace.reviews.set_skills("Bo", ["zh"], [])
    lines = queue_for(workspace, "Bo", PROTOCOL, now)
    assert [line.fits for line in lines] == [False] * 5  # all of them are English
    assert not any(line.task.author for line in lines)
    workspace.reviews.set_skills("Bo", ["en"], ["medicine"])
    medical = make_task("medical").model_copy(update={"domain": "Clinical Medicine"})
    put(workspace, medical, later(9))
    assert ids(workspace, "Bo", now)[:2] == ["mine", "medical"]
    assert ids(workspace, "Ana", now) == ids(workspace, "Cleo", now) == []


def test_reviews_even_out(workspace: Workspace, make_task: MakeTask) -> None:
    for n in range(4):
        put(workspace, make_task(f"t{n}"), START)
        hand_in(workspace, f"t{n}", "Bo", later(1))
    workspace.reviews.set_skills("Dee", [], [])
    put(workspace, make_task("new"), later(2))
    (new,) = queue_for(workspace, "Bo", PROTOCOL, later(3))
    assert not new.turn
    assert next_line([new]) is None
    dees = queue_for(workspace, "Dee", PROTOCOL, later(3))
    assert all(line.turn for line in dees)
    assert next_line(dees) == dees[0]
    # Nothing waits for ever, and reviews of long ago do not count.
    (old,) = queue_for(workspace, "Bo", PROTOCOL, later(2) + PATIENCE)
    assert old.turn
    put(workspace, make_task("newest"), later(24 * 40))
    assert all(line.turn for line in queue_for(workspace, "Bo", PROTOCOL, later(24 * 40)))


def test_one_who_comes_more_often_does_not_end_up_with_more() -> None:
    skills = {name: SkillsSet() for name in ("Bo", "Dee", "Eve", "Fay")}
    taken: dict[str, set[str]] = {f"t{n}": set() for n in range(60)}
    loads: Counter[str] = Counter()

    def pull(person: str) -> None:
        rounds = [a_round(task_id, len(by)) for task_id, by in taken.items() if person not in by]
        line = next_line(lines_of(rounds, person, loads, skills, (), PROTOCOL, START))
        if line is not None:
            taken[line.task.id].add(person)
            loads[person] += 1

    for _turn in range(120):
        for person in ("Bo", "Bo", "Bo", "Dee", "Eve", "Fay"):
            pull(person)
    assert sum(loads.values()) == 120
    assert max(loads.values()) - min(loads.values()) <= 2


def a_round(task_id: str, reviews: int) -> OpenRound:
    task = TaskSummary(
        id=task_id,
        title=task_id,
        family="facts",
        language="en",
        domain="",
        difficulty=None,
        revision=1,
        state=TaskState.IN_REVIEW,
        author="",
        updated_at=START,
    )
    return OpenRound(
        task=task,
        submitted_at=START,
        priority=0,
        reviews=reviews,
        needed=2,
        claims=0,
        mine=None,
        wrote=False,
        reviewed=False,
        released=False,
    )


@pytest.mark.parametrize("on_split", ["third", "return"])
def test_a_third_person_decides_blind_to_both(
    workspace: Workspace, make_task: MakeTask, on_split: OnSplit
) -> None:
    put(workspace, make_task("t"), on_split=on_split)
    hand_in(workspace, "t", "Bo", later(1))
    hand_in(workspace, "t", "Dee", later(2), back=True)
    if on_split == "return":
        assert ids(workspace, "Eve", later(3)) == []
        ask_third(workspace, "t", "Ana", "they read it differently", at=later(3))
    assert ids(workspace, "Bo", later(4)) == ids(workspace, "Dee", later(4)) == []
    (line,) = queue_for(workspace, "Eve", PROTOCOL, later(4))
    assert (line.third, line.places, line.reviews) == (True, 1, 2)
    assert workspace.reviews.visible_to("Eve", "t") == []
    take(workspace, "t", "Eve", PROTOCOL, later(4))
    assert ids(workspace, "Fay", later(4)) == []
    assert hand_in(workspace, "t", "Eve", later(5)) is TaskState.APPROVED


def test_coordinators_assign_and_see_who_reviews_but_not_of_their_own_tasks(
    workspace: Workspace, make_task: MakeTask
) -> None:
    put(workspace, make_task("t"))
    workspace.tasks.save(make_task("own"), author="Cleo")
    submit(workspace, "own", "Cleo", at=START)
    for name in ("Bo", "Dee", "Eve"):
        workspace.people.add(name)
    take(workspace, "own", "Bo", PROTOCOL, START)
    take(workspace, "t", "Bo", PROTOCOL, START)
    workspace.reviews.set_skills("Dee", ["zh"], [])
    found = candidates(workspace, ["t"], "Cleo", PROTOCOL, later(1))
    assert [c.name for c in found] == ["Bo", "Eve", "Dee", "Ana"]
    assert (found[0].has, found[0].load) == (START + PROTOCOL.lease, 2)
    assert not found[2].fits
    assert "worked on" in found[3].obstacle

    until = assign(workspace, "t", "Eve", "Cleo", PROTOCOL, later(1))
    (mine,) = [line for line in queue_for(workspace, "Eve", PROTOCOL, later(1)) if line.mine]
    assert (mine.task.id, mine.mine) == ("t", until)
    with pytest.raises(NotAllowed, match="Enough people"):
        assign(workspace, "t", "Dee", "Cleo", PROTOCOL, later(1))
    with pytest.raises(NotAllowed, match="worked on"):
        assign(workspace, "t", "Ana", "Cleo", PROTOCOL, later(1))
    with pytest.raises(NotAllowed, match="Only a coordinator"):
        assign(workspace, "t", "Dee", "Bo", PROTOCOL, later(1))
    with pytest.raises(NotFound, match="Nobody"):
        assign(workspace, "t", "Nobody", "Cleo", PROTOCOL, later(1))
    with pytest.raises(NotAllowed, match="Only a coordinator"):
        prioritise(workspace, "t", "Bo", 2, PROTOCOL)
    unassign(workspace, "t", "Bo", "Cleo", "on leave", PROTOCOL, later(2))
    assert [name for name, _until in _of(workspace, "t").leases] == ["Eve"]
    after = {c.name: c.skipped for c in candidates(workspace, ["t"], "Cleo", PROTOCOL, later(2))}
    assert after == {"Ana": "", "Bo": "on leave", "Dee": "", "Eve": ""}
    with pytest.raises(NotAllowed, match="does not have"):
        unassign(workspace, "t", "Bo", "Cleo", "on leave", PROTOCOL, later(3))

    own = _of(workspace, "own")
    assert (own.own, own.held, own.leases, own.reviewers) == (True, 1, (), ())
    for attempt in (
        lambda: assign(workspace, "own", "Dee", "Cleo", PROTOCOL, later(2)),
        lambda: candidates(workspace, ["own"], "Cleo", PROTOCOL, later(2)),
        lambda: lines_for(workspace, "Bo", PROTOCOL, later(2)),
        lambda: hand_in(workspace, "t", "Cleo", later(2)),
    ):
        with pytest.raises(NotAllowed):
            attempt()


def _of(workspace: Workspace, task_id: str) -> CoordinatorLine:
    lines = lines_for(workspace, "Cleo", PROTOCOL, later(2))
    return next(line for line in lines if line.task.id == task_id)
