"""A run of 300 trials of 80 turns with 100,000 verdicts, and a trial of 2,000 events: until they are on the screen, and from
page to page; beside stock widgets that have the same rows and texts at hand.

Both programs run in real pseudo-terminals (`grid.py` says how it is measured) and take turns key by key. The
workspace is made once by tests/big_results.py and kept.

    python bench/results.py [--opens 9] [--pages 60] [--no-stock] [--json figures.json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from grid import PAGES, SIZE, Terminal, figures

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

PROGRAM = Path(__file__).with_name("results_program.py")
BARS = {"run": 300.0, "trial": 200.0, "paging": 15.0}
CASES = {
    "run": "run screen, to its score table",
    "trials": "the list of its trials",
    "trial": "a trial of 2,000 events",
}
SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
ENTER, ESCAPE, DOWN = b"\r", b"\x1b", b"\x1b[B"
SHOWN = {"run": "alpha", "trials": "Triplet F1 ", "trial": "What about"}
"""What stands on the screen only when the rows or texts are there."""


class Screen(Terminal):
    """A terminal of which is known when words arrived."""

    def until(self, key: bytes, words: str, most: float = 30.0) -> float:
        """Milliseconds from the key to the arrival of the words."""
        self.drain(0.3)
        self.seen = b""
        begun = time.perf_counter()
        os.write(self.fd, key)
        while words.encode() not in SEQUENCE.sub(b"", self.seen):
            if time.perf_counter() - begun > most:
                sys.exit(f"{self.kind}: {words!r} never came; saw {self.seen[-800:]!r}")
            self.read(1.0)
        taken = (time.perf_counter() - begun) * 1000
        self.drain(1.0)
        return taken

    def go(self, *keys: bytes) -> None:
        for key in keys:
            self.press(key, quiet=0.5, first=20.0)


def opening(screens: list[Screen], times: int) -> dict[str, dict[str, list[float]]]:
    """Each opened from the list of runs and left again, in turn: the first time is a program's first."""
    found: dict[str, dict[str, list[float]]] = {
        s.kind: {"run": [], "trials": [], "trial": []} for s in screens
    }
    for _time in range(times):
        for screen in screens:
            mine = found[screen.kind]
            mine["run"].append(screen.until(ENTER, SHOWN["run"]))
            mine["trials"].append(screen.until(b"t", SHOWN["trials"]))
            screen.go(ESCAPE)
    for _time in range(times):
        for screen in screens:
            screen.go(DOWN)
            screen.go(ENTER)
            screen.go(b"t")
            found[screen.kind]["trial"].append(screen.until(ENTER, SHOWN["trial"]))
            screen.go(ESCAPE)
            screen.go(ESCAPE)
            screen.go(b"\x1b[A")
    return found


def paging(screens: list[Screen], what: str, pages: int, turn: int) -> None:
    for number in range(pages):
        for screen in screens:
            screen.time(f"{what}/paging", PAGES[number // turn % 2])


def measure(file: Path, opens: int, pages: int, *, stock: bool) -> dict[str, Any]:
    kinds = ["screens", *(["stock"] if stock else [])]
    screens = [Screen(kind, str(file), PROGRAM) for kind in kinds]
    found: dict[str, Any] = {}
    try:
        for screen in screens:
            screen.start()
            screen.drain(2.0)
        opened = opening(screens, opens)
        for screen in screens:
            screen.go(ENTER)
            screen.go(b"t")
        paging(screens, "trials", pages, 8)
        for screen in screens:
            screen.go(ESCAPE)
            screen.go(DOWN)
            screen.go(ENTER)
            screen.go(b"t")
            screen.until(ENTER, SHOWN["trial"])
        paging(screens, "trial", pages, 60)
        for screen in screens:
            shown = {
                what: {
                    "first": round(times[0], 1),
                    "p50": round(statistics.median(times), 1),
                    "most": round(max(times), 1),
                }
                for what, times in opened[screen.kind].items()
            }
            found[screen.kind] = shown | {what: figures(screen, what) for what in screen.times}
    finally:
        for screen in screens:
            if screen.pid:
                screen.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opens", type=int, default=9)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--no-stock", action="store_true", help="leave the stock widgets out")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    from big_results import cached

    file = cached()
    found: dict[str, Any] = {"terminal": f"{SIZE[0]}x{SIZE[1]}", "load": os.getloadavg()[0]}
    found |= measure(file, options.opens, options.pages, stock=not options.no_stock)
    found["load_after"] = os.getloadavg()[0]
    print(
        f"{SIZE[0]}x{SIZE[1]} pseudo-terminal, milliseconds; load {found['load']:.1f} to"
        f" {found['load_after']:.1f}"
    )
    for kind in ("screens", "stock"):
        if kind not in found:
            continue
        for what, label in CASES.items():
            shown, pages = found[kind][what], found[kind].get(f"{what}/paging")
            bar = BARS.get(what) if kind == "screens" else None
            held = "" if bar is None else f"{bar:.0f} {'held' if shown['p50'] < bar else 'MISSED'}"
            line = f"  {kind:8}{label:32} first {shown['first']:8.1f}  p50 {shown['p50']:8.1f}  most {shown['most']:8.1f}  {held}"
            print(line)
            if pages:
                ok = pages["p95"] < BARS["paging"]
                held = f"15 {'held' if ok else 'MISSED'}" if kind == "screens" else ""
                print(
                    f"  {'':8}{'  from page to page':32} p50 {pages['p50']:8.1f}  p95 {pages['p95']:8.1f}  most {pages['most']:8.1f}  {held}"
                )
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
