"""Opening what is there, and saying clearly what cannot be opened."""

from __future__ import annotations

import os
import sqlite3
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.records import KeptFigures
from cuecard.store import workspace_url
from cuecard.store.roles import ensure_person
from cuecard.store.workspace import Workspace

KEPT = KeptFigures(judgement_id=1, trial_id=1, stamp="", body="{}")


def refused(url: str | Path, *, create: bool = True) -> CuecardError:
    with pytest.raises(CuecardError) as caught:
        Workspace.open(url, create=create)
    assert caught.value.title
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", ["cuecard.db", "a b?c#d%41é.db", "工作区.db"])
def test_a_path_a_string_and_a_url_lead_to_the_same_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with Workspace.open(path) as workspace:
        workspace.people.add("Ann")
        url = workspace.url
        assert workspace.public_url == str(path)
    for same in (path, str(path), url, workspace_url(str(path))):
        with Workspace.open(same, create=False) as workspace:
            assert workspace.people.exists("Ann")
    assert {p.name for p in tmp_path.iterdir()} == {name}


def test_it_writes_ahead_and_waits_for_the_disk(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        workspace.people.add("Ann")
        connection = sqlite3.connect(tmp_path / "cuecard.db")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()


def test_a_missing_workspace_is_made_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "cuecard.db"
    assert isinstance(refused(path, create=False), NotFound)
    assert not path.exists()
    Workspace.open(path).close()
    Workspace.open(path, create=False).close()


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "no" / "such" / "cuecard.db"
    for create in (True, False):
        error = refused(path, create=create)
        assert isinstance(error, NotFound)
        assert str(path.parent) in error.message
    assert not path.parent.exists()


def test_a_folder_is_no_workspace(tmp_path: Path) -> None:
    assert str(tmp_path) in refused(tmp_path).message


@pytest.mark.parametrize("content", [b"id: espresso\ntitle: x\n", b"\x89PNG" * 4000])
def test_another_file_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "task.yaml"
    path.write_bytes(content)
    assert str(path) in refused(path).message
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_becomes_a_workspace(tmp_path: Path) -> None:
    path = tmp_path / "cuecard.db"
    path.touch()
    with Workspace.open(path) as workspace:
        assert workspace.people.all() == []


@pytest.mark.parametrize("table", ["photo", "alembic_version"])
def test_another_programs_database_is_left_as_it_is(tmp_path: Path, table: str) -> None:
    path = tmp_path / "photos.db"
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table} (version_num TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    refused(path)
    assert path.read_bytes() == before


def test_a_newer_version_is_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "cuecard.db"
    Workspace.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    error = refused(path)
    assert "9999" in error.message


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cuecard.db"
    Workspace.open(path).close()
    content = bytearray(path.read_bytes())
    content[100:] = os.urandom(len(content) - 100)
    path.write_bytes(content)
    refused(path)


def test_a_workspace_opened_for_reading_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ann")
        assert workspace.read_only == ""
    # What permissions do, tests/tui/commands/test_reading.py tells.
    for options in ("mode=ro", "immutable=1"):
        with Workspace.open(f"sqlite:///file:{path}?{options}&uri=true") as workspace:
            assert workspace.read_only
            assert workspace.people.add("Ann").name == "Ann"
            with pytest.raises(CuecardError, match="cannot be written"):
                workspace.people.add("Ben")


def test_opening_and_reading_wait_for_nobody_who_writes(url: str) -> None:
    with Workspace.open(url) as first:
        first.people.add("Ann")
        database = first.people._database  # pyright: ignore[reportPrivateUsage]
        with ThreadPoolExecutor(1) as pool, database.write() as writing:
            ensure_person(writing, "Ben")

            def look() -> list[str]:
                with Workspace.open(url) as second:
                    second.people.add("Ann")  # known already
                    if not url.startswith("postgres"):  # There nobody waits for another's rows.
                        with pytest.raises(CuecardError, match="busy"):
                            second.figures.keep([KEPT], "en", patience=0.01)
                    return [person.name for person in second.people.all()]

            assert pool.submit(look).result(timeout=20) == ["Ann"]
        assert first.people.exists("Ben")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:geheim@127.0.0.1:1/x",
        "postgresql://ann:geheim@127.0.0.1:port/x",
        "postgresql+psycopg://ann:geheim@host.invalid/x",
        "mysql://ann:geheim@localhost/x",
        "postgresql://ann:ge/heim@localhost/x",
        "nonsense://ann:geheim@",
        "://geheim",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_no_error_shows_a_password(url: str) -> None:
    error = refused(url)
    assert "heim" not in "".join(traceback.format_exception(error))


def test_an_open_workspace_shows_no_password(url: str) -> None:
    with Workspace.open(url) as workspace:
        assert "@" not in workspace.public_url or ":***@" in workspace.public_url
