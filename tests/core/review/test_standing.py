"""Where a task stands is a function of the set of entries, and of nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.contributions import (
    TRANSITIONS,
    Action,
    Body,
    Contribution,
    Prioritised,
    Reopened,
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
    Submitted,
    TaskState,
    ThirdAsked,
    Withdrawn,
    contribution_uid,
    revision_uid,
)
from cuecard.core.review import RevisionNode, TaskLog, authors_until, standing_of, tips_of

START = datetime(2026, 1, 2, tzinfo=UTC)
APPROVE = Reviewed(ratings={}, decision=ReviewDecision.APPROVE)
RETURN = Reviewed(ratings={}, decision=ReviewDecision.RETURN)


def node(number: int, *parents: str, author: str = "ann", tick: int | None = None) -> RevisionNode:
    return RevisionNode(
        number=number,
        uid=revision_uid("t", f"content {number}", parents),
        hash=f"content {number}",
        parents=parents,
        authors=(author,),
        at=START,
        tick=number if tick is None else tick,
    )


FIRST = node(1)


def entries(*steps: tuple[str, Body], revision: RevisionNode = FIRST) -> list[Contribution]:
    found: list[Contribution] = []
    for index, (by, body) in enumerate(steps):
        at, tick = START + timedelta(minutes=index), revision.tick + 1 + index
        found.append(
            Contribution(
                uid=contribution_uid("t", revision.uid, by, at, tick, body),
                task_id="t",
                revision=revision.number,
                by=by,
                at=at,
                tick=tick,
                body=body,
            )
        )
    return found


def log_of(contributions: Sequence[Contribution], *revisions: RevisionNode) -> TaskLog:
    return TaskLog(task_id="t", revisions=revisions or (FIRST,), contributions=tuple(contributions))


SUBMIT = ("ann", Submitted())
THIRD = ("ann", Submitted(on_split="third"))
CASES: dict[str, tuple[list[tuple[str, Body]], TaskState, int, str]] = {
    "nothing": ([], TaskState.DRAFT, 2, "nobody"),
    "one review": ([SUBMIT, ("bob", RETURN)], TaskState.IN_REVIEW, 2, "nobody"),
    "both approve": ([SUBMIT, ("bob", APPROVE), ("cy", APPROVE)], TaskState.APPROVED, 2, "all"),
    "both return": ([SUBMIT, ("bob", RETURN), ("cy", RETURN)], TaskState.RETURNED, 2, "all"),
    "split": ([SUBMIT, ("bob", RETURN), ("cy", APPROVE)], TaskState.RETURNED, 2, "party"),
    "split, a third decides": (
        [THIRD, ("bob", RETURN), ("cy", APPROVE)],
        TaskState.IN_REVIEW,
        3,
        "party",
    ),
    "the third approves": (
        [THIRD, ("bob", RETURN), ("cy", APPROVE), ("di", APPROVE)],
        TaskState.APPROVED,
        3,
        "all",
    ),
    "the third returns": (
        [THIRD, ("bob", RETURN), ("cy", APPROVE), ("di", RETURN)],
        TaskState.RETURNED,
        3,
        "all",
    ),
    "a third was asked": (
        [
            SUBMIT,
            ("bob", RETURN),
            ("cy", APPROVE),
            ("ann", ThirdAsked(reason="x")),
            ("di", APPROVE),
        ],
        TaskState.APPROVED,
        3,
        "all",
    ),
    "a late return undoes": (
        [SUBMIT, ("bob", APPROVE), ("cy", APPROVE), ("di", RETURN)],
        TaskState.RETURNED,
        2,
        "all",
    ),
    "no approval without a third that was asked": (
        [SUBMIT, ("bob", RETURN), ("cy", APPROVE), ("di", APPROVE)],
        TaskState.RETURNED,
        2,
        "all",
    ),
    "withdrawn, reviewed elsewhere, submitted": (
        [
            SUBMIT,
            ("bob", APPROVE),
            ("ann", Withdrawn(reason="x")),
            ("cy", APPROVE),
            ("ann", Submitted()),
        ],
        TaskState.APPROVED,
        2,
        "all",
    ),
    "one's own review": (
        [SUBMIT, ("ann", APPROVE), ("cy", APPROVE)],
        TaskState.IN_REVIEW,
        2,
        "nobody",
    ),
    "twice the same person": (
        [SUBMIT, ("cy", APPROVE), ("cy", RETURN)],
        TaskState.IN_REVIEW,
        2,
        "nobody",
    ),
    "reopened": (
        [SUBMIT, ("bob", APPROVE), ("cy", APPROVE), ("ann", Reopened(reason="x"))],
        TaskState.DRAFT,
        2,
        "all",
    ),
    "retired and restored": (
        [SUBMIT, ("ann", Retired()), ("ann", Restored()), ("bob", APPROVE)],
        TaskState.IN_REVIEW,
        2,
        "nobody",
    ),
    "retired": ([("ann", Retired(reason="x"))], TaskState.RETIRED, 2, "nobody"),
}


@pytest.mark.parametrize("name", CASES)
def test_known_courses(name: str) -> None:
    steps, state, needed, seen = CASES[name]
    standing = standing_of(log_of(entries(*steps)))
    assert (standing.state, standing.now.needed, standing.now.seen) == (state, needed, seen)


def test_what_does_not_go_together_is_told() -> None:
    steps = [
        SUBMIT,
        ("ann", APPROVE),
        ("cy", APPROVE),
        ("cy", RETURN),
        ("bob", APPROVE),
        ("di", RETURN),
    ]
    clashes = standing_of(log_of(entries(*steps))).clashes
    assert [(c.kind, c.people) for c in clashes] == [
        ("own", ("ann",)),
        ("double", ("cy",)),
        ("crowd", ("di",)),
        ("late", ("di",)),
    ]


def test_a_fork_keeps_both_and_takes_the_later_until_they_are_merged() -> None:
    mine = node(2, FIRST.uid)
    theirs = node(3, FIRST.uid, author="bob", tick=2)
    approved = entries(SUBMIT, ("cy", APPROVE), ("di", APPROVE))
    log = log_of(approved, FIRST, mine, theirs)
    standing = standing_of(log)
    later = max((mine, theirs), key=lambda n: n.order)
    assert standing.head == later.number
    assert standing.state is TaskState.DRAFT
    assert standing.of(1).state is TaskState.APPROVED
    assert {standing.head, *standing.forks} == {2, 3}
    assert [c.kind for c in standing.clashes] == ["forks"]
    both = node(4, mine.uid, theirs.uid)
    merged = standing_of(log_of(approved, FIRST, mine, theirs, both))
    assert (merged.head, merged.forks, merged.clashes) == (4, (), ())
    assert authors_until(log_of([], FIRST, mine, theirs, both), 4) == {"ann", "bob"}
    assert authors_until(log_of([], FIRST, mine, theirs, both), 2) == {"ann"}


def test_no_log_stands_without_a_revision() -> None:
    with pytest.raises(ValueError, match="at least one"):
        standing_of(TaskLog(task_id="t", revisions=()))


people = st.sampled_from(["ann", "bob", "cy", "di", "eve"])
bodies = st.sampled_from(
    [
        Submitted(),
        Submitted(on_split="third"),
        Withdrawn(reason="x"),
        Reopened(reason="x"),
        Retired(),
        Restored(),
        ThirdAsked(reason="x"),
        Prioritised(priority=1),
        APPROVE,
        RETURN,
        APPROVE,
    ]
)


@st.composite
def logs(draw: st.DrawFn) -> TaskLog:
    """Revisions in a random graph, and entries about any of them, with ticks that may be equal."""
    nodes = [FIRST]
    for number in range(2, draw(st.integers(1, 4)) + 1):
        parents = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=2, unique=True))
        tick = max(parent.tick for parent in parents) + 1
        uids = sorted(parent.uid for parent in parents)
        nodes.append(node(number, *uids, author=draw(people), tick=tick))
    found: dict[str, Contribution] = {}
    for by, body, revision, lag in draw(
        st.lists(st.tuples(people, bodies, st.sampled_from(nodes), st.integers(1, 6)), max_size=14)
    ):
        at, tick = START + timedelta(minutes=lag), revision.tick + lag
        uid = contribution_uid("t", revision.uid, by, at, tick, body)
        found[uid] = Contribution(
            uid=uid, task_id="t", revision=revision.number, by=by, at=at, tick=tick, body=body
        )
    return TaskLog(task_id="t", revisions=tuple(nodes), contributions=tuple(found.values()))


@settings(max_examples=examples(150), deadline=None)
@given(logs(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(log: TaskLog, chance: random.Random) -> None:
    expected = standing_of(log)
    nodes, found = list(log.revisions), list(log.contributions)
    chance.shuffle(nodes)
    chance.shuffle(found)
    shuffled = TaskLog(task_id="t", revisions=tuple(nodes), contributions=tuple(found))
    assert standing_of(shuffled) == expected


@settings(max_examples=examples(150), deadline=None)
@given(logs())
def test_every_step_is_in_the_table_and_what_is_open_has_its_reviews(log: TaskLog) -> None:
    standing = standing_of(log)
    for move in standing.history:
        target = TRANSITIONS[move.action].target
        assert target is None or move.state is target
    state = {node.number: TaskState.DRAFT for node in log.revisions}
    for move in standing.history:
        if move.action in (Action.RETIRE, Action.RESTORE, Action.REVISE):
            continue
        assert state[move.revision] in TRANSITIONS[move.action].sources
        state[move.revision] = move.state
    for revision in standing.revisions:
        assert revision.state is state[revision.number]
        assert len(set(revision.reviewers)) == len(revision.reviewers)
        assert not authors_until(log, revision.number) & set(revision.reviewers)
        if revision.state is TaskState.APPROVED:
            assert len(revision.reviewers) >= revision.needed
        assert (revision.seen == "nobody") == (len(revision.reviewers) < 2)
    assert standing.head == tips_of(log.revisions)[0].number
