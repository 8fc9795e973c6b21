from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def sample_dir() -> Path:
    return Path(__file__).parents[2] / "src" / "cuecard" / "sample_tasks"
