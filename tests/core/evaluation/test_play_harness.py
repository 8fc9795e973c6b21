"""Live sessions with a harness, as a real program: stopped, killed, taken up and told again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import forked
import lab_players
from cuecard.core.engine.events import Event, Marked, ToolAnswered
from cuecard.core.engine.messages import HarnessSession
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.store.workspace import Workspace
from harness_bench import harness_config, until
from lab_players import harness_prompts
from play_bench import TASK, check_log, config_of, say, spoken, written
from scripted_harness import SAID

HALF = SAID[: len(SAID) // 2].strip()
RETOLD = "（这段对话此前已在进行"


def alive(folder: Path) -> list[int]:
    """The processes that got this folder as HARNESS_DIR, but for this one."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environ = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HARNESS_DIR={folder}".encode() in environ and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def sessions(events: tuple[Event, ...] | list[Event]) -> list[tuple[bool, bool]]:
    """Restored and retold, of each session of a harness."""
    marks = [e.body.mark for e in events if isinstance(e.body, Marked)]
    return [(m.restored, m.retold) for m in marks if isinstance(m, HarnessSession)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "harness"
    folder.mkdir()
    monkeypatch.setenv("HARNESS_DIR", str(folder))
    yield folder
    assert alive(folder) == []


async def begin(workspace: Workspace, *tricks: str, trial: int | None = None) -> PlaySession:
    config = config_of(outside=harness_config(*tricks))
    if trial is not None:
        return await PlaySession.resume(workspace, trial, by="ann", config=config)
    return await PlaySession.start(workspace, TASK, by="ann", agent="outside", config=config)


async def test_streamed_interrupted_retried_and_taken_back(workspace: Workspace, folder: Path):
    session = await begin(workspace, "search", "http")
    (folder / "slow").touch()
    await say(session, "one")
    await written(session, HALF)
    await session.interrupt()
    assert spoken(session.events) == ["user: one", f"agent: {HALF}"]
    assert (folder / "cancelled").exists()
    # What it had said stands, so the same session goes on, and knows what it was told.
    (folder / "slow").unlink()
    await say(session, "two")
    assert await session.wait_turn()
    first, second = harness_prompts(folder)
    assert second == (first[0], "two")

    await session.retry()
    assert await session.wait_turn()
    session_id, told = harness_prompts(folder)[-1]
    assert session_id != first[0]
    assert told.startswith(first[1])
    assert RETOLD in told
    assert HALF in told
    assert told.endswith("\n\ntwo")
    assert SAID not in told

    (folder / "slow").touch()
    await say(session, "three")
    await written(session, HALF)
    assert (await session.undo()).text == "three"
    (folder / "slow").unlink()
    await say(session, "four")
    assert await session.wait_turn()
    told = harness_prompts(folder)[-1][1]
    assert SAID in told
    assert "three" not in told
    assert sessions(session.events) == [(False, False), (False, True), (False, True)]
    log = check_log(workspace, session)
    # The call of a turn that was broken off answers no other.
    queries = [e.body.call.arguments["query"] for e in log if isinstance(e.body, ToolAnswered)]
    assert queries.count("slowly") == 2
    assert [line.split(": ")[1] for line in spoken(session.events) if "user" in line] == [
        *("one", "two", "four")
    ]
    await session.close()
    assert alive(folder) == []


@pytest.mark.parametrize("tricks", [(), ("loads",)])
async def test_a_harness_that_is_killed_is_begun_again(
    workspace: Workspace, folder: Path, tricks: tuple[str, ...]
):
    session = await begin(workspace, *tricks)
    await say(session, "one")
    assert await session.wait_turn()
    (folder / "slow").touch()
    await say(session, "two")
    await written(session, HALF)
    (folder / "slow").unlink()
    for pid in alive(folder):
        os.kill(pid, signal.SIGKILL)
    assert await session.wait_turn()
    assert spoken(session.events) == ["user: one", f"agent: {SAID}", "user: two", f"agent: {SAID}"]
    last = harness_prompts(folder)[-1][1]
    if tricks:
        assert sessions(session.events)[1:] == [(True, False)]
        assert "被中断" in last
    else:
        assert sessions(session.events)[1:] == [(False, True)]
        assert RETOLD in last
        assert last.endswith("two")
    check_log(workspace, session)
    await session.close()


async def test_a_harness_that_does_not_stop_is_left(workspace: Workspace, folder: Path):
    session = await begin(workspace, "stubborn")
    (folder / "slow").touch()
    await say(session, "one")
    await written(session, HALF)
    await session.interrupt()
    (folder / "slow").unlink()
    await say(session, "two")
    assert await session.wait_turn()
    assert sessions(session.events) == [(False, False), (False, True)]
    await session.close()


async def test_killed_in_the_middle_of_a_turn_and_gone_on_with(db: Path, folder: Path):
    tricks = ("loads", "search", "http", "children")
    (folder / "slow").touch()
    script = Path(lab_players.__file__)
    command = (sys.executable, script, "harness", db, TASK, ",".join(tricks))
    program = await asyncio.to_thread(forked.run, command, cwd=folder)
    assert program.returncode == -signal.SIGKILL
    (folder / "slow").unlink()
    # Neither the harness, which heeds no request to stop, nor what it had started is left.
    assert len(json.loads((folder / "pids").read_text())) == 4
    await until(lambda: not alive(folder))
    with Workspace.open(db) as workspace:
        (trial,) = workspace.runs.open_trials(kind="play")
        session = await begin(workspace, *tricks[:3], trial=trial.id)
        assert await session.wait_turn()
        log = check_log(workspace, session)
        assert sessions(log) == [(False, False), (True, False)]
        first, second = harness_prompts(folder)
        assert first[0] == second[0]
        assert "被中断" in second[1]
        # A call of the turn that broke off is no answer to another one.
        answered = [e.body.call.arguments["query"] for e in log if isinstance(e.body, ToolAnswered)]
        assert answered == ["slowly", "espresso machine inventor"]
        await say(session, "two")
        assert await session.wait_turn()
        assert harness_prompts(folder)[-1][1] == "two"
        await session.close()
