"""Workers, their follower and the database server are killed in one run, over and over: what is left must equal a run that
nothing happened to.

python bench/chaos.py                                    100 kills of workers, 10 of the server, 10 of the follower, 3 stops
python bench/chaos.py --kills 6 --restarts 2 --coordinators 2 --stops 1 --trials 24      a short one, a minute

A PostgreSQL 18 of its own, four `cuecard worker` (whoever is killed is replaced), a follower in the foreground, and a model
on loopback of which three calls in ten fail; what it answers follows from the request alone. The server is killed by
SIGKILL and by SIGQUIT in turn (`pg_ctl kill KILL`, and `stop -m immediate`), and is away for up to three seconds; a stopped
worker sleeps for longer than its claims last. What happens next is drawn, and evenly spread over the calls of the run.
Exit code 1 where something does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict, deque
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import openai_server
import postgres_server
from cuecard.core.engine.events import ModelReplied, RunState, TrialEnded
from cuecard.core.records import RunRecord
from cuecard.core.worker_archive import WORKER_LAPSE
from cuecard.store.workspace import Workspace
from scripted_brain import Faulty, mark_of

TASKS = ("espresso", "facts-night-train", "checkpoints-highest-mountain")
CONFIG = """\
models:
  m:
    base_url: '{url}'
    model: m
    api_key_env: CHAOS_NAME
    retries: 12
    give_up_after: 50
    price: {{prompt: 1000, completion: 0}}
agents:
  live: {{kind: react, model: m}}
