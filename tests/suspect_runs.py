"""A run of four agents on a task of which one triple has wrong gold: three of them hand in what a page says instead."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
)
from cuecard.core.engine.messages import AgentReply, PlayerRef, SearchEntry, ToolAnswer, ToolCall
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.records import TrialCell
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, graph_task, triples

AGENTS = ("alpha", "beta", "gamma", "delta")
BEGUN = datetime(2026, 11, 1, 9, tzinfo=UTC)
WRONG, UNFOUND = 2, 4
"""Of the gold triples that whose gold is wrong (it says 1902; the page and three agents say 1899), and that which nobody hands in
though everybody saw its page."""
RIVAL = "1899"
PAGE = SearchEntry(id="1", title="Maker 2", content="The firm maker 2 was founded in 1899 in Turin.", url="https://example.org/2")  # fmt: skip
OTHER = SearchEntry(id="2", title="Maker 4", content="maker 4, since 1904.", url="https://example.org/4")  # fmt: skip


def suspect_run(workspace: Workspace, agents: Sequence[str] = AGENTS, samples: int = 2) -> int:
    """Judged by the lexical judge; the last agent hands in the gold of `WRONG` once."""
    task = graph_task()
    number = workspace.tasks.save(task, author="ann", message="").number
    run = workspace.runs.create(
        name="four", kind="grid", created_by="ann", samples=samples, limits=Limits()
    )
    refs = {name: PlayerRef(name=name, kind="react", model="m") for name in agents}
    user = PlayerRef(name="nobody", kind="offline")
    cells = [
        TrialCell(task_id=task.id, revision=number, agent=ref, user=user, world=user, sample=sample)
        for ref in refs.values()
        for sample in range(samples)
    ]
    for cell, trial in zip(cells, workspace.runs.add_trials(run.id, cells), strict=True):
        said = list(GOLD)
        del said[UNFOUND]
        if cell.agent.name == "alpha":
            del said[0]
        faithful = cell.agent.name == agents[-1] and cell.sample == 0
        if not faithful:
            head, relation, _year = GOLD[WRONG]
            said[said.index(GOLD[WRONG])] = (head, relation, RIVAL)
        call = ToolCall(name="search", arguments={"query": "makers"})
        answer = ToolAnswer(text="…", entries=(PAGE, OTHER))
        bodies: list[EventBody] = [
            TrialStarted(
                task_id=task.id, revision=number, revision_hash="", agent=cell.agent, user=user,
                world=user, sample=cell.sample,
            ),
            ToolAnswered(part="agent", turn=0, step=0, call=call, answer=answer),
            AgentSpoke(turn=0, reply=AgentReply(text="That is all.")),
            Concluded(prediction=triples(*said)),
            TrialEnded(termination=Termination.USER_DONE),
        ]  # fmt: skip
        for seq, body in enumerate(bodies):
            event = Event(seq=seq, at=BEGUN + timedelta(seconds=seq), body=body)
            workspace.runs.append_events([(trial.id, event)])
    asyncio.run(judge_run(workspace, run.id))
    workspace.runs.set_state(run.id, RunState.DONE)
    return run.id
