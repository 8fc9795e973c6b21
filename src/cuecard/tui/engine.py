"""An event loop on a thread of its own, on which trials in the app are played."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Engine:
    """Runs coroutines on its own thread. Results come back as futures, events as messages."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="cuecard-engine", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` on the engine's loop; cancel the future to cancel it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def perform(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the engine's loop and wait for it on the caller's."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self, timeout: float = 5.0) -> None:
        """Cancel all tasks, give them at most `timeout` seconds to clean up, and end the thread."""
        if not self._thread.is_alive():
            return
        stopping = asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop)
        try:
            stopping.result(timeout)
        except TimeoutError:
            stopping.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _cancel_all(self) -> None:
        mine = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not mine]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
