from __future__ import annotations

import json
from pathlib import Path


def test_a_datasheet_on_stdout_and_in_files(cuecard, task_file, tmp_path: Path) -> None:
    task_file("ferry")
    assert cuecard("--as", "Ana Real", "import", "ferry.yaml").code == 0
    shown = cuecard("datasheet")
    assert (shown.code, shown.err) == (0, "")
    assert "| P1 | 1 | 1 |" in shown.out
    assert "Ana Real" not in shown.out
    data = cuecard("datasheet", "--json", "--names").data
    assert data["people"][0]["name"] == "Ana Real"
    assert data["sources"]["sites"][0]["name"] == "example.org"
    assert cuecard("datasheet", "-o", "sheet.json").code == 0
    written = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    assert written["tasks"] == data["tasks"]
    assert cuecard("datasheet", "-o", "sheet.md").code == 0
    assert (tmp_path / "sheet.md").read_text(encoding="utf-8").startswith("# ")
    refused = cuecard("datasheet", "-o", "absent/sheet.md")
    assert refused.code == 1
    assert "absent/sheet.md" in refused.err
