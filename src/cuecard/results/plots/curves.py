"""How facts are found call by call, a line for each arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cuecard.core.i18n import _
from cuecard.core.scoring.labels import measure_label
from cuecard.results.errors.rates import Rate
from cuecard.results.errors.searching import CurveAt, search_errors
from cuecard.results.plots.arms import Arm, Field, by_tasks
from cuecard.results.plots.model import Axis, Plot, Point, Scale, Series
from cuecard.results.plots.ticks import bounds

FEW = 5
"""Where fewer trials are left a curve tells of these few only: it is drawn thin."""


def curve_plots(field: Field) -> Iterator[Plot]:
    """FCR(k), new facts at k and hit precision(k), as `core.scoring.curves` defines them."""
    if field.family != "facts":
        return
    found = [(arm, search_errors(arm.group.judged).points) for arm in field.arms]
    if not any(points for _arm, points in found):
        return
    kept = _("Trials that stopped keep what they had; thin: fewer than {n} made the call.")
    cohort = _("Means over the trials that made the call; thin: fewer than {n}.")
    coverage = (_("Fact coverage after k calls"), measure_label("fcr"))
    new = (_("New facts at call k"), _("New facts"))
    precision = (_("Hit precision after k calls"), _("Hit precision"))
    yield _plot("coverage", coverage, field, found, lambda at: at.fcr, kept)
    yield _plot("fresh", new, field, found, lambda at: at.new_facts, cohort, scale="number")
    yield _plot("precision", precision, field, found, lambda at: at.hit_precision, cohort)


def _plot(
    key: str,
    words: tuple[str, str],
    field: Field,
    found: Sequence[tuple[Arm, Sequence[CurveAt]]],
    rate: Callable[[CurveAt], Rate],
    note: str,
    scale: Scale = "share",
) -> Plot:
    lines = (_line(arm, points, rate) for arm, points in found)
    series = tuple(one for one in lines if one.points)
    tops = [p.high if p.high is not None else p.y for one in series for p in one.points]
    low, high = bounds(tops, scale=scale)
    name, up = words
    return Plot(
        key=f"{key}-facts",
        kind="lines",
        title=field.title(name),
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
        notes=(*field.notes, by_tasks(), note.format(n=FEW)),
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
