"""What a labelling set was drawn from, as looks at it need it: units that the judge decided, by counts where that will do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison_inputs import Subject, subject_of
from cuecard.annotate.labelling.effect_rescoring import ItemId
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import OF_ONE, SamplingPlan, Unit, accepted, stratum_of
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.label_records import SetItem
from cuecard.core.verdicts import Decision

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


def population_by_counts(
    workspace: Workspace, plan: SamplingPlan, trials: Collection[int]
) -> tuple[list[Member], dict[str, int]]:
    """The units that the judge decided, and the sizes of strata. Only those of these `trials` are told one by one, the rest
    by how many there are, where the plan asks for no more: there may be hundreds of thousands.
    """
    population = population_of(workspace, plan)
    whole = not set(plan.kinds) <= set(JUDGED) or not OF_ONE.isdisjoint(plan.strata)
    near = {trial.shared.trial_id for trial in population.trials if whole} or set(trials)
    sizes: Counter[str] = Counter()
    bulk: Counter[Member] = Counter()
    for trial in population.trials:
        one = [(trial.shared, 1)]
        for unit, n in one if plan.by == "trials" else trial.alike(("decision", *plan.strata)):
            stratum = stratum_of(unit, plan)
            sizes[stratum] += n
            share = accepted([unit.decision] if unit.decision else trial.decisions)
            if share is not None and unit.trial_id not in near:
                bulk[Member((0, ""), "gold", unit.family, unit.agent, stratum, share)] += n
    found = (unit for trial in population.trials if trial.shared.trial_id in near for unit in trial)
    rest = (replace(one, count=n) for one, n in bulk.items())
    return [*_members(found, plan), *rest], dict(sizes)


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
