"""What a labelling set was drawn from, as looks at it need it: units that the judge decided, by counts where that will do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison_inputs import Subject, subject_of
from cuecard.annotate.labelling.effect_rescoring import ItemId
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import (
    SamplingPlan,
    StratumKey,
    Unit,
    outcome_of,
    strata_of,
    stratum_of,
)
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.label_records import SetItem
from cuecard.core.verdicts import Decision, Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Member:
    """A unit of one subject: an item, or a trial with its items. `judge`: the share of them that the judge accepts. `count`:
    how many units alike, without items, it stands for.
    """

    key: ItemId
    subject: Subject
    family: str
    agent: str
    stratum: str
    judge: float
    items: tuple[tuple[ItemId, str], ...] = ()
    count: int = 1


def as_drawn(sizes: Mapping[str, int], plan: SamplingPlan, items: Iterable[SetItem]) -> bool:
    """Whether strata are as large as they were when the set was drawn."""
    drawn: dict[str, dict[object, float]] = defaultdict(dict)
    for item in items:
        key = item.trial_id if plan.by == "trials" else (item.trial_id, item.item.key)
        drawn[item.stratum][key] = item.probability
    return all(
        abs(len(found) / next(iter(found.values())) - sizes.get(name, 0)) < 0.5
        for name, found in drawn.items()
    )


_OF_ITEMS: frozenset[StratumKey] = frozenset({"relation", "judges"})
"""Strata that counts of a trial's decisions do not tell."""


def population_by_counts(
    workspace: Workspace, plan: SamplingPlan, trials: Collection[int]
) -> tuple[list[Member], dict[str, int]]:
    """The units that the judge decided, and the sizes of strata. Only those of these `trials` are told one by one, the rest
    by how many there are, where the plan asks for no more: there may be hundreds of thousands.
    """
    if not set(plan.kinds) <= set(JUDGED) or _OF_ITEMS & set(plan.strata):
        units = population_of(workspace, plan)
        every = {stratum.name: stratum.size for stratum in strata_of(units, plan)}
        return list(_members(units, plan)), every
    kinds = plan.kinds or JUDGED
    records = {trial.id: trial for run in plan.runs for trial in workspace.runs.trials(run)}
    traits = {key: one for run in plan.runs for key, one in workspace.runs.traits(run).items()}
    counts: dict[int, Counter[tuple[ItemKind, Decision]]] = defaultdict(Counter)
    for trial_id, kind, decision, n in workspace.verdict_pages.counted(plan.runs, plan.judge):
        if kind in kinds:
            counts[trial_id][kind, decision] += n
    models = {
        trial_id: Unit(
            trial_id,
            Item(kind=kinds[0]),
            family=records[trial_id].family,
            language=traits[records[trial_id].task_id, records[trial_id].revision].language,
            agent=records[trial_id].agent.name,
            task=records[trial_id].task_id,
            outcome=outcome_of(_accepted(found)),
        )
        for trial_id, found in counts.items()
    }
    near = [trial_id for trial_id in counts if trial_id in trials]
    decided = workspace.verdict_pages.decided(
        plan.runs, plan.judge, trials=near if len(near) <= _MOST_NEAR else None
    )
    found = list(
        _members(
            (
                models[trial_id]._replace(item=item, decision=decision.value)
                for trial_id, item, decision in decided
                if trial_id in trials and item.kind in kinds
            ),
            plan,
        )
    )
    sizes: Counter[str] = Counter()
    bulk: Counter[Member] = Counter()
    for trial_id, mine in counts.items():
        units = (
            [(models[trial_id], _accepted(mine), 1)]
            if plan.by == "trials"
            else [
                (models[trial_id]._replace(decision=decision.value), _YES_OR_NO.get(decision), n)
                for (_kind, decision), n in mine.items()
            ]
        )
        for unit, judge, n in units:
            stratum = stratum_of(unit, plan)
            sizes[stratum] += n
            if judge is not None and trial_id not in trials:
                key = Member((0, ""), "gold", unit.family, unit.agent, stratum, judge)
                bulk[key] += n
    return [*found, *(replace(one, count=n) for one, n in bulk.items())], dict(sizes)


_MOST_NEAR = 5000
"""With more trials than this, a query does not name them."""
_YES_OR_NO = {Decision.YES: 1.0, Decision.NO: 0.0}


def _accepted(counts: Mapping[tuple[ItemKind, Decision], int]) -> float | None:
    """The share of a trial's decided items that the judge accepts."""
    yes = sum(n for (_kind, decision), n in counts.items() if decision is Decision.YES)
    no = sum(n for (_kind, decision), n in counts.items() if decision is Decision.NO)
    return yes / (yes + no) if yes + no else None


def _members(units: Iterable[Unit], plan: SamplingPlan) -> Iterable[Member]:
    """The units that the judge decided, in the order of the population."""
    groups: dict[tuple[ItemId, Subject], list[Unit]] = defaultdict(list)
    for unit in units:
        if unit.decision != Decision.UNJUDGED:
            key = (unit.trial_id, "" if plan.by == "trials" else unit.item.key)
            groups[key, subject_of(unit.item.kind)].append(unit)
    for (key, subject), mine in groups.items():
        yes = sum(subject == "status" or unit.decision == Decision.YES for unit in mine)
        yield Member(
            key=key,
            subject=subject,
            family=mine[0].family,
            agent=mine[0].agent,
            stratum=stratum_of(mine[0], plan),
            judge=yes / len(mine),
            items=tuple(((unit.trial_id, unit.item.key), unit.decision) for unit in mine),
        )
