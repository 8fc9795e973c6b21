"""How long the screens of a run of 108,000 trials leave a key waiting, and when each shows something.

python bench/large_run.py [FILE]     FILE: as bench/results_growth.py makes it (FILE.after)

The run of 10,800 trials in the file is copied ten times over in SQL, with its logs, judgements and figures but without verdicts.
The app runs without a terminal at 120x40; a heartbeat of the screen's thread every 20 ms tells how long nothing was answered.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

RUN, TIMES, APART = 2, 10, 20_000
WAYS = (
    ("runs", "3", 3.0),
    ("run", "enter", 25.0),
    ("its trials", "v t", 10.0),
    ("last trial", "G", 3.0),
    ("its scores", "v s", 3.0),
    ("compare", "w", 25.0),
    ("back", "escape", 3.0),
    ("errors", ". e", 25.0),
)
COPIED = {
    "event": "trial_id + {o}, seq, take, key, type, at, body, packed",
    "judgement": "id + {o}, trial_id + {o}, judge_name, judge, revision_hash, prompt_hash, trial_hash,"
    " table_match, created_at",
    "usage": "trial_id + {o}, payer, model, calls, prompt, completion, cached, reasoning, cost, priced",
    "trialfigures": "judgement_id + {o}, language, trial_id + {o}, stamp, body",
}


def enlarge(path: Path) -> None:
    """Copy the trials of the run; their samples follow on those there are."""
    database = sqlite3.connect(path)
    database.execute("pragma synchronous = off")
    (samples,) = database.execute("select samples from run where id = ?", (RUN,)).fetchone()
    for time_ in range(1, TIMES):
        o = time_ * APART
        mine = f"run_id = {RUN} and id <= {APART}"
        database.execute(
            f"insert into trial select id + {o}, substr(uid, 1, 24) || printf('%08x', id + {o}),"
            f" run_id, task_id, revision, agent, user, world, sample + {time_ * samples}, seed,"
            f" termination, detail, created_at, ended_at from trial where {mine}"
        )
        for table, columns in COPIED.items():
            of = f"trial_id in (select id from trial where {mine})"
            database.execute(
                f"insert into {table} select {columns.format(o=o)} from {table} where {of}"
            )
    database.execute("update run set samples = ? where id = ?", (samples * TIMES, RUN))
    database.commit()
    database.execute("analyze")
    database.close()


async def walk(path: Path) -> None:
    from cuecard.tui.preferences import Preferences
    from cuecard.tui.services import Services
    from steady_app import SteadyApp

    app = SteadyApp(Services(f"sqlite:///{path}"), "ann", Preferences())
    waits: list[tuple[float, float]] = []

    async def heart() -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(0.02)
            now = time.monotonic()
            waits.append((now, now - before - 0.02))
            before = now

    async with app.run_test(size=(120, 40)) as pilot:
        beats = asyncio.create_task(heart())
        await pilot.pause(3)
        for name, keys, rest in WAYS:
            began, waited = time.monotonic(), len(waits)
            for key in keys.split():
                app.simulate_key("full_stop" if key == "." else key)
                await asyncio.sleep(0.7)
            await asyncio.sleep(rest)
            most, at = max((wait, now - began) for now, wait in waits[waited:])
            print(f"{name:12} longest wait {most:5.2f} s, {at:4.1f} s after the key", flush=True)
        beats.cancel()


def main() -> None:
    given = Path(sys.argv[1] if sys.argv[1:] else Path(tempfile.gettempdir(), "cuecard-growth.db"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.db")
        shutil.copyfile(given.with_suffix(".after"), path)
        enlarge(path)
        os.environ["HOME"] = folder
        print(f"load {os.getloadavg()[0]:.1f}")
        asyncio.run(walk(path))


if __name__ == "__main__":
    main()
