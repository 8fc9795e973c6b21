"""All plots of a pool; among them curves of facts found call by call, and distributions."""

from collections.abc import Callable, Iterator, Sequence
from math import floor

from cuecard.annotate.labelling.effect_figures import MAIN
from cuecard.annotate.results.errors.family_tables import all_words, cohort_note, cohort_words
from cuecard.annotate.results.errors.rates import Rate, counted, flagged
from cuecard.annotate.results.errors.report import CurveAt, search_errors
from cuecard.annotate.results.plots.model import Axis, Plot, Point, Scale, Series, bounds
from cuecard.annotate.results.plots.series import (
    Arm,
    Field,
    against,
    by_domain,
    by_tasks,
    by_user_turns,
    fields_of,
    means,
    trials_of,
)
from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.core.i18n import _, headed
from cuecard.core.scoring.measures import PASS_MEASURES, measure_label

FEW = 5
"""Where fewer trials are left, a curve is drawn thin, because it depends on few."""


def curve_plots(field: Field) -> Iterator[Plot]:
    """FCR(k), new facts at k and hit precision(k), as `core.scoring.breakdowns` defines them: over fixed cohorts, and over
    all trials.
    """
    found = [(arm, search_errors(arm.group.judged)) for arm in field.arms]
    if not any(each.points for _arm, each in found):
        return
    cohorts = [(arm, each.cohort) for arm, each in found]
    fixed = tuple(
        headed(arm.name, cohort_note(cohort)) if len(cohorts) > 1 else cohort_note(cohort)
        for arm, cohort in cohorts
    )
    thin = _("Thin: fewer than {n}.").format(n=FEW)
    whole = [(arm, each.points) for arm, each in found]
    paper = [(arm, cohort.points) for arm, cohort in cohorts]
    words = cohort_words(*(cohort.trials for _arm, cohort in cohorts))
    for key, title, up, rate, note, scale in _curves():
        yield _plot(f"{key}-cohort", (title, words, up), field, paper, rate, (*fixed, thin), scale)
        yield _plot(key, (title, all_words(), up), field, whole, rate, (note,), scale)


def _curves() -> tuple[tuple[str, str, str, Callable[[CurveAt], Rate], str, Scale], ...]:
    """For each curve: key, title, label of the y axis, its values, its description over all trials, and its scale."""
    kept = _("Trials that stopped keep what they had; thin: fewer than {n} made the call.")
    made = _("Means over the trials that made the call; thin: fewer than {n}.")
    kept, made = kept.format(n=FEW), made.format(n=FEW)
    hits = _("Hit precision")
    return (
        (
            "coverage",
            _("Fact coverage after k calls"),
            measure_label("fcr"),
            lambda at: at.fcr,
            kept,
            "share",
        ),
        (
            "fresh",
            _("New facts at call k"),
            _("New facts"),
            lambda at: at.new_facts,
            made,
            "number",
        ),
        (
            "precision",
            _("Hit precision after k calls"),
            hits,
            lambda at: at.hit_precision,
            made,
            "share",
        ),
    )


def _plot(
    key: str,
    words: tuple[str, str, str],
    field: Field,
    found: Sequence[tuple[Arm, Sequence[CurveAt]]],
    rate: Callable[[CurveAt], Rate],
    notes: Sequence[str],
    scale: Scale,
) -> Plot:
    lines = (_line(arm, points, rate) for arm, points in found)
    series = tuple(one for one in lines if one.points)
    tops = [p.high if p.high is not None else p.y for one in series for p in one.points]
    low, high = bounds(tops, scale=scale)
    name, which, up = words
    return Plot(
        key=f"{key}-{field.family}",
        kind="lines",
        title=field.title(_("{plot}, {which}").format(plot=name, which=which)),
        family=field.family,
        x=Axis(
            label=_("Tool call k"),
            low=1,
            high=max([2.0, *(p.x for one in series for p in one.points)]),
            scale="count",
        ),
        y=Axis(label=up, low=low, high=high, scale=scale),
        counted=_("trials that made the call"),
        series=series,
        notes=(*field.notes, by_tasks(), *notes),
        missing="" if series else _("no trial made so many calls"),
    )


