"""The workflow's storage; above all, that blind means blind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.errors import Conflict, NotFound
from cuecard.core.tasks import Task
from cuecard.store.records import Review, TaskState
from cuecard.store.workspace import Workspace

MakeTask = Callable[..., Task]
ReviewBy = Callable[..., Review]


@pytest.fixture
def in_review(workspace: Workspace, make_task: MakeTask) -> Workspace:
    workspace.tasks.save(make_task(), author="Ann", message="secret")
    submit(workspace, "t", 1)
    return workspace


def submit(workspace: Workspace, task_id: str, revision: int) -> None:
    workspace.reviews.move(
        task_id, revision, TaskState.IN_REVIEW, by="Ann", reason="", expected=TaskState.DRAFT
    )


def test_a_move_needs_the_expected_state_and_the_newest_revision(in_review: Workspace) -> None:
    reviews = in_review.reviews
    with pytest.raises(Conflict) as caught:
        submit(in_review, "t", 1)
    assert "Ann" in caught.value.message
    with pytest.raises(Conflict):
        reviews.move("t", 2, TaskState.APPROVED, by="Ann", reason="", expected=None)
    with pytest.raises(NotFound):
        reviews.move("absent", 1, TaskState.APPROVED, by="Ann", reason="", expected=None)
    move = reviews.move("t", 1, TaskState.RETURNED, by="Cy", reason="why", expected=None)
    assert reviews.history("t")[-1] == move
    assert reviews.state("t") is TaskState.RETURNED
    with pytest.raises(NotFound):
        reviews.state("absent")


def test_one_review_per_person_and_revision(in_review: Workspace, review_by: ReviewBy) -> None:
    review = review_by("Cy")
    in_review.reviews.add(review)
    assert in_review.reviews.visible_to("Cy", "t") == [review]
    with pytest.raises(Conflict):
        in_review.reviews.add(review)
    for absent in (review_by("Cy", revision=2), review_by("Cy", task_id="absent")):
        with pytest.raises(NotFound):
            in_review.reviews.add(absent)
    assert in_review.reviews.counts("t", 1) == 1


def test_nobody_sees_anothers_review_before_the_second_is_in(
    in_review: Workspace, review_by: ReviewBy
) -> None:
    reviews = in_review.reviews
    everybody = ("Ann", "Cy", "Di", "Eve", "")
    reviews.add(review_by("Cy"))
    for person in everybody:
        for revision in (None, 1):
            seen = [r.reviewer for r in reviews.visible_to(person, "t", revision)]
            assert seen == (["Cy"] if person == "Cy" else [])
    reviews.add(review_by("Di"))
    for person in everybody:
        assert [r.reviewer for r in reviews.visible_to(person, "t")] == ["Cy", "Di"]
        assert reviews.visible_to(person, "t", 2) == []


def test_a_finished_revision_does_not_open_the_next(
    in_review: Workspace, make_task: MakeTask, review_by: ReviewBy
) -> None:
    for name in ("Cy", "Di"):
        in_review.reviews.add(review_by(name))
    in_review.tasks.save(make_task(title="v2"), author="Ann", base=1)
    in_review.reviews.add(review_by("Di", revision=2))
    seen = [(r.revision, r.reviewer) for r in in_review.reviews.visible_to("Cy", "t")]
    assert seen == [(1, "Cy"), (1, "Di")]
    assert in_review.reviews.visible_to("Cy", "t", 2) == []


def test_the_queue_is_blind_and_holds_only_what_a_person_may_review(
    in_review: Workspace, make_task: MakeTask, review_by: ReviewBy
) -> None:
    reviews = in_review.reviews
    in_review.tasks.save(make_task("u"), author="Bob")
    in_review.tasks.save(make_task("u", title="v2"), author="Ann")
    submit(in_review, "u", 2)
    in_review.tasks.save(make_task("draft"), author="Bob")

    def queue(person: str) -> list[str]:
        found = reviews.queue(person)
        assert {summary.author for summary in found} <= {""}
        return [summary.id for summary in found]

    assert queue("Ann") == []
    assert queue("Bob") == ["t"]
    assert sorted(queue("Cy")) == ["t", "u"]
    reviews.add(review_by("Cy"))
    assert queue("Cy") == ["u"]
    assert sorted(queue("Di")) == ["t", "u"]
    reviews.add(review_by("Di"))
    assert queue("Eve") == ["u"]
    in_review.tasks.save(make_task(title="v2"), author="Ann")
    submit(in_review, "t", 2)
    assert sorted(queue("Cy")) == ["t", "u"]
    reviews.move("t", 2, TaskState.APPROVED, by="Cy", reason="", expected=None)
    assert queue("Di") == ["u"]


def test_a_reviewer_gets_the_revision_without_its_author(
    in_review: Workspace, review_by: ReviewBy
) -> None:
    reviews = in_review.reviews

    def shown(person: str) -> tuple[str, str]:
        revision = reviews.blind_revision(person, "t")
        return revision.author, revision.message

    assert shown("Cy") == ("", "")
    reviews.add(review_by("Cy"))
    assert shown("Cy") == ("", "")
    reviews.add(review_by("Di"))
    assert shown("Cy") == ("Ann", "secret")
    assert shown("Eve") == ("", "")
    assert shown("Ann") == ("Ann", "secret")
    assert reviews.blind_revision("Eve", "t", 1).task == in_review.tasks.revision("t").task
    with pytest.raises(NotFound):
        reviews.blind_revision("Cy", "t", 2)
