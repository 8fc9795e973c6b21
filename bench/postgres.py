"""What a network between an evaluation and its PostgreSQL costs: `python bench/postgres.py`. A proxy on loopback delays each
direction; the file on this machine stands beside.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgres_server
import store_workers
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.store.workspace import StoreSink, Workspace

TRIALS = 50
EACH = 40


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
        trials = [
            workspace.runs.add_trial(
                run.id, task_id="t", revision=task.number, agent=player, user=player,
                world=player, sample=n, seed=n,
            ).id
            for n in range(TRIALS + 1)
        ]  # fmt: skip

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
    main()