def _line(arm: Arm, points: Sequence[CurveAt], rate: Callable[[CurveAt], Rate]) -> Series:
    return arm.series(
        Point(
            x=at.k,
            y=found.value,
            low=found.statistic.low,
            high=found.statistic.high,
            n=at.cohort,
            remark=found.statistic.no_interval,
            thin=at.cohort < FEW,
            # Those that made the call are behind every point, also where all count.
            trials=at.hit_precision.trials,
        )
        for at in points
        if (found := rate(at)).value is not None
    )


CLASSES = 10


def class_of(value: float) -> int:
    """The number of the tenth of 0 to 1 that contains the value; a tenth contains its lower end, the last one also 1."""
    return max(0, min(CLASSES - 1, floor(value * CLASSES + 1e-9)))


def distribution(field: Field, measure: str) -> Plot:
    """Shares of an arm's trials by class of the measure: tenths, or 0 and 1 if it has no other values."""
    values = [[row.measure(measure) for row in arm.rows] for arm in field.arms]
    binary = measure in PASS_MEASURES
    names = ("0", "1") if binary else tuple(_class_name(at) for at in range(CLASSES))
    series = tuple(_bars(arm, measure, binary) for arm in field.arms)
    drawn = tuple(one for one in series if one.points)
    most = max((p.high or p.y for one in drawn for p in one.points), default=1.0)
    undefined = sum(value is None for some in values for value in some)
    notes = [*field.notes]
    if binary:
        notes.append(by_tasks())
    if undefined:
        notes.append(_("Trials without a value, left out: {n}").format(n=undefined))
    return Plot(
        key=f"spread-{field.family}",
        kind="bars",
        title=field.title(_("Spread of {measure}").format(measure=measure_label(measure))),
        family=field.family,
        x=Axis(label=measure_label(measure), low=0, high=len(names) - 1, names=names),
        y=Axis(
            label=_("Share of trials"),
            high=1.0 if binary else min(1.0, floor(most * 10 + 0.999) / 10),
            scale="share",
        ),
        counted=_("trials"),
        series=drawn,
        notes=tuple(notes),
        missing="" if drawn else _("no trial has a value"),
    )


def _bars(arm: Arm, measure: str, binary: bool) -> Series:
    rows = [row for row in arm.rows if row.measure(measure) is not None]
    if not rows:
        return arm.series(())
    places = [_place(row, measure, binary) for row in rows]
    many = 2 if binary else CLASSES
    inside = [[row for row, at in zip(rows, places, strict=True) if at == c] for c in range(many)]
    if not binary:
        shares = [len(own) / len(rows) for own in inside]
        return arm.series(
            Point(x=at, y=share, n=len(own), trials=trials_of(own))
            for at, (own, share) in enumerate(zip(inside, shares, strict=True))
        )
    found = counted(
        {
            at: flagged(measure, ((row, _place(row, measure, True) == at) for row in rows))
            for at in (0, 1)
        }
    )
    return arm.series(
        Point(
            x=at,
            y=found[at].value or 0.0,
            low=found[at].statistic.low,
            high=found[at].statistic.high,
            n=len(own),
            remark=found[at].statistic.no_interval,
            trials=trials_of(own),
        )
        for at, own in enumerate(inside)
    )


def _place(row: Row, measure: str, binary: bool) -> int:
    value = row.measure(measure) or 0.0
    return int(value) if binary else class_of(value)


def _class_name(at: int) -> str:
    return f"{at / CLASSES:.1f}–{(at + 1) / CLASSES:.1f}"


AGENTS: tuple[Dimension, ...] = ("agent",)


def plots_of(pool: Pool, by: Sequence[Dimension] = AGENTS) -> tuple[Plot, ...]:
    """All plots for which the pool has data, family by family; deterministic. `by`: the dimensions that make a series;
    each judge has series of its own. An expected plot that cannot be drawn (no prices) is included with the reason in
    `missing`.
    """
    return tuple(plot for field in fields_of(pool, by) for plot in _of_family(field))


def _of_family(field: Field) -> Iterator[Plot]:
    measure = MAIN[field.family]
    yield means(field, measure)
    yield against("cost", field, measure)
    yield against("tokens", field, measure)
    yield distribution(field, measure)
    yield by_domain(field, measure)
    turns = by_user_turns(field, measure)
    if turns:
        yield turns
    yield from curve_plots(field)
