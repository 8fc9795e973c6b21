from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.lab.samples import import_samples
from cuecard.store.workspace import Workspace


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A workspace with the sample tasks, closed."""
    path = tmp_path / "w.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, "ann")
    return path


@pytest.fixture
def workspace(db: Path) -> Iterator[Workspace]:
    with Workspace.open(db) as opened:
        yield opened
