from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.annotate.samples import import_samples
from cuecard.store.workspace import Workspace


@pytest.fixture(scope="session")
def db_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "w.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, "ann")
    return path


@pytest.fixture
def db(tmp_path: Path, db_once: Path) -> Path:
    """A workspace with the sample tasks, closed."""
    return Path(shutil.copy(db_once, tmp_path / "w.db"))


@pytest.fixture
def workspace(db: Path) -> Iterator[Workspace]:
    with Workspace.open(db) as opened:
        yield opened
