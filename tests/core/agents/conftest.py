from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_bench import HarnessBench


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HarnessBench]:
    made = HarnessBench(tmp_path, monkeypatch)
    yield made
    await made.hub.close()
