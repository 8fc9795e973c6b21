"""Who learns what from the board."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from cuecard.annotate.review.board import (
    Board,
    BoardTask,
    PersonLoad,
    dimension_labels,
    load_board,
    measure_label,
    seen_by,
)
from cuecard.annotate.review.figures import figures_of
from cuecard.annotate.review.workflow import Protocol
from cuecard.core.contributions import Claimed, ReviewDecision, Reviewed, Submitted, TaskState
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

START = datetime(2026, 3, 2, tzinfo=UTC)
NOW = START + timedelta(hours=50)


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)


@pytest.fixture
def team(workspace: Workspace, make_task: Callable[..., Task]) -> Workspace:
    """`draft` by Ana; `review` by Ana, Ben has handed in, Chen has it; `split` by Dana, returned by Chen
    though Ben approved; `good` by Dana, approved by both. Cora coordinates, Eve does nothing.
    """

    def review(task_id: str, by: str, at: int, decision: ReviewDecision) -> None:
        workspace.reviews.act(task_id, by, Reviewed(ratings={}, decision=decision), at=hour(at))

    approve, back = ReviewDecision
    for task_id, author in (
        ("draft", "Ana"),
        ("review", "Ana"),
        ("split", "Dana"),
        ("good", "Dana"),
    ):
        workspace.tasks.save(make_task(task_id), author=author)
        if task_id != "draft":
            workspace.reviews.act(task_id, author, Submitted(), at=hour(1))
    review("review", "Ben", 2, approve)
    claim = Claimed(person="Chen", until=hour(72))
    workspace.reviews.act("review", "Cora", claim, at=hour(3))
    review("split", "Ben", 4, approve)
    review("split", "Chen", 5, back)
    review("good", "Ben", 6, approve)
    review("good", "Chen", 7, approve)
    return workspace


def look(workspace: Workspace, reader: str) -> tuple[Board, dict[str, BoardTask]]:
    board = load_board(workspace, reader, {"Cora"}, NOW)
    return board, {task.task.id: task for task in board.tasks}


def test_states_and_ages_are_for_all(team: Workspace):
    for reader in ("Ana", "Ben", "Cora", "Eve"):
        board, tasks = look(team, reader)
        assert list(tasks) == ["review", "split", "draft", "good"]
        assert {state.value: count for state, count in board.counts().items()} == {
            "in_review": 1, "returned": 1, "draft": 1, "approved": 1, "retired": 0,
        }  # fmt: skip
        assert tasks["review"].since == hour(1)
        assert tasks["split"].since == hour(5)
        assert tasks["good"].since == hour(7)
        counts = tasks["review"]
        assert (counts.reviews, counts.needed, counts.claims, counts.free) == (1, 2, 1, 0)
        assert tasks["split"].waits_for == ("Dana",)


def test_what_happened_is_told_newest_first(team: Workspace) -> None:
    def told(reader: str, task: str) -> list[tuple[str, str]]:
        return [(one.kind, one.by) for one in look(team, reader)[1][task].latest]

    reviews = [("reviewed", "Chen"), ("reviewed", "Ben")]
    assert told("Dana", "split") == [*reviews, ("submitted", "Dana")]
    both = [("assigned", "Cora"), ("reviewed", "Ben"), ("submitted", "Ana")]
    assert told("Cora", "review") == both
    assert look(team, "Cora")[1]["review"].latest[0].text == "Chen"
    # Who may review it learns nothing of the others; not even the author's name.
    assert all(not by for _kind, by in told("Eve", "review"))


def test_who_is_named_while_a_task_is_in_review(team: Workspace):
    named = {
        "Eve": ((), (), (), ""),
        "Ben": ((), ("Ben",), (), "reviewed"),
        "Chen": ((), (), ("Chen",), "reviewing"),
        "Ana": (("Ana",), (), (), "wrote"),
        "Cora": (("Ana",), ("Ben",), ("Chen",), ""),
    }
    for reader, (authors, reviewed, reviewing, mine) in named.items():
        board, tasks = look(team, reader)
        task = tasks["review"]
        assert task.authors == authors
        assert (task.reviewed, task.reviewing, task.mine) == (reviewed, reviewing, mine)
        assert task.waits_for == reviewing
        assert task.task.author == (authors[0] if authors else "")
        hidden = {"Ana", "Ben", "Chen"}.difference(authors, reviewed, reviewing)
        assert not any(name in task.model_dump_json() for name in hidden)
        assert board.of(TaskState.IN_REVIEW, "Chen") == ((task,) if reviewing else ())


def test_loads_hold_what_the_reader_may_know(team: Workspace):
    whole, _tasks = look(team, "Cora")
    assert whole.complete
    ana = next(task for task in whole.tasks if task.task.id == "draft")
    assert whole.people == (
        PersonLoad(name="Ana", drafts=1, with_reviewers=1, oldest=ana.since),
        PersonLoad(name="Chen", reviews=1, oldest=hour(1)),
        PersonLoad(name="Dana", returned=1, oldest=hour(5)),
        PersonLoad(name="Ben"),
    )
    partly, _tasks = look(team, "Eve")
    assert not partly.complete
    assert [(load.name, load.open, load.with_reviewers) for load in partly.people] == [
        ("Ana", 1, 0), ("Dana", 1, 0), ("Ben", 0, 0), ("Chen", 0, 0),
    ]  # fmt: skip


def test_a_coordinator_does_not_learn_who_reviews_their_own_task(
    team: Workspace, make_task: Callable[..., Task]
):
    team.tasks.save(make_task("own"), author="Cora")
    team.reviews.act("own", "Cora", Submitted(), at=hour(8))
    team.reviews.act("own", "Ben", Claimed(person="Ben", until=hour(72)), at=hour(9))
    _board, tasks = look(team, "Cora")
    assert (tasks["own"].authors, tasks["own"].claims) == (("Cora",), 1)
    assert tasks["own"].reviewing == ()


def test_figures_count_what_their_reader_may_read(team: Workspace):
    read = {
        who: figures_of(seen_by(team, who, {"Cora"})).overall.revisions
        for who in ("Ben", "Chen", "Dana", "Cora", "Ana", "Eve")
    }
    assert read == {"Ben": 2, "Chen": 2, "Dana": 2, "Cora": 2, "Ana": 1, "Eve": 1}


def test_dimensions_go_by_the_labels_of_the_families_that_were_rated() -> None:
    protocol, gold = Protocol(), "Targets are correct"
    rated = {dimension.key for dimension in protocol.dimensions("checkpoints")}
    labels = dimension_labels(protocol, rated)
    assert [labels[key] for key in ("gold", "uniqueness")] == [
        (gold,), ("Question constrains the answer",),
    ]  # fmt: skip
    every = dimension_labels(protocol, {"gold"})  # of no family in full
    assert every == dimension_labels(protocol)
    assert measure_label("gold", labels, short=True) == gold
    assert measure_label("gold", every, short=True) == "Gold is correct …"
    assert measure_label("gold", every).endswith(f" / {gold}")
