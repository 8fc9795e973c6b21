"""A workspace as large as a paper's: 300 judged trials of 80 turns with 100,000 verdicts, and one trial of 2,000 events.

python big_results.py [DB]      makes it there, or where `cached` keeps it, and prints the path
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cuecard import __version__
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.evaluation.scores import judged_trials
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.predictions import PredictedTriple, TriplesPrediction
from cuecard.core.records import TrialCell
from cuecard.core.scoring.trial_score import SCHEME
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace

AGENTS = {"alpha": 0.8, "beta": 0.6, "gamma": 0.7}
TASKS, SAMPLES, TURNS, TRIPLES = 25, 4, 80, 334
LONG = 399
"""Turns of the long trial: five events each, and what begins and ends it."""
START = datetime(2026, 11, 1, 9, tzinfo=UTC)
JUDGE = PlayerRef(name="lexical", kind="lexical", baseline=True)
USER = PlayerRef(name="scripted", kind="scripted", baseline=True)
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
_WORDS = [
    "lamp",
    "brass",
    "museum",
    "archive",
    "tide",
    "letter",
    "harbour",
    "map",
    "guild",
    "copper",
    "bell",
    "river",
    "winter",
    "ledger",
]


def make(file: Path, *, tasks: int = TASKS, turns: int = TURNS, triples: int = TRIPLES) -> None:
    """Run 1 has the long trial, run 2 the many."""
    with Workspace.open(file) as workspace:
        made = [_task(number, triples) for number in range(tasks)]
        for task in made:
            workspace.tasks.save(task, author="ann", message="")
        _run(workspace, "one long trial", made[:1], {"alpha": 0.8}, 1, LONG)
        run = _run(workspace, "main table", made, AGENTS, SAMPLES, turns)
        # As judging leaves it: figures are counted when a trial is judged.
        judged_trials(workspace, run)
        judged_trials(workspace, run - 1)


def cached() -> Path:
    """The workspace, made when it is not there for this version of it yet. Not to be written to."""
    text = Path(__file__).read_bytes() + f"{__version__}/{SCHEME}".encode()
    migrations = Path(sys.modules["cuecard.store"].__path__[0], "migrations", "versions")
    names = "".join(sorted(each.name for each in migrations.glob("v*.py"))).encode()
    key = hashlib.sha256(text + names).hexdigest()[:12]
    file = Path(tempfile.gettempdir(), f"cuecard-big-results-{key}.db")
    if not file.exists():
        half = file.with_suffix(f".{os.getpid()}")
        make(half)
        half.rename(file)
    return file


def _task(number: int, triples: int) -> Task:
    rng = random.Random(number)
    gold = tuple(
        Triple(
            head=f"{rng.choice(_WORDS)} {n}", relation=rng.choice(_WORDS), tail=rng.choice(_WORDS)
        )
        for n in range(triples)
    )
    return Task(
        id=f"big-{number:02}",
        title=f"The {rng.choice(_WORDS)} of the {rng.choice(_WORDS)} {number}",
        language="zh" if number % 3 == 0 else "en",
        domain=("travel", "science", "culture")[number % 3],
        difficulty=("easy", "medium", "hard")[number % 3],
        query="What is known about it?",
        gold=Graph(triples=gold),
    )


def _run(
    workspace: Workspace,
    name: str,
    tasks: list[Task],
    agents: dict[str, float],
    samples: int,
    turns: int,
) -> int:
    run = workspace.runs.create(
        name=name,
        kind="grid",
        created_by="ann",
        samples=samples,
        limits=Limits(max_turns=turns + 1),
    )
    plan = [(task, agent, s) for task in tasks for agent in agents for s in range(samples)]
    cells = [
        TrialCell(
            task_id=task.id,
            revision=1,
            agent=PlayerRef(name=agent, kind="react", model=f"{agent}-7b"),
            user=USER,
            world=WORLD,
            sample=sample,
            seed=sample,
        )
        for task, agent, sample in plan
    ]
    trials = workspace.runs.add_trials(run.id, cells)
    talk = _talk(turns)
    for (task, agent, sample), cell, trial in zip(plan, cells, trials, strict=True):
        rng = random.Random(f"{task.id}/{agent}/{sample}")
        skill = min(1.0, max(0.05, rng.gauss(agents[agent], 0.15)))
        assert isinstance(task.gold, Graph)
        found = [triple for triple in task.gold.triples if rng.random() < skill]
        failed = rng.random() < 0.03
        bodies: list[EventBody] = [
            TrialStarted(
                task_id=task.id,
                revision=1,
                revision_hash="",
                agent=cell.agent,
                user=USER,
                world=WORLD,
                sample=sample,
                seed=sample,
            ),
            *talk,
            Concluded(
                prediction=TriplesPrediction(
                    triples=tuple(
                        PredictedTriple(head=t.head, relation=t.relation, tail=t.tail)
                        for t in found
                    )
                )
            ),
            TrialEnded(
                termination=Termination.API_ERROR if failed else Termination.USER_DONE,
                detail="HTTP 503 from the server" if failed else "",
            ),
        ]
        workspace.runs.append_events(
            [
                (trial.id, Event(seq=seq, at=START + timedelta(seconds=seq), body=body))
                for seq, body in enumerate(bodies)
            ]
        )
        covered = {(t.head, t.relation, t.tail) for t in found}
        verdicts = tuple(
            Verdict(
                item=Item(kind=ItemKind.TRIPLE, index=index),
                decision=Decision.YES if (t.head, t.relation, t.tail) in covered else Decision.NO,
            )
            for index, t in enumerate(task.gold.triples)
        )
        workspace.verdicts.add(trial.id, Judgement(judge=JUDGE, verdicts=verdicts))
    workspace.runs.set_state(run.id, RunState.DONE)
    return run.id


def _talk(turns: int) -> list[EventBody]:
    """A search and an answer each turn."""
    rng = random.Random(turns)
    bodies: list[EventBody] = []
    for turn in range(turns):
        text = " ".join(rng.choices(_WORDS, k=12))
        usage = Usage(prompt=2000 + 40 * turn, completion=120)
        call = ToolCall(id=f"c{turn}", name="search", arguments={"query": text[:30]})
        reply = f"## Turn {turn}\n\n- {text}\n- **{rng.choice(_WORDS)}** and more: {text}\n"
        said = [ModelReply(text="", model="m", usage=usage, cost=0.001, tool_calls=(call,))]
        said.append(ModelReply(text=reply, model="m", usage=usage, cost=0.001))
        bodies += [
            UserSpoke(turn=turn, reply=UserReply(text=f"What about the {text}?")),
            ModelReplied(part="agent", turn=turn, step=0, model="m", reply=said[0]),
            ToolAnswered(
                part="agent", turn=turn, step=1, call=call, answer=ToolAnswer(text=f"{text}. " * 8)
            ),
            ModelReplied(part="agent", turn=turn, step=2, model="m", reply=said[1]),
            AgentSpoke(turn=turn, reply=AgentReply(text=reply)),
        ]
    return bodies


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make(Path(sys.argv[1]))
    print(sys.argv[1] if len(sys.argv) > 1 else cached())
