"""Judges held against people: a comparison, overall and by groups of items, with the items behind a number; and how people's
labels change a benchmark's results, read from the workspace and computed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import (
    agreement_table,
    ceiling_table,
    compare_judges,
    reference_table,
)
from cuecard.annotate.agreement.tables import (
    AgreementTable,
    CeilingTable,
    JudgeDifference,
    short_coefficients,
)
from cuecard.annotate.labelling.comparison_inputs import GROUPINGS, Case, ComparisonInputs, GroupBy
from cuecard.annotate.labelling.comparison_model import (
    Columns,
    Comparison,
    Group,
    Pair,
    Rater,
    anchoring_of,
    columns_of,
    judges_of,
    pairs_of,
    people_of,
    references_of,
    said_by,
)
from cuecard.annotate.labelling.corrections import corrections_of
from cuecard.annotate.labelling.effect_figures import MAIN, measure_effects, ranking
from cuecard.annotate.labelling.effect_rescoring import Rescored
from cuecard.annotate.labelling.effect_tables import Effect, GroupEffect, ItemCounts, MeasureEffect
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.evaluation.scores import RunScores, TrialScores, score_as_judged, score_run
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.verdicts import ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Place(Frozen):
    """The items behind a number of a comparison: those that `left` and `right` both decided. Of these, those in one
    cell of the confusion matrix (`row`, `column`: what the two said, "" for anything), those to which at least one gave
    the value `either`, and those in the group (`by`, `value`).
    """

    left: Rater
    right: Rater
    row: str = ""
    column: str = ""
    either: str = ""
    by: GroupBy | None = None
    value: str = ""


def cases_at(inputs: ComparisonInputs, place: Place) -> tuple[Case, ...]:
    """The items of this place: those on which the two differ first, then in the order of `inputs`."""
    chosen: list[tuple[bool, Case]] = []
    for case in inputs.cases:
        left, right = said_by(place.left, case), said_by(place.right, case)
        if not (left and right) or (place.by and case.group(place.by) != place.value):
            continue
        if (
            place.row in ("", left)
            and place.column in ("", right)
            and place.either in ("", left, right)
        ):
            chosen.append((left == right, case))
    return tuple(case for _same, case in sorted(chosen, key=lambda pair: pair[0]))


def seen_by(cases: Collection[Case], person: str) -> tuple[Case, ...]:
    """The cases that the person has labelled; decisions on the others must stay hidden from them."""
    return tuple(case for case in cases if person in case.people)


def groups_of(
    inputs: ComparisonInputs, judge: Rater, reference: Rater, *, resamples: int
) -> Iterator[Group]:
    """The judge against the reference within groups, by each property with several values; the largest group first."""
    columns = columns_of(inputs, (judge, reference))
    for by in GROUPINGS:
        parts: dict[str, list[int]] = defaultdict(list)
        for at, case in enumerate(columns.cases):
            parts[case.group(by)].append(at)
        if len(parts) < 2:
            continue
        for value, places in sorted(parts.items(), key=lambda part: (-len(part[1]), part[0])):
            yield _group(by, value, _part(columns, places), judge, reference, resamples)


def _part(columns: Columns, places: list[int]) -> Columns:
    cases: tuple[Case, ...] = tuple(columns.cases[at] for at in places)
    ratings = columns.ratings
    return Columns(
        cases=cases,
        ratings=Ratings(
            tuple(ratings.items[at] for at in places),
            ratings.raters,
            ratings.labels,
            tuple(ratings.codes[at] for at in places),
        ),
        groups=tuple(columns.groups[at] for at in places),
        weights=tuple(columns.weights[at] for at in places) if columns.weights else None,
    )


def _group(
    by: GroupBy, value: str, part: Columns, judge: Rater, reference: Rater, resamples: int
) -> Group:
    import numpy as np

    found = list(short_coefficients(part.ratings))
    if part.weights is not None:
        weights = np.array(part.weights)
        found = [coefficient.weighted(weights / weights.mean()) for coefficient in found]
    return Group(
        by=by,
        value=value,
        judge=judge.name,
        reference=reference,
        n=len(part.cases),
        tasks=len(set(part.groups)),
        statistics=with_intervals(found, part.groups, resamples=resamples),
    )


Tell = Callable[[int, int], None]


def compare(
    inputs: ComparisonInputs, *, resamples: int = RESAMPLES, tell: Tell | None = None
) -> Comparison:
    """All statistics for these inputs, with intervals by resampling tasks. `tell(done, all)` is called as pairs are
    finished. Equal inputs give equal results.
    """
    judges, references = judges_of(inputs), references_of(inputs)
    wanted = list(pairs_of(inputs))
    pairs: list[Pair] = []
    for done, (left, right) in enumerate(wanted, 1):
        pairs.append(_pair(inputs, left, right, resamples))
        if tell:
            tell(done, len(wanted))
    return Comparison.from_fields(
        inputs,
        subjects=tuple(inputs.subjects.items()),
        labelled=len(inputs.cases),
        tasks=len({case.task for case in inputs.cases}),
        weighted=inputs.weighted or any(pair.table.weighted for pair in pairs),
        bare=tuple(inputs.bare.items()) if inputs.cases else (),
        references=references,
        pairs=tuple(pairs),
        humans=_humans(inputs, resamples),
        ceilings=_ceilings(inputs, resamples),
        differences=_differences(inputs, references, resamples),
        groups=_groups(inputs, judges, references, resamples),
        anchoring=anchoring_of(inputs),
        adjudicated=sum(bool(case.adjudicated) for case in inputs.cases),
        causes=tuple(Counter(case.cause for case in inputs.cases if case.cause).most_common()),
    )


def _pair(inputs: ComparisonInputs, left: Rater, right: Rater, resamples: int) -> Pair:
    columns = columns_of(inputs, (left, right))
    table = agreement_table(columns.ratings, columns.groups, columns.weights, resamples=resamples)
    reference = None
    if left.role == "judge":
        reference = reference_table(
            columns.ratings,
            left.key,
            right.key,
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
    return Pair(left=left, right=right, table=table, reference=reference)


def _humans(inputs: ComparisonInputs, resamples: int) -> AgreementTable | None:
    people = people_of(inputs)
    if len(people) < 2:
        return None
    columns = columns_of(inputs, people, gaps=True)
    return agreement_table(columns.ratings, columns.groups, columns.weights, resamples=resamples)


def _ceilings(inputs: ComparisonInputs, resamples: int) -> tuple[CeilingTable, ...]:
    people = people_of(inputs)
    found: list[CeilingTable] = []
    for judge in judges_of(inputs):
        columns = columns_of(inputs, (judge, *people), gaps=True, least=2)
        table = ceiling_table(
            columns.ratings,
            judge.key,
            [person.key for person in people],
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
        if table is not None and table.n:
            found.append(table)
    return tuple(found)


def _differences(
    inputs: ComparisonInputs, references: tuple[Rater, ...], resamples: int
) -> tuple[JudgeDifference, ...]:
    found: list[JudgeDifference] = []
    for one, other in combinations(judges_of(inputs), 2):
        if not references:
            break
        columns = columns_of(inputs, (one, other, references[0]))
        found += compare_judges(
            columns.ratings,
            (one.key, other.key),
            references[0].key,
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
    return tuple(found)


def _groups(
    inputs: ComparisonInputs,
    judges: tuple[Rater, ...],
    references: tuple[Rater, ...],
    resamples: int,
) -> tuple[Group, ...]:
    return tuple(
        group
        for reference in references[:1]
        for judge in judges
        for group in groups_of(inputs, judge, reference, resamples=resamples)
    )


def effect_of(
    workspace: Workspace, runs: Sequence[int], judge: str = "", set_id: int | None = None
) -> Effect:
    """Scores of these runs, pooled, by the judge ("": the first that each run was entered with) and with people's
    decisions in its place. Scores are corrected from the set `set_id`, or else from the newest labelled one that was
    drawn from these runs.

    Reads all logs of the runs, so call it off the screen's thread. Raises `NotFound`.
    """
    scores = [
        score_run(workspace, run, judge) if judge else score_as_judged(workspace, run)
        for run in dict.fromkeys(runs)
    ]
    trials = [one for run in scores for one in run.trials]
    ids = [one.trial.id for one in trials]
    corrections = corrections_of(workspace, trials, set_id)
    groups: dict[tuple[str, Family], list[TrialScores]] = defaultdict(list)
    for one in trials:
        if one.judge is not None:
            groups[one.trial.agent.name, one.trial.family].append(one)
    ordered = [
        (group, [corrections.rescored(one) for one in groups[group]])
        for group in sorted(groups, key=lambda group: (FAMILIES.index(group[1]), group[0]))
    ]
    labels = workspace.verdicts.item_labels(ids)
    effects = tuple(
        _effect_on(
            agent, family, mine, scores, measure_effects(mine, groups[agent, family], corrections)
        )
        for (agent, family), mine in ordered
    )
    return Effect(
        runs=tuple(dict.fromkeys(runs)),
        judges=tuple(dict.fromkeys(run.judge for run in scores)),
        people=tuple(sorted({label.person for label in labels})),
        sets=corrections.sets,
        groups=effects,
        rankings=tuple(
            ranking(family, mine, _corrected(effects, family))
            for family in FAMILIES
            if len(mine := {agent: found for (agent, of), found in ordered if of == family}) > 1
        ),
    )


def _corrected(effects: Sequence[GroupEffect], family: Family) -> dict[str, float | None]:
    """The main measure of each agent as labels correct it."""
    found = {one.agent: one.measure(MAIN[family]) for one in effects if one.family == family}
    return {
        agent: measure.corrected.corrected.value
        for agent, measure in found.items()
        if measure and measure.corrected
    }


def _effect_on(
    agent: str,
    family: Family,
    trials: Sequence[Rescored],
    scores: Sequence[RunScores],
    measures: tuple[MeasureEffect, ...],
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
        measures=measures,
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
