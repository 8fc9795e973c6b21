"""What the items of a drawn set stand for (`annotate.sampling.weights_of`), and which set it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.annotate.effect.people import ItemId
from cuecard.annotate.sampling.draw import (
    WeightingClass,
    bare_classes,
    class_of,
    weights_of,
)
from cuecard.annotate.sampling.plan import SamplingPlan
from cuecard.core.verdicts import ItemKind
from cuecard.lab.decisions import JUDGED
from cuecard.store.label_records import LabelSet, SetItem

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Weighting:
    """`weights` of settled items; `bare`: classes (stratum and kind) of which nothing is settled; `classes`: of every
    item of the set. `runs`, `kinds` and `judge` ("": the first of each trial) say what the set was drawn from.
    """

    set_id: int
    name: str
    runs: frozenset[int]
    kinds: frozenset[ItemKind]
    judge: str
    weights: dict[ItemId, float]
    classes: dict[ItemId, WeightingClass]
    bare: frozenset[WeightingClass]


def weighting(
    label_set: LabelSet,
    plan: SamplingPlan,
    items: Sequence[SetItem],
    settled: Collection[ItemId],
) -> Weighting:
    """What the settled items of a set that was drawn by this plan stand for."""
    return Weighting(
        set_id=label_set.id,
        name=label_set.name,
        runs=frozenset(plan.runs),
        kinds=frozenset(plan.kinds or JUDGED),
        judge=plan.judge,
        weights=weights_of(items, settled),
        classes={(item.trial_id, item.item.key): class_of(item) for item in items},
        bare=frozenset(bare_classes(items, settled)),
    )


def newest_weighting(
    workspace: Workspace,
    runs: Sequence[int],
    settled: Collection[ItemId],
    set_id: int | None = None,
) -> Weighting | None:
    """Of this set, else of the newest that was drawn from any of these runs and of which something is
    settled; None without one. Raises `NotFound` for an unknown set.
    """
    sets = [workspace.label_sets.get(set_id)] if set_id is not None else workspace.label_sets.all()
    for one in sets:
        plan = _plan(one)
        if plan is None or (set_id is None and not set(runs) & set(plan.runs)):
            continue
        found = weighting(one, plan, workspace.label_sets.items(one.id), settled)
        if set_id is not None or found.weights:
            return found
    return None


def _plan(label_set: LabelSet) -> SamplingPlan | None:
    """None if it is not known how the set was drawn: nothing can be said of the rest then."""
    try:
        return SamplingPlan.model_validate(label_set.plan)
    except ValidationError:
        return None
