"""How facts are found call by call, a line for each arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cuecard.core.i18n import _
from cuecard.core.scoring.labels import measure_label
from cuecard.results.errors.curve_sheets import all_words, cohort_note, cohort_words
from cuecard.results.errors.rates import Rate
from cuecard.results.errors.searching import CurveAt, search_errors
from cuecard.results.plots.arms import Arm, Field, by_tasks
from cuecard.results.plots.model import Axis, Plot, Point, Scale, Series
from cuecard.results.plots.ticks import bounds

FEW = 5
"""Where fewer trials are left a curve tells of these few only: it is drawn thin."""


def curve_plots(field: Field) -> Iterator[Plot]:
    """FCR(k), new facts at k and hit precision(k), as `core.scoring.curves` defines them: over fixed cohorts, and over
    all trials.
    """
    if field.family != "facts":
        return
    found = [(arm, search_errors(arm.group.judged)) for arm in field.arms]
    if not any(each.points for _arm, each in found):
        return
    cohorts = [(arm, each.cohort) for arm, each in found]
    fixed = tuple(
        f"{arm.name}: {cohort_note(cohort)}" if len(cohorts) > 1 else cohort_note(cohort)
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
    """Key, title, what stands up, the figure, what to say of all trials, and the scale."""
    kept = _("Trials that stopped keep what they had; thin: fewer than {n} made the call.")
    made = _("Means over the trials that made the call; thin: fewer than {n}.")
    kept, made = kept.format(n=FEW), made.format(n=FEW)
    hits = _("Hit precision")
    return (
        ("coverage", _("Fact coverage after k calls"), measure_label("fcr"), _fcr, kept, "share"),
        ("fresh", _("New facts at call k"), _("New facts"), _new_facts, made, "number"),
        ("precision", _("Hit precision after k calls"), hits, _precision, made, "share"),
    )


def _fcr(at: CurveAt) -> Rate:
    return at.fcr


def _new_facts(at: CurveAt) -> Rate:
    return at.new_facts


def _precision(at: CurveAt) -> Rate:
    return at.hit_precision


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
        key=f"{key}-facts",
        kind="lines",
        title=field.title(_("{plot}, {which}").format(plot=name, which=which)),
        family="facts",
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
