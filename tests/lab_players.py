"""Somebody at the keyboard, for tests of play sessions; also run as a program that kills itself.

python lab_players.py play DB TASK EVENTS     SIGKILL after that many events of a session
python lab_players.py harness DB TASK TRICKS  SIGKILL when the scripted harness has streamed
python lab_players.py acts DB URL EVENTS     SIGKILL after that many events of a session that is interrupted,
                                             retried and undone; prints what was acknowledged
python lab_players.py run DB TASKS EVENTS     SIGKILL after that many events of a run
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, cast

from cuecard.core.engine.events import Event, dialogue_of
from cuecard.core.engine.messages import UserReply
from cuecard.core.engine.step_context import StepContext
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.play_setup import PlayOutcome
from cuecard.core.evaluation.runs import start_run
from cuecard.core.users.scripted import scripted_user_for
from cuecard.store.workspace import Workspace


def bodies(events: Sequence[Event]) -> list[str]:
    """The events without their times, for comparing two logs; the person's name stays."""
    return [event.body.model_dump_json() for event in events]


async def speak(session: PlaySession) -> None:
    """Say what the scripted user would."""
    user, context = scripted_user_for(session.task), cast(StepContext, None)
    dialogue = dialogue_of(session.events)
    reply = await (user.reply(dialogue, context) if dialogue.messages else user.open(context))
    await session.submit(reply)


async def play_out(session: PlaySession) -> PlayOutcome | None:
    while await session.wait_turn():
        await speak(session)
    return await session.wait()


def in_a_loop_that_dies(work: Coroutine[Any, Any, None]) -> None:
    """Run `work`, then drop the loop with whatever still runs on it, as a killed process does."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    # What was there before is not searched below.
    gc.freeze()
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()
        # Now, where the complaints of what was dropped are expected.
        gc.collect()


class Countdown:
    """Ends the process the hard way at the given event."""

    def __init__(self, events: int) -> None:
        self._left = events

    def __call__(self, _event: object) -> None:
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def _play(db: Path, task_id: str, events: int) -> None:
    with Workspace.open(db) as workspace:
        told = Countdown(events)
        await play_out(await PlaySession.start(workspace, task_id, by="ann", on_event=told))


async def _harness(db: Path, task_id: str, tricks: str) -> None:
    from harness_bench import harness_config
    from play_bench import config_of

    config = config_of(outside=harness_config(*filter(None, tricks.split(","))))

    def on_stream(_turn: int, _text: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with Workspace.open(db) as workspace:
        session = await PlaySession.start(
            workspace, task_id, by="ann", agent="outside", config=config, on_stream=on_stream
        )
        await session.wait_turn()
        await session.submit(UserReply(text="one"))
        await session.wait()


async def _acts(db: Path, url: str, events: int) -> None:
    from play_bench import TASK, config_of, written

    with Workspace.open(db) as workspace:
        session = await PlaySession.start(
            workspace,
            TASK,
            by="ann",
            agent="react",
            config=config_of(url),
            on_event=Countdown(events),
        )
        for turn in range(100):
            await session.wait_turn()
            await session.submit(UserReply(text=f"say {turn}"))
            print(f"say {turn}", flush=True)
            await written(session, "I think")
            await session.interrupt()
            print("said I think that", flush=True)
            if turn % 2:
                await session.undo()
            else:
                await session.retry()
                await written(session, "I think")
                await session.interrupt()


def harness_prompts(folder: Path) -> list[tuple[str, str]]:
    """Each prompt that the scripted harness got, with its session."""
    lines = (folder / "prompts").read_text().splitlines()
    return [(session, words) for session, words in map(json.loads, lines)]


async def _run(db: Path, tasks: str, events: int) -> None:
    with Workspace.open(db) as workspace:
        plan = RunPlan(tasks=tuple(tasks.split(",")), samples=2, concurrency=3)
        await start_run(workspace, plan, by="ann", on_event=Countdown(events))


if __name__ == "__main__":
    what, where, which, how = sys.argv[1:]
    if what == "harness":
        asyncio.run(_harness(Path(where), which, how))
    elif what == "acts":
        asyncio.run(_acts(Path(where), which, int(how)))
    else:
        asyncio.run({"play": _play, "run": _run}[what](Path(where), which, int(how)))
