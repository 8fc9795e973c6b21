"""From a key to its painted frame, in the grid and in a stock DataTable with the same rows.

Both programs run in real pseudo-terminals that answer as a modern terminal does, so that every frame
ends with a mark; the clock runs from the write of the key to the arrival of the last frame it caused.
The programs take turns key by key, so that a busy machine slows both alike.

    python bench/grid.py [--keys 100] [--only triples] [--json figures.json]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import pty
import select
import signal
import statistics
import struct
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("grid_program.py")
SIZE = (120, 40)
FRAME_END = b"\x1b[?2026l"
ASKED_FOR_FRAMES, FRAMES = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
QUIET = 0.06
PAGES = (b"\x1b[6~", b"\x1b[5~")  # page down, page up
SHOW = b"\x1b[15~"  # F5
CASES = {
    "triples": "5,000 triples, 5 columns",
    "cells": "5,000 cells, 10 columns",
    "rows": "10,000 rows, 5 columns",
}
TURN = {"triples": 70, "cells": 11, "rows": 70}
BARS = {"paging": 15.0, "typing": 30.0}


@dataclass
class Terminal:
    """A program in a pseudo-terminal."""

    kind: str
    case: str
    program: Path = PROGRAM
    fd: int = -1
    pid: int = 0
    seen: bytes = b""
    times: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    def start(self) -> None:
        env = dict(os.environ) | {
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "en_GB.UTF-8",
        }  # fmt: skip
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(
                sys.executable, [sys.executable, str(self.program), self.kind, self.case], env
            )
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        deadline = time.perf_counter() + 30
        while b"ready" not in self.seen and time.perf_counter() < deadline:
            self.read(1.0)
        self.drain(0.5)

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, timeout: float) -> bytes:
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return b""
        chunk = os.read(self.fd, 1 << 20)
        self.seen = (self.seen + chunk)[-(1 << 20) :]
        if ASKED_FOR_FRAMES in chunk:
            os.write(self.fd, FRAMES)
        return chunk

    def drain(self, quiet: float = QUIET) -> None:
        while self.read(quiet):
            pass

    def press(self, key: bytes, quiet: float = QUIET, first: float = 5.0) -> float:
        """Milliseconds from the key to the end of the last frame before `quiet` seconds of silence."""
        self.drain()
        self.seen = b""
        tail = b""
        begun = time.perf_counter()
        os.write(self.fd, key)
        last, wait = 0.0, first
        while chunk := self.read(wait):
            now = time.perf_counter()
            if FRAME_END in tail + chunk:
                last, wait = now, quiet
            tail = chunk[-len(FRAME_END) :]
        if not last:
            sys.exit(f"{self.kind}/{self.case}: no frame for {key!r}; saw {self.seen[-500:]!r}")
        return (last - begun) * 1000

    def time(self, what: str, key: bytes) -> None:
        """Press a key and note how long it took, and what the program has worked since."""
        before = self.worked()
        taken = self.press(key)
        self.times.setdefault(what, []).append(taken)
        self.cpu[what] = self.cpu.get(what, 0.0) + self.worked() - before

    def worked(self) -> float:
        """Milliseconds of processor time that the program has had, in steps of some 10."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(case: str, keys: int) -> list[Terminal]:
    terminals = [Terminal("stock", case), Terminal("grid", case)]
    for terminal in terminals:
        terminal.start()
    try:
        for terminal in terminals:
            terminal.times["show"] = [terminal.press(SHOW, quiet=0.5, first=60.0)]
        for number in range(keys):
            # Down through rows never seen, then back over them.
            key = PAGES[number // TURN[case] % 2]
            for terminal in terminals:
                if number >= 5:
                    terminal.time("paging", key)
                else:
                    terminal.press(key)
        if case == "triples":
            type_cells(terminals, keys)
    finally:
        for terminal in terminals:
            terminal.stop()
    return terminals


def type_cells(terminals: list[Terminal], keys: int) -> None:
    """Words into one cell after the other, as an author does."""
    words = ["Keio University", "Waseda", "located in", "大阪大学", "Kyoto National Museum"]
    typed = 0
    while typed < keys:
        for word in words:
            for terminal in terminals:
                terminal.press(b"\r")  # into the cell
            for letter in word:
                for terminal in terminals:
                    terminal.time("typing", letter.encode())
                typed += 1
            for terminal in terminals:
                terminal.press(b"\t")  # the next cell, its text selected
                terminal.press(b"\x1b")


def figures(terminal: Terminal, what: str) -> dict[str, float]:
    ordered = sorted(terminal.times[what])
    return {
        "n": len(ordered),
        "p50": round(statistics.median(ordered), 2),
        "p95": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
        "most": round(ordered[-1], 2),
        "cpu": round(terminal.cpu.get(what, 0.0) / len(ordered), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=100, help="per case and program")
    parser.add_argument("--only", choices=[*CASES], action="append")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    found: dict[str, Any] = {"terminal": f"{SIZE[0]}x{SIZE[1]}", "load": os.getloadavg()[0]}
    print(
        f"{SIZE[0]}x{SIZE[1]} pseudo-terminal, milliseconds from key to frame (cpu: mean per key);"
        f" load {found['load']:.1f}"
    )
    print(
        f"{'':26}{'':8}{'stock p50':>11}{'p95':>8}{'cpu':>7}{'grid p50':>11}{'p95':>8}{'cpu':>7}{'most':>8}"
        "  p50 ratio  bar"
    )
    for case in options.only or CASES:
        stock, grid = measure(case, options.keys)
        for what in grid.times:
            old, new = figures(stock, what), figures(grid, what)
            found[f"{case}/{what}"] = {"stock": old, "grid": new}
            bar = BARS.get(what)
            verdict = "" if bar is None else f"{bar:.0f} {'held' if new['p95'] < bar else 'MISSED'}"
            print(
                f"{CASES[case]:26}{what:8}{old['p50']:11.1f}{old['p95']:8.1f}{old['cpu']:7.1f}"
                f"{new['p50']:11.1f}{new['p95']:8.1f}{new['cpu']:7.1f}{new['most']:8.1f}"
                f"  {new['p50'] / old['p50']:9.2f}  {verdict}",
                flush=True,
            )
    found["load_after"] = os.getloadavg()[0]
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
