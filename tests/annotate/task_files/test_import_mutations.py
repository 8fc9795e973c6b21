"""A few of what `bench/mutations.py` does by the thousand; the seeds are fixed."""

from __future__ import annotations

from pathlib import Path

import import_mutations


def test_damaged_files_are_errors_and_leave_the_store_alone(tmp_path: Path):
    findings = import_mutations.rounds(tmp_path, range(150), short=True)
    assert findings.wrong == []
    assert set(findings.outcomes) >= {"imported", "problems"}
