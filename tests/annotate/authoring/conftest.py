from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task

SAMPLES = Path(__file__).parents[3] / "sample_tasks"


@pytest.fixture(scope="session")
def samples() -> dict[str, Task]:
    """The sample tasks by id."""
    tasks = [load_task(path) for path in sorted(SAMPLES.glob("*.yaml"))]
    return {task.id: task for task in tasks}
