"""Plots of one measure's means: by arm, against what trials took, by domain, by user turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cuecard.annotate.agreement import Statistic
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.graph_errors import turns_bucket
from cuecard.core.scoring.labels import measure_label
from cuecard.core.tasks import Family
from cuecard.results.plots.arms import Arm, by_tasks, notes_of, title
from cuecard.results.plots.means import averages, grouped, plain_name, trials_of
from cuecard.results.plots.model import Axis, HeatCell, Plot, Point, Series
from cuecard.results.plots.ticks import bounds
from cuecard.results.pool import Row

Paid = Literal["cost", "tokens"]

_PAID: dict[Paid, tuple[str, str, str]] = {
    "cost": (
        N_("{measure} against cost"),
        N_("Cost of the agent's calls, mean per trial"),
        N_("the models have no prices in the configuration"),
    ),
    "tokens": (
        N_("{measure} against tokens"),
        N_("Tokens of the agent's calls, mean per trial"),
        N_("no model was called"),
    ),
}


def measure_axis(measure: str) -> Axis:
    """Main measures of all families are shares."""
    return Axis(label=measure_label(measure), scale="share")


def means(family: Family, measure: str, arms: Sequence[Arm]) -> Plot:
    """A row for each arm that has a value."""
    found = [(arm, averages(arm.judged, measure)[0]) for arm in arms]
    drawn = [(arm, mean) for arm, mean in found if mean.value is not None]
    return Plot(
        key=f"means-{family}",
        kind="intervals",
        title=title(_("{measure} with intervals").format(measure=measure_label(measure)), family),
        family=family,
        x=named_axis(_("Agent"), [arm.name for arm, _mean in drawn]),
        y=measure_axis(measure),
        counted=_("tasks"),
        series=tuple(
            arm.series(_points(row, mean, arm.judged)) for row, (arm, mean) in enumerate(drawn)
        ),
        notes=(*notes_of(arms), by_tasks(), *_without(found)),
        missing="" if drawn else _("no trial has a value"),
    )


def against(paid: Paid, family: Family, measure: str, arms: Sequence[Arm]) -> Plot:
    """One point for each arm: what its trials took on average, and the mean of the measure."""
    words, label, none = _PAID[paid]
    series: list[Series] = []
    lacking: list[tuple[Arm, Statistic]] = []
    for arm in arms:
        mean, took = averages(arm.judged, measure, paid)
        nothing = took.value is None or (paid == "tokens" and not took.value)
        if mean.value is None:
            lacking.append((arm, mean))
        elif took.value is None or nothing:
            reason = Statistic(name=paid, value=None, n=0, reason=_(none))
            lacking.append((arm, reason))
        else:
            point = _points(took.value, mean, arm.judged)[0]
            ends = {"x_low": took.low, "x_high": took.high}
            series.append(arm.series([point.model_copy(update=ends)]))
    points = [point for one in series for point in one.points]
    ends = [x for p in points for x in (p.x, p.x_low, p.x_high) if x is not None]
    scale = "cost" if paid == "cost" else "count"
    low, high = bounds(ends, scale=scale)
    return Plot(
        key=f"{paid}-{family}",
        kind="scatter",
        title=title(_(words).format(measure=measure_label(measure)), family),
        family=family,
        x=Axis(label=_(label), low=low, high=high, scale=scale),
        y=measure_axis(measure),
        counted=_("tasks"),
        series=tuple(series),
        notes=(*notes_of(arms), by_tasks(), *(_without(lacking) if series else ())),
        missing="" if series else _(none),
    )


def by_domain(family: Family, measure: str, arms: Sequence[Arm]) -> Plot:
    """Domains down, arms across."""
    groups = [grouped(arm.judged, lambda row: row.traits.domain) for arm in arms]
    domains = sorted({domain for group in groups for domain in group}, key=lambda d: (not d, d))
    cells: list[HeatCell] = []
    for row, domain in enumerate(domains):
        for column, group in enumerate(groups):
            rows = group.get(domain, [])
            (mean,) = averages(rows, measure)
            cells.append(
                HeatCell(
                    row=row,
                    column=column,
                    value=mean.value,
                    n=mean.n,
                    low=mean.low,
                    high=mean.high,
                    reason=mean.reason or mean.no_interval,
                    trials=trials_of(rows),
                )
            )
    known = any(domains)
    return Plot(
        key=f"domains-{family}",
        kind="heat",
        title=title(_("{measure} by domain").format(measure=measure_label(measure)), family),
        family=family,
        x=named_axis(_("Agent"), [arm.name for arm in arms]),
        y=named_axis(_("Domain"), [plain_name(domain) for domain in domains]),
        counted=_("tasks"),
        cells=tuple(cells) if known else (),
        shade=measure_axis(measure),
        notes=(*notes_of(arms), by_tasks()),
        missing="" if known else _("the tasks name no domain"),
    )


def by_user_turns(family: Family, measure: str, arms: Sequence[Arm]) -> Plot | None:
    """Means of trials with so many user turns; None where all had about as many."""
    groups = [grouped(arm.judged, _turns) for arm in arms]
    buckets = sorted({name for group in groups for name in group}, key=_first_number)
    if len(buckets) < 2:
        return None
    series: list[Series] = []
    for arm, group in zip(arms, groups, strict=True):
        points: list[Point] = []
        for at, bucket in enumerate(buckets):
            (mean,) = averages(group.get(bucket, []), measure)
            points += _points(at, mean, group.get(bucket, []))
        series.append(arm.series(points))
    return Plot(
        key=f"turns-{family}",
        kind="lines",
        title=title(_("{measure} by user turns").format(measure=measure_label(measure)), family),
        family=family,
        x=named_axis(_("User turns"), buckets),
        y=measure_axis(measure),
        counted=_("tasks"),
        series=tuple(one for one in series if one.points),
        notes=(
            *notes_of(arms),
            by_tasks(),
            _("Trials chose their own length: this shows no effect of turns."),
        ),
    )


def named_axis(label: str, names: Sequence[str]) -> Axis:
    return Axis(label=label, low=0, high=max(1, len(names) - 1), names=tuple(names))


def _points(x: float, mean: Statistic, rows: Sequence[Row]) -> tuple[Point, ...]:
    """The point of a mean, none where that is undefined."""
    if mean.value is None:
        return ()
    return (
        Point(
            x=x,
            y=mean.value,
            low=mean.low,
            high=mean.high,
            n=mean.n,
            remark=mean.no_interval,
            trials=trials_of(rows),
        ),
    )


def _without(found: Sequence[tuple[Arm, Statistic]]) -> tuple[str, ...]:
    """Arms without a value, by reason."""
    reasons: dict[str, list[str]] = {}
    for arm, statistic in found:
        if statistic.value is None:
            reasons.setdefault(statistic.reason, []).append(arm.name)
    return tuple(
        _("Not drawn: {names} ({reason})").format(names=", ".join(names), reason=reason)
        for reason, names in reasons.items()
    )


def _turns(row: Row) -> str:
    return turns_bucket(int(row.measure("user_turns") or 0))


def _first_number(bucket: str) -> int:
    return int(bucket.rstrip("+").split("-")[0])
