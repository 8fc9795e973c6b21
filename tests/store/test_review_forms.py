from __future__ import annotations

from cuecard.core.contributions import ReviewDecision, Reviewed
from cuecard.core.tasks.models import Task
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
    body = Reviewed(ratings={"gold": "pass"}, decision=ReviewDecision.APPROVE)
    workspace.reviews.act(task.id, "Ben", body)
    assert workspace.review_forms.of("Ben") == []
