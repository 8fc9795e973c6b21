"""Programs that are forked end, are heard and are killed as those that Python starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forked

SHOWS = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['A'], input(), flush=True); "


@pytest.mark.parametrize(
    ("code", "ending", "said"),
    [
        ("", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no')", 1, "no\n"),
        ("raise KeyError(1)", 1, "KeyError: 1\n"),
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL, ""),
        ("os.kill(os.getpid(), 15)", -signal.SIGTERM, ""),
        ("import atexit; atexit.register(print, 'end', file=sys.stderr)", 0, "end\n"),
    ],
)
def test_as_python_would(tmp_path: Path, code: str, ending: int, said: str) -> None:
    command = [sys.executable, "-c", SHOWS + code, "x", 1]
    given = {"input": "é", "cwd": tmp_path, "env": {"A": "b"}, "capture_output": True, "text": True}
    done = forked.run(command, **given)
    assert (done.returncode, done.stdout) == (ending, f"['x', '1'] {tmp_path} b é\n")
    assert done.stderr.endswith(said)
    assert bool(done.stderr) == bool(said)


def test_one_that_is_stopped_goes_on_and_is_killed() -> None:
    command = [sys.executable, "-c", "while True: print(input(), flush=True)"]
    pipe = subprocess.PIPE
    with forked.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.send_signal(signal.SIGSTOP)
        process.stdin.write("1\n2\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
        assert process.poll() is None
        process.send_signal(signal.SIGCONT)
        assert [process.stdout.readline() for _ in range(2)] == ["1\n", "2\n"]
        process.kill()
        assert process.wait(60) == process.poll() == -signal.SIGKILL
        assert process.stdout.read() == ""