"""
WORKERS = 4
CONCURRENCY = 4
PRICE = 0.011
"""Of one call: 11 tokens, at 1000 a million."""
ON_ITS_WAY = 0.25
"""Seconds within which an answer that was sent is recorded."""
GAP = 1.5
"""Seconds between two things that happen. A trial ends when three workers in a row die of it, as far as anybody can tell."""
RECONNECTED = 10.0
"""Seconds after a restart of the server within which whoever waits for it has noticed."""
STUCK = 90.0


class Endpoint:
    """Counts who asks what. An answer that was sent is paid for, whoever still listens."""

    def __init__(self, faults: float, delay: float) -> None:
        self._faulty, self._delay = Faulty(faults), delay
        self.paid: Counter[str] = Counter()
        self.failed = 0
        self._under_way: Counter[str] = Counter()
        self._sent: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=64))

    async def __call__(self, request: openai_server.Request) -> openai_server.Reply:
        who, before = request.headers["authorization"], self._faulty.faults.total()
        reply = self._faulty(request)
        fails = self._faulty.faults.total() > before
        self._under_way[who] += not fails
        await asyncio.sleep(self._delay)
        if fails:
            self.failed += 1
        else:
            self._under_way[who] -= 1
            self.paid[mark_of(request)] += 1
            self._sent[who].append(time.monotonic())
        return reply

    def under_way(self, name: str, since: float) -> int:
        """Calls of a process that are not answered, or were answered `since` then and may not be recorded yet."""
        who = f"Bearer {name}"
        return self._under_way[who] + sum(at > since for at in self._sent[who].copy())


class Program:
    """A `cuecard` process; what it says on stderr goes to a file."""

    def __init__(self, folder: Path, url: str, name: str, *words: str) -> None:
        self.name, self.said = name, folder / f"{name}.txt"
        self.stopped = False
        with self.said.open("w") as err, (folder / f"{name}.out").open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cuecard", "--db", url, "--as", "ann", *words],
                cwd=folder, env={**os.environ, "CHAOS_NAME": name}, stdout=out, stderr=err,
            )  # fmt: skip


class Chaos:
    """What is running, and what was done to it."""

    def __init__(self, folder: Path, server: postgres_server.Server, dice: random.Random) -> None:
        self.folder, self.server, self.dice = folder, server, dice
        self.url = server.url
        self.endpoint = Endpoint(0, 0)
        self.workers: list[Program] = []
        self.done: Counter[str] = Counter()
        self.troubles: list[str] = []
        self.at_kills = 0
        self.started: list[Program] = []
        self._away = self._back = float("-inf")
        self._naps: list[threading.Thread] = []

    def start(self, *words: str) -> Program:
        name = f"{words[0]}{len(self.started) + 1}"
        self.started.append(Program(self.folder, self.url, name, *words))
        return self.started[-1]

    def close(self) -> None:
        for program in self.started:
            program.process.kill()
            program.process.wait()

    def worker(self) -> Program:
        return self.start("worker", "--concurrency", str(CONCURRENCY))

    def run(self, *words: str) -> str:
        program = [sys.executable, "-m", "cuecard", "--db", self.url, "--as", "ann", *words]
        done = subprocess.run(
            program, cwd=self.folder, env={**os.environ, "CHAOS_NAME": "x"}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def play(self, what: list[str], calls: int, follow: tuple[str, ...]) -> int:
        """Play a run to its end with four workers, and have `what` happen on the way of so many calls. Returns its number,
        which after a crash of PostgreSQL is not the next one.
        """
        start = time.monotonic()
        began, number = self.endpoint.paid.total(), len(what)
        follower = self.start(*follow)
        self.workers = [self.worker() for _each in range(WORKERS)]
        last = moved = time.monotonic()
        seen = began
        while True:
            time.sleep(0.02)
            paid = self.endpoint.paid.total()
            if paid != seen:
                moved, seen = time.monotonic(), paid
            if time.monotonic() - moved > STUCK:
                self.stuck()
                break
            for place, worker in enumerate(self.workers):
                if (code := worker.process.poll()) is not None:
                    self.gone(worker, code)
                    self.workers[place] = self.worker()
            if (code := follower.process.poll()) is not None:
                if self.newest().state in (RunState.DONE, RunState.PAUSED):
                    break
                self.gone(follower, code)
                follower = self.follower()
            due = time.monotonic() - last > GAP
            if what and due and paid - began >= calls * 0.95 * (number - len(what) + 0.5) / number:
                self.done[happens := what.pop()] += 1
                last = time.monotonic()
                at = f"{time.monotonic() - start:6.1f} s, {paid - began:5} calls"
                print(f"{at}: {happens}", file=sys.stderr)
                if happens == "coordinator":
                    follower.process.kill()
                    follower.process.wait()
                    follower = self.follower()
                else:
                    getattr(self, happens)()
        if what:
            self.troubles.append(f"the run was over before {dict(Counter(what))}")
        for nap in self._naps:
            nap.join()
        for worker in self.workers:
            worker.process.terminate()
        codes = [worker.process.wait() for worker in self.workers]
        if any(code not in (0, -signal.SIGTERM) for code in codes):  # That: while it started.
            self.troubles.append(f"workers asked to leave ended with {codes}")
        return self.newest().id

    def newest(self) -> RunRecord:
        with Workspace.open(self.url) as workspace:
            return workspace.runs.all()[0]

    def follower(self) -> Program:
        return self.start("run", "--resume", str(self.newest().id), "--workers", "--json-lines")

    def stuck(self) -> None:
        self.troubles.append(f"no call for {STUCK:.0f} s")
        with Workspace.open(self.url) as workspace:
            print(workspace.runs.get(self.newest().id), file=sys.stderr)
            print(workspace.workers.handout(self.newest().id), file=sys.stderr)
        for said in sorted(self.folder.glob("*.txt"), key=lambda each: each.stat().st_mtime)[-6:]:
            print(f"{said.stem}: {said.read_text()[-500:]}", file=sys.stderr)

    def gone(self, program: Program, code: int) -> None:
        """A program ended by itself: right only where it began while there was no server."""
        said = program.said.read_text()
        if said.startswith("cuecard: The database cannot be reached") and said.count("\n") == 1:
            self.done["came without a server"] += 1
            return
        self.troubles.append(f"{program.name} ended by itself, with {code}: {said[-600:]}")
        print(self.troubles[-1], file=sys.stderr, flush=True)

    def _awake(self) -> int:
        return self.dice.choice([n for n, worker in enumerate(self.workers) if not worker.stopped])

    def kill(self) -> None:
        place = self._awake()
        worker = self.workers[place]
        worker.process.kill()
        self.count_calls(worker)
        worker.process.wait()
        self.workers[place] = self.worker()

    def count_calls(self, worker: Program) -> None:
        """Of a worker that is killed or stopped now."""
        now = time.monotonic()
        away = (
            now - self._back < RECONNECTED
        )  # What was answered meanwhile may still wait to be recorded.
        since = self._away if away else now - ON_ITS_WAY
        self.at_kills += self.endpoint.under_way(worker.name, since)

    def stop(self) -> None:
        worker = self.workers[self._awake()]
        worker.stopped = True
        worker.process.send_signal(signal.SIGSTOP)
        self.count_calls(worker)

        def nap() -> None:
            time.sleep(WORKER_LAPSE + 4)
            worker.process.send_signal(signal.SIGCONT)
            worker.stopped = False

        self._naps.append(threading.Thread(target=nap))
        self._naps[-1].start()

    def restart(self) -> None:
        process = self.server._process
        assert process is not None
        children = psutil.Process(process.pid).children(recursive=True)
        self.server.stop(signal.SIGKILL if self.done["restart"] % 2 else signal.SIGQUIT)
        self._away = time.monotonic()
        psutil.wait_procs(children)  # Nobody starts beside what is left of the old one.
        time.sleep(self.dice.uniform(0, 3))
        self.server.start()
        self._back = time.monotonic()
        assert self.server.url == self.url

    def check_words(self) -> None:
        for said in sorted(self.folder.glob("*.txt")):
            if "Traceback" in (text := said.read_text()):
                at = text.index("Traceback")
                self.troubles.append(f"{said.stem} said a traceback: …{text[-300:]}")
                print(text[max(0, at - 300) :][:4000], file=sys.stderr)


def told(workspace: Workspace, run: int) -> tuple[dict[tuple[str, int], Any], int, int]:
    """Logs and verdicts by trial without times, the number of replies, and of trials that did not end exactly once."""
    found: dict[tuple[str, int], Any] = {}
    replies = odd = 0
    unlike = {"reply": {"latency_ms", "attempts", "request_id"}}
    for trial in workspace.runs.trials(run):
        log = workspace.runs.log(trial.id)
        bodies = [event.body.model_dump(mode="json", exclude=unlike) for event in log]
        verdicts = [record.judgement.verdicts for record in workspace.verdicts.of_trial(trial.id)]
        replies += sum(isinstance(event.body, ModelReplied) for event in log)
        odd += sum(isinstance(event.body, TrialEnded) for event in log) != 1
        found[trial.task_id, trial.sample] = (bodies, verdicts)
    return found, replies, odd


def scores(text: str) -> Any:
    data = json.loads(text)
    return [{k: v for k, v in each.items() if k not in ("trial", "trial_id", "judgement")} for each in data["results"]], [
        {k: v for k, v in each.items() if k != "cost"} for each in data["groups"]
    ]  # fmt: skip


def differing(one: dict[tuple[str, int], Any], other: dict[tuple[str, int], Any]) -> list[str]:
    found: list[str] = []
    for key in one.keys() | other.keys():
        if (a := one.get(key)) == (b := other.get(key)):
            continue
        a, b = a or ([], []), b or ([], [])
        at = next((n for n, (x, y) in enumerate(zip(a[0], b[0], strict=False)) if x != y), -1)
        found.append(f"{key}: event {at} of {len(a[0])} and {len(b[0])}, verdicts {a[1] == b[1]}")
        if at >= 0:
            found[-1] += f"\n    {str(a[0][at])[:600]}\n    {str(b[0][at])[:600]}"
        else:
            found[-1] += f"\n    {str(b[0][-2:])[:900]}"
    return found


def main(given: argparse.Namespace) -> int:
    dice = random.Random(given.seed)
    samples = max(1, given.trials // len(TASKS))
    plan = (*TASKS, "--agent", "live", "--samples", str(samples), "--max-turns", "6")
    with tempfile.TemporaryDirectory() as name, postgres_server.own_server() as server:
        chaos = Chaos(Path(name), server, dice)
        chaos.endpoint = Endpoint(given.faults, given.delay)
        with closing(chaos), openai_server.running(chaos.endpoint) as model:
            config = Path(name) / "cuecard.yaml"
            config.write_text(CONFIG.format(url=model.url), encoding="utf-8")
            chaos.run("init")
            chaos.run("run", *plan, "--concurrency", "16")
            calm = chaos.endpoint
            with Workspace.open(chaos.url) as workspace:
                expected, replies, _odd = told(workspace, 1)
                assert replies == calm.paid.total(), (replies, calm.paid.total())
            print(f"undisturbed: {len(expected)} trials, {replies} calls, {calm.failed} faults")
            began = time.monotonic()
            model.script = chaos.endpoint = Endpoint(given.faults, given.delay)
            what = ["kill"] * given.kills + ["restart"] * given.restarts + ["stop"] * given.stops
            what += ["coordinator"] * given.coordinators
            dice.shuffle(what)
            follow = ("run", *plan, "--workers", "--json-lines")
            run = chaos.play(what, replies, follow)
            bad = report(chaos, run, calm.paid, expected, time.monotonic() - began)
            if given.budget:
                few = max(1, samples // 4)
                plan = (*TASKS, "--agent", "live", "--samples", str(few), "--max-turns", "6")
                bad += budgeted(chaos, model, plan, replies * few // samples, given)
            chaos.check_words()
        for trouble in (*chaos.troubles, *bad):
            print(f"NOT SO: {trouble}")
        return 1 if chaos.troubles or bad else 0


def report(
    chaos: Chaos, run: int, calm: Counter[str], expected: dict[tuple[str, int], Any], seconds: float
) -> list[str]:
    bad: list[str] = []
    with Workspace.open(chaos.url) as workspace:
        found, replies, odd = told(workspace, run)
        handout = workspace.workers.handout(run)
        state = workspace.runs.get(run).state
    assert handout is not None
    twice = (chaos.endpoint.paid - calm).total()
    rows = {
        "what happened": dict(chaos.done),
        "seconds": round(seconds),
        "faults of the endpoint": chaos.endpoint.failed,
        "trials": len(found),
        "trials taken from workers that were gone": len(handout.lost),
        "trials that did not end exactly once": odd,
        "trials whose log or verdicts differ": len(different := differing(expected, found)),
        "calls paid more often than undisturbed": twice,
        "calls under way when their process was killed or stopped": chaos.at_kills,
        "replies recorded": replies,
    }
    for title, value in rows.items():
        print(f"{title:<58} {value}")
    if state is not RunState.DONE:
        bad.append(f"the run is {state}")
    if (handout.waiting, handout.held) != (0, 0):
        bad.append(f"{handout.waiting} trials wait, {handout.held} are held")
    if odd or twice > chaos.at_kills:
        bad.append("trials ended otherwise than once, or calls were paid twice without a kill")
    bad += different[:5]
    one, two = (scores(chaos.run("score", run, "--json")) for run in ("1", str(run)))
    print(f"{'scores equal':<58} {one == two}")
    if one != two:
        for a, b in zip(one[0] + one[1], two[0] + two[1], strict=False):
            if a != b:
                print({k: (a[k], b.get(k)) for k in a if a[k] != b.get(k)})
        bad.append("scores differ")
    return bad


def budgeted(
    chaos: Chaos, model: Any, plan: tuple[str, ...], calls: int, given: argparse.Namespace
) -> list[str]:
    """A run whose budget pays for half of its calls, with a tenth of the kills; then it goes on with enough."""
    bad: list[str] = []
    budget = round(calls * PRICE / 2, 3)
    chaos.done.clear()
    model.script = chaos.endpoint = Endpoint(given.faults, given.delay)
    what = ["kill"] * max(1, given.kills // 10) + ["restart"] * max(1, given.restarts // 10)
    run = ("run", *plan, "--workers", "--json-lines", "--budget", str(budget))
    number = chaos.play(what, calls // 2, run)
    with Workspace.open(chaos.url) as workspace:
        spent = sum(used.cost or 0 for used in workspace.runs.usage(number))
        record = workspace.runs.get(number)
    most = budget + WORKERS * CONCURRENCY * PRICE
    print(
        f"{'budget, spent, the most with all calls in flight':<58} {budget}, {spent:.3f}, {most:.3f}"
    )
    print(f"{'why it stopped':<58} {record.state.value}: {record.reason}")
    if not budget - PRICE < spent <= most or record.state is not RunState.PAUSED:
        bad.append("the budget was not kept")
    resume = ("run", "--resume", str(number), "--workers", "--budget", "1000", "--json-lines")
    chaos.play([], 0, resume)
    with Workspace.open(chaos.url) as workspace:
        calm, found = told(workspace, 1)[0], told(workspace, number)[0]
        expected = {key: each for key, each in calm.items() if key in found}
        state = workspace.runs.get(number).state
    different = differing(expected, found)
    print(f"{'after a larger budget: trials that differ':<58} {len(different)}")
    return bad + different[:3] + ([] if state is RunState.DONE else [f"run {number} is {state}"])


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    for option, number in (("kills", 100), ("restarts", 10), ("coordinators", 10), ("stops", 3)):
        options.add_argument(f"--{option}", type=int, default=number)
    options.add_argument("--trials", type=int, default=240)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--faults", type=float, default=0.3)
    options.add_argument("--delay", type=float, default=0.2)
    options.add_argument("--no-budget", dest="budget", action="store_false")
    sys.exit(main(options.parse_args()))
