from __future__ import annotations

import pytest

from lint_tasks import BASES, found


@pytest.mark.parametrize("base", BASES)
def test_a_clean_task_has_no_findings(base: str):
    assert found(base, {}) == []
