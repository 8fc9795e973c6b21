"""What waits for a person, and what of theirs waits for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cuecard.annotate.review.assignment import skip, take
from cuecard.annotate.review.reviewing import review
from cuecard.annotate.review.workflow import DIMENSIONS, EMBEDDED_PROTOCOL, submit
from cuecard.annotate.waiting import pending_for
from cuecard.core.contributions import PinnedComment, ReviewDecision
from cuecard.core.engine.events import Limits, RunState
from cuecard.core.records import Review
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
PROTOCOL = replace(EMBEDDED_PROTOCOL, coordinators=frozenset({"Cleo"}))
MakeTask = Callable[..., Task]


def hours(n: float) -> datetime:
    return START + timedelta(hours=n)


def returned(task_id: str, reviewer: str, at: datetime) -> Review:
    return Review(
        task_id=task_id,
        revision=1,
        reviewer=reviewer,
        ratings={d.key: "pass" for d in DIMENSIONS["facts"]},
        decision=ReviewDecision.RETURN,
        comments=(PinnedComment(place="query", text="which?"),),
        created_at=at,
    )


def test_everybody_sees_their_side_of_one_review(workspace: Workspace, make_task: MakeTask) -> None:
    workspace.tasks.save(make_task("t"), author="Ana")
    submit(workspace, "t", "Ana", at=hours(0))
    take(workspace, "t", "Bo", PROTOCOL, hours(1))

    def waits(person: str, at: datetime):
        return pending_for(workspace, person, PROTOCOL, at)

    (at_hand,) = waits("Bo", hours(2)).at_hand
    assert (at_hand.until, at_hand.begun) == (hours(1) + PROTOCOL.lease, False)
    (own,) = waits("Ana", hours(2)).with_others
    assert (own.waits_for, own.reviews, own.needed, own.held) == ("reviewers", 0, 2, 1)
    assert own.since == hours(0)
    assert waits("Ana", hours(2)).total == 0
    assert [task.id for task in waits("Dee", hours(2)).to_review] == ["t"]
    cleo = waits("Cleo", hours(2))
    assert (cleo.to_review, cleo.to_assign, cleo.total) == ((), 1, 1)
    skip(workspace, "t", "Dee", "no time", hours(2))
    assert waits("Dee", hours(3)).total == 0

    review(workspace, returned("t", "Bo", hours(3)), protocol=PROTOCOL, at=hours(3))
    (done,) = waits("Bo", hours(4)).with_others
    assert (done.waits_for, done.task.author) == ("reviewer", "")
    review(workspace, returned("t", "Eve", hours(5)), protocol=PROTOCOL, at=hours(5))
    ana = waits("Ana", hours(6))
    assert [task.id for task in ana.returned] == ["t"]
    assert (ana.comments, ana.returned_at) == ({"t": 2}, {"t": hours(5)})
    (theirs,) = waits("Bo", hours(6)).with_others
    assert (theirs.waits_for, theirs.since) == ("author", hours(5))


def test_what_was_worked_on_and_saved_waits_to_be_submitted(
    workspace: Workspace, make_task: MakeTask
) -> None:
    for name in ("brought", "worked", "again", "open"):
        workspace.tasks.save(make_task(name), author="Ana")
    for name in ("worked", "open"):
        workspace.effort.add(name, "Ana", "time", 60)
    workspace.tasks.save(make_task("again", "more"), author="Ana")
    workspace.drafts.save("open", "Ana", 1, make_task("open").model_dump(mode="json"))
    waiting = pending_for(workspace, "Ana", PROTOCOL)
    assert {task.id for task in waiting.to_submit} == {"worked", "again"}
    assert pending_for(workspace, "Bo", PROTOCOL).to_submit == ()


def test_a_paused_run_waits_as_one_under_way_does(workspace: Workspace) -> None:
    states = (RunState.RUNNING, RunState.PAUSED, RunState.DONE, RunState.CANCELLED)
    for state in states:
        run = workspace.runs.create(
            name=state.value, kind="grid", created_by="Ana", samples=1, limits=Limits()
        )
        workspace.runs.set_state(run.id, state)
    waits = pending_for(workspace, "Ana", PROTOCOL, START)
    assert {run.name for run in waits.running} == {"running", "paused"}
    assert [run.name for run in workspace.runs.all(unfinished=True)] == ["running"]
