"""How agents meet checkpoints: behaviour profiles with their pass rates, and how their turns were read
(DiscoBench's analysis; FORMATS: discobench).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.scoring.profiles import Profile, profile_of, typical_searches
from cuecard.core.scoring.steps import StepRecord
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Plan, Rate, counted, plan
from cuecard.results.pool import Row

Step = tuple[Row, StepRecord]


class ProfileRate(Frozen):
    """Reached ambiguous checkpoints with this profile: their `share` of all, and how many of them `passed`. Trials
    behind either are those with such a checkpoint.
    """

    profile: Profile
    share: Rate
    passed: Rate

    @property
    def count(self) -> int:
        return round(self.share.count)


class StatusRate(Frozen):
    """How many of the agent's turns a responder read so, of all that it read."""

    status: CheckpointStatus
    rate: Rate


class ChainErrors(Frozen):
    """`k`: the searches that divide the two ways to guess (`typical_searches` of all the arm's checkpoints), a
    constant in the intervals. `by_ambiguity`: type; `by_difficulty`: of the task, "" where it has none.
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
