"""Rows of results by hand: what a test says of a trial, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import count

from cuecard.annotate.results.pool import Pool, Row, Spent
from cuecard.core.engine.events import Limits, RunState, Termination
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.records import RunRecord, TaskTraits, TrialRecord
from cuecard.core.scoring.trial_score import Details, FactFigures, TrialFigures
from cuecard.core.tasks.gold import Family
from cuecard.core.tasks.models import Difficulty, TaskLanguage
from cuecard.core.verdicts import Measure, Measures

AT = datetime(2026, 11, 22, tzinfo=UTC)
_IDS = count(1)


def run(id: int = 1, name: str = "run") -> RunRecord:
    return RunRecord(
        id=id,
        uid=f"{id:08x}" * 4,
        name=name,
        kind="grid",
        created_by="ann",
        created_at=AT,
        state=RunState.DONE,
        samples=1,
        limits=Limits(),
        trials=0,
        finished=0,
    )


def row(
    agent: str,
    task: str,
    measures: Mapping[str, float | Measure | None] | None,
    sample: int = 0,
    *,
    family: Family = "graph",
    termination: Termination | None = Termination.USER_DONE,
    of: RunRecord | None = None,
    revision: int = 1,
    language: TaskLanguage = "en",
    difficulty: Difficulty | None = None,
    domain: str = "",
    facts: int = 0,
    setting: str = "",
    memory: str = "",
    user: str = "scripted",
    judge: str = "strict",
    kind: str = "react",
    cost: float | None = None,
    tokens: int = 0,
    searched: FactFigures | None = None,
    **figures: object,
) -> Row:
    """`measures` by name (None: undefined; whole ones keep their n); None instead of them: the trial is not judged. `figures`: further
    fields of `TrialFigures`; `searched`: its `facts`, of which `facts` is the world's number.
    """
    record = of or run()
    id = next(_IDS)
    trial = TrialRecord(
        id=id,
        uid=f"{id:032x}",
        run_id=record.id,
        task_id=task,
        title=task,
        family=family,
        revision=revision,
        agent=PlayerRef(name=agent, kind=kind, model=f"{agent}-7b"),
        user=PlayerRef(name=user, kind="scripted", baseline=True),
        world=PlayerRef(name="closed", kind="closed", baseline=True),
        sample=sample,
        seed=sample,
        termination=termination,
        detail="",
        created_at=AT,
        ended_at=AT if termination else None,
        events=0,
    )
    spent = Spent(calls=1, usage=Usage(prompt=tokens), cost=cost, unpriced=int(cost is None))
    return Row(
        run=record,
        trial=trial,
        traits=TaskTraits(
            family=family,
            language=language,
            domain=domain,
            difficulty=difficulty,
            facts=facts,
            stages=0,
            hash=f"{task}/{revision}",
        ),
        judged_by=judge,
        judge=PlayerRef(name=judge, kind="model", model="judge-7b")
        if measures is not None
        else None,
        figures=_figures(measures, {**figures, "facts": searched})
        if measures is not None
        else None,
        setting=setting,
        memory=memory,
        agent_spent=spent,
        spent=spent,
        kind=(record.id, family, agent, kind, user, judge, measures is None, setting, memory),
        unit=(task, revision),
    )


def pool(*rows: Row) -> Pool:
    runs = {each.run.id: each.run for each in rows}
    return Pool(runs=tuple(runs.values()), rows=rows)


def _figures(
    measures: Mapping[str, float | Measure | None], more: Mapping[str, object]
) -> TrialFigures:
    found = tuple(
        value
        if isinstance(value, Measure)
        else Measure(
            name, value, 0 if value is None else 1, "nothing to count" if value is None else ""
        )
        for name, value in measures.items()
    )
    fields: dict[str, object] = {"tools": {}, "handed_in": "triples", **more}
    return TrialFigures(Measures.of(found), Details.model_validate(fields))
