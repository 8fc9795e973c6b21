"""Scores of a judge corrected by people's labels on a drawn sample: estimate and intervals.

The difference estimator (Särndal, Swensson & Wretman 1992, ch. 6) with the weight of the judge tuned to what its word
is worth (PPI++, Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453), divided by the sample's own weights (Hájek
1971), with standard errors by task. docs/effect.md has the formulas; names below follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, wilson
from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.annotate.estimation.units import Units, sums
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST_TUNED = 10
"""A stratum with fewer labelled units has no weight of the judge of its own."""
FEW_LABELS = 20
"""With fewer labelled units intervals hold the truth a little less often than they say."""
NOTHING = 1e-12
_BARE = {"low": None, "high": None, "no_interval": ""}


class StratumFit(NamedTuple):
    """What one stratum adds: its `units`, `labelled` of them, `share` of all weight, and `tuning`, the weight of the
    judge (0: people only, 1: the difference estimator). `constant`: the judge says the same of all its units.
    `spread`: the standard deviation of what the judge leaves unexplained, None with fewer than two labels.
    """

    name: str
    units: int
    labelled: int
    share: float
    tuning: float
    constant: bool
    spread: float | None


@dataclass(frozen=True, eq=False)
class Corrected:
    """One figure three ways, with 95% intervals for tasks of this kind: `judge` of all units, `people` from the
    labels alone (weighted to the strata), `estimate` from both. `here`: the estimate with the interval for these
    units only, which is a point where all are labelled; `shift`: it minus the judge's. Their `n` counts units:
    labelled ones but for the judge's. `moved`, `alone`: what each of `tasks` adds to the estimate, and to that of
    people alone; `labelled_tasks`: those with labels. `too_few`: why there is no interval, as far as labels lack.
    `notes`: what a reader should know.
    """

    estimate: Statistic
    here: Statistic
    shift: Statistic
    people: Statistic
    judge: Statistic
    strata: tuple[StratumFit, ...]
    tasks: tuple[str, ...]
    moved: Floats
    alone: Floats
    labelled_tasks: int
    left_open: int = 0
    too_few: str = ""
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        return sum(one.units for one in self.strata)

    @property
    def labelled(self) -> int:
        return sum(one.labelled for one in self.strata)

    @property
    def whole(self) -> bool:
        """Whether people decided all of it."""
        return self.labelled == self.units


def corrected(
    units: Units, name: str = "", *, share: bool = False, fewest: int = FEWEST_TUNED
) -> Corrected:
    """The corrected figure of these units. `share`: a mean of zeros and ones, with Wilson's interval where no task
    differs. `fewest`: labelled units from which on the judge is weighted in a stratum on its own.

    Undefined with a reason where a stratum has no label; without an interval where one has a single label beside
    units without, or fewer than `FEWEST_GROUPS` tasks have labels. Never wider than from people alone: a judge that
    makes it so is left out (`widens`).
    """
    import numpy as np

    none = np.zeros(len(units.strata))
    n, labelled = int(units.labelled.sum()), len(np.unique(units.task[units.labelled]))
    by_judge = sums(units.task, units.weight * units.judge, len(units.tasks))
    size = int(units.count.sum())
    judge = _judged(by_judge, name, size, share)
    why = why_no_estimate(units)
    if why:
        lacking = Statistic(name=name, value=None, n=n, reason=why)
        fits, empty = _fits(units, none), by_judge * 0
        four = lacking, lacking, lacking, lacking, judge
        return Corrected(*four, fits, units.tasks, empty, empty, labelled, units.left_open, why)
    alone, both = (
        WeightedEstimate.of(units, none),
        WeightedEstimate.of(units, tunings(units, fewest=fewest)),
    )
    notes: list[str] = []
    if widens(both.error, alone.error):
        both = alone
        notes.append(_("the judge does not help here"))
    fits = _fits(units, both.tuning)
    if n < size:
        if len(fits) == 1 and fits[0].constant:
            notes.append(_("the judge says the same of all units here"))
        if n < FEW_LABELS:
            notes.append(_("few labels"))
    few = _too_few(fits, labelled, units.stratum_name)
    moved = both.value - float(by_judge.sum())
    sides = [around(name, one.value, n, one.error, labelled, few, share) for one in (both, alone)]
    return Corrected(
        estimate=sides[0],
        here=_of_these(both, units, sides[0].model_copy(update=_BARE), few),
        shift=around(name, moved, n, standard_error(both.moved - by_judge), labelled, few),
        people=sides[1],
        judge=judge,
        strata=fits,
        tasks=units.tasks,
        moved=both.moved,
        alone=alone.moved,
        labelled_tasks=labelled,
        left_open=units.left_open,
        too_few=few,
        notes=tuple(notes),
    )


def tunings(units: Units, *, fewest: int = FEWEST_TUNED) -> Floats:
    """For each stratum the weight of the judge, 0 to 1: cov(people, judge) over labelled units by var(judge) over all
    (PPI++). Strata with fewer than `fewest` labelled units share one; it is 0 where these have fewer than `fewest`
    together.
    """
    import numpy as np

    layers = len(units.strata)
    known = units.labelled
    n, cov = _moments(units, known, units.people)
    _n, var = _moments(units, np.ones_like(known), units.judge)
    share = sums(units.stratum, units.weight, layers)
    small = n < fewest
    usable = small & (n >= 2)
    tuned = np.divide(cov, var, out=np.zeros(layers), where=var > NOTHING)
    shared = float(share[usable] @ var[usable])
    common = 0.0
    if n[small].sum() >= fewest and shared > NOTHING:
        common = float(share[usable] @ cov[usable]) / shared
    tuned[small] = common
    tuned[var <= NOTHING] = 0.0
    return np.clip(_by_chances(units, tuned), 0.0, 1.0)


def _moments(units: Units, chosen: NDArray[np.bool_], other: Floats) -> tuple[Floats, Floats]:
    """By stratum, how many of its units are chosen, and their covariance of the judge's value and another (divisor n
    - 1; 0 with fewer than two).
    """
    import numpy as np

    layers = len(units.strata)
    stratum, count = units.stratum[chosen], units.count[chosen]
    judge, value = units.judge[chosen], other[chosen]
    n = sums(stratum, count, layers)
    least = np.maximum(n, 1)
    left = judge - (sums(stratum, count * judge, layers) / least)[stratum]
    right = value - (sums(stratum, count * value, layers) / least)[stratum]
    return n, sums(stratum, count * left * right, layers) / np.maximum(n - 1, 1)


@dataclass(frozen=True, eq=False)
class WeightedEstimate:
    """The estimate at one weight of the judge in each stratum: `moved` is what each task adds, `error` the standard
    error by task.
    """

    tuning: Floats
    moved: Floats
    error: float
    left: Floats
    """Of labelled units, what is left of people's value without the judge's, from its mean in the stratum, weighted
    (sums to 0).
    """

    @property
    def value(self) -> float:
        return float(self.moved.sum())

    @classmethod
    def of(cls, units: Units, tuning: Floats) -> WeightedEstimate:
        """Every stratum has a labelled unit."""
        layers, count = len(units.strata), len(units.tasks)
        known = units.labelled
        stratum, weight = units.stratum, units.weight
        mine = stratum[known]
        drawn = _expanded(units, known)
        scale = sums(stratum, weight, layers) / sums(mine, drawn, layers)
        rest = units.people[known] - tuning[mine] * units.judge[known]
        mean = sums(mine, drawn * rest, layers) / sums(mine, drawn, layers)
        left = scale[mine] * drawn * (rest - mean[mine])
        every = weight * (mean[stratum] + tuning[stratum] * units.judge)
        moved = sums(units.task, every, count) + sums(units.task[known], left, count)
        return cls(tuning, moved, standard_error(moved), left)


def _expanded(units: Units, known: NDArray[np.bool_]) -> Floats:
    """Weight by chance of labelled units; in strata without unlabelled ones the weight itself."""
    import numpy as np

    layers = len(units.strata)
    whole = sums(units.stratum, (~known).astype(np.float64), layers) == 0
    chance = np.where(whole[units.stratum[known]], 1.0, units.chance[known])
    return units.weight[known] / chance


def _by_chances(units: Units, tuned: Floats) -> Floats:
    """The weights of the judge, in strata whose labelled units had different chances that which makes the variance of
    such a draw least: the slope of people's value on the judge's, where a unit counts by (w / p)^2 (1 - p). Counted alike,
    the units that a draw prefers, on which the judge is worth least, would tell its weight for all.
    """
    import numpy as np

    layers, known = len(units.strata), units.labelled
    mine, chance = units.stratum[known], units.chance[known]
    least, most = np.full(layers, np.inf), np.zeros(layers)
    np.minimum.at(least, mine, chance)
    np.maximum.at(most, mine, chance)
    counted = (units.weight[known] / chance) ** 2 * (1 - chance)
    total = np.maximum(sums(mine, counted, layers), NOTHING)
    judge, people = units.judge[known], units.people[known]
    left = judge - (sums(mine, counted * judge, layers) / total)[mine]
    right = people - (sums(mine, counted * people, layers) / total)[mine]
    slope = np.divide(
        sums(mine, counted * left * right, layers),
        sums(mine, counted * left**2, layers),
        out=tuned.copy(),
        where=sums(mine, counted * left**2, layers) > NOTHING,
    )
    return np.where(most > least + NOTHING, slope, tuned)


def standard_error(moved: Floats) -> float:
    """The standard error of the sum of what tasks add, which vary independently; 0 for fewer than two."""
    count = len(moved)
    if count < 2:
        return 0.0
    spread = moved - moved.mean()
    return sqrt(count / (count - 1) * float(spread @ spread))


def widens(error: float, alone: float) -> bool:
    """Whether this standard error makes an interval wider than that of people alone. So does none at all, where no task
    differs by the judge though some do by people: an interval would have to be made up.
    """
    return error > alone + NOTHING or error <= NOTHING < alone


def why_no_estimate(units: Units) -> str:
    import numpy as np

    if not len(units.judge):
        return _("nothing is judged")
    have = np.bincount(units.stratum[units.labelled], minlength=len(units.strata))
    if not have.any():
        return _("nothing of it is labelled")
    share = sums(units.stratum, units.weight, len(units.strata))
    bare = [at for at in np.argsort(-share) if not have[at]]
    if not bare:
        return ""
    return _("no label in stratum “{name}”, which has {share} of the weight").format(
        name=units.stratum_name(units.strata[int(bare[0])]), share=f"{share[bare[0]]:.0%}"
    )


def _fits(units: Units, tuning: Floats) -> tuple[StratumFit, ...]:
    import numpy as np

    layers = len(units.strata)
    sizes = sums(units.stratum, units.count, layers)
    known = units.labelled
    share = sums(units.stratum, units.weight, layers)
    _n, var = _moments(units, np.ones_like(known), units.judge)
    rest = replace(units, judge=units.people - tuning[units.stratum] * units.judge)
    n, spread = _moments(rest, known, rest.judge)
    return tuple(
        StratumFit(
            name,
            int(sizes[at]),
            int(n[at]),
            float(share[at]),
            float(tuning[at]),
            bool(var[at] <= NOTHING),
            sqrt(max(float(spread[at]), 0.0)) if n[at] > 1 else None,
        )
        for at, name in enumerate(units.strata)
    )


def around(
    name: str, value: float, n: int, error: float, tasks: int, why: str, share: bool = False
) -> Statistic:
    """A value with its interval by so many tasks; `why` there is none. `share`: it is one, as `corrected` has it."""
    if not why and error <= NOTHING:
        if share and -NOTHING <= value <= 1 + NOTHING:
            low, high = wilson(min(max(value, 0.0), 1.0), tasks)
            return Statistic(name=name, value=value, n=n, low=low, high=high)
        why = _("no task differs")
    if why:
        return Statistic(name=name, value=value, n=n, no_interval=why)
    half = t_quantile(0.975, tasks - 1) * error
    return Statistic(name=name, value=value, n=n, low=value - half, high=value + half)


def within(one: Statistic) -> Statistic:
    """The same with its interval cut to [0, 1], where all lies that labels correct, but for an estimate beyond it."""
    if one.value is None or one.low is None or one.high is None:
        return one
    low, high = max(one.low, min(one.value, 0.0)), min(one.high, max(one.value, 1.0))
    return one.model_copy(update={"low": low, "high": high})


def _too_few(fits: Sequence[StratumFit], labelled_tasks: int, told: Callable[[str], str]) -> str:
    """Why labels are too few for an interval, "" if they are not."""
    single = next((one.name for one in fits if one.labelled == 1 and one.units > 1), None)
    if single is not None:
        one = _("only one label in stratum “{name}”").format(name=told(single))
        return one if single else _("only one label")
    if labelled_tasks < FEWEST_GROUPS:
        return _("fewer than {n} tasks with labels").format(n=FEWEST_GROUPS)
    return ""


def _judged(moved: Floats, name: str, n: int, share: bool) -> Statistic:
    if not n:
        return Statistic(name=name, value=None, n=0, reason=_("nothing is judged"))
    tasks = len(moved)
    few = _("fewer than {n} tasks").format(n=FEWEST_GROUPS) if tasks < FEWEST_GROUPS else ""
    return around(name, float(moved.sum()), n, standard_error(moved), tasks, few, share)


def _of_these(found: WeightedEstimate, units: Units, bare: Statistic, few: str) -> Statistic:
    """The value with its interval for these units: what another draw from them would have told. Where chances differ,
    each unit counts by its own, scaled so that they represent the stratum.
    """
    import numpy as np

    known, layers = units.labelled, len(units.strata)
    mine = units.stratum[known]
    sizes = sums(units.stratum, units.count, layers)
    have = np.bincount(mine, minlength=layers)
    if ((have == 1) & (sizes > 1)).any():
        return bare.model_copy(update={"no_interval": few})
    reach = sums(mine, 1 / units.chance[known], layers) / sizes
    chance = np.minimum(units.chance[known] * reach[mine], 1.0)
    chance[(have == sizes)[mine]] = 1.0
    grown = (have / np.maximum(have - 1, 1))[mine]
    error = sqrt(float((grown * (1 - chance)) @ found.left**2))
    half = t_quantile(0.975, max(len(mine) - layers, 1)) * error
    low, high = found.value - half, found.value + half
    return bare.model_copy(update={"low": low, "high": high})
