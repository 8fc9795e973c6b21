"""Whoever reads is held up by nobody: not while another process writes, not where nothing can be written."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import forked
import reading_program
from apart import fresh
from cuecard.annotate.samples import import_samples
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.store.schema import VERSIONS
from cuecard.store.workspace import Workspace

READING: dict[str, tuple[str, ...]] = {
    "runs": ("runs",),
    "runs as JSON": ("runs", "--json"),
    "score": ("score", "1", "--json"),
    "compare": ("compare", "1"),
    "table": ("table", "main", "1"),
    "report": ("report", "1", "-o", "{out}/report.html"),
    "agree": ("agree", "1"),
    "board": ("board",),
    "datasheet": ("datasheet",),
    "sessions": ("sessions",),
    "fidelity": ("fidelity", "1"),
    "check": ("check", "task.yaml"),
    "review": ("review",),
    "export": ("export", "{out}/tasks"),
    "export of runs": ("export", "{out}/trials", "--run", "1"),
    "pack": ("pack", "-o", "{out}/ann.cuepack"),
    "doctor": ("doctor",),
}
TASK = Path(reading_program.__file__).parents[1] / "sample_tasks" / "espresso.yaml"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a judged run of two agents, of which no figures are kept."""
    path = tmp_path_factory.mktemp("played") / "cuecard.db"
    with fresh(path) as workspace:
        import_samples(workspace, "Ann")
        agents = ("offline",)
        plan = RunPlan(tasks=("espresso", "facts-night-train"), agents=agents, samples=2)
        asyncio.run(start_run(workspace, plan, by="Ann"))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM trialfigures")
    connection.close()
    return path


