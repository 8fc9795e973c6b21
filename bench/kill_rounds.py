"""`kill -9` at random moments, then `cuecard run --resume`: nothing recorded is paid for again.

python bench/kill_rounds.py [ROUNDS]      50 rounds, about five minutes

A model server in a process of its own logs every answer. In each round a run is killed up to three times
and gone on with. Then (1) the logs of all trials equal those of a run that nothing happened to, and (2)
after each kill the server answered exactly the calls that were not recorded yet. `lost` counts answers
that the server had sent but the killed process had not yet committed: nothing can save those.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
TASKS = ("espresso", "facts-night-train", "checkpoints-highest-mountain")
CONFIG = """\
models:
  m: {{base_url: "http://127.0.0.1:{port}/v1", model: scripted}}
agents:
  live: {{kind: react, model: m}}
"""


class Round:
    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self.log = log
        self.db = folder / "w.db"

    def command(self, *words: str) -> list[str]:
        head = [sys.executable, "-m", "cuecard", "--db", str(self.db), "--as", "bench"]
        return [*head, *words]

    def start(self, resume: bool) -> subprocess.Popen[bytes]:
        words = ("--resume", "1") if resume else (*TASKS, "--agent", "live", "--samples", "3")
        limits = () if resume else ("--max-turns", "6")
        return subprocess.Popen(
            self.command("run", *words, *limits, "--concurrency", "6", "--json-lines"),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def answered(self) -> int:
        if not self.log.exists():
            return 0
        lines = self.log.read_text().splitlines()
        return sum(json.loads(line)["status"] == 200 for line in lines)

    def logs(self) -> tuple[dict[tuple[str, int], list[str]], int]:
        """Event bodies by trial, without what time has to do with, and the number of model replies."""
        from cuecard.core.engine.events import ModelReplied
        from cuecard.store.workspace import Workspace

        found: dict[tuple[str, int], list[str]] = {}
        replies = 0
        with Workspace.open(self.db) as workspace:
            if not workspace.runs.all():
                return {}, 0
            for trial in workspace.runs.trials(1):
                lines: list[str] = []
                for event in workspace.runs.log(trial.id):
                    body = event.body
                    if isinstance(body, ModelReplied):
                        replies += 1
                        timeless = body.reply.model_copy(update={"latency_ms": 0})
                        body = body.model_copy(update={"reply": timeless})
                    lines.append(body.model_dump_json())
                found[trial.task_id, trial.sample] = lines
        return found, replies


def main(rounds: int, seed: int = 7) -> None:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        log = base / "server.log"
        server = subprocess.Popen(
            [sys.executable, str(TESTS / "scripted_brain.py"), str(log), "0", "0.03"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout
        try:
            port = server.stdout.readline().strip()
            seedling = base / "seed"
            seedling.mkdir()
            (seedling / "cuecard.yaml").write_text(CONFIG.format(port=port))
            first = Round(seedling, log)
            subprocess.run(first.command("init"), cwd=seedling, check=True, capture_output=True)
            play(base, dice, rounds, first)
        finally:
            server.kill()


def play(base: Path, dice: random.Random, rounds: int, first: Round) -> None:
    pristine = base / "pristine"
    shutil.copytree(first.folder, pristine)
    began = time.monotonic()
    undisturbed = first.start(resume=False)
    undisturbed.communicate()
    assert undisturbed.returncode == 0, "the undisturbed run failed"
    span = time.monotonic() - began
    expected, total = first.logs()
    print(f"undisturbed: {len(expected)} trials, {total} model calls, {span:.1f} s")
    kills = lost = repeated = unequal = 0
    for number in range(rounds):
        folder = base / f"round{number}"
        shutil.copytree(pristine, folder)
        this = Round(folder, first.log)
        resume = False
        for _attempt in range(dice.randint(1, 3)):
            before = this.answered()
            recorded = this.logs()[1] if resume else 0
            process = this.start(resume)
            time.sleep(dice.uniform(0.6, span))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
            time.sleep(0.1)
            found, now = this.logs()
            lost += (this.answered() - before) - (now - recorded)
            resume = bool(found)
        before, recorded = this.answered(), this.logs()[1]
        last = this.start(resume)
        last.communicate()
        assert last.returncode == 0, f"round {number}: the resumed run ended with {last.returncode}"
        found, replies = this.logs()
        repeated += (this.answered() - before) - (replies - recorded)
        unequal += found != expected
        shutil.rmtree(folder)
    print(f"rounds: {rounds}, kills: {kills}")
    print(f"logs that differ from the undisturbed run's: {unequal}")
    print(f"recorded answers asked for again: {repeated}")
    print(f"answers lost on the way to the disk, at most: {lost}")
    if unequal or repeated:
        raise SystemExit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
