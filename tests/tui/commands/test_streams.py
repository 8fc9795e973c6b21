"""What stands at the other end of the program's streams, and Ctrl-C: real processes, real pipes, a real terminal."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.store.workspace import Workspace

if sys.platform == "win32":
    pytest.skip("a terminal, /dev/full", allow_module_level=True)

import pty
import termios

PROGRAM = [sys.executable, "-m", "cuecard"]


@pytest.fixture
def call(tmp_path: Path, environment: dict[str, str]):
    """A shell line with `cuecard` in it, in `tmp_path`: its exit codes and what both streams said."""

    def run(line: str, **more: str) -> tuple[str, str, str]:
        program = f'cuecard() {{ "{sys.executable}" -m cuecard "$@"; }}'
        script = f'{program}\n{line}\nprintf "\\n%s" "${{PIPESTATUS[*]}}" >&2'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env={**environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        said, _end, codes = done.stderr.rpartition("\n")
        return codes, done.stdout, said

    return run


@pytest.mark.parametrize(
    ("line", "language"),
    [("cuecard | cat", "en"), ("cuecard --db x.db", "zh"), ("cuecard >&- <&-", "en")],
)
def test_the_app_needs_a_terminal(call, tmp_path: Path, line: str, language: str):
    codes, out, said = call(line, CUECARD_LANG=language)
    assert (codes.split()[0], out) == ("2", "")
    assert said.strip().count("\n") == 0
    assert "`cuecard --help`" in said
    assert not list(tmp_path.glob("*.db"))


def test_the_app_needs_a_terminal_for_what_it_draws(tmp_path: Path, environment):
    """Textual draws on standard error: `cuecard 2>log` would draw into the log, and the terminal would stay blank."""
    inner, outer = pty.openpty()
    try:
        done = subprocess.run(
            PROGRAM,
            cwd=tmp_path,
            env=environment,
            stdin=outer,
            stdout=outer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(inner)
        os.close(outer)
    assert done.returncode == 2
    assert b"standard error is none" in done.stderr


@pytest.mark.parametrize("words", ["--version", "check --help", "runs --json", "doctor --offline"])
def test_a_full_disk_is_told_in_a_sentence(call, begun, words: str):
    unbuffered = "1" if words == "--version" else ""
    codes, _out, said = call(f"cuecard {words} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert codes == "1"
    assert said.splitlines()[-1] == (
        "cuecard: The output could not be written: No space left on device"
    )
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("cuecard --help | head -1", "0 0"),
        ("cuecard doctor --offline >&-", "0"),
        ("cuecard runs --json <&- >&- 2>&-", "0"),
        # Where nobody can be told what is wrong the code still tells it.
        ("cuecard brew 2>/dev/full", "2"),
        ("cuecard score 7 2>&-", "1"),
    ],
)
def test_streams_that_are_closed_or_take_nothing(call, begun, line: str, codes: str):
    found, _out, said = call(line)
    assert (found, said) == (codes, "")


def test_a_run_that_nobody_reads_is_paused(call, begun, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    codes, out, said = call("cuecard run tasks --samples 3 --json-lines | head -1")
    assert codes == "1 0"
    assert json.loads(out)["event"] == "run_began"
    assert "The output takes no more" in said
    assert "cuecard run --resume 1" in said
    assert "Traceback" not in said
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        (run,) = workspace.runs.all()
        # What was not told is no failure of a trial.
        assert run.finished < 3
        assert {trial.detail for trial in workspace.runs.trials(run.id)} == {""}
    assert call("cuecard run --resume 1 --json-lines >/dev/null")[0] == "0"


# Interrupts the program when a module is looked for, or so many seconds later, as a person does who is too fast.
INTERRUPT = """
import os, signal, sys, threading
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            sys.meta_path.remove(self)
            number = int(os.environ.get("INTERRUPT_BY", signal.SIGINT))
            if delay := float(os.environ.get("INTERRUPT_IN", 0)):
                threading.Timer(delay, os.kill, (os.getpid(), number)).start()
            else:
                os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def interrupted(tmp_path: Path, environment):
    """The environment of a program that is sent Ctrl-C amid an import, heeded even where whoever runs the tests ignores it."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT, encoding="utf-8")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield {**environment, "PYTHONPATH": str(tmp_path), "TERM": "xterm-256color"}
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("cuecard.tui.commands.main", ("runs",)),
        ("typer", ("--version",)),
        ("cuecard.store.workspace", ("demo",)),
        # Amid the making of pydantic's classes, which take an interrupt for an error in them.
        ("pydantic.types", ("demo",)),
        ("textual.app", ()),
    ],
)
def test_ctrl_c_during_imports_leaves_no_traceback(tmp_path: Path, interrupted, module, words):
    done = subprocess.run(
        [*PROGRAM, *words],
        cwd=tmp_path,
        env={**interrupted, "INTERRUPT_AT": module, "TEXTUAL_DRIVER": "none"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path: Path, interrupted):
    done = subprocess.run(
        ["bash", "-c", f"trap '' INT; exec {sys.executable} -m cuecard --version"],
        cwd=tmp_path,
        env={**interrupted, "INTERRUPT_AT": "typer"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"cuecard ")


@pytest.mark.parametrize(
    ("delay", "number", "code"),
    [
        ("0", signal.SIGINT, 130),
        ("0.01", signal.SIGINT, 130),
        ("0.04", signal.SIGINT, 130),
        ("0.3", signal.SIGTERM, 143),
    ],
)
def test_a_signal_at_any_time_gives_the_terminal_back(
    tmp_path: Path, interrupted, delay: str, number: int, code: int
):
    """While the app is being made, while its first screen is, while it runs."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        at = {"INTERRUPT_AT": "textual.drivers.linux_driver", "INTERRUPT_BY": str(int(number))}
        os.execve(sys.executable, PROGRAM, {**interrupted, **at, "INTERRUPT_IN": delay})
    before = termios.tcgetattr(terminal)
    shown = b""
    try:
        while select.select([terminal], [], [], 60)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # The other end is closed.
                break
        else:
            os.kill(pid, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
        assert b"Traceback" not in shown
        assert shown.count(b"\x1b[?1049h") == shown.count(b"\x1b[?1049l")
        assert termios.tcgetattr(terminal) == before
    finally:
        os.close(terminal)
