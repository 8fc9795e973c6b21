"""The error report by agent and family, behaviour at checkpoints, and facts found call by call."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.results.errors.groups import (
    BY,
    By,
    Group,
    Judged,
    Unreadable,
    groups_of,
    notes_of,
    unread,
    unreadable,
)
from cuecard.annotate.results.errors.predictions import GraphFindings, TableErrors
from cuecard.annotate.results.errors.rates import Plan, Rate, counted, flagged, plan
from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.families.checkpoints.score import (
    Profile,
    StepRecord,
    profile_of,
    typical_searches,
)
from cuecard.core.i18n import _
from cuecard.core.scoring.breakdowns import CurvePoint, FactCurves, Rule
from cuecard.core.scoring.trial_score import FactFigures
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family

Step = tuple[Row, StepRecord]


class ProfileRate(Frozen):
    """Reached ambiguous checkpoints with this behaviour: their `share` of all, and the share of them that `passed`. The
    trials behind both are those with such a checkpoint.
    """

    profile: Profile
    share: Rate
    passed: Rate

    @property
    def count(self) -> int:
        return round(self.share.count)


class StatusRate(Frozen):
    """How often the responder gave an agent's turn this status, of all turns with a status."""

    status: CheckpointStatus
    rate: Rate


class ChainErrors(Frozen):
    """Errors of an arm on checkpoints. `k`: the number of searches that separates the two kinds of guessing
    (`typical_searches` of all the arm's checkpoints), a constant in the intervals. `by_ambiguity`: by type;
    `by_difficulty`: of the task, "" for none.
    """

    k: float
    profiles: tuple[ProfileRate, ...]
    by_ambiguity: dict[str, tuple[ProfileRate, ...]]
    by_difficulty: dict[str, tuple[ProfileRate, ...]]
    statuses: tuple[StatusRate, ...]


def chain_errors(judged: Judged) -> ChainErrors:
    """Of one arm's trials on checkpoints."""
    steps: list[Step] = []
    by_type: dict[str, list[Step]] = defaultdict(list)
    by_difficulty: dict[str, list[Step]] = defaultdict(list)
    for row, figures in judged:
        for step in figures.steps or ():
            steps.append((row, step.record))
            if step.ambiguity:
                by_type[step.ambiguity].append((row, step.record))
                by_difficulty[row.traits.difficulty or ""].append((row, step.record))
    k = typical_searches([record for _row, record in steps])
    return ChainErrors(
        k=k,
        profiles=_profiles(steps, k),
        by_ambiguity={name: _profiles(mine, k) for name, mine in sorted(by_type.items())},
        by_difficulty={name: _profiles(mine, k) for name, mine in sorted(by_difficulty.items())},
        statuses=_statuses(judged),
    )


def _profiles(steps: Sequence[Step], k: float) -> tuple[ProfileRate, ...]:
    ambiguous = [(row, step) for row, step in steps if step.ambiguous]
    plans: dict[tuple[Profile, str], Plan] = {}
    for profile in Profile:
        mine = [(row, step, profile_of(step, k) is profile) for row, step in ambiguous]
        plans[profile, "share"] = plan(
            "share",
            _by_trial((row, float(has), 1.0) for row, _step, has in mine),
            hits=True,
            empty=_("no ambiguity was reached"),
        )
        plans[profile, "passed"] = plan(
            "pass_rate",
            _by_trial((row, float(step.advanced), 1.0) for row, step, has in mine if has),
            empty=_("no checkpoint has this profile"),
        )
    rates = counted(plans)
    return tuple(
        ProfileRate(profile=p, share=rates[p, "share"], passed=rates[p, "passed"]) for p in Profile
    )


def _statuses(judged: Judged) -> tuple[StatusRate, ...]:
    plans = {
        status: plan(
            status.value,
            (
                (row, figures.statuses.get(status.value, 0), sum(figures.statuses.values()))
                for row, figures in judged
            ),
            hits=True,
            empty=_("no turn was read"),
        )
        for status in CheckpointStatus
    }
    rates = counted(plans)
    return tuple(StatusRate(status=status, rate=rates[status]) for status in CheckpointStatus)


def _by_trial(parts: Iterable[tuple[Row, float, float]]) -> list[tuple[Row, float, float]]:
    """One part for each trial."""
    found: dict[int, tuple[Row, float, float]] = {}
    for row, above, below in parts:
        _same, a, b = found.get(row.trial.id, (row, 0.0, 0.0))
        found[row.trial.id] = (row, a + above, b + below)
    return list(found.values())


World = tuple[Row, FactFigures]


class CurveAt(Frozen):
    """Values at the k-th tool call; see `core.scoring.breakdowns.CurvePoint`. `cohort`: how many of `trials` made at least
    k calls. New facts and hit precision are over the cohort, the coverage over all trials.
    """

    k: int
    cohort: int
    trials: int
    new_facts: Rate
    fcr: Rate
    hit_precision: Rate


class CohortAt(Frozen):
    """`core.scoring.breakdowns.CohortCurve` with intervals."""

    k_trunc: int
    trials: int
    rule: Rule
    points: tuple[CurveAt, ...]


class SearchErrors(Frozen):
    """Errors of an arm in closed worlds. `points`: over all trials (our addition), `cohort`: over a fixed cohort (the
    paper's). `premature`: trials that answered with facts still unfound, of those that answered; the mean over tasks.
    """

    points: tuple[CurveAt, ...]
    cohort: CohortAt
    premature: Rate


