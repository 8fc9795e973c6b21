from __future__ import annotations

from datetime import UTC, datetime

from cuecard.annotate.authoring.task_data import blank_task
from cuecard.core.contributions import TaskState
from cuecard.core.records import Draft, TaskSummary, ThrownDraft
from cuecard.core.tasks import SHIPPED
from cuecard.tui.present.tasks import TaskFilter, shown, task_lines

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def summary(task_id: str, **fields) -> TaskSummary:
    values = {
        "title": f"Title of {task_id}",
        "family": "graph",
        "language": "en",
        "domain": "coffee",
        "difficulty": None,
        "revision": 1,
        "state": TaskState.DRAFT,
        "author": "Ana",
        "updated_at": NOW,
    }
    return TaskSummary(id=task_id, **{**values, **fields})


def draft(task_id: str, base: int) -> Draft:
    data = blank_task(task_id, "浓缩咖啡", "facts", "zh")
    return Draft(task_id=task_id, person="Ana", base=base, data=data, updated_at=NOW)


def test_drafts_mark_their_task_or_are_lines_of_their_own() -> None:
    lines = task_lines([summary("a"), summary("b")], [draft("b", 1), draft("new", 0)])
    assert [(line.id, line.revision, line.draft) for line in lines] == [
        ("new", 0, True),
        ("a", 1, False),
        ("b", 1, True),
    ]
    assert (lines[0].family, lines[0].title) == ("facts", "浓缩咖啡")


def test_retired_tasks_show_only_when_asked_for() -> None:
    lines = task_lines([summary("a"), summary("b", state=TaskState.RETIRED)], [])
    assert [line.id for line in shown(lines, TaskFilter())] == ["a"]
    assert [line.id for line in shown(lines, TaskFilter(state="retired"))] == ["b"]
    thrown = [
        ThrownDraft(**draft("new", 0).model_dump(exclude={"left_at"}), id=n, thrown_at=NOW)
        for n in (7, 4)
    ]
    lines = task_lines([], [], thrown)
    assert [(line.id, line.thrown, line.archived, line.draft) for line in lines] == [
        ("new", 7, True, False)
    ]
    assert shown(lines, TaskFilter()) == []
    assert TaskFilter().turned_to_archived().turned_to_archived() == TaskFilter()


def test_all_that_is_chosen_must_hold() -> None:
    lines = task_lines(
        [summary("a"), summary("b", family="facts", language="zh"), summary("c", family="facts")],
        [],
    )
    chosen = TaskFilter(family="facts", language="zh", text="TITLE b coffee")
    assert [line.id for line in shown(lines, chosen)] == ["b"]
    assert shown(lines, TaskFilter(text="tea")) == []


def test_the_keys_go_round_through_all_values_back_to_any() -> None:
    chosen, seen = TaskFilter(), []
    for _ in (*SHIPPED, ""):
        chosen = chosen.next_family()
        seen.append(chosen.family)
    assert seen == [*SHIPPED, ""]
    assert not chosen.active
    assert TaskFilter().next_language().language == "en"
    assert TaskFilter().next_state().state == "draft"
