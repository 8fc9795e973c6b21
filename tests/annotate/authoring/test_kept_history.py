"""What can be undone survives leaving a task and a crash: it is kept with the draft, as differences."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings

import strategies
from budget import examples
from cuecard.annotate.authoring.session import keep_draft, open_task, save_revision
from cuecard.annotate.authoring.task_data import applied, difference
from cuecard.annotate.independent_gold.building import gold_key, open_blank
from cuecard.annotate.samples import load_sample
from cuecard.store.workspace import Workspace

ROWS = ("gold", "rows")


@settings(max_examples=examples(200), deadline=None)
@given(strategies.json_values(), strategies.json_values())
def test_a_difference_leads_from_any_value_to_any_other(now: Any, then: Any) -> None:
    before = copy.deepcopy(now)
    told = json.loads(json.dumps(difference(now, then)))
    assert json.dumps(applied(now, told)) == json.dumps(then)
    assert now == before
    assert difference(now, now) is None
    assert difference(now, copy.deepcopy(now)) is None


def test_a_difference_holds_what_differs_and_shares_the_rest() -> None:
    rows = [[f"{row}", "x" * 40] for row in range(1000)]
    now: dict[str, Any] = {"gold": {"rows": rows, "columns": ["a", "b"]}, "title": "t"}
    cell = [*rows]
    cell[500] = ["500", "other"]
    moved, shorter = [*rows[1:], rows[0]], [*rows[:10], *rows[20:]]
    for new in (cell, moved, shorter):
        then = {**now, "gold": {**now["gold"], "rows": new}}
        told = difference(now, then)
        assert len(json.dumps(told)) < 90
        made = applied(now, told)
        assert made == then
        assert made["gold"]["columns"] is now["gold"]["columns"]
        assert made["gold"]["rows"][0] is new[0]


def test_a_task_is_left_and_opened_again_and_its_history_goes_on(workspace: Workspace) -> None:
    task = load_sample("table-us-states.yaml")
    workspace.tasks.save(task, author="Ana")
    edit = open_task(workspace, task.id, "Ana").edit
    assert not edit.can_undo
    edit.set(("title",), "One")
    edit.set((*ROWS, 0, 0), "Two")
    edit.undo()
    keep_draft(workspace, "Ana", edit.snapshot)
    assert [draft.task_id for draft in workspace.drafts.of("Ana")] == [task.id]
    edit = open_task(workspace, task.id, "Ana").edit
    assert (edit.redo(), edit.get((*ROWS, 0, 0))) == ((*ROWS, 0, 0), "Two")
    # All taken back: there is no draft any more, and it can still be done again.
    while edit.undo() is not None:
        pass
    keep_draft(workspace, "Ana", edit.snapshot)
    assert workspace.drafts.of("Ana") == []
    edit = open_task(workspace, task.id, "Ana").edit
    assert (edit.changed, edit.redo(), edit.get(("title",))) == (False, ("title",), "One")
    # Saved: what was before can be had back, by who saved, until somebody else saves.
    saved = save_revision(workspace, "Ana", edit.base, edit.data, "")
    edit.mark_saved(saved.number, saved.task.model_dump(mode="json"))
    keep_draft(workspace, "Ana", edit.snapshot)
    assert not open_task(workspace, task.id, "Ben").edit.can_undo
    edit = open_task(workspace, task.id, "Ana").edit
    assert (edit.base, edit.undo(), edit.get(("title",))) == (2, ("title",), task.title)
    workspace.tasks.save(task, author="Ben", base=2)
    assert not open_task(workspace, task.id, "Ana").edit.can_undo


def test_a_history_of_another_draft_is_passed_over(workspace: Workspace) -> None:
    task = load_sample("table-us-states.yaml")
    workspace.tasks.save(task, author="Ana")
    edit = open_task(workspace, task.id, "Ana").edit
    edit.set(("title",), "One")
    keep_draft(workspace, "Ana", edit.snapshot)
    # As an older program writes it, which knows no history.
    workspace.drafts.save(task.id, "Ana", 1, {**edit.data, "title": "Two"})
    opened = open_task(workspace, task.id, "Ana").edit
    assert (opened.get(("title",)), opened.can_undo) == ("Two", False)
    keep_draft(workspace, "Ana", edit.snapshot)
    workspace.drafts.throw_away(task.id, "Ana")
    assert workspace.drafts.history(task.id, "Ana") is None
    edit.recall({"done": [{"path": [], "diff": {"in": {"gone": {"v": 1}}}}]}, {}.get)
    edit.recall({"done": [{"path": [], "diff": {"of": [[0, 9]]}}], "undone": []}, {}.get)
    assert edit.undo() == ("title",)


def test_the_history_of_an_independent_gold_goes_when_it_is_given_up(workspace: Workspace) -> None:
    task = load_sample("table-us-states.yaml")
    workspace.tasks.save(task, author="Ana")
    edit = open_blank(workspace, task.id, "Ben")[0].edit
    edit.set((*ROWS, 0, 0), "Ohio")
    keep_draft(workspace, "Ben", edit.snapshot, gold_key(task.id))
    edit = open_blank(workspace, task.id, "Ben")[0].edit
    assert (edit.undo(), edit.get((*ROWS, 0, 0))) == ((*ROWS, 0, 0), "")
    workspace.drafts.discard(gold_key(task.id), "Ben")
    edit = open_blank(workspace, task.id, "Ben")[0].edit
    assert (edit.can_undo, edit.can_redo) == (False, False)
