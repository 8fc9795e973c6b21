"""What the engine costs beside a bare loop over the openai client that makes the same calls.

python bench/engine.py            everything, about two minutes; prints the table of docs/benchmarks.md
python bench/engine.py quick      fewer trials, for a first look

Each measurement is a process of its own, against the server of `engine_server.py` in another one. CPU is
that of the measuring process alone, from its first call to its last, after one trial to warm up: importing
a library is paid for once, not per call.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SYSTEM = "You help people find things out. " * 20
LINE = "Thank you. Now tell me what is known of coach number {n}, and who built it, please."
CONCURRENCY = 100


@contextmanager
def server(delay: float) -> Iterator[str]:
    command = [sys.executable, str(HERE / "engine_server.py"), str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def measured(wall: float, cpu: float, calls: int) -> dict[str, Any]:
    return {"wall": wall, "cpu_ms": cpu / calls * 1000, "calls": calls, "peak_mb": peak_mb()}


def peak_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return math.nan


async def bare(url: str, trials: int, turns: int, *, streams: bool = False) -> dict[str, Any]:
    """The same conversations through `AsyncOpenAI().chat.completions.create`, recording nothing."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    slots = asyncio.Semaphore(CONCURRENCY)

    async def whole(messages: list[Any]) -> str:
        reply = await client.chat.completions.create(model="bench", messages=messages)
        return reply.choices[0].message.content or ""

    async def streamed(messages: list[Any]) -> str:
        pieces: list[str] = []
        chunks = await client.chat.completions.create(
            model="bench",
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in chunks:
            pieces += (choice.delta.content or "" for choice in chunk.choices)
        return "".join(pieces)

    async def trial() -> None:
        async with slots:
            messages: list[Any] = [{"role": "system", "content": SYSTEM}]
            for turn in range(turns + 1):
                messages.append({"role": "user", "content": LINE.format(n=turn)})
                words = await (streamed if streams else whole)(messages)
                messages.append({"role": "assistant", "content": words})

    await trial()
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(trial() for _ in range(trials)))
    return measured(time.perf_counter() - began, time.process_time() - cpu, trials * (turns + 1))


def configuration(url: str, *, streams: bool = False) -> Any:
    from cuecard.core.config import EMBEDDED
    from cuecard.core.config_models import ModelConfig, RateLimits
    from cuecard.core.config_players import ReactAgentConfig

    model = ModelConfig(
        base_url=url,
        model="bench",
        limits=RateLimits(in_flight=256),
        stream="always" if streams else "never",
    )
    agents = {**EMBEDDED.agents, "live": ReactAgentConfig(model="m")}
    return EMBEDDED.model_copy(update={"models": {"m": model}, "agents": agents})


def task(turns: int) -> Any:
    from cuecard.core.families.graph.gold import Graph, Triple
    from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task

    stages = tuple(
        Stage(
            title=f"Coach {n}",
            cue=Cue(kind=CueKind.START if n == 0 else CueKind.COMPLETES, text="anything was said"),
            line=LINE.format(n=n),
            not_met="Go on, please.",
        )
        for n in range(turns)
    )
    return Task(
        id="bench",
        title="Coaches of a ferry",
        language="en",
        domain="transport",
        query="Which coaches does the ferry carry, and who built them?",
        persona=Persona(identity="A rail fan", initial_query=LINE.format(n=0), stages=stages),
        gold=Graph(triples=(Triple(head="Ferry", relation="carries", tail="coaches"),)),
    )


async def ours(
    url: str, trials: int, turns: int, folder: str, *, streams: bool = False
) -> dict[str, Any]:
    """The same conversations as a run: played, judged, and every event on the disk."""
    from cuecard.core.engine.events import Limits
    from cuecard.core.evaluation.plans import RunPlan, create_run
    from cuecard.core.evaluation.runs import resume_run, start_run
    from cuecard.store.workspace import Workspace

    config = configuration(url, streams=streams)
    with Workspace.open(Path(folder) / "bench.db") as workspace:
        workspace.tasks.save(task(turns), author="bench", message="")
        plan = RunPlan(
            tasks=("bench",),
            agents=("live",),
            samples=trials,
            concurrency=CONCURRENCY,
            limits=Limits(max_turns=turns),
        )
        await start_run(
            workspace, plan.model_copy(update={"samples": 1}), by="bench", config=config
        )
        run = create_run(workspace, plan, by="bench", config=config)
        began, cpu = time.perf_counter(), time.process_time()
        outcome = await resume_run(workspace, run.id, config=config, concurrency=CONCURRENCY)
        wall, spent = time.perf_counter() - began, time.process_time() - cpu
        assert outcome.run.finished == trials, outcome.summary
        calls = sum(used.calls for used in workspace.runs.usage(run.id))
    return measured(wall, spent, calls)


