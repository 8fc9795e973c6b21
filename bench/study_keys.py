"""What any key takes on the example study, here and in another checkout by turns: processor time until what it does is painted.

python bench/study_keys.py [CHECKOUT] [ROUNDS] [PLACE…]

All keys of a round are pressed in one app, place by place, the second time over the same way, so that what a place shows first
is counted too. A key is done when nothing that it began is under way any more and all is drawn, as for a terminal of 120x40.
The bar is a p95 of 50 ms of processor time, of all threads. Calls are of Python functions in the screen's thread: a busy machine
makes no more of them. Garbage is collected as the program has it: from two seconds after the start, and seldom.

What the app does by itself between keys, such as tabs that it makes ahead, is not of a key, unless the key comes meanwhile: it is
there for as long as a place says, and the longest piece of it that a key would have waited for is told beside. "In haste" is the
same place with keys so close to each other that hardly anything is made ahead.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

from screens import called

HERE = Path(__file__).parents[1]
BAR = 50.0


class Place(NamedTuple):
    """Where keys are pressed: the mode, the keys that lead there from it, those that are measured, and seconds after each."""

    mode: str
    way: tuple[str, ...]
    keys: tuple[str, ...]
    rest: float = 0.15


PLACES = {
    "places": Place("home", (), tuple("123456" * 2)),
    "tasks, cursor": Place("tasks", ("g",), (*["down"] * 12, *["up"] * 6)),
    "tasks, open and leave": Place("tasks", ("g",), ("enter", "escape", "down") * 5),
    "task, tabs": Place("tasks", ("g", "enter"), (*["f4"] * 10, *["f3"] * 10), 0.8),
    "task, tabs in haste": Place("tasks", ("g", "enter"), (*["f4"] * 10, *["f3"] * 10)),
    "task, reading": Place("tasks", ("g", "enter", "f4", "f4"), ("down", "pagedown", "up", "end") * 3),
    "settings, fields": Place("settings", (), (*["tab"] * 8, *["shift+tab"] * 4)),
    "verdicts": Place("verdicts", ("g",), ("down", "down", "up") * 3),
    "agreement, views": Place("verdicts", ("g", ".", "a"), tuple("]" * 7 + "[" * 7)),
    "agreement, staying": Place("verdicts", ("g", ".", "a"), tuple("]" * 7 + "[" * 7), 1.0),
    "agreement, cursor": Place("verdicts", ("g", ".", "a"), ("down", "right") * 6),
    "run, trials": Place("runs", ("g", "enter", "v", "t"), (*["down"] * 6, *["up"] * 3)),
    "run, scores": Place("runs", ("g", "enter", "v", "s"), ("down", "right", "down", "n") * 4),
    "trial": Place("runs", ("g", "enter", "v", "t", "g", "enter"), ("down", "pagedown", "]", "+") * 4),
    "board": Place("home", (".", "b"), ("down", "down", "up")),
    "search": Place("home", ("ctrl+f",), tuple("the espresso")),
    "tasks, filter": Place("tasks", ("/",), (*"espresso", *["backspace"] * 8)),
}  # fmt: skip


async def left_alone(app: Any, seconds: float, spent: Callable[[], float]) -> float:
    """The most that was spent at a stretch meanwhile, from one moment at which a key would not have waited to the next."""
    from textual.events import Key

    until, most, began = time.monotonic() + seconds, 0.0, spent()
    while time.monotonic() < until:
        await asyncio.sleep(0.003)
        if app._settled(Key("escape", None)):
            most, began = max(most, spent() - began), spent()
    return most


async def measured(
    path: str, spent: Callable[[], float], names: list[str]
) -> dict[str, list[list[float]]]:
    """Of each place what was spent on its keys, and at most at a stretch after each of them."""
    from textual._compositor import CompositorUpdate

    from cuecard.tui.preferences import Preferences
    from cuecard.tui.services import Services
    from steady_app import SteadyApp

    class Painted(SteadyApp):
        """Makes of each frame what it would write to a terminal."""

        def _display(self, screen: Any, renderable: Any) -> None:
            if isinstance(renderable, CompositorUpdate) and not self._batch_count:
                renderable.render_segments(self.console)
            super()._display(screen, cast(Any, renderable))

    times: dict[str, list[list[float]]] = {}
    app = Painted(Services(f"sqlite:///{path}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(2.5)  # until the app takes up the collection of garbage
        for name in names:
            place = PLACES[name]
            for _again in range(2):
                app.action_go(place.mode)
                await pilot.pause()
                for key in place.way:
                    await pilot.press(key)
                await pilot.pause(2 * place.rest)
                of_keys, between = times.setdefault(name, [[], []])
                for key in place.keys:
                    began = spent()
                    await pilot.press(key)
                    of_keys.append(spent() - began)
                    between.append(await left_alone(app, place.rest, spent))
                for _up in range(4):
                    if len(app.screen_stack) > 1:
                        await pilot.press("escape")
    return times


def once(checkout: Path, path: Path, what: str, names: list[str]) -> dict[str, list[list[float]]]:
    place = os.pathsep.join((str(checkout / "src"), str(checkout / "tests")))
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(path), what, *names],
        env={**os.environ, "PYTHONPATH": place, "HOME": str(path.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


def main(given: list[str]) -> None:
    from cuecard.annotate.study import write_study

    other = Path(given[0]).resolve() if given else HERE
    rounds, names = int((*given, "", "3")[1] or 3), given[2:] or list(PLACES)
    found: dict[tuple[Path, str], dict[str, list[list[float]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        for what in [*["time"] * rounds, "calls"]:
            for checkout in dict.fromkeys((other, HERE)):
                path.unlink(missing_ok=True)
                write_study(path)
                for name, each in once(checkout, path, what, names).items():
                    so_far = found.setdefault((checkout, what), {}).setdefault(name, [[], []])
                    for one, more in zip(so_far, each, strict=True):
                        one += more
    print(
        f"load {os.getloadavg()[0]:.1f}; a key before, now: p50 / p95 of ms (the longest stretch between keys), then of thousands of calls"
    )
    for name in names:
        told = f"{name:22} {len(found[HERE, 'time'][name][0]):4} keys"
        for what, unit in (("time", 1), ("calls", 1000)):
            for checkout in (other, HERE):
                of_keys, between = found[checkout, what][name]
                told += f"  {statistics.median(of_keys) / unit:6.1f} / {p95(of_keys) / unit:6.1f} ({max(between) / unit:.0f})"
        over = p95(found[HERE, "time"][name][0]) > BAR
        print(told + ("  over the bar" if over else ""))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        gc.disable()  # as `launch` has it
        sys.setswitchinterval(0.001)
        spent = called() if sys.argv[3] == "calls" else lambda: 1000 * time.process_time()
        print(json.dumps(asyncio.run(measured(sys.argv[2], spent, sys.argv[4:]))))
    else:
        main(sys.argv[1:])
