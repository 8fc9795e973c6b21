"""Trees of real processes: stubborn ones, and such that left their group."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.core.agents.process_tree import ProcessTree
from harness_bench import running, until

PARENT = """
import asyncio, os, signal, sys
from cuecard.core.agents.process_tree import ProcessTree

async def main():
    tree = await ProcessTree.start(sys.argv[1:], "/", dict(os.environ), 1000)
    print((await tree.process.stdout.readline()).decode(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
STUBBORN = (
    "import signal,time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
)
FAMILY = f"""
import json, os, signal, subprocess, sys, time
signal.signal(15, signal.SIG_IGN)
run = [sys.executable, "-c", {STUBBORN!r}]
each = [
    subprocess.Popen(run, stdout=subprocess.PIPE, start_new_session=True),
    subprocess.Popen(run, stdout=subprocess.PIPE, env={{}}),
]
for one in each:
    one.stdout.readline()
print(json.dumps([os.getpid(), *(one.pid for one in each)]), flush=True)
time.sleep(600)
"""


async def test_a_killed_parent_leaves_nothing_behind() -> None:
    parent = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", PARENT, sys.executable, "-c", FAMILY],
        capture_output=True,
        timeout=60,
    )
    assert parent.returncode == -signal.SIGKILL
    pids = json.loads(parent.stdout)
    assert len(pids) == 3
    await until(lambda: not any(map(running, pids)))


async def test_what_left_the_group_and_what_lost_the_mark_end_with_the_tree() -> None:
    stranger = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, start_new_session=True
    )
    assert stranger.stdout
    stranger.stdout.readline()
    tree = await ProcessTree.start([sys.executable, "-c", FAMILY], "/", dict(os.environ), 1000)
    assert tree.process.stdout
    pids = json.loads(await tree.process.stdout.readline())
    assert all(map(running, pids))
    await tree.end()
    assert not any(map(running, pids))
    assert tree.process.returncode == -signal.SIGKILL
    assert running(stranger.pid)
    stranger.kill()
    stranger.communicate()


async def test_a_tree_that_ended_by_itself() -> None:
    tree = await ProcessTree.start(["true"], "/", dict(os.environ), 1000)
    assert await tree.process.wait() == 0
    await tree.end()
    assert not tree.alive


async def test_no_watch_stays_for_a_program_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        await ProcessTree.start([str(tmp_path / "none")], "/", {}, 1000)
