"""Reading and typing while an agent streams: the play screen beside a stock TextArea and Markdown widget.

Both programs run in real pseudo-terminals (`grid.py` says how it is measured) against a model that streams
2,000 tokens a second from a process of its own. `first`: from the server's write of the first token to
its arrival on the terminal. `quiet` and `streaming`: from a key to the arrival of the frame that shows it,
without a stream and while one runs.

    python bench/play_stream.py [--turns 12] [--keys 80] [--no-stock] [--json figures.json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuecard import tui  # noqa: F401 - how soon Textual paints, in both programs
from grid import SIZE, Terminal, figures

HERE = Path(__file__).parent
BARS = {"first": 50.0, "streaming": 30.0}
PAUSE = 0.1
"""Seconds between keys: ten a second, a fast typist."""
SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
ROW = 40
LETTERS = "qzxjkvw"
SHORT, LONG = 60, 20_000
"""Tokens of a reply: its first words stay in view, or it goes on for ten seconds."""
CLEAR = b"\x15"  # ctrl+u: everything before the cursor


class Model:
    """The server, and when it wrote what."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "play_stream_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        self.port = self._process.stdout.readline().strip()
        self.times: dict[str, float] = {}
        self.last = -1
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            what, number, at = line.split()
            self.times[f"{what} {number}"] = float(at)
            self.last = max(self.last, int(number))

    def give(self, tokens: int) -> None:
        """How long replies are from now on."""
        assert self._process.stdin
        self._process.stdin.write(f"{tokens}\n")
        self._process.stdin.flush()
        time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@dataclass
class Screen(Terminal):
    """A terminal of which is known when words arrived. `busy`: percent of a core while it streams."""

    busy: float = 0.0

    def wait(self, words: str, seconds: float = 15.0) -> float:
        """When `words` stood on the terminal."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if self.read(left) and self.holds(words):
                return time.perf_counter()
        sys.exit(f"{self.kind}: {words!r} never came; saw {self.seen[-800:]!r}")

    def holds(self, words: str) -> bool:
        return words.encode() in SEQUENCE.sub(b"", self.seen)

    def hit(self, key: bytes) -> None:
        self.seen = b""
        os.write(self.fd, key)

    def type(self, what: str, keys: int, chance: random.Random, until: float = 1e12) -> None:
        """Type words, and note how long each letter took to show."""
        typed = ""
        for _key in range(keys):
            if time.perf_counter() > until:
                break
            if len(typed) >= ROW:
                self.hit(CLEAR)
                self.rest(0.3)
                typed = ""
            typed += chance.choice(LETTERS)
            begun = time.perf_counter()
            self.hit(typed[-1].encode())
            came = self.wait(typed[-12:], 5.0)
            self.times.setdefault(what, []).append((came - begun) * 1000)
            self.rest(max(PAUSE - (came - begun), 0.01))
        self.hit(CLEAR)
        self.rest(0.3)

    def rest(self, seconds: float) -> None:
        """Read on for so long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)


def ask(screen: Screen, model: Model, *, again: bool, timed: bool = True) -> int:
    """Have the agent asked and note the delay of its first words; the number of the reply."""
    number = model.last + 1
    if screen.kind == "stock":
        screen.hit(b"x")
    elif again:
        screen.hit(b"\r")  # asks for a mark
        screen.wait("Did the agent")
        screen.hit(b"n")  # not met: the card suggests what to say
    screen.rest(1.5)
    screen.hit(b"\r")
    if not timed:
        while f"begun {number}" not in model.times:
            screen.rest(0.01)
        return number
    came = screen.wait(f"First{number}words")
    screen.rest(0.02)
    begun = model.times[f"begun {number}"]
    screen.times.setdefault("first", []).append((came - begun) * 1000)
    return number


def finish(screen: Screen, model: Model, number: int) -> None:
    while f"ended {number}" not in model.times:
        screen.rest(0.05)
    screen.rest(1.5)


def measure(screens: list[Screen], model: Model, turns: int, keys: int) -> None:
    chance = random.Random(7)
    model.give(SHORT)
    for turn in range(turns):
        for screen in screens:
            finish(screen, model, ask(screen, model, again=turn > 0))
            screen.drain()
    for screen in screens:
        screen.type("quiet", keys, chance)
    model.give(LONG)
    for screen in screens:
        number = ask(screen, model, again=turns > 0, timed=False)
        worked, begun = screen.worked(), time.perf_counter()
        screen.type("streaming", keys, chance, until=model.times[f"begun {number}"] + LONG / 2_000)
        screen.busy = (screen.worked() - worked) / 10 / (time.perf_counter() - begun)
        finish(screen, model, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--keys", type=int, default=80)
    parser.add_argument("--no-stock", action="store_true")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    found: dict[str, Any] = {"terminal": f"{SIZE[0]}x{SIZE[1]}", "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as place:
        model = Model()
        Path(place, "port").write_text(model.port, encoding="utf-8")
        kinds = ["play"] if options.no_stock else ["stock", "play"]
        screens = [Screen(kind, place, HERE / "play_stream_program.py") for kind in kinds]
        try:
            for screen in screens:
                screen.start()
            measure(screens, model, options.turns, options.keys)
        finally:
            for screen in screens:
                if screen.pid:
                    screen.stop()
            model.stop()
    found["load_after"] = os.getloadavg()[0]
    print(
        f"{SIZE[0]}x{SIZE[1]} pseudo-terminal, milliseconds; load {found['load']:.1f} to"
        f" {found['load_after']:.1f}"
    )
    print(f"{'':12}{'':8}{'n':>5}{'p50':>8}{'p95':>8}{'most':>8}  bar")
    for what in ("first", "quiet", "streaming"):
        for screen in screens:
            new = found[f"{screen.kind}/{what}"] = figures(screen, what)
            bar = BARS.get(what) if screen.kind == "play" else None
            said = "" if bar is None else f"{bar:.0f} {'held' if new['p95'] < bar else 'MISSED'}"
            print(
                f"{what:12}{screen.kind:8}{new['n']:5}{new['p50']:8.1f}{new['p95']:8.1f}"
                f"{new['most']:8.1f}  {said}"
            )
    for screen in screens:
        found[f"{screen.kind}/busy"] = round(screen.busy, 1)
        print(f"{screen.kind}: {screen.busy:.0f}% of a core while it streams")
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
