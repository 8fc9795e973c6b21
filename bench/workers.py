"""1, 2 and 4 workers on one run, beside the loop of one process on the same PostgreSQL, at a model that answers after 500 ms.

python bench/workers.py URL [TRIALS [TURNS [CONCURRENCY [ROUNDS]]]]     an empty database of a PostgreSQL server; 240, 4, 30, 1

Prints calls a second and CPU per call of all processes that play (not of the server), with and without what it takes to
start them: each starts once more on a run that has nothing left to play. Each worker is a process of its own and plays so
many trials at the same time; time is from the first call recorded to the last. Rounds follow each other, and their medians are
printed at the end: what one process takes for a call differs by a quarter from run to run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from engine import server

CONFIG = """
models:
  m: {{base_url: '{url}', model: m, stream: never, limits: {{in_flight: 4096}}}}
agents:
  live: {{kind: react, model: m}}
"""
COMMAND = [sys.executable, "-m", "cuecard"]


def begun(url: str, folder: Path, trials: int, turns: int) -> int:
    from cuecard.core.config import load_config
    from cuecard.core.engine.events import Limits
    from cuecard.core.evaluation.plans import RunPlan, create_run
    from cuecard.store.workspace import Workspace

    plan = RunPlan(
        tasks=("espresso",), agents=("live",), samples=trials, limits=Limits(max_turns=turns)
    )
    with Workspace.open(url) as workspace:
        return create_run(workspace, plan, by="ann", config=load_config(folder / "cuecard.yaml")).id


def took(url: str, run: int) -> tuple[float, int]:
    """Seconds from the first recorded event to the last, and calls."""
    from cuecard.store.workspace import Workspace

    with Workspace.open(url) as workspace:
        trials = workspace.runs.trials(run)
        assert all(trial.termination is not None for trial in trials)
        moments = [event.at for trial in trials for event in workspace.runs.log(trial.id)]
        calls = sum(used.calls for used in workspace.runs.usage(run))
        return (max(moments) - min(moments)).total_seconds(), calls


def cpu(commands: list[list[str]], folder: Path) -> float:
    """CPU seconds of the processes, their starts included."""
    before = os.times()
    started = [
        subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for command in commands
    ]
    codes = [process.wait() for process in started]
    after = os.times()
    assert not any(codes), codes
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main(url: str, trials: int, turns: int, concurrency: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as home, server(0.5) as model:
        folder = Path(home)
        (folder / "cuecard.yaml").write_text(CONFIG.format(url=model), encoding="utf-8")
        verb = [*COMMAND, "--db", url, "--as", "ann"]
        subprocess.run([*verb, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        most = ["--concurrency", str(concurrency)]
        rows: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
        for workers in (0, 1, 2, 4) * rounds:
            run = begun(url, folder, trials * max(workers, 1), turns)
            if workers:
                offer = [*verb, "run", "--resume", str(run), "--workers", "--detach"]
                subprocess.run(offer, cwd=folder, check=True, stderr=subprocess.DEVNULL)
                commands = [[*verb, "worker", *most, "--until-done"]] * workers
            else:
                commands = [[*verb, "run", "--resume", str(run), *most, "--json-lines"]]
            spent = cpu(commands, folder)
            starting = cpu(commands, folder)
            seconds, calls = took(url, run)
            name = f"{workers} workers" if workers else "one process"
            row = {
                "calls": calls,
                "calls a second": round(calls / seconds, 1),
                "CPU ms a call": round(1000 * spent / calls, 2),
                "above start-up": round(1000 * (spent - starting) / calls, 2),
            }
            rows[name].append(row)
            print(json.dumps({name: row}), flush=True)
        for name, found in rows.items():
            medians = {key: median(row[key] for row in found) for key in found[0]}
            print(json.dumps({f"{name}, median of {rounds}": medians}))


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[2:]]
    main(sys.argv[1], *given, *(240, 4, 30, 1)[len(given) :])