@pytest.fixture
def place(played: Path) -> Iterator[Path]:
    """A folder that anybody may enter, with a copy of the workspace and a task file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(played, folder / "cuecard.db")
        (folder / "task.yaml").write_bytes(TASK.read_bytes())
        yield folder


def test_verbs_that_read_do_not_wait_for_somebody_who_writes(
    cuecard, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(place)
    (place / "out").mkdir()

    def ask(name: str):
        words = (word.format(out=place / "out") for word in READING[name])
        return cuecard("--as", "Ann", *words)

    answers = {name: ask(name) for name in READING}
    with sqlite3.connect("cuecard.db") as connection:
        connection.execute("DELETE FROM trialfigures")
    connection.close()
    writer = sqlite3.connect("cuecard.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE run SET name = 'not yet'")
    shutil.rmtree(place / "out")
    (place / "out").mkdir()
    for name, words in READING.items():
        now = ask(name)
        assert (now.code, now.err.count("busy")) == (answers[name].code, 0), (name, now.err)
        if "-o" not in words and name not in ("datasheet", "doctor"):
            assert now.out == answers[name].out, name
    writer.execute("ROLLBACK")
    writer.close()


def test_a_count_does_not_wait_to_keep_its_figures(place: Path):
    from cuecard.core.evaluation.scores import judged_trials

    with Workspace.open(place / "cuecard.db") as workspace:
        writer = sqlite3.connect(place / "cuecard.db", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            # Well before the writer would be given up.
            found = pool.submit(judged_trials, workspace, 1).result(timeout=20)
        assert len(found) == 4
        assert workspace.figures.of_run(1, "en") == {}
        writer.execute("ROLLBACK")
        judged_trials(workspace, 1)
        assert len(workspace.figures.of_run(1, "en")) == 4
        writer.close()


def by_somebody_else(folder: Path, *commands: tuple[str, ...]) -> list[dict[str, Any]]:
    """See `reading_program`; a workspace beside the folder is the one on which everything is tried first."""
    with tempfile.TemporaryDirectory() as name:
        warm = Path(name, "cuecard.db")
        shutil.copy(folder / "cuecard.db", warm)
        done = forked.run(
            [sys.executable, reading_program.__file__, folder, warm],
            input=json.dumps(commands),
            capture_output=True,
            text=True,
            timeout=300,
            env={k: v for k, v in os.environ.items() if not k.startswith("CUECARD_")},
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def state_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("folder_too", [False, True])
def test_what_can_only_be_read_is_read_and_left_as_it_is(place: Path, folder_too: bool):
    db = place / "cuecard.db"
    db.chmod(0o444)
    place.chmod(0o555 if folder_too else 0o777)
    before = state_of(place)
    ours = ("--db", str(db), "--as", "Ann")
    names = ("runs", "score", "pack") if folder_too else ("runs as JSON",)
    verbs = [(*ours, *READING[name]) for name in names]
    writing = (*ours, "run", "espresso")
    opening = [("app", str(db))] if folder_too else []
    try:
        answers = by_somebody_else(place, *verbs, writing, *opening)
    finally:
        place.chmod(0o755)
    for words, answer in zip(verbs, answers, strict=False):
        assert answer["code"] == answer["before"], (words, answer)
        assert "cannot be" not in answer["err"]
    # Who writes is told why not, in a sentence, with the file, whose it is, and its permissions.
    assert (wrote := answers[len(verbs)])["code"] == 1
    assert "The workspace cannot be written" in wrote["err"]
    assert "-r--r--r--" in wrote["err"]
    assert wrote["err"].count("\n") == 1
    assert state_of(place) == before
    for opened in answers[len(verbs) + 1 :]:
        # The app shows every place, says once that nothing can be saved, and complains of nothing else.
        assert "for you, Ana · read-only" in opened["out"]
        assert "4/4" in opened["out"]
        told = [line for line in opened["out"].splitlines() if line.startswith("TOLD ")]
        assert len(told) == 1, told
        assert "cuecard.db" in told[0]


def test_what_others_write_meanwhile_is_read_where_nothing_can_be_written(place: Path):
    db = place / "cuecard.db"
    db.chmod(0o644)
    writer = sqlite3.connect(db, isolation_level=None)
    writer.execute("UPDATE run SET name = 'renamed just now'")
    try:
        for side in ("-wal", "-shm"):
            assert Path(f"{db}{side}").stat().st_size
            Path(f"{db}{side}").chmod(0o644)
        mode = 0o444 if os.geteuid() else 0o644
        db.chmod(mode)
        place.chmod(0o555)
        (runs,) = by_somebody_else(place, ("--db", str(db), "runs"))
        assert (runs["code"], "renamed just now" in runs["out"]) == (0, True), runs
    finally:
        place.chmod(0o755)
        writer.close()


def test_what_is_wrong_with_permissions_is_said(place: Path):
    hidden = place / "hidden"
    hidden.mkdir()
    unreadable, newer, old, left = (place / f"{n}.db" for n in ("secret", "newer", "old", "left"))
    for copy in (unreadable, newer, old, left, hidden / "in.db"):
        shutil.copy(place / "cuecard.db", copy)
    for path, version in ((newer, "9999"), (old, VERSIONS[-2])):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.close()
    # A process was killed, and somebody took the database and what was beside it, but not all of that.
    writer = sqlite3.connect(left, isolation_level=None)
    writer.execute("UPDATE run SET name = 'beside'")
    wal = Path(f"{left}-wal").read_bytes()
    writer.close()
    Path(f"{left}-wal").write_bytes(wal)
    unreadable.chmod(0o000)
    for path in (newer, old, left):
        path.chmod(0o444)
    hidden.chmod(0o000)
    place.chmod(0o555)
    expected = {
        unreadable: ("cannot be read", "----------"),
        hidden / "in.db": ("cannot be read", "d---------"),
        newer: ("newer Cuecard", "9999"),
        old: ("brought up to date", "-r--r--r--"),
        left: ("cannot be read where it is", "left.db-wal"),
        place / "new.db": ("There is no workspace here", "new.db"),
        place / "no" / "w.db": ("folder does not exist", "no"),
        place / "task.yaml" / "w.db": ("folder does not exist", "task.yaml"),
        place: ("folder, not a workspace", str(place)),
        place / "task.yaml": ("not a Cuecard workspace", "task.yaml"),
        Path("/dev/null"): ("not a Cuecard workspace", "/dev/null"),
    }
    try:
        asked = [("--db", str(path), "runs") for path in expected]
        *answers, made = by_somebody_else(place, *asked, ("--db", str(place / "made.db"), "init"))
    finally:
        place.chmod(0o755)
        hidden.chmod(0o755)
    for (path, (said, where)), answer in zip(expected.items(), answers, strict=True):
        assert (answer["code"], answer["out"]) == (1, ""), (path, answer)
        assert said in answer["err"], (path, answer["err"])
        assert where in answer["err"], (path, answer["err"])
    assert made["code"] == 1
    assert "No workspace can be made here" in made["err"]
