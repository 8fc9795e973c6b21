"""How long until the first frame, and until Home's content, beside a bare Textual app with one table.

Each program runs in a real pseudo-terminal; the clock stops when its text arrives there. Programs take
turns, so that a busy machine slows all of them; only the ratios mean something.

    python bench/startup.py [--rounds 15] [--posting /path/to/posting]
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

BARE = """
from textual.app import App
from textual.widgets import DataTable

class Bare(App):
    def compose(self):
        yield DataTable()
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("alpha", "beta")
        for n in range(20):
            table.add_row(str(n), "x")

Bare().run()
"""


def until_seen(command: list[str], marks: list[bytes], env: dict[str, str]) -> list[float]:
    """Seconds from the start of the process until each mark first stood in its output."""
    begun = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    output, times = b"", [0.0] * len(marks)
    deadline = begun + 20
    while not all(times) and time.perf_counter() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if not ready:
            continue
        try:
            output += os.read(terminal, 65536)
        except OSError:
            break
        now = time.perf_counter() - begun
        times = [
            t or (now if mark in output else 0.0) for t, mark in zip(times, marks, strict=True)
        ]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    if not all(times):
        sys.exit(f"{command}: never showed {marks}; saw {output[-2000:]!r}")
    return times


def prepare(folder: Path, env: dict[str, str]) -> None:
    """A workspace with the sample tasks, as after a first start."""
    from cuecard.annotate.samples import import_samples
    from cuecard.store.workspace import Workspace

    with Workspace.open(folder / "cuecard.db") as workspace:
        workspace.people.add("Ana")
        import_samples(workspace, by="Ana")
    env |= {"CUECARD_DB": str(folder / "cuecard.db"), "CUECARD_USER": "Ana"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--posting", help="the `posting` program, for a third column")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE)
        env = dict(os.environ) | {
            "HOME": name, "XDG_CONFIG_HOME": name, "LANG": "en_GB.UTF-8", "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }  # fmt: skip
        # The first round is to leave bytecode behind, as any start does.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        prepare(folder, env)
        programs: dict[str, tuple[list[str], list[bytes]]] = {
            "bare": ([sys.executable, str(folder / "bare.py")], [b"alpha"]),
            "cuecard": ([sys.executable, "-m", "cuecard"], [b"Cuecard", "▸ ".encode()]),
        }
        if options.posting:
            programs["posting"] = ([options.posting, "--collection", name], [b"Send"])
        taken: dict[str, list[list[float]]] = {key: [] for key in programs}
        for _ in range(options.rounds + 1):
            for key, (command, marks) in programs.items():
                taken[key].append(until_seen(command, marks, env))
    medians = {  # the first round only warms caches
        key: [statistics.median(r[i] for r in rows[1:]) for i in range(len(rows[0]))]
        for key, rows in taken.items()
    }
    bare = medians["bare"][0]
    first, content = medians["cuecard"]
    print(f"rounds: {options.rounds}, medians of wall time, 120x40 pseudo-terminal")
    print(f"bare Textual app, first table  {bare * 1000:6.0f} ms   1.00")
    print(f"Cuecard, first frame           {first * 1000:6.0f} ms   {first / bare:.2f}   bar 1.20")
    print(
        f"Cuecard, Home's content        {content * 1000:6.0f} ms   {content / bare:.2f}   bar 2.80"
    )
    if "posting" in medians:
        posting = medians["posting"][0]
        print(f"Posting, first frame           {posting * 1000:6.0f} ms   {posting / bare:.2f}")
        print(f"Cuecard's content / Posting    {content / posting:9.2f}        bar 0.60")


if __name__ == "__main__":
    main()
