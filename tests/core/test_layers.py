from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    # Loaded in a thread at the first call of a model.
    if module.name != "cuecard.core.llm.connection":
        importlib.import_module(module.name)
print(" ".join(sorted({name.split(".")[0] for name in sys.modules})))
"""


def loaded(package: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, package],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_core_loads_no_screen_no_database_and_nothing_slow() -> None:
    heavy = {"textual", "sqlmodel", "sqlalchemy", "alembic", "typer", "aiohttp", "numpy"}
    heavy |= {"json_repair", "dateparser", "rapidfuzz", "httpx", "rich", "openai", "httpx2"}
    heavy |= {"lxml", "psutil", "charset_normalizer"}
    assert loaded("cuecard.core") & heavy == set()


def test_the_layers_hold() -> None:
    tool = Path(sys.executable).parent / "lint-imports"
    if not tool.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run(
        [str(tool), "--no-cache"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
