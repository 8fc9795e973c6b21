"""What every test begins with."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import msgfmt
from cuecard.core import secrets
from postgres_server import Databases, server

# Textual's own settings. What is shown is the same; frames that nobody looks at cost a quarter of the time of screens.
os.environ |= {"TEXTUAL_FPS": "20", "TEXTUAL_ANIMATIONS": "none"}
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # As the program has it.
# Files of tests are in memory where it has room for them: SQLite waits for the disk at every commit, which no test is about.
_MEMORY = Path("/dev/shm")
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


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
    # Looking for garbage after every 700 objects took a tenth of the time of tests with a workspace, and each look after
    # 400,000 a thirtieth of that of screens.
    gc.set_threshold(50_000, 50, 100)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Translations may have changed since they were compiled. Workers find them done."""
    if not hasattr(config, "workerinput"):
        msgfmt.refresh()


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`made_once(name, make)`: the database that `make` fills, given its path; once for all workers. Copy it, do not open
    it.
    """
    import fcntl

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def made(name: str, make: Callable[[Path], object]) -> Path:
        path = folder / f"{name}.db"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                begun = folder / f"{name}-begun.db"
                begun.unlink(missing_ok=True)
                make(begun)
                begun.rename(path)
        return path

    return made


@pytest.fixture(scope="session")
def seeded_once(made_once: Callable[..., Path]) -> Path:
    """The database that `seeded_workspace` makes."""
    from seeded_workspace import seed

    return made_once("seeded", seed)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Makes databases on PostgreSQL. The server starts when the first test asks, and is shared by all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    databases = Databases(server(folder))
    yield databases
    databases.close()


@pytest.fixture
def dialect() -> str:
    """Which database the test's `workspace` is on: "sqlite", and in modules with the mark `both_databases` also
    "postgres".
    """
    return "sqlite"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "dialect" in metafunc.fixturenames and metafunc.definition.get_closest_marker(
        "both_databases"
    ):
        metafunc.parametrize("dialect", ["sqlite", "postgres"])


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """An engine keeps the SQL that it made of statements. Every workspace has an engine of its own, and tests open
    hundreds of them; here they keep it together.
    """
    from sqlalchemy import Engine
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
    from sqlalchemy.util import LRUCache

    kept = property(lambda engine: made, lambda engine, cache: None)
    made: LRUCache[Any, Any] = LRUCache(2_000)
    # What is made is found by its dialect, too, of which every engine has one of its own.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_cache", kept, raising=False)
        for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
            patch.setattr(kind, "__eq__", lambda one, other: type(one) is type(other))
            patch.setattr(kind, "__hash__", lambda dialect: hash(type(dialect)))
        yield


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> Iterator[None]:
    """Secrets are this process's: those of one test would be looked for, and held back in streams, in the next."""
    yield
    secrets._guarded.clear()
    secrets._current = secrets.Scrubber()
