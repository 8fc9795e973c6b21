"""A run to report on: two agents on graph tasks, judged, labelled, with calls, failures and open ends, in which every
name comes from somebody who means harm. A person, Bertha, plays the user on the first task, and labels.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import JsonValue

from cuecard.core.config import load_prompt
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    RunState,
    Termination,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import AgentReply, ModelReply, PlayerRef, Usage, UserReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.label_records import LabelValue
from cuecard.core.predictions import PredictedTriple, TriplesPrediction, UnusablePrediction
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace

SCRIPT = '<script>alert("1")</script>'
LATEX = r"\input{/etc/passwd} $x$ & 100%"
FORMULA = "=HYPERLINK(1)"
CONTROL = "red\x1b[31m\x07\u202e![p](https://example.org/p.png)"
AGENTS = (SCRIPT, FORMULA)
JUDGE = PlayerRef(name="strict", kind="model", model="judge-7b", version="abc")
PERSON = PlayerRef(name="Bertha", kind="human")
USER = PlayerRef(name="persona", kind="persona", model="user-7b", version="u1")
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
TASKS = 6
# By task, for either agent: whether the judge found each of three triples covered.
COVERED = (("yyy", "yyn"), ("yyn", "ynn"), ("yny", "nnn"), ("yyy", "ynn"), ("yyn", "ynn"), None)


def hostile_run(workspace: Workspace) -> int:
    """Of the 12 trials 9 ended well and are judged; on the last task one failed and is judged, one is open;
    of the task before, one is not judged: so 10 are judged, 1 is not, 1 is open.
    """
    tasks = [_task(n) for n in range(TASKS)]
    numbers = [workspace.tasks.save(task, author="Ann").number for task in tasks]
    described: dict[str, JsonValue] = {
        "kind": "react",
        "model": "m",
        "memory": "none",
        "settings": {"graph": "simulated"},
        "skills": "/home/ann/secret-path",
        "visit": {"url": "https://internal.example.org", "model": "m"},
    }
    roster: dict[str, JsonValue] = {f"agents/{name}": described for name in AGENTS}
    roster["models/m"] = {"model": "m-7b", "temperature": 0.6}
    run = workspace.runs.create(
        name=CONTROL,
        kind="grid",
        created_by="Ann",
        samples=1,
        limits=Limits(max_turns=7),
        plan={"judges": ["strict"], "roster": roster},
    )
    keys = [(n, agent) for n in range(TASKS) for agent in AGENTS]
    cells = [
        TrialCell(
            task_id=tasks[n].id,
            revision=numbers[n],
            agent=PlayerRef(name=agent, kind="react", model="m-7b", version="v1"),
            user=PERSON if n == 0 else USER,
            world=WORLD,
            sample=0,
            seed=3,
        )
        for n, agent in keys
    ]
    for (n, agent), trial in zip(keys, workspace.runs.add_trials(run.id, cells), strict=True):
        covered = COVERED[n]
        at = AGENTS.index(agent)
        bodies = _bodies(tasks[n], cells[n * 2 + at], covered[at] if covered else None, at)
        events = [Event(seq=seq, at=AT, body=body) for seq, body in enumerate(bodies)]
        workspace.runs.append_events([(trial.id, event) for event in events])
        if (covered or at == 0) and (n, at) != (4, 1):
            workspace.verdicts.add(trial.id, _judgement(covered[at] if covered else "nnn"))
            if covered:
                for index in range(3):
                    value = LabelValue.YES if covered[at][index] == "y" else LabelValue.NO
                    # The first triple of the first trial is labelled otherwise.
                    odd = (n, at, index) == (0, 0, 0)
                    workspace.verdicts.label_item(
                        trial.id,
                        Item(kind=ItemKind.TRIPLE, index=index),
                        "Bertha",
                        LabelValue.NO if odd else value,
                    )
    first = workspace.runs.trials(run.id)[0]
    reply = ModelReply(model="judge-7b", usage=Usage(prompt=50, completion=5), cost=0.5)
    prompt = load_prompt("judge_graph", "zh").hash
    call = RecordedCall(key="k", model="judge-7b", reply=reply, prompt=prompt)
    workspace.judge_calls.add(first.id, JUDGE.name, 0, call)
    workspace.runs.set_state(run.id, RunState.PAUSED)
    return run.id


def _task(n: int) -> Task:
    relations = (SCRIPT, LATEX, CONTROL)
    found = tuple(
        Triple(head=f"maker {n}", relation=relation, tail=f"{index}", stage=None)
        for index, relation in enumerate(relations)
    )
    return Task(
        id=f"t{n}",
        title=SCRIPT,
        language="zh" if n % 2 else "en",
        domain=FORMULA,
        query="Since when?",
        gold=Graph(triples=found),
    )


def _bodies(task: Task, cell: TrialCell, covered: str | None, at: int) -> list[EventBody]:
    begun = TrialStarted(
        task_id=task.id,
        revision=cell.revision,
        revision_hash="",
        agent=cell.agent,
        user=cell.user,
        world=WORLD,
        seed=cell.seed,
    )
    called = ModelReplied(
        part="agent",
        turn=0,
        step=0,
        model="m-7b",
        prompt=load_prompt("conclude_graph", "en").hash,
        reply=ModelReply(model="m-7b", usage=Usage(prompt=100, completion=10), cost=0.25),
    )
    opened: list[EventBody] = [
        begun,
        UserSpoke(turn=0, reply=UserReply(text="Since when?")),
        called,
        AgentSpoke(turn=0, reply=AgentReply(text="Hm.")),
    ]
    if covered is None and at == 1:
        return opened
    if covered is None:
        return [*opened, TrialEnded(termination=Termination.API_ERROR, detail=LATEX)]
    gold = task.gold
    assert isinstance(gold, Graph)
    if covered == "nnn":
        handed_in = UnusablePrediction(reason="no JSON", raw=SCRIPT + CONTROL)
    else:
        handed_in = TriplesPrediction(
            triples=tuple(
                PredictedTriple(head=t.head, relation=t.relation, tail=t.tail)
                for t, state in zip(gold.triples, covered, strict=True)
                if state == "y"
            )
        )
    return [
        *opened,
        Concluded(prediction=handed_in),
        TrialEnded(termination=Termination.USER_DONE),
    ]


def _judgement(states: str) -> Judgement:
    verdicts: list[Verdict] = []
    for index, state in enumerate(states):
        before = states[:index].count("y")
        verdicts.append(
            Verdict(
                item=Item(kind=ItemKind.TRIPLE, index=index),
                decision=Decision.YES if state == "y" else Decision.NO,
                supporting=(before,) if state == "y" else (),
            )
        )
    return Judgement(judge=JUDGE, verdicts=tuple(verdicts))
