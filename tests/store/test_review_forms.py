from __future__ import annotations

from datetime import UTC, datetime

from cuecard.core.tasks import Task
from cuecard.store.records import Review, ReviewDecision
from cuecard.store.workspace import Workspace

DATA = {"ratings": {"gold": "pass"}, "comments": [{"place": "query", "text": "真好"}]}


def test_an_unfinished_review_is_kept_for_its_reviewer_alone(
    workspace: Workspace, samples: tuple[Task, ...]
) -> None:
    task = samples[0]
    workspace.tasks.save(task, author="Ana")
    workspace.review_forms.keep(task.id, 1, "Ben", DATA)
    workspace.review_forms.keep(task.id, 1, "Ben", {**DATA, "ratings": {}})
    assert workspace.review_forms.get(task.id, 1, "Ben") == {**DATA, "ratings": {}}
    assert workspace.review_forms.get(task.id, 1, "Chen") == {}
    assert workspace.review_forms.of("Ben") == [(task.id, 1)]
    assert workspace.review_forms.of("Chen") == []


def test_handing_in_takes_the_form_away(workspace: Workspace, samples: tuple[Task, ...]) -> None:
    task = samples[0]
    workspace.tasks.save(task, author="Ana")
    workspace.review_forms.keep(task.id, 1, "Ben", DATA)
    workspace.reviews.add(
        Review(
            task_id=task.id,
            revision=1,
            reviewer="Ben",
            ratings={"gold": "pass"},
            decision=ReviewDecision.APPROVE,
            created_at=datetime.now(UTC),
        )
    )
    assert workspace.review_forms.of("Ben") == []
