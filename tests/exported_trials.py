"""A workspace with one run whose logs hold what exports must tell: calls of models and tools, a helper, a compaction,
a failure, and names and texts that nobody should trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Compaction,
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.predictions import Prediction, TablePrediction, UnusablePrediction
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, graph_task, triples

START = datetime(2026, 11, 1, 9, tzinfo=UTC)
HOSTILE = "../al\x1b[31mpha"
AGENTS = (PlayerRef(name=HOSTILE, kind="react", model="m-7b"), PlayerRef(name="beta", kind="react"))
USER = PlayerRef(name="persona", kind="persona", model="u-1")
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
LONG = "word " * 2000 + "</script><b>end</b>"
PROMPT = "You are an agent."
HALF = triples(*GOLD[:3])


def table_task() -> Task:
    gold = Table(
        columns=(Column(name="City"), Column(name="Size")),
        unique_columns=("City",),
        rows=(("Bonn | am Rhein", "1"), ("Rome", "2")),
    )
    return Task(id="cities", title="Cities", language="en", query="Which?", gold=gold)


def handed_table() -> TablePrediction:
    return TablePrediction(
        columns=("City", "Size"), rows=(("Bonn | am Rhein", "1"), ("Rome &amp; Ostia", "2"))
    )


def bodies(task: Task, agent: PlayerRef, prediction: Prediction, prompt: str) -> list[EventBody]:
    """Two turns: one of a search and a helper, one of words alone; then what is handed in."""
    search = ToolCall(name="search", arguments={"query": "makers"}, id="c1")
    send = ToolCall(name="delegate", arguments={"task": "look"}, id="c1")
    hit = Hit(is_compound=False, hit=True, matched_fact_keys=("k",))
    entry = SearchEntry(id="1", title="A page", content=LONG)
    said = UserReply(text="Since when?\x07", stage=1, cue_met=True)
    compaction = Compaction(strategy="summary", before=900, limit=800, kept=2)

    def replied(
        part: str, turn: int, step: int, reply: ModelReply, scope: str = ""
    ) -> ModelReplied:
        usage = Usage(prompt=100 + step, completion=10, cached=40, reasoning=3)
        reply = reply.model_copy(update={"usage": usage, "latency_ms": 500, "cost": 0.5})
        return ModelReplied(
            part=part, turn=turn, step=step, model="m-7b", reply=reply, scope=scope, prompt=prompt
        )

    return [
        TrialStarted(
            task_id=task.id, revision=1, revision_hash="", agent=agent, user=USER, world=WORLD
        ),
        replied("user", 0, 0, ModelReply(text="{}")),
        UserSpoke(turn=0, reply=said),
        replied("agent", 0, 0, ModelReply(reasoning="I look.", tool_calls=(search, send))),
        replied("agent", 0, 0, ModelReply(text="entries"), "tool/0/"),
        ToolAnswered(
            part="agent", turn=0, step=0, call=search,
            answer=ToolAnswer(text=LONG, entries=(entry,), hit=hit),
        ),
        replied("agent", 0, 0, ModelReply(text="The helper's report."), "member/1/"),
        ToolAnswered(
            part="agent", turn=0, step=1, call=send, answer=ToolAnswer(text="busy", ok=False)
        ),
        Marked(part="agent", turn=0, step=0, mark=compaction),
        replied("agent", 0, 1, ModelReply(text="Since 1900.", finish_reason="stop")),
        AgentSpoke(turn=0, reply=AgentReply(text="Since 1900.")),
        UserSpoke(turn=1, reply=UserReply(text="Thanks", done=True)),
        replied("conclusion", 1, 0, ModelReply(text="[handed in]")),
        Concluded(prediction=prediction),
        TrialEnded(termination=Termination.USER_DONE),
    ]  # fmt: skip


def failing(task: Task, agent: PlayerRef) -> list[EventBody]:
    first = UserReply(text="Since when?")
    return [
        TrialStarted(
            task_id=task.id, revision=1, revision_hash="", agent=agent, user=USER, world=WORLD
        ),
        UserSpoke(turn=0, reply=first),
        TrialEnded(termination=Termination.API_ERROR, detail="HTTP 503"),
    ]


def exported_run(workspace: Workspace) -> int:
    """Two agents on a graph and a table, two samples each: one goes through, of the graph's second the first
    agent's fails and the other's is open; the table's second hands in nothing that can be used.
    """
    from cuecard.core.config import parse_prompt

    prompt = parse_prompt(PROMPT, "p.md")
    workspace.prompts.keep(prompt.hash, prompt.text)
    tasks = (graph_task(), table_task())
    for task in tasks:
        workspace.tasks.save(task, author="ann", message="")
    run = workspace.runs.create(
        name="main / run", kind="grid", created_by="ann", samples=2, limits=Limits()
    )
    plan = [(task, agent, s) for task in tasks for agent in AGENTS for s in range(2)]
    cells = [
        TrialCell(task_id=t.id, revision=1, agent=a, user=USER, world=WORLD, sample=s, seed=s)
        for t, a, s in plan
    ]
    trials = workspace.runs.add_trials(run.id, cells)
    for trial, (task, agent, sample) in zip(trials, plan, strict=True):
        graph = task.family == "graph"
        if sample == 0:
            found = bodies(task, agent, HALF if graph else handed_table(), prompt.hash)
        elif graph:
            found = failing(task, agent)[: None if agent.name == HOSTILE else -1]
        else:
            none = UnusablePrediction(reason="no table", raw="I found nothing.")
            found = bodies(task, agent, none, prompt.hash)
        workspace.runs.append_events([(trial.id, event) for event in _timed(found)])
    return run.id


def _timed(found: Sequence[EventBody]) -> list[Event]:
    return [
        Event(seq=n, at=START + timedelta(seconds=n), body=body) for n, body in enumerate(found)
    ]