def search_errors(judged: Judged, k_trunc: int | None = None) -> SearchErrors:
    """Of one arm's trials on closed worlds. `k_trunc`: the last call of the fixed cohort's curves."""
    worlds = [(row, figures.facts) for row, figures in judged if figures.facts]
    curves = FactCurves()
    for _row, facts in worlds:
        curves.add(facts)
    whole, cohort = curves.points(), curves.cohort(k_trunc)
    kept = [(row, facts) for row, facts in worlds if len(facts.hits) >= cohort.k_trunc]
    return SearchErrors(
        points=_points(worlds, whole),
        cohort=CohortAt(
            k_trunc=cohort.k_trunc,
            trials=cohort.trials,
            rule=cohort.rule,
            points=_points(kept, cohort.points),
        ),
        premature=counted({"": _premature(judged)})[""],
    )


def _points(worlds: Sequence[World], points: Sequence[CurvePoint]) -> tuple[CurveAt, ...]:
    plans: dict[tuple[str, int], Plan] = {}
    # What each trial had found by its k-th call; one that stopped keeps what it had.
    found = [list(accumulate(facts.fresh, initial=0)) for _row, facts in worlds]
    hits = [list(accumulate(facts.hits, initial=0)) for _row, facts in worlds]
    for point in points:
        k = point.k
        cohort = [at for at, (_row, facts) in enumerate(worlds) if len(facts.hits) >= k]
        plans["new_facts", k] = plan(
            "new_facts",
            ((worlds[at][0], worlds[at][1].fresh[k - 1], 1.0) for at in cohort),
            share=False,
        )
        plans["fcr", k] = plan(
            "fcr",
            (
                (row, own[min(k, len(own) - 1)] / facts.facts, 1.0)
                for own, (row, facts) in zip(found, worlds, strict=True)
            ),
        )
        plans["hit_precision", k] = plan(
            "hit_precision", ((worlds[at][0], hits[at][k] / k, 1.0) for at in cohort)
        )
    rates = counted(plans)
    return tuple(
        CurveAt(
            k=point.k,
            cohort=point.cohort,
            trials=point.trials,
            new_facts=rates["new_facts", point.k],
            fcr=rates["fcr", point.k],
            hit_precision=rates["hit_precision", point.k],
        )
        for point in points
    )


def _premature(judged: Judged) -> Plan:
    parts: list[tuple[Row, float, float]] = []
    for row, figures in judged:
        value = figures.value("premature_stop")
        if value is not None:
            parts.append((row, value, 1.0))
    return plan(
        "premature_stop", parts, hits=True, empty=_("the agent handed nothing in"), each_task=True
    )


class ArmErrors(Frozen):
    """Errors of one arm: trials of one family with the same values of `by`. `trials`: how many in all, `ended` and
    `judged` of them; everything else is about the judged ones. `baseline`: an offline baseline took part.
    `format_failure`: the prediction could not be read; `nothing`: nothing was handed in. `name`: for display beside
    other arms.
    """

    family: Family
    group: tuple[tuple[Dimension, str], ...]
    name: str
    trials: int
    ended: int
    judged: int
    judged_trials: tuple[int, ...]
    tasks: int
    baseline: bool
    format_failure: Rate
    nothing: Rate
    unreadable: tuple[Unreadable, ...]
    graph: GraphFindings | None = None
    table: TableErrors | None = None
    facts: SearchErrors | None = None
    chain: ChainErrors | None = None


class ErrorReport(Frozen):
    """Arms with judged trials, family by family. `notes`: what is not counted, and which players are baselines."""

    by: tuple[Dimension, ...]
    arms: tuple[ArmErrors, ...]
    notes: dict[Family, tuple[str, ...]] = {}


def error_report(
    pool: Pool, by: By = BY, families: Sequence[Family] = FAMILIES, *, k_trunc: int | None = None
) -> ErrorReport:
    """Errors of each arm (`by`, and family), with intervals by task. Point values are those of `core.scoring`
    (`GraphErrors`, `FactCurves`, `behaviour_profiles`) over the arm's judged trials. `k_trunc`: see
    `search_errors`.
    """
    groups = [group for group in groups_of(pool, by, families) if group.judged]
    return ErrorReport(
        by=groups[0].by if groups else by,
        arms=tuple(_arm(group, k_trunc) for group in groups),
        notes=notes_of(pool, groups),
    )


def _arm(group: Group, k_trunc: int | None) -> ArmErrors:
    judged = group.judged
    rates = counted(
        {
            "format": flagged("format_failure", ((r, unread(group.family, f)) for r, f in judged)),
            "nothing": flagged("nothing", ((r, f.handed_in == "nothing") for r, f in judged)),
        }
    )
    return ArmErrors(
        family=group.family,
        group=group.group,
        name=group.name,
        trials=len(group.rows),
        ended=group.ended,
        judged=len(judged),
        judged_trials=tuple(row.trial.id for row, _figures in judged),
        tasks=group.tasks,
        baseline=group.baseline,
        format_failure=rates["format"],
        nothing=rates["nothing"],
        unreadable=unreadable(group.family, judged),
        **ANNOTATE[group.family].errors.count(judged, k_trunc),
    )