def lag(url: str, trials: int, turns: int, folder: str) -> dict[str, Any]:
    """How late a screen's loop is while the engine works on its own: seconds at p50, p99 and most."""
    from cuecard.tui.engine import Engine

    async def screen() -> dict[str, Any]:
        engine = Engine()
        work = asyncio.wrap_future(engine.submit(ours(url, trials, turns, folder)))
        late: list[float] = []
        while not work.done():
            due = time.perf_counter() + 0.01
            await asyncio.sleep(0.01)
            late.append(time.perf_counter() - due)
        found = await work
        engine.close()
        late.sort()
        return {
            **found,
            "p50_ms": late[len(late) // 2] * 1000,
            "p99_ms": late[int(len(late) * 0.99)] * 1000,
            "most_ms": late[-1] * 1000,
        }

    return asyncio.run(screen())


def run_one(what: str, url: str, trials: int, turns: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "one", what, url, str(trials), str(turns)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{what} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def one(what: str, url: str, trials: int, turns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        streams = what.endswith("streamed")
        if what.startswith("bare"):
            found = asyncio.run(bare(url, trials, turns, streams=streams))
        elif what.startswith("ours"):
            found = asyncio.run(ours(url, trials, turns, folder, streams=streams))
        else:
            found = lag(url, trials, turns, folder)
    print(json.dumps(found))


def ideal(trials: int, calls: int, delay: float) -> float:
    return math.ceil(trials / CONCURRENCY) * calls * delay


def main(quick: bool) -> None:
    trials = 100 if quick else 200
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {trials} trials at a time 100")
    with server(0.05) as url:
        bare_10, ours_10 = run_one("bare", url, trials, 10), run_one("ours", url, trials, 10)
        bare_30, ours_30 = run_one("bare", url, trials, 30), run_one("ours", url, trials, 30)
        bare_s, ours_s = (run_one(f"{who} streamed", url, trials, 10) for who in ("bare", "ours"))
        many = run_one("ours", url, trials * 4, 10)
        app = run_one("lag", url, trials, 10)
    with server(2.0) as url:
        slow = run_one("ours", url, 100, 10)
    wall, bare_wall = (found["wall"] / ideal(trials, 11, 0.05) for found in (ours_10, bare_10))
    rows = [
        ("CPU per call, 10 turns: bare loop", f"{bare_10['cpu_ms']:.2f} ms", ""),
        ("CPU per call, 10 turns: Cuecard", f"{ours_10['cpu_ms']:.2f} ms", ""),
        ("  ratio", f"{ours_10['cpu_ms'] / bare_10['cpu_ms']:.2f}", "<= 0.55"),
        ("CPU per call, streamed: bare loop", f"{bare_s['cpu_ms']:.2f} ms", ""),
        ("CPU per call, streamed: Cuecard", f"{ours_s['cpu_ms']:.2f} ms", ""),
        ("  ratio", f"{ours_s['cpu_ms'] / bare_s['cpu_ms']:.2f}", "<= 0.55"),
        ("CPU per call, 30 turns: bare loop", f"{bare_30['cpu_ms']:.2f} ms", ""),
        ("CPU per call, 30 turns: Cuecard", f"{ours_30['cpu_ms']:.2f} ms", ""),
        ("  30 turns / 10 turns", f"{ours_30['cpu_ms'] / ours_10['cpu_ms']:.2f}", "<= 1.2"),
        ("wall / ideal at 50 ms", f"{wall:.2f}", ""),
        ("  the bare loop's", f"{bare_wall:.2f}", ""),
        ("  ratio", f"{wall / bare_wall:.2f}", "<= 0.55"),
        ("wall / ideal at 2 s", f"{slow['wall'] / ideal(100, 11, 2.0):.3f}", "<= 1.10"),
        (f"peak memory, {trials} trials", f"{ours_10['peak_mb']:.0f} MB", "<= 160"),
        (f"peak memory, {trials * 4} trials", f"{many['peak_mb']:.0f} MB", "<= 160, no growth"),
        ("screen's lag, p50", f"{app['p50_ms']:.1f} ms", ""),
        ("screen's lag, p99", f"{app['p99_ms']:.1f} ms", "<= 60"),
        ("screen's lag, most", f"{app['most_ms']:.1f} ms", ""),
    ]
    for name, value, bar in rows:
        print(f"{name:<40} {value:>10}   {bar}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main("quick" in sys.argv[1:])
