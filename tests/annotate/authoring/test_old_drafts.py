"""Drafts of a program that knew fewer fields of a task."""

from __future__ import annotations

import pytest

from cuecard.annotate.authoring.session import open_task
from cuecard.annotate.samples import import_samples, load_samples
from cuecard.store.workspace import Workspace

TASKS = [task.id for task in load_samples()]


@pytest.mark.parametrize("task_id", TASKS)
def test_a_draft_without_what_came_later_is_opened_with_it(
    workspace: Workspace, task_id: str
) -> None:
    import_samples(workspace, "Ann")
    revision = workspace.tasks.revision(task_id)
    few = revision.task.model_dump(mode="json", exclude_defaults=True) | {"title": "Anew"}
    workspace.drafts.save(task_id, "Ann", revision.number, few)

    opened = open_task(workspace, task_id, "Ann")

    assert opened.edit.data == revision.task.model_dump(mode="json") | {"title": "Anew"}
    assert opened.edit.changed
    assert opened.restored


def test_a_draft_that_says_the_same_in_fewer_fields_is_none(workspace: Workspace) -> None:
    import_samples(workspace, "Ann")
    revision = workspace.tasks.revision(TASKS[0])
    few = revision.task.model_dump(mode="json", exclude_defaults=True)
    workspace.drafts.save(TASKS[0], "Ann", revision.number, few)

    opened = open_task(workspace, TASKS[0], "Ann")

    assert opened.restored is None
    assert not opened.edit.changed


def test_what_a_draft_has_besides_stays_and_is_a_problem(workspace: Workspace) -> None:
    import_samples(workspace, "Ann")
    revision = workspace.tasks.revision(TASKS[0])
    few = revision.task.model_dump(mode="json", exclude_defaults=True)
    workspace.drafts.save(TASKS[0], "Ann", revision.number, {**few, "colour": "green"})

    assert open_task(workspace, TASKS[0], "Ann").edit.data["colour"] == "green"
