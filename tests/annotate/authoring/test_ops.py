from __future__ import annotations

import pytest

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import COLUMNS, KEYS, ROWS, STAGES, TRIPLES
from cuecard.annotate.authoring.task_data import blank_column, blank_stage, blank_task
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.tasks.models import Task


def stages_by_title(edit: TaskEdit) -> list[str | None]:
    """Per triple, the title of the stage that it answers."""
    titles = [stage["title"] for stage in edit.items(STAGES)]
    return [
        titles[triple["stage"] - 1] if triple["stage"] else None for triple in edit.items(TRIPLES)
    ]


@pytest.fixture
def graph(samples: dict[str, Task]) -> TaskEdit:
    return TaskEdit.of(samples["espresso"], 1)


@pytest.fixture
def table(samples: dict[str, Task]) -> TaskEdit:
    return TaskEdit.of(samples["table-us-states"], 1)


@pytest.mark.parametrize(("index", "to"), [(0, 3), (3, 0), (5, 6), (11, 0)])
def test_triples_follow_a_stage_that_moves(graph: TaskEdit, index: int, to: int) -> None:
    before = stages_by_title(graph)
    ops.move_item(graph, STAGES, index, to)
    assert stages_by_title(graph) == before
    assert isinstance(graph.task().gold, Graph)
    graph.undo()
    assert not graph.changed


def test_triples_keep_their_stage_when_one_is_added_before(graph: TaskEdit) -> None:
    before = stages_by_title(graph)
    ops.insert_item(graph, STAGES, 2, {**blank_stage(), "title": "new"})
    assert stages_by_title(graph) == before


def test_triples_of_a_deleted_stage_have_none(graph: TaskEdit) -> None:
    before = stages_by_title(graph)
    gone = graph.items(STAGES)[4]["title"]
    ops.delete_item(graph, STAGES, 4)
    assert stages_by_title(graph) == [None if title == gone else title for title in before]
    graph.undo()
    assert not graph.changed


def test_removing_the_persona_leaves_a_task(graph: TaskEdit) -> None:
    ops.remove_persona(graph)
    assert graph.problems() == []
    graph.undo()
    assert not graph.changed


def test_a_column_comes_goes_and_moves_with_its_cells(table: TaskEdit) -> None:
    rows = [list(row) for row in table.items(ROWS)]
    width = len(rows[0])
    ops.insert_item(table, COLUMNS, 1, {**blank_column(), "name": "New"})
    assert [row[1] for row in table.items(ROWS)] == [""] * len(rows)
    assert table.problems() == []
    ops.move_item(table, COLUMNS, 1, width)
    assert [row[:width] for row in table.items(ROWS)] == rows
    ops.delete_item(table, COLUMNS, width)
    assert not table.changed


def test_a_deleted_key_column_is_no_key_any_more(table: TaskEdit) -> None:
    assert ops.is_key(table, 0)
    ops.write_key(table, 1, True)
    ops.delete_item(table, COLUMNS, 0)
    assert table.get(KEYS) == [table.items(COLUMNS)[0]["name"]]
    assert isinstance(table.task().gold, Table)


def test_renaming_a_key_column_keeps_it_a_key_and_is_one_step(table: TaskEdit) -> None:
    name = table.items(COLUMNS)[0]["name"]
    for text in (f"{name}s", f"{name}s!", f"{name}s!!"):
        ops.rename_column(table, 0, text)
    assert table.get(KEYS) == [f"{name}s!!"]
    assert table.problems() == []
    table.undo()
    assert not table.changed


def test_a_name_that_is_shared_for_a_moment_moves_no_key(table: TaskEdit) -> None:
    first, second = (column["name"] for column in table.items(COLUMNS)[:2])
    ops.rename_column(table, 1, first)
    assert [ops.is_key(table, i) for i in (0, 1)] == [True, False]
    ops.rename_column(table, 1, second)
    assert table.get(KEYS) == [first]


def test_an_ambiguity_is_given_changed_and_taken_away(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["checkpoints-highest-mountain"], 1)
    step = ("gold", "steps", 1)
    ops.write_ambiguity(edit, step, "version")
    assert edit.get((*step, "ambiguity", "candidates")) == []
    edit.set((*step, "ambiguity", "clue"), "the second one")
    ops.write_ambiguity(edit, step, "entity")
    assert edit.get((*step, "ambiguity", "clue")) == "the second one"
    ops.write_ambiguity(edit, step, None)
    assert not edit.changed


@pytest.mark.parametrize("family", FAMILIES)
def test_a_blank_task_lacks_only_content(family) -> None:
    edit = TaskEdit(blank_task("t", "Title", family, "zh"))
    reasons = {reason for _, reason in edit.problems()}
    assert reasons <= {"must not be empty", "must have at least 2 entries"}
    assert edit.problems()
