"""A whole workspace moved to another database and back, also by processes that are killed; and backed up while it is used."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, create_engine

import forked
from apart import fresh
from cuecard.core.engine.events import Limits
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.scores import score_run
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.store.copies import CopiedTable, OnRows
from cuecard.store.schema import APPEND_ONLY, PRESENT
from cuecard.store.trial_tables import WorkerRow
from cuecard.store.workspace import Workspace, database_at

MOVER = Path(__file__).parent / "move_workspace.py"


def silent(_what: str, _done: int, _of: int) -> None:
    """Nobody watches."""


@pytest.fixture
def seeded(seeded_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(seeded_once, tmp_path / "seeded.db"))


def heard(_part: str, _rows: int) -> None:
    """Nobody watches this either."""


@pytest.fixture
def small(tmp_path: Path, make_task: Callable[..., Task]) -> Path:
    path = tmp_path / "small.db"
    with fresh(path) as workspace:
        task = make_task("t")
        workspace.tasks.save(task, author="Ann")
        workspace.drafts.keep("t", "Ann", 1, {"id": "t", "title": "half"})
    return path


def move(source: str | Path, target: str | Path, told: OnRows = silent) -> list[CopiedTable]:
    with (
        Workspace.open(source, create=False) as workspace,
        closing(database_at(target, create=True)) as there,
    ):
        return workspace.copies.move(there, told)


def rows(path: Path) -> dict[str, list[Any]]:
    """Every row of an SQLite file, as SQLite itself gives them."""
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: sorted(database.execute(f"SELECT * FROM {name}"), key=repr) for (name,) in names
        }


def scores(url: str | Path) -> list[str]:
    with Workspace.open(url, create=False) as workspace:
        runs = [run.id for run in workspace.runs.all()]
        return [score_run(workspace, run).model_dump_json() for run in runs]


def test_there_and_back_every_row_and_score_is_the_same(
    url: str, seeded: Path, tmp_path: Path
) -> None:
    before, counted = rows(seeded), scores(seeded)
    there = move(seeded, url)
    assert scores(url) == counted
    back = tmp_path / "back.db"
    again = move(url, back)
    assert again == there
    assert {c.table: c.rows for c in there} == {
        name: len(found)
        for name, found in before.items()
        if name not in {"alembic_version", *PRESENT}
    }
    assert rows(back) == before == rows(seeded)
    with Workspace.open(url) as workspace:
        assert {part.name: part.found for part in workspace.audit(heard)} == dict.fromkeys(
            ("pages", "records", "references", "tasks", "contents", "trials", "items"), 0
        )
        last = max(run.id for run in workspace.runs.all())
        made = workspace.runs.create(
            name="new", kind="grid", created_by="Ann", samples=1, limits=Limits()
        )
        assert made.id == last + 1
        kept = APPEND_ONLY[0]
        with (
            pytest.raises(CuecardError, match=f"{kept} is append-only"),
            workspace._database.connection() as connection,  # pyright: ignore
        ):
            connection.exec_driver_sql(f"DELETE FROM {kept}")


def killed_after(source: Path, target: str, words: int) -> bool:
    """Whether a process that moves was killed after it told so often how far it is; else it is done."""
    command = [sys.executable, str(MOVER), str(source), target]
    with forked.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for n, _line in enumerate(process.stdout, 1):
            if n == words:
                process.kill()
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode != 0


def test_a_killed_move_goes_on_where_it_was(url: str, seeded: Path, tmp_path: Path) -> None:
    target, counted = url, scores(seeded)
    for words in (22, 45):
        assert killed_after(seeded, target, words)
        with pytest.raises(CuecardError, match="has not all been moved"):
            Workspace.open(target)
    other = tmp_path / "other.db"
    Workspace.open(other).close()
    with pytest.raises(CuecardError, match="Another workspace is being moved"):
        move(other, target)
    copied: list[str] = []

    def told(table: str, _done: int, _of: int) -> None:
        copied.append(table)

    move(seeded, target, told)
    # What had been there was only compared.
    assert copied.count("person") == 1
    assert scores(target) == counted


def test_what_is_written_meanwhile_comes_along(url: str, small: Path) -> None:
    written: list[str] = []
    with Workspace.open(small) as busy:

        def told(table: str, _done: int, _of: int) -> None:
            written.append(table)
            if written == [table]:
                busy.people.add("Zoe")
                busy.effort.add("t", "Zoe", "time", 60)
            elif written.count("draft") == 1 and table == "draft":
                busy.drafts.throw_away("t", "Ann")

        found = {each.table: each.changed for each in move(small, url, told)}
    assert {table for table, changed in found.items() if changed} == {
        *("draft", "effort", "person", "throwndraft")
    }
    with Workspace.open(url, create=False) as moved:
        assert "Zoe" in [person.name for person in moved.people.all()]
        assert moved.drafts.get("t", "Ann") is None


def test_no_workspace_that_is_played_or_goes_where_something_is(
    url: str, workspace: Workspace, small: Path, tmp_path: Path
) -> None:
    with pytest.raises(CuecardError, match="Another workspace is there already"):
        move(small, url)
    new = tmp_path / "new.db"
    with Workspace.open(small) as playing:
        run = playing.runs.create(
            name="r", kind="grid", created_by="Ann", samples=1, limits=Limits()
        )
        lease = playing.leases.take(run.id, "Ann")
        with pytest.raises(AlreadyPlayed):
            move(small, new)
        assert not new.exists()
        begun: list[str] = []

        def told(table: str, _done: int, _of: int) -> None:
            if not begun:
                playing.leases.take(run.id, "Ann")
            begun.append(table)

        playing.leases.release(lease)
        with pytest.raises(AlreadyPlayed):
            move(small, new, told)
    with pytest.raises(CuecardError, match="has not all been moved"):
        Workspace.open(new)


def test_a_workspace_with_a_worker_that_waits_for_runs_is_not_moved(
    small: Path, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    row = WorkerRow(
        id="w", host="lab-3", machine="m", pid=12, started="", person="Bo", since=now, beat_at=now,
        concurrency=1, players="",
    )  # fmt: skip
    engine = create_engine(f"sqlite:///{small}")
    with Session(engine) as session:
        session.add(row)
        session.commit()
    engine.dispose()
    said = r"A worker is at work in this workspace: Bo's on lab-3, process 12 \(Stop it first"
    with pytest.raises(CuecardError, match=said):
        move(small, tmp_path / "new.db")


def test_a_backup_is_of_one_moment_while_others_write(
    url: str, small: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if url.startswith("sqlite"):
        # Of enough pages that they are not copied in one go.
        url = f"sqlite:///{request.getfixturevalue('seeded')}"
    else:
        move(small, url)
    file, steps = tmp_path / "backup.db", list[tuple[str, int, int]]()
    with Workspace.open(url) as workspace, Workspace.open(url) as other:
        before = [person.name for person in workspace.people.all()]

        def writing(what: str, done: int, of: int) -> None:
            if what in ("", "content", "task"):
                other.people.add(f"Late {done}")
                steps.append((what, done, of))

        workspace.copies.back_up(file, writing)
        assert len(workspace.people.all()) > len(before)
    pages = [done for what, done, _of in steps if not what]
    assert pages == sorted(set(pages))
    with Workspace.open(file) as copy:
        assert [person.name for person in copy.people.all()] == before
    assert scores(file) == scores(url)
    assert [each.name for each in tmp_path.iterdir() if "tmp" in each.name] == []


def test_a_backup_replaces_a_file_only_when_told_to(
    workspace: Workspace, make_trial: Callable[..., TrialRecord], tmp_path: Path
) -> None:
    file = tmp_path / "backup.db"
    file.write_text("mine")
    with pytest.raises(CuecardError, match="exists already"):
        workspace.copies.back_up(file, silent)
    assert file.read_text() == "mine"
    trial = make_trial()
    lease = workspace.leases.take(trial.run_id, "Ann")
    workspace.copies.back_up(file, silent, force=True)
    workspace.leases.release(lease)
    with Workspace.open(file) as copy:
        assert copy.runs.get(trial.run_id).lease is None
        with pytest.raises(CuecardError, match="somebody uses it"):
            workspace.copies.back_up(file, silent, force=True)
    with pytest.raises(CuecardError, match="too long"):
        workspace.copies.back_up(tmp_path / ("x" * 300), silent, force=True)
