"""100,000 verdicts as a list: until its first rows are on the screen, then from page to page; beside a
stock DataTable that has the same rows at hand.

Both programs run in real pseudo-terminals (`grid.py` says how it is measured) and take turns key by key.

    python bench/labelling.py [--keys 60] [--db FILE] [--no-stock] [--json figures.json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.verdict_pages import VerdictFilter
from cuecard.store.workspace import Workspace
from grid import PAGES, SHOW, SIZE, Terminal, figures

PROGRAM = Path(__file__).with_name("labelling_program.py")
TASKS, SAMPLES, TRIPLES = 10, 100, 100
JUDGE = PlayerRef(name="judge", kind="llm", model="m")
AGENT = PlayerRef(name="offline", kind="offline", baseline=True)
FIRST, LAST = b"\x1b[1;5H", b"\x1b[1;5F"  # ctrl+home, ctrl+end
SHOWN = b"triple 1 "
BARS = {"show": 200.0, "paging": 30.0}


def make(file: Path) -> None:
    """A run of 1,000 trials of ten tasks of 100 triples, all judged."""
    with Workspace.open(file) as workspace:
        for n in range(TASKS):
            triples = [{"head": f"h{n}", "relation": "r", "tail": f"b{j}"} for j in range(TRIPLES)]
            task = {"id": f"t{n}", "title": f"Task {n}", "language": "en", "query": "?"}
            gold = {"family": "graph", "triples": triples}
            workspace.tasks.save(Task.model_validate({**task, "gold": gold}), author="Ana")
        run = workspace.runs.create(
            name="run", kind="grid", created_by="Ana", samples=SAMPLES, limits=Limits()
        )
        cells = [
            TrialCell(
                task_id=f"t{n}", revision=1, agent=AGENT, user=AGENT, world=AGENT, sample=sample
            )
            for n in range(TASKS)
            for sample in range(SAMPLES)
        ]
        verdicts = tuple(
            Verdict(
                item=Item(kind=ItemKind.TRIPLE, index=j),
                decision=Decision.YES if j % 3 else Decision.NO,
            )
            for j in range(TRIPLES)
        )
        for trial in workspace.runs.add_trials(run.id, cells):
            workspace.verdicts.add(trial.id, Judgement(judge=JUDGE, verdicts=verdicts))


def until_rows(terminal: Terminal, most: float) -> float:
    """Milliseconds from the key to the arrival of the first row."""
    terminal.drain()
    terminal.seen = b""
    begun = time.perf_counter()
    os.write(terminal.fd, SHOW)
    while SHOWN not in terminal.seen and time.perf_counter() - begun < most:
        terminal.read(1.0)
    taken = (time.perf_counter() - begun) * 1000
    terminal.drain(1.0)
    return taken


def in_terminals(file: Path, keys: int, *, stock: bool) -> dict[str, Any]:
    kinds = ["list", *(["stock"] if stock else [])]
    terminals = [Terminal(kind, str(file), PROGRAM) for kind in kinds]
    found: dict[str, Any] = {}
    try:
        for terminal in terminals:
            terminal.start()
            found[terminal.kind] = {"show": round(until_rows(terminal, 120), 1)}
        for number in range(keys):
            for terminal in terminals:
                terminal.time("paging", PAGES[0])
            if number % 10 == 9:
                for key in (LAST, FIRST):
                    for terminal in terminals:
                        terminal.time("jump", key)
        for terminal in terminals:
            found[terminal.kind] |= {what: figures(terminal, what) for what in terminal.times}
    finally:
        for terminal in terminals:
            terminal.stop()
    return found


def in_store(file: Path) -> dict[str, float]:
    """What the database takes for it, in milliseconds."""

    def median(call: Callable[[int], object], times: int = 21) -> float:
        taken: list[float] = []
        for number in range(times):
            begun = time.perf_counter()
            call(number)
            taken.append((time.perf_counter() - begun) * 1000)
        return round(statistics.median(taken), 1)

    with Workspace.open(file) as workspace:
        listed, all_ = workspace.verdict_pages, VerdictFilter()
        starts = listed.pages("Bo", all_).starts
        return {
            "a page": median(lambda n: listed.page("Bo", all_, starts[n * 23 % len(starts)])),
            "the cut": median(lambda _n: listed.pages("Bo", all_), 5),
            "first page of a run": median(
                lambda _n: listed.page("Bo", VerdictFilter(runs=(1,)), 0)
            ),
            "first page of what is left": median(
                lambda _n: listed.page("Bo", VerdictFilter(mine="open"), 0)
            ),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=60, help="page downs for each program")
    parser.add_argument("--db", type=Path, help="keep the workspace here, or use the one that is")
    parser.add_argument("--no-stock", action="store_true", help="leave the DataTable out")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file: Path = (options.db or Path(folder) / "bench.db").resolve()
        if not file.exists():
            make(file)
        found: dict[str, Any] = {"load": os.getloadavg()[0], "store": in_store(file)}
        found |= in_terminals(file, options.keys, stock=not options.no_stock)
    found["load_after"] = os.getloadavg()[0]
    print(f"{SIZE[0]}x{SIZE[1]}, {TASKS * SAMPLES * TRIPLES:,} verdicts; milliseconds")
    for what, taken in found["store"].items():
        print(f"  database, {what:28}{taken:10.1f}")
    for kind in ("list", "stock"):
        if kind in found:
            paging, jump = found[kind]["paging"], found[kind]["jump"]
            print(
                f"  {kind:6} first rows {found[kind]['show']:10.1f}   page p50 {paging['p50']:6.1f}"
                f" p95 {paging['p95']:6.1f}   jump p50 {jump['p50']:6.1f} p95 {jump['p95']:6.1f}"
            )
    held = {
        "show": found["list"]["show"] < BARS["show"],
        "paging": found["list"]["paging"]["p95"] < BARS["paging"],
    }
    print("  " + ", ".join(f"{what} {'held' if ok else 'MISSED'}" for what, ok in held.items()))
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
