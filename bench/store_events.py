"""What recording costs: CPU for each model call, the size of large runs, and what an outline reads.

python bench/store_events.py              all three, about half a minute
python bench/store_events.py full         the size with 600 trials rather than 60, some minutes
python bench/store_events.py speed        CPU only

CPU is the process's, both threads, less that of the same loop over a sink that keeps nothing.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.engine.trial_log import Sink, TrialLog
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import StoreSink, Workspace

TRIALS, TURNS, WRITERS, ANSWERED_AFTER = 200, 10, 100, 0.05
RESULTS, RESULT_BYTES, SOME, ALL = 100, 30_000, 60, 600
PLAYER = PlayerRef(name="bench", kind="offline")
SENTENCE = "The coach was built in a workshop by the river, and nobody remembers by whom. " * 4


class Nowhere:
    async def append(self, event: Event) -> None:
        await asyncio.sleep(0)

    def stream(self, turn: int, text: str) -> None:
        pass


def grid(workspace: Workspace, trials: int) -> list[int]:
    task = Task.model_validate(
        {
            "id": "t",
            "title": "t",
            "language": "en",
            "query": "q",
            "gold": {"family": "graph", "triples": [{"head": "a", "relation": "r", "tail": "b"}]},
        }
    )
    workspace.tasks.save(task, author="bench")
    run = workspace.runs.create(
        name="b", kind="grid", created_by="bench", samples=1, limits=Limits()
    )
    cell = TrialCell(task_id="t", revision=1, agent=PLAYER, user=PLAYER, world=PLAYER)
    return [trial.id for trial in workspace.runs.add_trials(run.id, [cell] * trials)]


def turn_of(turn: int) -> tuple[EventBody, EventBody, EventBody]:
    reply = ModelReply(
        text=f"{turn} {SENTENCE}",
        finish_reason="stop",
        usage=Usage(prompt=1000 * turn, completion=80),
        model="loopback",
        cost=0.01,
    )
    return (
        ModelReplied(part="agent", turn=turn, step=0, model="loopback", reply=reply),
        AgentSpoke(turn=turn, reply=AgentReply(text=reply.text)),
        UserSpoke(turn=turn + 1, reply=UserReply(text=SENTENCE[:100], stage=turn)),
    )


async def talk(sinks: list[Sink], turns: int, pause: float) -> tuple[float, float]:
    """CPU and wall seconds of all trials, `WRITERS` at a time."""
    slots = asyncio.Semaphore(WRITERS)

    async def play(sink: Sink) -> None:
        async with slots:
            trial_log = TrialLog(sink)
            for turn in range(turns):
                await asyncio.sleep(pause)
                for body in turn_of(turn):
                    await trial_log.record(cast(Any, body))

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(play(sink) for sink in sinks))
    return time.process_time() - cpu, time.perf_counter() - wall


def speed(folder: Path, pause: float) -> dict[str, float]:
    calls = TRIALS * TURNS
    base, _wall = asyncio.run(talk([Nowhere() for _ in range(TRIALS)], TURNS, pause))
    with Workspace.open(folder / f"speed{pause}.db") as workspace:
        sinks: list[Sink] = [StoreSink(workspace, t) for t in grid(workspace, TRIALS)]
        cpu, wall = asyncio.run(talk(sinks, TURNS, pause))
    return {
        "answered_after_s": pause,
        "cpu_ms_per_call": round((cpu - base) / calls * 1000, 3),
        "cpu_us_per_event": round((cpu - base) / calls / 3 * 1e6, 1),
        "wall_s": round(wall, 2),
        "ideal_s": round(TRIALS / WRITERS * TURNS * pause, 2),
    }


class Pages:
    """Random texts from a vocabulary of 4,000 made-up words; a third are repeats of earlier ones."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        letters = "etaoinshrdlucmfwypvbgk"
        self._words = [
            "".join(self._random.choices(letters, k=self._random.randint(3, 10)))
            for _ in range(4000)
        ]
        self._earlier: list[str] = []

    def next(self) -> str:
        if self._earlier and self._random.random() < 1 / 3:
            return self._random.choice(self._earlier)
        text = " ".join(self._random.choices(self._words, k=RESULT_BYTES // 6))[:RESULT_BYTES]
        # Only some are remembered, or this script would need more memory than what it measures.
        if len(self._earlier) < 2000:
            self._earlier.append(text)
        return text


async def fill(workspace: Workspace, trials: list[int], pages: Pages) -> None:
    async def play(trial: int) -> None:
        sink = StoreSink(workspace, trial)
        for step in range(RESULTS):
            entry = SearchEntry(id="1", title="a page", content=pages.next())
            body = ToolAnswered(
                part="agent",
                turn=0,
                step=step,
                call=ToolCall(name="search", arguments={"query": f"query {step}"}),
                answer=ToolAnswer(text="1 result", entries=(entry,)),
            )
            await sink.append(Event(seq=step, at=datetime.now(UTC), body=body))

    for start in range(0, len(trials), WRITERS):
        await asyncio.gather(*(play(trial) for trial in trials[start : start + WRITERS]))


def size(folder: Path, trials: int) -> dict[str, float]:
    path = folder / "size.db"
    with Workspace.open(path) as workspace:
        ids = grid(workspace, trials)
        cpu, wall = time.process_time(), time.perf_counter()
        asyncio.run(fill(workspace, ids, Pages()))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        reading: dict[str, float] = {}
        for name, read in (("outline", workspace.runs.outline), ("events", workspace.runs.events)):
            begun = time.process_time()
            for trial in ids[:20]:
                read(trial)
            reading[name] = (time.process_time() - begun) / 20
    megabytes = sum(file.stat().st_size for file in folder.glob(f"{path.name}*")) / 1e6
    return {
        "trials": trials,
        "raw_mb": trials * RESULTS * RESULT_BYTES / 1e6,
        "stored_mb": round(megabytes, 1),
        "for_600_trials_mb": round(megabytes / trials * ALL, 1),
        "cpu_ms_per_result": round(cpu / trials / RESULTS * 1000, 2),
        "wall_s": round(wall, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "outline_ms": round(reading["outline"] * 1000, 1),
        "whole_ms": round(reading["events"] * 1000, 1),
    }


def main(what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for pause in (0.0, ANSWERED_AFTER):
            print(json.dumps(speed(Path(folder), pause)), flush=True)
        if what != "speed":
            print(json.dumps(size(Path(folder), ALL if what == "full" else SOME)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
