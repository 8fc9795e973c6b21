"""A run is held by one process at a time, for as long as that process lives, and no longer."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, text

import forked
from cuecard.core.engine.events import AgentSpoke, Event, Limits, RunState
from cuecard.core.engine.messages import AgentReply
from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.records import TrialRecord
from cuecard.core.worker_archive import LAPSE, AlreadyPlayed
from cuecard.store import leases
from cuecard.store.engine import Database
from cuecard.store.schema import upgrade
from cuecard.store.workspace import Workspace

HOLD = Path(__file__).with_name("hold_run.py")


@pytest.fixture
def run_id(workspace: Workspace, make_trial: Callable[..., TrialRecord]) -> int:
    return make_trial().run_id


def execute(workspace: Workspace, sql: str, **values: Any) -> None:
    database = workspace.leases._database  # pyright: ignore[reportPrivateUsage]
    with database.write() as session:
        session.connection().execute(text(sql), values)


def elsewhere(workspace: Workspace) -> None:
    """As if those who hold runs did so on another machine, with a clock of its own."""
    execute(workspace, "UPDATE runlease SET machine = 'another', host = 'far'")


def test_a_run_is_held_by_one_at_a_time(url: str, workspace: Workspace, run_id: int) -> None:
    assert workspace.runs.get(run_id).state is RunState.OPEN
    mine = workspace.leases.take(run_id, "Ann")
    with Workspace.open(url) as other:
        with pytest.raises(AlreadyPlayed) as told:
            other.leases.take(run_id, "Bob")
        assert f"Ann plays it on {platform.node()}, process {os.getpid()}" in told.value.message
        assert told.value.certain
        found = other.runs.get(run_id)
        assert (found.state, found.lease and found.lease.person) == (RunState.RUNNING, "Ann")
        workspace.leases.release(mine)
        workspace.leases.release(mine)
        assert (other.runs.get(run_id).state, other.runs.get(run_id).lease) == (RunState.OPEN, None)
        theirs = other.leases.take(run_id, "Bob")
        with pytest.raises(AlreadyPlayed, match="Bob"):
            workspace.leases.take(run_id, "Ann")
        assert theirs.owner != mine.owner
    # A workspace that is closed lets go.
    assert workspace.runs.get(run_id).lease is None
    with pytest.raises(NotFound):
        workspace.leases.take(999, "Ann")


async def test_who_takes_a_run_next_finds_what_nobody_waited_for(
    url: str, workspace: Workspace, make_trial: Callable[..., TrialRecord], at: Callable[..., Event]
) -> None:
    trial = make_trial()
    with Workspace.open(url) as other:
        mine = workspace.leases.take(trial.run_id, "Ann")
        await workspace.sink(trial.id).append(
            at(0, AgentSpoke(turn=0, reply=AgentReply(text="hi")))
        )
        workspace.leases.release(mine)
        assert [event.seq for event in other.runs.events(trial.id)] == [0]


def test_of_many_who_want_it_at_once_one_has_it(workspace: Workspace, run_id: int) -> None:
    def want(number: int) -> bool:
        try:
            workspace.leases.take(run_id, str(number))
        except AlreadyPlayed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(want, range(16))) == 1


def test_a_killed_process_holds_nothing_and_a_stopped_one_does(
    url: str, workspace: Workspace, run_id: int
) -> None:
    command = [sys.executable, HOLD, url, str(run_id), "Ben"]
    with forked.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = json.loads(process.stdout.readline())
        try:
            lease = workspace.runs.get(run_id).lease
            assert lease is not None
            assert (lease.alive, lease.pid, lease.person) == (True, held["pid"], "Ben")
            # Long without a beat, because it was stopped or cannot write, it still may go on at any moment.
            execute(workspace, "UPDATE runlease SET beat_at = :long", long="2020-01-01 00:00:00")
            with pytest.raises(AlreadyPlayed, match=f"process {held['pid']}"):
                workspace.leases.take(run_id, "Ann")
        finally:
            process.kill()
    # At once, on the same machine; nobody asks or waits.
    assert workspace.runs.get(run_id).state is RunState.INTERRUPTED
    workspace.leases.take(run_id, "Ann")
    assert workspace.runs.get(run_id).state is RunState.RUNNING


def test_another_process_of_the_same_number_is_not_the_holder(
    workspace: Workspace, run_id: int
) -> None:
    workspace.leases.take(run_id, "Ann")
    execute(workspace, "UPDATE runlease SET pid = 1, started = 'before'")
    assert workspace.runs.get(run_id).state is RunState.INTERRUPTED


def test_of_another_machine_only_its_heart_is_believed(
    url: str, workspace: Workspace, run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file no clock is compared, wrong by years or not; on PostgreSQL the server's alone."""
    monkeypatch.setattr(leases, "BEAT", 60.0)
    workspace.leases.take(run_id, "Ben")
    elsewhere(workspace)
    now = [1000.0]
    monkeypatch.setattr(leases.time, "monotonic", lambda: now[0])
    postgres = url.startswith("postgres")
    with Workspace.open(url) as other:
        for wrong in ("2000-01-01 00:00:00", "2090-01-01 00:00:00"):
            if not postgres:
                execute(workspace, "UPDATE runlease SET beat_at = :at", at=wrong)
            assert other.runs.get(run_id).state is RunState.RUNNING
        for beats in range(1, 4):
            now[0] += LAPSE - 1
            execute(workspace, "UPDATE runlease SET beats = :n", n=beats)
            assert other.runs.get(run_id).state is RunState.RUNNING
        with pytest.raises(AlreadyPlayed) as told:
            other.leases.take(run_id, "Ann")
        assert told.value.certain is postgres
        now[0] += LAPSE + 1
        if postgres:
            later = "UPDATE runlease SET beat_at = now() - interval '1 hour'"
            execute(workspace, later)
        assert other.runs.get(run_id).state is RunState.INTERRUPTED
        other.leases.take(run_id, "Ann")


