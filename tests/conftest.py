"""What every test begins with."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import msgfmt
from cuecard.core import errors


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew",
        action="store_true",
        help="write tests/goldens and tests/pictures anew from what is shown now",
    )
    parser.addoption(
        "--all-pictures", action="store_true", help="take every picture, not a sample of them"
    )


def pytest_sessionstart() -> None:
    """Modules and tests are there to stay: nothing of them is searched for garbage, neither now nor later."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Translations may have changed since they were compiled. Workers find them done."""
    if not hasattr(config, "workerinput"):
        msgfmt.refresh()


@pytest.fixture(scope="session")
def seeded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that `seeded_workspace` makes, once for all workers. Copy it, do not open it."""
    import fcntl

    from seeded_workspace import seed

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / "seeded.db"
    with (folder / "seeded.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            made = folder / "seeding.db"
            made.unlink(missing_ok=True)
            seed(made)
            made.rename(path)
    return path


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> Iterator[None]:
    """Secrets are this process's: those of one test would be looked for, and held back in streams, in the next."""
    yield
    errors._guarded.clear()
    errors._current = errors.Scrubber()
