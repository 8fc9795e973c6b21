from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.annotate.samples import import_samples
from cuecard.store.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with the sample tasks."""
    with Workspace.open(tmp_path / "w.db") as opened:
        import_samples(opened, "ann")
        yield opened
