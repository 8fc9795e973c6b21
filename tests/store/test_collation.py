"""Lists have one order in every database, whatever its collation; few systems have one that could be tried."""

from __future__ import annotations

from sqlmodel import col, select

from cuecard.store.task_tables import TaskRow
from cuecard.store.workspace import Workspace
from postgres_server import Databases


def test_texts_are_sorted_by_code_point(postgres: Databases) -> None:
    with postgres.workspace() as url, Workspace.open(url) as workspace:
        engine = workspace._database._engine
        query = select(TaskRow.id).order_by(
            col(TaskRow.updated_at).desc(), col(TaskRow.title).desc(), TaskRow.id
        )
        order = str(query.compile(engine)).partition("ORDER BY ")[2]
        assert order == 'task.updated_at DESC, task.title COLLATE "C" DESC, task.id COLLATE "C"'
        names = ["a", "B", "é", "Z", "中", "_"]
        for name in names:
            workspace.people.add(name)
        assert [each.name for each in workspace.people.all()] == sorted(names)
