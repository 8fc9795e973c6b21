"""What first frames and keys of screens take here and in another checkout, by turns: processor time, and calls of functions.

    git worktree add --detach ../before COMMIT
    python bench/screens.py ../before [rounds]

A screen is opened from Home for the first time, then again, in a workspace of 400 tasks and a judged run; then the
cursor goes down and up again. Calls are of Python functions in the screen's thread: a busy machine makes no more of them.
"""

from __future__ import annotations

import asyncio
import cProfile
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parents[1]
MODES = ("tasks", "runs", "review", "verdicts")
BELOW = {"board": ("home", "full_stop", "b"), "scores": ("runs", "enter", "v", "s")}
STEPS = 6


def make(path: Path) -> None:
    from cuecard.annotate.samples import import_samples
    from cuecard.core.evaluation.plans import RunPlan
    from cuecard.core.evaluation.runs import start_run
    from cuecard.store.workspace import Workspace

    with Workspace.open(path) as workspace:
        import_samples(workspace, "Ann")
        task = workspace.tasks.revision("espresso").task
        for n in range(400):
            copy = task.model_copy(update={"id": f"t{n}", "title": f"Task {n}: {task.title}"})
            workspace.tasks.save(copy, author="Ann")
        plan = RunPlan(tasks=("espresso", "facts-night-train"), agents=("offline",), samples=20)
        asyncio.run(start_run(workspace, plan, by="Ann"))


def called() -> Callable[[], float]:
    """How many functions were called since now."""
    profile, calls = cProfile.Profile(subcalls=False, builtins=False), 0

    def so_far() -> float:
        nonlocal calls
        profile.disable()
        calls += sum(entry.callcount for entry in profile.getstats())
        profile.clear()
        profile.enable()
        return calls

    so_far()
    return so_far


async def measured(path: str, spent: Callable[[], float]) -> dict[str, float]:
    """What was `spent` by what was done: one app, every screen opened four times, of which all but the first the median
    counts, since a search for garbage falls into some.
    """
    from cuecard.tui.preferences import Preferences
    from cuecard.tui.services import Services
    from steady_app import SteadyApp

    times: dict[str, list[float]] = {}
    app = SteadyApp(Services(f"sqlite:///{path}"), "Ann", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        for name in (*MODES, *BELOW):
            for _again in range(4):
                app.action_go("home")
                await pilot.pause(0.3)
                began = spent()
                if name in MODES:
                    app.action_go(name)
                    await pilot.pause()
                else:
                    mode, *keys = BELOW[name]
                    app.action_go(mode)
                    await pilot.pause()
                    await pilot.press(*keys)
                await pilot.pause(
                    0.4
                )  # until nothing more is drawn: the keys in the footer come last
                first = f"{name}, first" not in times
                times.setdefault(f"{name}, {'first' if first else 'again'}", []).append(
                    spent() - began
                )
                began = spent()
                for key in ["down"] * STEPS + ["up"] * STEPS:
                    await pilot.press(key)
                    await pilot.pause(0.08)  # what goes on beside the keys is counted, too
                times.setdefault(f"{name}, cursor", []).append((spent() - began) / (2 * STEPS))
                if name in BELOW:
                    await pilot.press("escape")
    return {name: statistics.median(all_) for name, all_ in times.items()}


def once(checkout: Path, path: Path, what: str) -> dict[str, float]:
    place = os.pathsep.join((str(checkout / "src"), str(checkout / "tests")))
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(path), what],
        env={**os.environ, "PYTHONPATH": place, "HOME": str(path.parent), "CUECARD_USER": "Ann"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    other, rounds = Path(sys.argv[1]).resolve(), int((*sys.argv, "5")[2])
    times: tuple[list[dict[str, float]], ...] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cuecard.db"
        make(path)
        for _round in range(rounds):
            for side, checkout in zip(times, (other, HERE), strict=True):
                side.append(once(checkout, path, "time"))
        calls = [once(checkout, path, "calls") for checkout in (other, HERE)]
    print(f"{'':20} {'before':>9} {'now':>9} {'ratio':>7}   ms, medians of {rounds}; then calls")
    for name in times[0][0]:
        before, now = (statistics.median(each[name] for each in side) for side in times)
        was, is_ = (side[name] for side in calls)
        told = f"{name:20} {before:9.1f} {now:9.1f} {now / before:7.2f}"
        print(f"{told} {was:9,.0f} {is_:9,.0f} {is_ / was:7.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        spent = called() if sys.argv[3] == "calls" else lambda: 1000 * time.process_time()
        print(json.dumps(asyncio.run(measured(sys.argv[2], spent))))
    else:
        main()
