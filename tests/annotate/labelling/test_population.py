"""Sets drawn from runs of the sample tasks, played and judged by the embedded players."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.annotate.labelling.labelling_sets import make_set, population_of, preview_of
from cuecard.annotate.labelling.sampling import SamplingPlan, draw, strata_of
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import decisions_of
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.records import TrialCell
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.yaml_io import load_tasks
from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict
from cuecard.store.workspace import Workspace

SAMPLES = Path(__file__).parents[3] / "src" / "cuecard" / "sample_tasks"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, int]]:
    """A run of one task of each family."""
    found, _problems = load_tasks([SAMPLES])
    tasks = {task.family: task for _path, task in found}
    with Workspace.open(tmp_path_factory.mktemp("drawn") / "cuecard.db") as workspace:
        for task in tasks.values():
            workspace.tasks.save(task, author="Ann")
        plan = RunPlan(tasks=tuple(task.id for task in tasks.values()))
        outcome = asyncio.run(start_run(workspace, plan, by="Ann"))
        yield workspace, outcome.run.id


def test_the_population_is_what_machines_decided(played: tuple[Workspace, int]) -> None:
    workspace, run = played
    units = population_of(workspace, SamplingPlan(runs=(run,), n=1))
    records = workspace.verdicts.records(run)
    assert Counter(unit.item.kind for unit in units) == Counter(r.item.kind for r in records)
    assert {unit.family for unit in units} == set(SHIPPED)
    assert not any(unit.relation or unit.language for unit in units)
    plan = SamplingPlan(runs=(run,), n=1, strata=("relation", "language"))
    told = population_of(workspace, plan)
    assert all(unit.relation for unit in told if unit.item.kind is ItemKind.TRIPLE)
    assert all(unit.language for unit in told)
    assert [unit._replace(relation="", language="") for unit in told] == list(units)
    everything = population_of(workspace, SamplingPlan(runs=(run,), n=1, kinds=tuple(ItemKind)))
    kinds = {unit.item.kind for unit in everything}
    assert kinds == set(ItemKind)
    assert len({(u.trial_id, u.item.key) for u in everything}) == len(everything)
    with pytest.raises(CuecardError, match="nothing to label"):
        make_set(workspace, SamplingPlan(runs=(run,), n=1, judge="absent"), name="", by="Ann")


@pytest.mark.parametrize(
    "changes",
    [
        {"strata": ("decision", "family")},
        {"strata": ("relation", "decision")},
        {"strata": ("judges", "agent"), "allocation": "equal"},
        {"strata": ("outcome",), "by": "trials"},
        {},
    ],
)
def test_counts_of_trials_say_what_units_one_by_one_do(
    played: tuple[Workspace, int], changes: dict[str, object]
) -> None:
    workspace, run = played
    plan = SamplingPlan.model_validate({"runs": [run], "n": 7, **changes})
    population = population_of(workspace, plan)
    units = list(population)
    assert preview_of(population, plan) == preview_of(units, plan)
    assert strata_of(population, plan) == strata_of(units, plan)
    assert draw(population, plan) == draw(units, plan)
    assert len(population) == len(units)
    assert units[-1] in population
    judged = {unit.trial_id for unit in units}
    assert population.without == sum(t.id not in judged for t in workspace.runs.trials(run))


def test_a_set_is_kept_with_its_plan(played: tuple[Workspace, int]) -> None:
    workspace, run = played
    plan = SamplingPlan(runs=(run,), n=20, strata=("family", "decision"), seed=4, overlap=0.25)
    made = make_set(workspace, plan, name="", by="Ann")
    assert made.items == 20
    assert SamplingPlan.model_validate(made.plan) == plan
    drawn = workspace.label_sets.items(made.id)
    assert sum(item.raters == 2 for item in drawn) == 5
    assert {item.trial_id for item in drawn} <= {t.id for t in workspace.runs.trials(run)}


def test_what_follows_from_verdicts_follows_them(played: tuple[Workspace, int]) -> None:
    workspace, run = played
    trials = {trial.family: trial.id for trial in workspace.runs.trials(run)}
    cells = decisions_of(workspace, trials["table"], [ItemKind.CELL])
    rows = decisions_of(workspace, trials["table"], [ItemKind.ROW])
    for row in rows:
        values = {cell.value for cell in cells if cell.item.index == row.item.index}
        assert (row.value is Decision.YES) == (values == {Decision.YES})
    predicted = decisions_of(workspace, trials["graph"], [ItemKind.PREDICTED])
    support = {
        index
        for record in workspace.verdicts.records(trial_id=trials["graph"])
        if record.decision is Decision.YES
        for index in record.supporting
    }
    assert {d.item.index for d in predicted if d.value is Decision.YES} == support
    statuses = decisions_of(workspace, trials["checkpoints"], [ItemKind.STATUS])
    assert statuses
    assert {d.by.kind for d in statuses} == {"responder"}


def test_the_first_judge_counts_whoever_judged_last(played: tuple[Workspace, int]) -> None:
    workspace, run = played
    graph = next(t.id for t in workspace.runs.trials(run) if t.family == "graph")
    [record] = workspace.verdicts.of_trial(graph)
    stranger = Verdict(item=Item(kind=ItemKind.TRIPLE, index=999), decision=Decision.NO)
    other = record.judgement.model_copy(
        update={"judge": PlayerRef(name="other", kind="llm"), "verdicts": (stranger,)}
    )
    workspace.verdicts.add(graph, other)
    workspace.verdicts.add(graph, record.judgement)
    plan = SamplingPlan(runs=(run,), n=1)
    units = {u.item: u.decision for u in population_of(workspace, plan) if u.trial_id == graph}
    assert units == {
        d.item: d.value.value for d in decisions_of(workspace, graph, [ItemKind.TRIPLE])
    }
    assert units == {v.item: v.decision.value for v in record.judgement.verdicts}
    by_other = plan.model_copy(update={"judge": "other", "strata": ("relation",)})
    [unit] = population_of(workspace, by_other)
    assert (unit.item.index, unit.decision, unit.relation) == (999, "no", "")
    # A trial that nobody judged has nothing a judge decided on, whatever the user part did.
    [open_] = workspace.runs.add_trials(run, [_cell(workspace, graph)])
    assert open_.id not in {u.trial_id for u in population_of(workspace, plan)}


def _cell(workspace: Workspace, trial_id: int) -> TrialCell:
    trial = workspace.runs.trial(trial_id)
    return TrialCell(
        task_id=trial.task_id,
        revision=trial.revision,
        agent=trial.agent,
        user=trial.user,
        world=trial.world,
        sample=1,
    )
