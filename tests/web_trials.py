"""Trials on the web, made from planted ones, some of which met pages that give the benchmark away."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cuecard.core.engine.events import Event, Limits, RunState, ToolAnswered, TrialStarted
from cuecard.core.engine.messages import PlayerRef, SearchEntry, ToolAnswer, ToolCall
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.records import TrialCell
from cuecard.core.worlds.contamination import Level
from cuecard.core.worlds.statements import compile_statements
from cuecard.store.workspace import Workspace
from planted_results import Planted, plant

WEB = PlayerRef(name="net", kind="web", model="")


def answer(level: Level, task) -> ToolAnswer:
    """What a visit gave: a page of that level about the task."""
    gold = [f"{s.title}: {s.attribute} {s.value}." for s in compile_statements(task)]
    content, url = {
        Level.NONE: (" ".join(gold), "https://pages.example/a"),
        Level.METADATA: ("WideSearch, a benchmark", "https://github.com/a/b"),
        Level.QUESTION: (task.query, "https://pages.example/b"),
        Level.ANSWER: (
            f"{task.query} {' '.join(gold)} {task.gold.answers}",
            "https://pages.example/c",
        ),
    }[level]
    entry = SearchEntry(id="1", title="A page", content=content, url=url)
    return ToolAnswer(text="…", entries=(entry,), blocked=("https://huggingface.co/x",))


def on_the_web(workspace: Workspace, run: int, levels: dict[int, Level]) -> int:
    """The same trials in another run, on the web: the n-th of them met a page of the n-th level, others a clean one."""
    trials = workspace.runs.trials(run)
    other = workspace.runs.create(
        name="web", kind="grid", created_by="ann", samples=2, limits=Limits(), plan={}
    )
    cells = [
        TrialCell(
            task_id=t.task_id,
            revision=t.revision,
            agent=t.agent,
            user=t.user,
            world=WEB,
            sample=t.sample,
            seed=t.seed,
        )
        for t in trials
    ]
    added = workspace.runs.add_trials(other.id, cells)
    for at, (old, new) in enumerate(zip(trials, added, strict=True)):
        task = workspace.tasks.revision(old.task_id, old.revision).task
        met = ToolAnswered(
            part="agent",
            turn=0,
            step=5_000,
            call=ToolCall(name="visit", arguments={}),
            answer=answer(levels.get(at, Level.NONE), task),
        )
        log: list[Event] = []
        for event in workspace.runs.events(old.id):
            body = event.body
            if isinstance(body, TrialStarted):
                body = body.model_copy(update={"world": WEB})
            log.append(event.model_copy(update={"seq": len(log), "body": body}))
            if isinstance(body, TrialStarted):
                log.append(Event(seq=len(log), at=event.at, body=met))
        workspace.runs.append_events([(new.id, event) for event in log])
    asyncio.run(judge_run(workspace, other.id))
    workspace.runs.set_state(other.id, RunState.DONE)
    return other.id


def contaminated(workspace: Workspace) -> int:
    """A run of two agents, in which one trial met an answer, one a question and one the benchmark's name."""
    agents = (Planted("alpha", 0.9, 0.004), Planted("beta", 0.5, 0.001))
    levels = {0: Level.ANSWER, 2: Level.QUESTION, 5: Level.METADATA}
    return on_the_web(workspace, plant(workspace, agents=agents), levels)


def pages_seen(path: Path) -> None:
    """For `made_once("pages-seen", pages_seen)`: that run is the newest."""
    with Workspace.open(path) as opened:
        contaminated(opened)
