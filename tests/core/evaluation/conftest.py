from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.annotate.samples import import_samples
from cuecard.store.workspace import Workspace
from postgres_server import Databases


@pytest.fixture(scope="session")
def db_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "w.db"
    with Workspace.open(path) as workspace:
        _with_samples(workspace)
    return path


@pytest.fixture
def db(tmp_path: Path, db_once: Path) -> Path:
    """A workspace with the sample tasks, closed."""
    return Path(shutil.copy(db_once, tmp_path / "w.db"))


@pytest.fixture
def workspace(request: pytest.FixtureRequest, dialect: str) -> Iterator[Workspace]:
    """A workspace with the sample tasks; on SQLite that of `db`."""
    if dialect == "sqlite":
        with Workspace.open(request.getfixturevalue("db")) as opened:
            yield opened
        return
    databases: Databases = request.getfixturevalue("postgres")
    with databases.workspace(_with_samples) as url, Workspace.open(url) as opened:
        yield opened


def _with_samples(workspace: Workspace) -> None:
    import_samples(workspace, "ann")
