"""What it takes to hand a task in for review."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from cuecard.annotate.review.submitting import NotClean, check_for_review, submit_checked
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL, submit, withdraw
from cuecard.annotate.samples import load_samples
from cuecard.core.contributions import Submitted, TaskState
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.families.graph.gold import Graph
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

TODAY = date(2026, 3, 1)
MakeTask = Callable[..., Task]


def test_a_clean_task_needs_no_reason(workspace: Workspace) -> None:
    task = load_samples()[0]
    workspace.tasks.save(task, author="Ana")
    assert not check_for_review(workspace, task.id, "Ana", TODAY).errors
    submit_checked(workspace, task.id, "Ana", EMBEDDED_PROTOCOL, "finished", today=TODAY)
    assert workspace.reviews.state(task.id) is TaskState.IN_REVIEW
    (entry,) = workspace.reviews.log(task.id).contributions
    assert isinstance(entry.body, Submitted)
    assert entry.body.protocol == EMBEDDED_PROTOCOL.stamp


def test_errors_refuse_and_warnings_take_one_reason_that_is_kept(
    workspace: Workspace, make_task: MakeTask
) -> None:
    warned = make_task("t")
    graph = next(t for t in load_samples() if isinstance(t.gold, Graph))
    assert isinstance(graph.gold, Graph)
    twice = (*graph.gold.triples, graph.gold.triples[0])
    gold = graph.gold.model_copy(update={"triples": twice})
    wrong = graph.model_copy(update={"id": "u", "gold": gold})
    for task in (warned, wrong):
        workspace.tasks.save(task, author="Ana")
    with pytest.raises(NotClean, match="Errors") as refused:
        submit_checked(workspace, "u", "Ana", EMBEDDED_PROTOCOL, "it is fine", today=TODAY)
    assert {finding.severity for finding in refused.value.findings} == {"error"}
    with pytest.raises(NotClean, match="reason") as refused:
        submit_checked(workspace, "t", "Ana", EMBEDDED_PROTOCOL, "  ", today=TODAY)
    codes = tuple(sorted({finding.code for finding in refused.value.findings}))
    assert workspace.reviews.state("t") is TaskState.DRAFT
    with pytest.raises(NotAllowed, match="Only an author"):
        submit_checked(workspace, "t", "Bo", EMBEDDED_PROTOCOL, "because", today=TODAY)
    move = submit_checked(workspace, "t", "Ana", EMBEDDED_PROTOCOL, "because", today=TODAY)
    assert move.reason == "because"
    (entry,) = workspace.reviews.log("t").contributions
    assert isinstance(entry.body, Submitted)
    assert entry.body.warnings == codes


def test_only_the_revision_that_was_checked_is_handed_in(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task("t"), author="Ana")
    workspace.tasks.save(make_task("t", "more"), author="Ana")
    with pytest.raises(Conflict, match="moved on"):
        submit(workspace, "t", "Ana", revision=1)


def test_an_answer_to_warnings_holds_for_the_next_submission(
    workspace: Workspace, make_task: MakeTask
) -> None:
    task = make_task("t")
    workspace.tasks.save(task, author="Ann")
    submit_checked(workspace, task.id, "Ann", EMBEDDED_PROTOCOL, "because", today=TODAY)
    withdraw(workspace, task.id, "Ann", "a word was wrong")
    workspace.tasks.save(task.model_copy(update={"title": "Another title"}), author="Ann")
    checked = check_for_review(workspace, task.id, "Ann", TODAY)
    assert checked.warnings
    assert not checked.unanswered
    move = submit_checked(workspace, task.id, "Ann", EMBEDDED_PROTOCOL, today=TODAY)
    assert move.reason == "because"
    withdraw(workspace, task.id, "Ann", "again")
    move = submit_checked(workspace, task.id, "Ann", EMBEDDED_PROTOCOL, "better said", today=TODAY)
    assert move.reason == "better said"
