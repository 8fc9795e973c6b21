from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.store import workspace_url


def test_option_then_environment_then_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUECARD_DB", raising=False)
    assert workspace_url(None) == f"sqlite:///{tmp_path}/cuecard.db"
    monkeypatch.setenv("CUECARD_DB", "sub/x.db")
    assert workspace_url(None) == f"sqlite:///{tmp_path}/sub/x.db"
    assert workspace_url("./other.db") == f"sqlite:///{tmp_path}/other.db"
    assert workspace_url("postgresql://u:p@h/d") == "postgresql://u:p@h/d"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert workspace_url("~/y.db") == f"sqlite:///{tmp_path}/y.db"


def test_finding_the_workspace_imports_nothing_heavy() -> None:
    code = "import sys, cuecard.store; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sqlalchemy", "sqlmodel", "pydantic", "alembic"} & set(shown.stdout.split())


def test_a_workspace_is_made_and_opened_without_alembic(tmp_path: Path) -> None:
    code = (
        "import sys; from cuecard.store.workspace import Workspace\n"
        "Workspace.open(sys.argv[1]).close(); print('alembic' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cuecard.db")]
    shown = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert shown == ["False", "False"]
