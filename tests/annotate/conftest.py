from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from apart import fresh
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from postgres_server import Databases


@pytest.fixture
def sample_dir() -> Path:
    return Path(__file__).parents[2] / "src" / "cuecard" / "sample_tasks"


@pytest.fixture
def workspace(request: pytest.FixtureRequest, dialect: str, tmp_path: Path) -> Iterator[Workspace]:
    if dialect == "sqlite":
        with fresh(tmp_path / "w.db") as opened:
            yield opened
        return
    databases: Databases = request.getfixturevalue("postgres")
    with databases.workspace() as url, Workspace.open(url) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with fresh(tmp_path_factory.mktemp("shared") / "w.db") as opened:
        yield opened


@pytest.fixture
def make_task():
    """Makes small facts tasks; `note` tells revisions apart."""

    def make(task_id: str = "t", note: str = "") -> Task:
        return Task.model_validate(
            {
                "id": task_id,
                "title": f"Task {task_id}",
                "language": "en",
                "query": "How many?",
                "notes": note,
                "gold": {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"},
            }
        )

    return make
