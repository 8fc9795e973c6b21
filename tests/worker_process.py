"""Workers as processes of their own, for tests that kill and stop them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from cuecard.core.config import load_config
from cuecard.core.engine.run_control import RunControl
from cuecard.core.evaluation.workers import Worker
from cuecard.store.workspace import Workspace
from cuecard.tui.commands.run_output import stopping


def work(url: str, config: str, person: str, concurrency: int) -> None:
    """Work until nothing is left to do, or until asked to stop."""

    async def working() -> None:
        control = RunControl(5)
        worker = Worker(workspace, load_config(Path(config)), person, concurrency)
        with stopping(control):
            await worker.work(control, until_done=True)

    with Workspace.open(url, create=False) as workspace:
        asyncio.run(working())


def take_and_die(url: str, run: int) -> None:
    """Take one trial of a run, and be gone."""

    async def taking() -> None:
        async with workspace.workers.queue("Al", 1) as queue:
            while not await queue.take(run, 1):
                await queue.beat(0, "")
            os._exit(9)

    with Workspace.open(url, create=False) as workspace:
        asyncio.run(taking())
