"""What a run of 10,800 trials with 1,080,000 verdicts costs to read: `score`, `compare`, `report`, `suspects` and `sample` of two
checkouts, in turn.

    python bench/results_growth.py [FILE] [--before CHECKOUT] [--times 3] [--json figures.json]

FILE.after and FILE.before are made when they are not there, each by its own checkout (tests/big_results.py, some minutes), so
that a checkout of an earlier version of the database can be the one before; it needs a `.venv`. CPU is above that of the same
verb on a run of one trial. A verb that the checkout before does not have is told of one side.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TASKS, TURNS, TRIPLES = 900, 3, 100
SMALL, LARGE = "1", "2"
VERBS: dict[str, tuple[str, ...]] = {
    "score": ("score", "{run}"),
    "score --json": ("score", "{run}", "--json"),
    "compare": ("compare", "{run}"),
    "report (HTML)": ("report", "{run}", "-o", "{folder}/report.html"),
    "suspects": ("suspects", "{run}"),
    "sample": ("sample", "{run}", "--n", "300", "--stratify", "decision,family", "--dry-run"),
}


def make(checkout: Path, file: Path) -> None:
    call = f"make(Path({str(file)!r}), tasks={TASKS}, turns={TURNS}, triples={TRIPLES})"
    code = f"from pathlib import Path; import big_results; big_results.LONG = 3; big_results.{call}"
    subprocess.run([checkout / ".venv/bin/python", "-c", code], cwd=checkout / "tests", check=True)


def cost(checkout: Path, file: Path, words: tuple[str, ...], run: str) -> tuple[float, float]:
    """Seconds of the processor, and the most memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        told = [word.format(run=run, folder=folder) for word in words]
        command = [str(checkout / ".venv/bin/cuecard"), "--db", str(file), *told]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _pid, status, used = os.wait4(process.pid, 0)
        # One trial has nothing to compare; that is told after everything was loaded.
        if status and run != SMALL:
            raise LookupError(" ".join(command))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "file", type=Path, nargs="?", default=Path(tempfile.gettempdir(), "cuecard-growth.db")
    )
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), help="only these")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sides = {**({"before": options.before} if options.before else {}), "after": ROOT}
    files = {side: options.file.with_suffix(f".{side}") for side in sides}
    for side, file in files.items():
        if not file.exists():
            make(sides[side], file)
    found: dict[str, Any] = {"load": os.getloadavg()[0], "verbs": {}}
    for verb in options.verbs:
        words = VERBS[verb]
        taken: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
        for _time in range(options.times):
            for side, checkout in sides.items():
                start, _memory = cost(checkout, files[side], words, SMALL)
                try:
                    whole, memory = cost(checkout, files[side], words, LARGE)
                except LookupError as failed:
                    print(f"{side}: {failed} failed", file=sys.stderr)
                    continue
                taken[side].append((whole - start, memory))
        told = {
            side: {
                "cpu": round(statistics.median(cpu for cpu, _memory in each), 2),
                "memory": round(max(memory for _cpu, memory in each)),
            }
            for side, each in taken.items()
            if each
        }
        found["verbs"][verb] = told
        line = "".join(
            f"  {side} {one['cpu']:6.2f} s {one['memory']:4} MB" for side, one in told.items()
        )
        ratio = (
            f"  {told['after']['cpu'] / told['before']['cpu']:.2f}"
            if len(told) == len(sides) > 1
            else ""
        )
        print(f"{verb:16}{line}{ratio}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
