from __future__ import annotations

import json
from pathlib import Path

from apart import fresh
from cuecard.core.tasks.yaml_io import load_task


def test_a_datasheet_on_stdout_and_in_files(cuecard, task_file, tmp_path: Path) -> None:
    with fresh(tmp_path / "cuecard.db") as workspace:
        workspace.tasks.save(load_task(task_file("ferry")), author="Ana Real")
    shown = cuecard("datasheet")
    assert (shown.code, shown.err) == (0, "")
    assert "| P1 | 1 | 1 |" in shown.out
    assert "Ana Real" not in shown.out
    assert cuecard("datasheet", "--names", "-o", "sheet.json").code == 0
    written = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    assert written["people"][0]["name"] == "Ana Real"
    assert written["sources"]["sites"][0]["name"] == "example.org"
    refused = cuecard("datasheet", "-o", "absent/sheet.md")
    assert refused.code == 1
    assert "absent/sheet.md" in refused.err
