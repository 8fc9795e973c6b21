"""Small judged runs: of graph tasks, verdict by verdict, without anything having been played; and one that the
embedded players play.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from cuecard.annotate.samples import load_samples
from cuecard.core.engine.events import Event, Limits, TrialStarted
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.families.graph.gold import Graph
from cuecard.core.label_records import LabelValue
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import PLAYER, ending, graph_task, triples

DECISIONS = {"y": Decision.YES, "n": Decision.NO, "?": Decision.UNJUDGED}
TASKS = ("graph-astronomy-zh", "facts-night-train")
LABELS = {"y": LabelValue.YES, "n": LabelValue.NO, "?": LabelValue.UNSURE}
JUDGE = PlayerRef(name="strict", kind="lexical", baseline=True)


def gold(size: int) -> list[tuple[str, str, str]]:
    return [(f"maker {n}", "founded in", str(1900 + n)) for n in range(size)]


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def judged_run(
    workspace: Workspace, agents: Mapping[str, Sequence[str]], samples: int = 1
) -> tuple[int, dict[tuple[str, int], int]]:
    """A run of the agents on tasks t0, t1, ...; each agent has a text for each sample of a task that says for each gold
    triple whether the judge found it covered, `y`, `n` or `?`. Every agent hands in as many triples as there
    are in gold, of which the one with its number supports a covered triple. The run and its trials by agent
    and place of the text.
    """
    size = len(next(iter(agents.values()))[0])
    count = len(next(iter(agents.values())))
    tasks: list[Task] = [graph_task(f"t{n}", gold(size)) for n in range(count // samples)]
    revisions = [workspace.tasks.save(task, author="ann").number for task in tasks]
    run = workspace.runs.create(
        name="run", kind="grid", created_by="ann", samples=samples, limits=Limits()
    )
    keys = [(agent, n) for agent in agents for n in range(count)]
    cells = [
        TrialCell(
            task_id=f"t{n // samples}",
            revision=revisions[n // samples],
            agent=PlayerRef(name=agent, kind="offline"),
            user=PLAYER,
            world=PLAYER,
            sample=n % samples,
        )
        for agent, n in keys
    ]
    found: dict[tuple[str, int], int] = {}
    for key, trial in zip(keys, workspace.runs.add_trials(run.id, cells), strict=True):
        agent, n = key
        begun = TrialStarted(
            task_id=trial.task_id,
            revision=trial.revision,
            revision_hash="",
            agent=trial.agent,
            user=PLAYER,
            world=PLAYER,
        )
        bodies = [begun, *ending(triples(*gold(size)))]
        at = datetime.now(UTC)
        events = [Event(seq=seq, at=at, body=body) for seq, body in enumerate(bodies)]
        workspace.runs.append_events([(trial.id, event) for event in events])
        workspace.verdicts.add(trial.id, judgement(agents[agent][n]))
        found[key] = trial.id
    return run.id, found


def judgement(states: str) -> Judgement:
    return Judgement(
        judge=JUDGE,
        verdicts=tuple(
            Verdict(
                item=triple(index),
                decision=DECISIONS[state],
                supporting=(index,) if state == "y" else (),
            )
            for index, state in enumerate(states)
        ),
    )


def label(workspace: Workspace, trial_id: int, states: str, person: str = "Ann") -> None:
    """Of each gold triple `y`, `n`, `?` (cannot tell) or nothing, `-`."""
    for index, state in enumerate(states):
        if state != "-":
            workspace.verdicts.label_item(trial_id, triple(index), person, LABELS[state])


def offline_run(workspace: Workspace) -> int:
    """Five parts of a graph and a fact task, by the embedded players, judge included."""
    samples = {task.id: task for task in load_samples()}
    graph = samples[TASKS[0]]
    assert isinstance(graph.gold, Graph)
    triples = graph.gold.triples
    tasks: list[Task] = [samples[TASKS[1]]]
    for n in range(5):
        gold = graph.gold.model_copy(update={"triples": triples[n * 6 : n * 6 + 6]})
        tasks.append(graph.model_copy(update={"id": f"graph-{n}", "gold": gold}))
    saved = [workspace.tasks.save(task, author="Ann").task_id for task in tasks]
    return asyncio.run(start_run(workspace, RunPlan(tasks=tuple(saved)), by="Ann")).run.id
