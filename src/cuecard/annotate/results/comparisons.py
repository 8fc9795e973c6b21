"""Compares two or more arms of a dimension (agents, runs, settings, judges) on the same revisions of tasks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from cuecard.annotate.agreement.intervals import RESAMPLES
from cuecard.annotate.estimation.ranks import holm
from cuecard.annotate.labelling.effect_figures import MAIN
from cuecard.annotate.results import DIMENSIONS, Dimension
from cuecard.annotate.results.paired_differences import contrast_of
from cuecard.annotate.results.pairing import Arm, Comparison, Contrast, matched, paired
from cuecard.annotate.results.pool import Pool, Row, values_in
from cuecard.annotate.results.row_samples import SPENT
from cuecard.annotate.results.scores import counts_of, of_family, unknown
from cuecard.annotate.results.words import (
    baselines,
    counted_twice,
    dimension_word,
    in_sentence,
    names_of,
    place_of,
    value_word,
)
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.i18n import _, listed
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.measures import HEADLINES, POOLED_MEASURES, mean_name, pooled_notes
from cuecard.core.tasks.models import FAMILIES, Family

COMPARABLE: tuple[Dimension, ...] = (
    "agent",
    "run",
    "model",
    "scaffold",
    "setting",
    "memory",
    "user",
    "world",
    "judge",
    "compacted",
)
"""Dimensions in which one task can be played or judged differently; the others belong to the task."""

PLAIN = frozenset(("end_to_end", "neutral", "simulated", "single", "none", "without"))
"""The default bases of comparisons."""
_ALSO: tuple[Dimension, ...] = (*COMPARABLE, "language", "difficulty", "domain", "tier")

T = TypeVar("T")


def compare(
    pool: Pool,
    dimension: Dimension,
    base: str | None = None,
    *,
    family: Family,
    measure: str | None = None,
    taken: Taken | None = None,
    arms: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare each of `arms` (default: all) with `base` (default: see `BASES`, or the first) by the family's main
    measure or `measure`, paired by task and revision, and within the other dimensions where both sides have the same
    values (`Contrast.within`); a task's value is the mean over those. `taken` None: the measure's default way of
    combining samples. Judges are compared on the same trials. Trials whose value
    is unknown belong to no arm. Arms that share no task with
    the base have a contrast with n = 0.

    Raises `NotFound` (an unknown arm or measure), `NotAllowed` (fewer than two arms, no judged trials, a dimension of
    tasks, no shared task at all).
    """
    if dimension not in COMPARABLE:
        raise _of_tasks(dimension)
    mine = of_family(pool, family)
    name = measure or MAIN[family]
    taken = taken or statistics_of(name)[0]
    known = measures_in(mine)
    if not known:
        raise NotAllowed(_("No trial is judged"), hint=_("Judge the runs first (`cuecard judge`)."))
    if name not in known or taken not in statistics_of(name):
        raise unknown(_("No such measure"), f"{name}.{taken.value}", known)
    groups = _grouped(mine, dimension)
    chosen = _chosen(groups, dimension, base, arms, names_of(pool))
    first = chosen[0]
    contrasts: list[Contrast] = []

    def once(of: str, arms: tuple[str, ...], count: Callable[[], T]) -> T:
        """What is the same for all measures."""
        return mine.once((of, dimension, *arms), count)

    for other in chosen[1:]:
        match = once(
            "matched",
            (first, other),
            lambda other=other: matched(groups[first], groups[other], dimension),
        )
        found = paired(match, name, taken)
        contrast = contrast_of(first, other, found, (name, taken), resamples=resamples)
        alone = _alone(contrast, (*groups[first], *groups[other]), dimension)
        contrasts.append(contrast.model_copy(update={"alone": alone}))
    adjusted = holm([contrast.sign_test for contrast in contrasts])
    contrasts = [
        each.model_copy(update={"sign_test_holm": p})
        for each, p in zip(contrasts, adjusted, strict=True)
    ]
    if not any(contrast.base_trials for contrast in contrasts):
        raise NotAllowed(
            _("{arms} share no judged task").format(arms=listed(chosen)),
            hint=_("Only trials on the same revision of a task can be paired."),
        )
    each = {
        arm: once("arm", (arm,), lambda arm=arm: _arm(arm, dimension, groups[arm]))
        for arm in chosen
    }
    return Comparison(
        dimension=dimension,
        family=family,
        measure=name,
        taken=taken,
        base=first,
        arms=tuple(each.values()),
        contrasts=tuple(contrasts),
        within=_any(contrast.within for contrast in contrasts),
        differs=_any(tuple(contrast.differs) for contrast in contrasts),
        names=names_of(pool),
        notes=(
            *pooled_notes((name,)),
            *_notes(mine, dimension, taken, each, contrasts, names_of(pool)),
        ),
    )


def comparisons(
    pool: Pool,
    dimension: Dimension,
    base: str | None = None,
    *,
    measures: Sequence[str] = (),
    arms: Sequence[str] | None = None,
) -> tuple[Comparison, ...]:
    """A comparison for each family in which arms share a task and each of `measures` that it has (default: its
    headlines). Raises as `compare` if there is none.
    """
    found: list[Comparison] = []
    refused: list[CuecardError] = []
    known = measures_in(pool)
    for name in measures:
        if known and name not in known:
            raise unknown(_("No such measure"), name, known)
    for family in FAMILIES:
        if family not in pool.families:
            continue
        has = measures_in(of_family(pool, family))
        wanted = [name for name in measures or HEADLINES[family] if name in has or not has]
        for name in wanted:
            try:
                found.append(compare(pool, dimension, base, family=family, measure=name, arms=arms))
            except CuecardError as error:
                refused.append(error)
    if not found and refused:
        raise refused[0]
    if not found:
        hint = _("Name runs whose trials have ended; `cuecard runs` lists them.")
        raise NotAllowed(_("There are no trials to compare"), hint=hint)
    return tuple(found)


