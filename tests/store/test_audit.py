"""A real file, damaged past its triggers in each way there is: every place is named."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from apart import fresh
from cuecard.core.engine.events import Event, EventBody, ToolAnswered
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.errors import CuecardError
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

DAMAGES = {
    "UPDATE content SET packed = (SELECT packed FROM content ORDER BY hash LIMIT 1) WHERE hash ="
    " (SELECT max(hash) FROM content)": (
        "content",
        "its hash is not its name",
    ),
    "UPDATE revision SET hash = (SELECT hash FROM content WHERE hash <> revision.hash)"
    " WHERE task_id = 'facts-lunar-station-zh'": ("revision", "its hash is not its name"),
    "UPDATE contribution SET by = 'Ben' WHERE kind = 'prioritised'": (
        "contribution",
        "its signature is not that of what it says",
    ),
    "UPDATE contribution SET body = '{' WHERE kind = 'claimed'": ("contribution", "cannot be read"),
    "UPDATE standing SET state = 'approved' WHERE task_id = 'facts-night-train'": (
        "standing",
        "is not what its reviews make of it",
    ),
    "UPDATE task SET priority = 2 WHERE id = 'table-us-states'": (
        "task",
        "is not what its reviews make of it",
    ),
    "UPDATE payload SET size = size + 1 WHERE hash = (SELECT min(hash) FROM payload)": (
        "payload",
        "its hash is not its name",
    ),
    "UPDATE payload SET data = x'00' WHERE hash = (SELECT max(hash) FROM payload)": (
        "payload",
        "cannot be read",
    ),
    "DELETE FROM event WHERE trial_id = 6 AND seq IN (2, 3)": (
        "event",
        "events 2 to 3 are missing",
    ),
    "UPDATE event SET body = '{}', packed = NULL WHERE trial_id = 7 AND seq = 1": (
        "event",
        "cannot be read",
    ),
    "UPDATE event SET key = 'agent/99' WHERE trial_id = 8 AND seq = 2": (
        "event",
        "is not of the kind or place that it says",
    ),
    "UPDATE trial SET termination = 'cancelled' WHERE id = 9": (
        "trial",
        "its end is not that of its log",
    ),
    "UPDATE usage SET prompt = prompt + 1 WHERE trial_id ="
    " (SELECT min(trial_id) FROM usage WHERE calls > 0 AND trial_id > 20)": (
        "usage",
        "is not the sum of the calls in the log",
    ),
    "DELETE FROM usage WHERE trial_id = (SELECT max(trial_id) FROM usage)": (
        "usage",
        "is missing: the log has such calls",
    ),
    "UPDATE verdict SET item_key = 'triple/77' WHERE id = 1": (
        "verdict",
        "is not of the item that it says",
    ),
    "DELETE FROM verdict WHERE id = (SELECT max(id) - 1 FROM verdict)": (
        "judgement",
        "verdicts are missing",
    ),
    "UPDATE trialfigures SET body = replace(body, 'true', 'false')"
    " WHERE judgement_id = 30 AND language = 'en'": (
        "trialfigures",
        "is not what is counted anew",
    ),
    "UPDATE setitem SET item_key = 'triple/9999' WHERE position = 3": (
        "setitem",
        "its trial has no item triple/9999",
    ),
    "UPDATE sessionform SET questions = '[]' WHERE id = 1": (
        "sessionform",
        "its hash is not its name",
    ),
    "UPDATE run SET plan = '{' WHERE id = 1": ("run", "plan cannot be read"),
    "UPDATE trial SET agent = 'x' WHERE id = 10": ("trial", "agent cannot be read"),
    "UPDATE label SET person = 'Nobody' WHERE id = 5": (
        "label",
        "refers to a person that is not there",
    ),
}
"""What is done to the file, and what is said of it."""


def heard(_part: str, _rows: int) -> None:
    """Nobody watches."""


def test_every_damage_is_named(seeded_once: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(seeded_once, tmp_path / "damaged.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        for damage in DAMAGES:
            assert raw.execute(damage).rowcount >= 1, damage
    with Workspace.open(path) as workspace:
        parts = workspace.audit(heard)
    found = {(each.table, each.problem) for part in parts for each in part.findings}
    assert set(DAMAGES.values()) - found == set()
    keys = {(each.table, each.key) for part in parts for each in part.findings}
    assert {
        *[("event", "6"), ("event", "7/1"), ("event", "8/2"), ("trial", "9"), ("label", "5")],
        *[("standing", "facts-night-train/1"), ("task", "table-us-states"), ("setitem", "1/3")],
        *[
            ("run", "1"),
            ("trial", "10"),
            ("verdict", "1"),
            ("trialfigures", "30/en"),
            ("sessionform", "1"),
        ],
    } <= keys
    assert all(each.hint for part in parts for each in part.findings)


def test_large_contents_are_held_against_their_names_and_missed(
    workspace: Workspace,
    url: str,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
) -> None:
    trial = make_trial()
    for step in range(3):
        told = ToolAnswered(
            part="agent",
            turn=0,
            step=step,
            call=ToolCall(name="visit", arguments={}, id=str(step)),
            answer=ToolAnswer(text=f"{step} and so on, for long; " * 400),
        )
        workspace.event_writer.submit(trial.id, at(step, told))
        workspace.event_writer.settle()
    assert [part.found for part in workspace.audit(heard)] == [0] * 7
    if not url.startswith("sqlite"):
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as raw:
        assert raw.execute("SELECT count(base) FROM payload").fetchone() == (2,)
        raw.execute("DROP TRIGGER payload_no_delete")
        raw.execute("DELETE FROM payload WHERE base IS NULL")
        raw.commit()
    findings = [each for part in workspace.audit(heard) for each in part.findings]
    assert [each.problem for each in findings] == [
        *["refers to a payload that is not there"] * 2,
        *["cannot be read"] * 2,
        f"is missing: event {trial.id}/0 needs it",
    ]


def test_a_damaged_page_is_named(tmp_path: Path, make_task: Callable[..., Task]) -> None:
    path = tmp_path / "damaged.db"
    with fresh(path) as workspace:
        for n in range(60):
            workspace.tasks.save(make_task(f"t{n}"), author="Ann")
    with closing(sqlite3.connect(path)) as raw:
        page, size = raw.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master"
            " WHERE name = 'content'"
        ).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 200)
    with Workspace.open(path) as workspace:
        parts = {part.name: part for part in workspace.audit(heard)}
    assert parts["pages"].found
    assert parts["tasks"].found
    assert "recover" in parts["pages"].findings[0].hint


def test_what_was_edited_to_junk_is_told_with_a_way_out(seeded_once: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(seeded_once, tmp_path / "damaged.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("UPDATE run SET plan = '{' WHERE id = 1")
        raw.execute("UPDATE trial SET agent = 'x' WHERE id = 9")
        raw.execute("UPDATE revision SET origins = 'x' WHERE task_id = 'table-us-states'")
    with Workspace.open(path) as workspace:
        run = workspace.runs.trial(8).run_id
        for read in (
            lambda: workspace.runs.get(1),
            lambda: workspace.runs.trials(run),
            lambda: list(workspace.tasks.newest(["table-us-states"])),
        ):
            with pytest.raises(CuecardError, match="A record of this workspace is damaged") as told:
                read()
            assert str(path) in told.value.message
            assert "doctor --deep" in told.value.hint
