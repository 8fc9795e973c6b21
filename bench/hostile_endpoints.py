"""What becomes of a trial at endpoints that misbehave: the modes of tests/hostile_server.py.

python bench/hostile_endpoints.py                 all modes, streaming and not; then Ctrl-C in each
python bench/hostile_endpoints.py MODE...         these modes only
python bench/hostile_endpoints.py --at-once 4     so many at a time (2)

Each measurement is `cuecard run` of one trial in a process of its own, with a workspace of its own, against
a server of one mode in another process. Waiting for a word is limited to 3 seconds, a call to 6; both to an
hour where Ctrl-C is pressed, 2 seconds after the trial has begun. Clocks run from the trial's first line of
`--json-lines` to its last, and from the signal to the end of the run. Memory is the peak of the process
as the system counts it (`ru_maxrss`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SERVER = HERE.parent / "tests" / "hostile_server.py"
sys.path.insert(0, str(SERVER.parent))

from hostile_server import MODES  # noqa: E402

TASK = "facts-night-train"
WORD_S, CALL_S, GRACE_S, MARGIN_S, MOST_MB = 3, 6, 10, 5, 150
CONFIG = """\
models:
  m:
    base_url: {url}
    model: m
    timeout: {word}
    total_timeout: {call}
    stream: {stream}
    retries: 0
agents:
  live: {{kind: react, model: m}}
"""


@dataclass(frozen=True)
class Outcome:
    """`end`: the trial's termination, or `open`. `calls`: model calls that were answered. `exit_s`: from Ctrl-C
    to the end of the run.
    """

    mode: str
    stream: bool
    end: str
    reason: str
    seconds: float
    calls: int
    peak_mb: float
    exit_s: float | None = None

    @property
    def bound(self) -> float:
        """Calls that were answered had their own time before."""
        return CALL_S * (1 + self.calls) + MARGIN_S

    @property
    def fine(self) -> bool:
        told = bool(self.reason) or self.end in ("user_done", "answered", "max_turns")
        if self.exit_s is not None:
            return self.exit_s <= GRACE_S + MARGIN_S and self.peak_mb < MOST_MB
        return told and self.seconds <= self.bound and self.peak_mb < MOST_MB


@contextmanager
def server(mode: str) -> Iterator[str]:
    command = [sys.executable, str(SERVER), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CUECARD_", "XDG_"))}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8"}


def workspace(home: Path) -> None:
    command = [sys.executable, "-m", "cuecard", "init"]
    subprocess.run(command, cwd=home, env=environment(home), check=True, capture_output=True)


def measure(mode: str, stream: bool, template: Path, *, interrupt: bool) -> Outcome:
    with tempfile.TemporaryDirectory() as folder, server(mode) as url:
        home = Path(folder) / "home"
        shutil.copytree(template, home)
        word, call = (3600, 3600) if interrupt else (WORD_S, CALL_S)
        words = "always" if stream else "never"
        text = CONFIG.format(url=url, word=word, call=call, stream=words)
        (home / "cuecard.yaml").write_text(text, encoding="utf-8")
        play = ["run", TASK, "--agent", "live", "--max-turns", "2", "--json-lines"]
        process = subprocess.Popen(
            [sys.executable, "-m", "cuecard", *play],
            cwd=home,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return watch(process, mode, stream, interrupt=interrupt)


def watch(process: subprocess.Popen[str], mode: str, stream: bool, *, interrupt: bool) -> Outcome:
    assert process.stdout
    assert process.stderr
    told: list[str] = []
    listener = threading.Thread(target=lambda: told.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
    listener.start()
    began = ended = pressed = over = time.monotonic()
    end, reason, calls = "none", "", 0
    alarm: threading.Timer | None = None
    for line in process.stdout:
        event: dict[str, Any] = json.loads(line)
        match event["event"]:
            case "trial_began":
                began = time.monotonic()
                pressed = began + 2
                if interrupt:
                    alarm = threading.Timer(2, process.send_signal, [signal.SIGINT])
                    alarm.start()
            case "call_answered":
                calls += 1
            case "trial_finished":
                ended = time.monotonic()
                end, reason = event["termination"], event["detail"] or event["problem"]
            case "trial_left_open":
                ended, end = time.monotonic(), "open"
            case "run_finished":
                over = time.monotonic()
                reason = reason or event["reason"]
            case _:
                pass
    _pid, _status, used = os.wait4(process.pid, 0)
    process.returncode = 0
    if alarm is not None:
        alarm.cancel()
    listener.join(5)
    if end == "none":
        reason = "".join(told)[-300:]
    return Outcome(
        mode,
        stream,
        end,
        reason,
        ended - began,
        calls,
        used.ru_maxrss / 1024,
        over - pressed if interrupt else None,
    )


def shown(outcome: Outcome) -> str:
    took = outcome.seconds if outcome.exit_s is None else outcome.exit_s
    form = "stream" if outcome.stream else "whole"
    mark = " " if outcome.fine else "✗"
    return (
        f"{mark} {outcome.mode:<26} {form:<6} {took:5.1f} s {outcome.peak_mb:4.0f} MB"
        f" {outcome.end:<15} {' '.join(outcome.reason.split())[:110]}"
    )


def all_of(modes: Sequence[str], template: Path, at_once: int, *, interrupt: bool) -> list[Outcome]:
    cases = [(mode, stream) for mode in modes for stream in (True, False)]
    found: list[Outcome] = []
    with ThreadPoolExecutor(at_once) as pool:
        work = [pool.submit(measure, *case, template, interrupt=interrupt) for case in cases]
        for each in work:
            found.append(each.result())
            print(shown(found[-1]), flush=True)
    return found


def own_time(outcome: Outcome) -> float:
    """Seconds a call took in the mean, those included that were answered."""
    return outcome.seconds / (1 + outcome.calls)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("modes", nargs="*")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", choices=("limits", "ctrl-c"))
    given = parser.parse_args()
    modes = given.modes or list(MODES)
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder)
        workspace(template)
        played, stopped = list[Outcome](), list[Outcome]()
        if given.only != "ctrl-c":
            played = all_of(modes, template, given.at_once, interrupt=False)
        if given.only != "limits":
            print("\nCtrl-C after 2 s, without limits of time:")
            stopped = all_of(modes, template, given.at_once, interrupt=True)
    rows = [f"{len(modes)} modes, streaming and not"]
    if played:
        slow = max(played, key=own_time)
        rows.append(f"slowest call: {own_time(slow):.1f} s (<= {CALL_S + MARGIN_S}), {slow.mode}")
        rows.append(f"ends: {dict(Counter(o.end for o in played))}")
    if stopped:
        late = max(stopped, key=lambda o: o.exit_s or 0.0)
        most = GRACE_S + MARGIN_S
        rows.append(f"slowest end after Ctrl-C: {late.exit_s:.1f} s (<= {most}), {late.mode}")
    large = max([*played, *stopped], key=lambda o: o.peak_mb)
    rows.append(f"peak memory: {large.peak_mb:.0f} MB (< {MOST_MB}), {large.mode}")
    print("\n" + "\n".join(rows))
    bad = [o for o in (*played, *stopped) if not o.fine]
    print(f"outside of their bounds: {len(bad)}")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