def measures_in(pool: Pool) -> tuple[str, ...]:
    """Measures that judged trials have, in order, then the means of pooled ones, cost and tokens. Empty without judged
    trials.
    """
    found = dict.fromkeys(pool.measures)
    means = (mean_name(name) for name in POOLED_MEASURES if name in found)
    return (*found, *means, *SPENT) if found else ()


def dimension_named(name: str) -> Dimension:
    """The dimension of this name. Raises `NotFound`, listing those there are."""
    for dimension in DIMENSIONS:
        if dimension == name:
            return dimension
    raise unknown(_("No such dimension"), name, DIMENSIONS)


def _grouped(pool: Pool, dimension: Dimension) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in pool.rows:
        groups[row.value(dimension)].append(row)
    groups.pop("", None)
    order = {run.uid[:8]: f"{at:06}" for at, run in enumerate(pool.runs)}
    names = sorted(groups, key=lambda name: place_of(dimension, order.get(name, name)))
    return {name: groups[name] for name in names}


def _chosen(
    groups: Mapping[str, object],
    dimension: Dimension,
    base: str | None,
    arms: Sequence[str] | None,
    names: Mapping[str, str],
) -> list[str]:
    """The arms, the base first. Runs may be given by name."""
    called = {names[f"run/{name}"]: name for name in groups} if dimension == "run" else {}
    title = _("No trial with this {dimension}").format(dimension=in_sentence(dimension))
    chosen: list[str] = []
    wanted = tuple(groups if arms is None else arms)
    first = base if base is not None else next((name for name in wanted if name in PLAIN), None)
    for name in (*(() if first is None else (first,)), *wanted):
        meant = called.get(name, name)
        if meant not in groups:
            raise unknown(title, name, [*(called or groups)])
        if meant not in chosen:
            chosen.append(meant)
    if len(chosen) < 2:
        raise NotAllowed(
            _("There is nothing to compare: {dimension} is {value} everywhere").format(
                dimension=in_sentence(dimension),
                value=value_word(dimension, "".join(chosen), names),
            ),
            hint=_("Give more runs, or another dimension."),
        )
    return chosen


def _arm(name: str, dimension: Dimension, rows: Sequence[Row]) -> Arm:
    return Arm(
        name=name,
        dimension=dimension,
        counts=counts_of(rows),
        also={
            other: tuple(sorted(found, key=lambda value, other=other: place_of(other, value)))
            for other, found in values_in(rows, _ALSO).items()
            if other != dimension
        },
        trials=tuple(sorted({row.trial.id for row in rows})),
    )


def _alone(contrast: Contrast, rows: Sequence[Row], dimension: Dimension) -> str:
    """The agent of all paired trials if there are several among `rows`, else ""."""
    if dimension == "agent":
        return ""
    paired = {*contrast.base_trials, *contrast.arm_trials}
    agents = {row.value("agent") for row in rows}
    used = {row.value("agent") for row in rows if row.trial.id in paired}
    return next(iter(used)) if len(used) == 1 < len(agents) else ""


def _any(found: Iterator[tuple[Dimension, ...]]) -> tuple[Dimension, ...]:
    return tuple(dict.fromkeys(dimension for each in found for dimension in each))


def _of_tasks(dimension: Dimension) -> NotAllowed:
    return NotAllowed(
        _("{dimension} belongs to the task, so that no task has two to pair").format(
            dimension=dimension_word(dimension)
        ),
        hint=_("See `cuecard score RUN --by {dimension}`; compare by: {names}.").format(
            dimension=dimension, names=listed(COMPARABLE)
        ),
        in_app=_("Scores (<run.scores> on the run) have lines by it."),
    )


def _notes(
    pool: Pool,
    dimension: Dimension,
    taken: Taken,
    arms: Mapping[str, Arm],
    contrasts: Sequence[Contrast],
    names: Mapping[str, str],
) -> Iterator[str]:
    for contrast in contrasts:
        sides = [arms[contrast.base], arms[contrast.arm]]
        words = [value_word(dimension, arm.name, names) for arm in sides]
        for other, values in contrast.differs.items():
            said = [listed(value_word(other, v, names) for v in side) for side in values]
            yield _(
                "{base} and {arm} also differ in {dimension} ({left} against {right}); the difference may be its doing."
            ).format(
                base=words[0],
                arm=words[1],
                dimension=in_sentence(other),
                left=said[0],
                right=said[1],
            )
        if contrast.alone:
            yield _(
                "Of the trials of {base} and {arm} only those of {agent} could be paired: this difference stands on one"
                " agent of several."
            ).format(agent=value_word("agent", contrast.alone, names), base=words[0], arm=words[1])
        if taken.of_several and sides[0].counts.samples != sides[1].counts.samples:
            told = _(
                "{base} has up to {n} samples of a task and {arm} up to {m}: the best of more is better by itself."
            )
            if taken is Taken.PASS_ALL:
                told = _(
                    "{base} has up to {n} samples of a task and {arm} up to {m}: that all of more pass is rarer by itself."
                )
            yield told.format(
                base=words[0], arm=words[1], n=sides[0].counts.samples, m=sides[1].counts.samples
            )
    within = _any(contrast.within for contrast in contrasts)
    if within:
        yield _("Pairs are of the same task and the same {dimensions}.").format(
            dimensions=in_sentence(*within)
        )
    if dimension == "compacted":
        yield _(
            "Whether a trial was compacted is its own doing and not drawn by lot: longer trials are, and the pairs"
            " are of tasks where both occur."
        )
    if dimension != "run":
        yield from counted_twice(pool)
    yield from baselines(pool)
