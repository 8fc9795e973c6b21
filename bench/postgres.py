"""What a network between an evaluation and its PostgreSQL costs: `python bench/postgres.py`. A proxy on loopback delays each
direction; the file on this machine stands beside.

`python bench/postgres.py limits [WRITERS …]`: what a call costs the server (CPU of all its processes), by the number of worker
processes that record: each holds 30 claimed trials, whose calls take half a second, or no time at all; all is written by the
store's own writer, under fences, with the beats of workers. A call is two and a half events, as of an agent with tools.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgres_server
import store_workers
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.records import TrialCell
from cuecard.store.workspace import StoreSink, Workspace

TRIALS = 50
EACH = 40
HELD = 30
SECONDS = 8.0


class Proxy:
    """Passes a server's bytes on, each direction `delay` seconds late, however many are under way."""

    def __init__(self, port: int, delay: float) -> None:
        self._target, self._delay = port, delay
        self._loop = asyncio.new_event_loop()
        self.port = 0
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def _run(self, ready: threading.Event) -> None:
        async def serve() -> None:
            server = await asyncio.start_server(self._joined, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await server.serve_forever()

        self._loop.run_until_complete(serve())

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        try:
            while data := await reader.read(1 << 16):
                loop.call_later(self._delay, writer.write, data)
            loop.call_later(self._delay, writer.close)
        except OSError:
            writer.close()


def main() -> None:
    print(
        f"{'':24}  {'open':>7}  {'one event':>9}  {'judge call':>10}  {'read':>7}  {'events/s':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite, a file", f"sqlite:///{folder}/w.db")
    with postgres_server.own_server() as server:
        databases = postgres_server.Databases(server.url)
        for delay in (0, 0.010):
            with databases.workspace() as url:
                made = sqlalchemy.make_url(url)
                proxy = Proxy(made.port or 0, delay)
                url = made.set(port=proxy.port).render_as_string(hide_password=False)
                measure(f"PostgreSQL, {2000 * delay:.0f} ms away", url)
        databases.close()


def measure(name: str, url: str) -> None:
    Workspace.open(url).close()
    with took() as opened, Workspace.open(url) as workspace:
        pass
    with Workspace.open(url) as workspace:
        task = workspace.tasks.save(store_workers.task("t", "T"), author="Ann")
        run = workspace.runs.create(
            name="r", kind="grid", created_by="Ann", samples=1, limits=Limits()
        )
        player = store_workers.PLAYER
        cells = [
            TrialCell(
                task_id="t", revision=task.number, agent=player, user=player, world=player,
                sample=n, seed=n,
            )
            for n in range(TRIALS + 1)
        ]  # fmt: skip
        trials = [trial.id for trial in workspace.runs.add_trials(run.id, cells)]

        async def play(trial: int) -> None:
            sink = StoreSink(workspace, trial)
            for seq in range(EACH):
                await sink.append(store_workers.event(seq))

        async def all_of_them() -> None:
            await asyncio.gather(*map(play, trials[:TRIALS]))

        async def alone() -> list[float]:
            sink, each = StoreSink(workspace, trials[-1]), []
            for seq in range(20):
                with took() as one:
                    await sink.append(
                        Event(seq=seq, at=datetime.now(UTC), body=store_workers.spoke(seq))
                    )
                each.append(one[0])
            return each

        single = asyncio.run(alone())
        judged = []
        for n in range(10):
            call = RecordedCall(key=str(n), model="m", reply=ModelReply(text="y"), prompt="h")
            with took() as one:
                workspace.judge_calls.add(trials[0], "judge", 0, call)
            judged.append(one[0])
        with took() as read:
            workspace.tasks.count()
        with took() as together:
            asyncio.run(all_of_them())
        rate = TRIALS * EACH / together[0]
    print(
        f"{name:24}  {milliseconds(opened):>7}  {milliseconds(single[2:]):>9}  {milliseconds(judged[2:]):>10}"
        f"  {milliseconds(read):>7}  {rate:8.0f}"
    )


def limits(counts: list[int]) -> None:
    print(
        "| workers | a call takes | calls/s | commits/s | server CPU a call | writers' CPU a call | calls/s a core |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with postgres_server.own_server() as server:
        databases = postgres_server.Databases(server.url)
        for pace in (0.5, 0.0):
            for count in counts:
                with databases.workspace() as url:
                    print(limit(url, count, pace), flush=True)
        databases.close()


def limit(url: str, count: int, pace: float) -> str:
    with Workspace.open(url) as workspace:
        task = workspace.tasks.save(store_workers.task("t", "T"), author="Ann")
        player = store_workers.PLAYER
        cells = [
            TrialCell(task_id="t", revision=task.number, agent=player, user=player, world=player, sample=n, seed=n)
            for n in range(count * HELD)
        ]  # fmt: skip
        run = workspace.runs.create(
            name="r", kind="grid", created_by="Ann", samples=1, limits=Limits(), cells=cells
        )
        trials = {f"/{trial.id}": [trial.id] for trial in workspace.runs.trials(run.id)}

        async def offer() -> None:
            async with workspace.workers.queue("Ann") as queue:
                await queue.offer(run.id, trials)

        asyncio.run(offer())
        context = multiprocessing.get_context("spawn")
        ready, told = context.Barrier(count + 1), context.Queue()
        writers = [
            context.Process(target=write, args=(url, run.id, pace, ready, told))
            for _each in range(count)
        ]
        for writer in writers:
            writer.start()
        ready.wait(120)
        (before, commits), began = spent(workspace), time.perf_counter()
        done = [told.get(timeout=120) for _each in writers]
        seconds = time.perf_counter() - began
        (after, committed) = spent(workspace)
        for writer in writers:
            writer.join()
    calls = sum(each for each, _cpu in done)
    cpu = (after - before) / calls
    ours = sum(each for _calls, each in done) / calls
    return (
        f"| {count} | {pace:g} s | {calls / seconds:.0f} | {(committed - commits) / seconds:.0f} | {cpu * 1000:.2f} ms"
        f" | {ours * 1000:.2f} ms | {1 / cpu:.0f} |"
    )


def spent(workspace: Workspace) -> tuple[float, int]:
    """CPU seconds of all processes of the server, those that ended too, and how many transactions it committed."""
    with workspace._database.read() as session:
        query = "SELECT sum(xact_commit)::bigint, (SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid()) FROM pg_stat_database"
        commits, mine = session.connection().exec_driver_sql(query).one()
    keeper = psutil.Process(mine).parent()
    assert keeper is not None
    used = keeper.cpu_times()
    total = used.user + used.system + used.children_user + used.children_system
    for each in keeper.children():
        now = each.cpu_times()
        total += now.user + now.system
    return total, commits


def write(url: str, run: int, pace: float, ready: Any, told: Any) -> None:
    """Record calls of trials that this process holds, as fast as that goes or at the pace of a model."""

    async def trial(sink: StoreSink, until: float) -> int:
        seq = calls = 0
        await asyncio.sleep(random.random() * pace)
        while time.perf_counter() < until:
            await asyncio.sleep(pace)
            for _each in range(2 + calls % 2):
                await sink.append(store_workers.event(seq))
                seq += 1
            calls += 1
        return calls

    async def working(workspace: Workspace) -> tuple[int, float]:
        async with workspace.workers.queue("Ann", HELD) as queue:
            claims = await queue.take(run, HELD)
            assert len(claims) == HELD
            await asyncio.to_thread(ready.wait, 120)
            used, until = os.times(), time.perf_counter() + SECONDS
            playing = asyncio.gather(
                *(trial(StoreSink(workspace, one.trial_id, one), until) for one in claims)
            )
            while not playing.done():
                await asyncio.wait({playing}, timeout=2)
                await queue.beat(0, "")
            now = os.times()
            return sum(playing.result()), now.user + now.system - used.user - used.system

    with Workspace.open(url) as workspace:
        told.put(asyncio.run(working(workspace)))


@contextmanager
def took():
    """A list that holds the seconds afterwards."""
    seconds: list[float] = []
    begun = time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - begun)


def milliseconds(each: list[float]) -> str:
    return f"{sorted(each)[len(each) // 2] * 1000:.1f} ms"


if __name__ == "__main__":
    if sys.argv[1:2] == ["limits"]:
        limits([int(each) for each in sys.argv[2:]] or [1, 2, 4, 8])
    else:
        main()
