"""What other processes do in the tests: top-level functions, so that they can import them."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import Any

from cuecard.core.engine.events import (
    Event,
    EventBody,
    Limits,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import Conflict
from cuecard.core.label_records import LabelValue
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import StoreSink, Workspace

PLAYER = PlayerRef(name="offline", kind="offline")


def task(task_id: str, title: str) -> Task:
    return Task.model_validate(
        {
            "id": task_id,
            "title": title,
            "language": "en",
            "query": "q",
            "gold": {"family": "graph", "triples": [{"head": "a", "relation": "r", "tail": "b"}]},
        }
    )


def spoke(turn: int, text: str = "hi") -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text))


def create(url: str, barrier: object) -> None:
    """Open a workspace that several make at the same moment."""
    barrier.wait(60)  # pyright: ignore
    with Workspace.open(url) as workspace:
        workspace.people.add("Ann")


def work(url: str, me: str, rounds: int, verdicts: list[int], barrier: object) -> None:
    """Everything at once: events, revisions, drafts and labels."""
    with Workspace.open(url) as workspace:
        barrier.wait(60)  # pyright: ignore
        run = workspace.runs.create(name=me, kind="grid", created_by=me, samples=1, limits=Limits())
        trial = workspace.runs.add_trials(
            run.id,
            [
                TrialCell(
                    task_id="shared",
                    revision=1,
                    agent=PLAYER,
                    user=PLAYER,
                    world=PLAYER,
                    sample=0,
                    seed=0,
                )
            ],
        )[0]
        asyncio.run(_play(workspace, trial.id, me, rounds, verdicts))


async def _play(
    workspace: Workspace, trial: int, me: str, rounds: int, verdicts: list[int]
) -> None:
    trial_log = TrialLog(StoreSink(workspace, trial))
    for number in range(rounds):
        await asyncio.gather(
            trial_log.record(spoke(number, "x" * 3000)),
            asyncio.to_thread(_save, workspace, me, number),
            asyncio.to_thread(workspace.drafts.save, "shared", me, number, {"n": number}),
            asyncio.to_thread(
                workspace.verdicts.label,
                verdicts[number % len(verdicts)],
                me,
                LabelValue.YES,
                str(number),
            ),
        )


def _save(workspace: Workspace, me: str, number: int) -> None:
    """Save on top of what is newest, as often as somebody else is faster."""
    while True:
        base = workspace.tasks.revision("shared").number
        try:
            workspace.tasks.save(task("shared", f"{me} {number}"), author=me, base=base)
        except Conflict:
            continue
        return


def event(seq: int) -> Event:
    """What `append_for_ever` writes as number `seq`: sayings, model calls with a price, and tool
    answers of which every third repeats an earlier one.
    """
    body: EventBody = spoke(seq, "y" * 5000)
    if seq % 3 == 1:
        reply = ModelReply(
            text=f"{seq} " * 1000, usage=Usage(prompt=seq, completion=1), cost=seq / 4
        )
        body = ModelReplied(part="agent", turn=seq, step=0, model="m", reply=reply)
    elif seq % 3 == 2:
        call = ToolCall(name="search", arguments={"query": str(seq)})
        answer = ToolAnswer(text=f"page {seq // 9} " * 1000)
        body = ToolAnswered(part="agent", turn=seq, step=0, call=call, answer=answer)
    return Event(seq=seq, at=datetime(2026, 1, 2, tzinfo=UTC), body=body)


def take_part(url: str, trial: int, me: str, rounds: int, barrier: Any, told: Any) -> None:
    """Play a trial that another process plays too, and tell who was refused."""

    async def play(workspace: Workspace) -> None:
        sink = StoreSink(workspace, trial)
        barrier.wait(60)
        for seq in range(rounds):
            await sink.append(Event(seq=seq, at=datetime.now(UTC), body=spoke(seq, me)))

    with Workspace.open(url) as workspace:
        try:
            asyncio.run(play(workspace))
        except Conflict:
            told.put((me, "refused"))
        else:
            told.put((me, "played"))


def append_for_ever(url: str, trial: int) -> None:
    """Append events, telling on stdout the number of each one that was acknowledged."""

    async def play(workspace: Workspace) -> None:
        sink = StoreSink(workspace, trial)
        seq = len(workspace.runs.events(trial))
        while True:
            await sink.append(event(seq))
            print(seq, flush=True)
            seq += 1

    with Workspace.open(url) as workspace:
        asyncio.run(play(workspace))


if __name__ == "__main__":
    append_for_ever(sys.argv[1], int(sys.argv[2]))
