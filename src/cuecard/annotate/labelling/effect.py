"""How people's labels change a benchmark's results: reads runs and labels from the workspace, and computes it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.effect_figures import (
    Weighting,
    measure_effects,
    newest_weighting,
    ranking,
)
from cuecard.annotate.labelling.effect_rescoring import Rescored, rescored, settled_labels
from cuecard.annotate.labelling.effect_tables import Effect, GroupEffect, ItemCounts
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.evaluation.scores import RunScores, score_as_judged, score_run
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.verdicts import ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def effect_of(
    workspace: Workspace, runs: Sequence[int], judge: str = "", set_id: int | None = None
) -> Effect:
    """Scores of these runs, pooled, by the judge ("": the first that each run was entered with) and with people's
    decisions in its place. Estimates use the set `set_id`, or else the newest labelled one that was drawn from these
    runs.

    Reads all logs of the runs, so call it off the screen's thread. Raises `NotFound`.
    """
    scores = [
        score_run(workspace, run, judge) if judge else score_as_judged(workspace, run)
        for run in dict.fromkeys(runs)
    ]
    trials = [one for run in scores for one in run.trials]
    ids = [one.trial.id for one in trials]
    said = settled_labels(workspace, ids)
    settled = {key for key, one in said.items() if one.value is not None}
    sampled = newest_weighting(workspace, runs, settled, set_id)
    groups: dict[tuple[str, Family], list[Rescored]] = defaultdict(list)
    for one in rescored(workspace, trials, said):
        groups[one.trial.agent.name, one.trial.family].append(one)
    ordered = sorted(groups.items(), key=lambda group: (FAMILIES.index(group[0][1]), group[0][0]))
    labels = workspace.verdicts.item_labels(ids)
    return Effect(
        runs=tuple(dict.fromkeys(runs)),
        judges=tuple(dict.fromkeys(run.judge for run in scores)),
        people=tuple(sorted({label.person for label in labels})),
        set_id=sampled.set_id if sampled else None,
        set_name=sampled.name if sampled else "",
        set_drawn=len(sampled.classes) if sampled else 0,
        set_settled=len(sampled.weights) if sampled else 0,
        groups=tuple(
            _group(agent, family, mine, scores, sampled) for (agent, family), mine in ordered
        ),
        rankings=tuple(
            ranking(family, mine)
            for family in FAMILIES
            if len(mine := {agent: found for (agent, of), found in ordered if of == family}) > 1
        ),
    )


def _group(
    agent: str,
    family: Family,
    trials: Sequence[Rescored],
    scores: Sequence[RunScores],
    sampled: Weighting | None,
) -> GroupEffect:
    mine = [
        group
        for run in scores
        for group in run.groups
        if (group.agent, group.family) == (agent, family)
    ]
    samples = Counter(one.trial.task_id for one in trials)
    return GroupEffect(
        agent=agent,
        family=family,
        baseline=any(group.baseline for group in mine),
        tasks=len(samples),
        trials=len(trials),
        labelled_trials=sum(bool(one.settled) for one in trials),
        samples=max(samples.values(), default=0),
        decided=sum(_decided(one) for one in trials),
        settled=sum(
            item.item.kind in JUDGED and item.machine is not None
            for one in trials
            for item in one.settled
        ),
        items=_counts(trials),
        measures=measure_effects(trials, sampled),
    )


def _decided(one: Rescored) -> int:
    unjudged = next((m for m in one.judge if m.name == "unjudged"), None)
    return unjudged.n - int(unjudged.value or 0) if unjudged else 0


def _counts(trials: Sequence[Rescored]) -> tuple[ItemCounts, ...]:
    settled = [item for one in trials for item in one.settled]
    open_ = Counter(item.kind for one in trials for item in one.open)
    wrong = Counter(item.kind for one in trials for item in one.gold_wrong)
    found: list[ItemCounts] = []
    for kind in ItemKind:
        mine = [item for item in settled if item.item.kind is kind]
        if not (mine or open_[kind] or wrong[kind]):
            continue
        found.append(
            ItemCounts(
                kind=kind,
                settled=len(mine),
                adjudicated=sum(item.adjudicated for item in mine),
                changed=sum(item.changed for item in mine if item.machine is not None),
                undecided=sum(item.machine is None for item in mine),
                open=open_[kind],
                gold_wrong=wrong[kind],
                no_support=sum(item.no_support for item in mine),
            )
        )
    return tuple(found)