def test_who_was_thought_gone_and_comes_back_is_told(
    url: str, workspace: Workspace, run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.05)
    lost: list[str] = []
    lease = workspace.leases.take(run_id, "Ann", lambda: lost.append("taken over"))
    execute(workspace, "DELETE FROM runlease")
    with Workspace.open(url) as other:
        other.leases.take(run_id, "Bob")
        until(lambda: lost)
        assert (lost, lease.lost) == (["taken over"], True)
        workspace.leases.release(lease)
        found = workspace.runs.get(run_id).lease
        assert found is not None
        assert (found.person, found.alive) == ("Bob", True)


def test_the_heart_beats(
    workspace: Workspace, run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.05)
    database = workspace.leases._database  # pyright: ignore[reportPrivateUsage]

    def beats() -> int:
        with database.read() as session:
            return session.connection().execute(text("SELECT beats FROM runlease")).scalar_one()

    workspace.leases.take(run_id, "Ann")
    until(lambda: beats() > 2)


def test_a_holder_is_not_lost_while_another_writes_for_long(
    url: str, workspace: Workspace, run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.02)
    lease = workspace.leases.take(run_id, "Ann")
    with Workspace.open(url) as other:
        database = other.leases._database  # pyright: ignore[reportPrivateUsage]
        with database.write():
            time.sleep(0.3)  # many beats that a file does not let through
        with pytest.raises(AlreadyPlayed):
            other.leases.take(run_id, "Bob")
    assert not lease.lost


def test_a_workspace_of_an_older_version_knows_of_no_holder(url: str) -> None:
    made = make_url(url)
    if made.get_backend_name() != "sqlite":
        made = made.set(drivername="postgresql+psycopg")
    database = Database(made)
    with database.connection() as connection:
        upgrade(connection, "0007")
        connection.execute(
            text("INSERT INTO person (name, created_at) VALUES ('Ann', '2026-01-02 00:00:00')")
        )
        for number, state in enumerate(("running", "paused", "done"), 1):
            connection.execute(
                text(
                    "INSERT INTO run (id, uid, name, kind, created_by, created_at, state, samples, limits, plan,"
                    " reason) VALUES (:id, :uid, 'r', 'grid', 'Ann', '2026-01-02 00:00:00', :state, 1, :limits,"
                    " '{}', '')"
                ),
                {
                    "id": number,
                    "uid": str(number),
                    "state": state,
                    "limits": Limits().model_dump_json(),
                },
            )
    database.close()
    with Workspace.open(url) as workspace:
        states = [run.state for run in workspace.runs.all()]
        assert states == [RunState.DONE, RunState.PAUSED, RunState.OPEN]
        assert all(run.lease is None for run in workspace.runs.all())
        workspace.leases.take(1, "Ann")
        assert workspace.runs.get(1).state is RunState.RUNNING


def test_where_nothing_can_be_written_nothing_is_held(url: str, tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Workspace.open(path) as workspace:
        run = workspace.runs.create(
            name="r", kind="grid", created_by="Ann", samples=1, limits=Limits()
        )
    with Workspace.open(f"sqlite:///file:{path}?mode=ro&uri=true") as reader:
        assert reader.runs.get(run.id).state is RunState.OPEN
        with pytest.raises(CuecardError, match="cannot be written"):
            reader.leases.take(run.id, "Bob")


def until(condition: Callable[[], object]) -> None:
    for _attempt in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("what was waited for did not happen")
