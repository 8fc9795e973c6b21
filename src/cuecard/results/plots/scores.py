"""Plots of one measure's means: by arm, against what trials took, by domain, by user turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cuecard.annotate.agreement import Statistic
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.graph_errors import (
    FINE_TURN_CLASSES,
    fine_turns_class,
    user_turns_of,
)
from cuecard.core.scoring.labels import measure_label
from cuecard.results.errors.classes import classes
from cuecard.results.plots.arms import Arm, Field, by_tasks, trials_of
from cuecard.results.plots.means import averages, grouped
from cuecard.results.plots.model import Axis, HeatCell, Plot, Point, Series
from cuecard.results.plots.ticks import bounds
from cuecard.results.words import dimension_word, value_word

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


def means(field: Field, measure: str) -> Plot:
    """A row for each arm that has a value."""
    found = [(arm, averages(arm.rows, measure)[0]) for arm in field.arms]
    drawn = [(arm, mean) for arm, mean in found if mean.value is not None]
    return Plot(
        key=f"means-{field.family}",
        kind="intervals",
        title=field.title(_("{measure} with intervals").format(measure=measure_label(measure))),
        family=field.family,
        x=named_axis(dimension_word("agent"), [arm.name for arm, _mean in drawn]),
        y=measure_axis(measure),
        counted=_("tasks"),
        series=tuple(
            arm.series(_points(row, mean, trials_of(arm.rows)))
            for row, (arm, mean) in enumerate(drawn)
        ),
        notes=(*field.notes, by_tasks(), *_without(found)),
        missing="" if drawn else _("no trial has a value"),
    )


def against(paid: Paid, field: Field, measure: str) -> Plot:
    """One point for each arm: what its trials took on average, and the mean of the measure."""
    words, label, none = _PAID[paid]
    series: list[Series] = []
    lacking: list[tuple[Arm, Statistic]] = []
    for arm in field.arms:
        mean, took = averages(arm.rows, measure, paid)
        nothing = took.value is None or (paid == "tokens" and not took.value)
        if mean.value is None:
            lacking.append((arm, mean))
        elif took.value is None or nothing:
            reason = Statistic(name=paid, value=None, n=0, reason=_(none))
            lacking.append((arm, reason))
        else:
            point = _points(took.value, mean, trials_of(arm.rows))[0]
            ends = {"x_low": took.low, "x_high": took.high}
            series.append(arm.series([point.model_copy(update=ends)]))
    points = [point for one in series for point in one.points]
    ends = [x for p in points for x in (p.x, p.x_low, p.x_high) if x is not None]
    scale = "cost" if paid == "cost" else "count"
    low, high = bounds(ends, scale=scale)
    return Plot(
        key=f"{paid}-{field.family}",
        kind="scatter",
        title=field.title(_(words).format(measure=measure_label(measure))),
        family=field.family,
        x=Axis(label=_(label), low=low, high=high, scale=scale),
        y=measure_axis(measure),
        counted=_("tasks"),
        series=tuple(series),
        notes=(*field.notes, by_tasks(), *(_without(lacking) if series else ())),
        missing="" if series else _(none),
    )


def by_domain(field: Field, measure: str) -> Plot:
    """Domains down, arms across."""
    groups = [grouped(arm.rows, lambda row: row.traits.domain) for arm in field.arms]
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
        key=f"domains-{field.family}",
        kind="heat",
        title=field.title(_("{measure} by domain").format(measure=measure_label(measure))),
        family=field.family,
        x=named_axis(dimension_word("agent"), [arm.name for arm in field.arms]),
        y=named_axis(
            dimension_word("domain"), [value_word("domain", domain) for domain in domains]
        ),
        counted=_("tasks"),
        cells=tuple(cells) if known else (),
        shade=measure_axis(measure),
        notes=(*field.notes, by_tasks()),
        missing="" if known else _("the tasks name no domain"),
    )


def by_user_turns(field: Field, measure: str) -> Plot | None:
    """Means over the trials with so many user turns, in our classes; None where all had about as many."""
    found = [
        classes(
            arm.group.judged,
            lambda figures: fine_turns_class(user_turns_of(figures)),
            FINE_TURN_CLASSES,
            measure,
        )
        for arm in field.arms
    ]
    names = [
        name
        for name in FINE_TURN_CLASSES
        if any(one.name == name and one.mean.value is not None for some in found for one in some)
    ]
    if len(names) < 2:
        return None
    series: list[Series] = []
    for arm, some in zip(field.arms, found, strict=True):
        means = {one.name: one.mean for one in some}
        points = [
            point
            for at, name in enumerate(names)
            for point in _points(at, means[name].statistic, means[name].trials)
        ]
        series.append(arm.series(points))
    return Plot(
        key=f"turns-{field.family}",
        kind="lines",
        title=field.title(_("{measure} by user turns").format(measure=measure_label(measure))),
        family=field.family,
        x=named_axis(_("User turns"), names),
        y=measure_axis(measure),
        counted=_("trials"),
        series=tuple(one for one in series if one.points),
        notes=(
            *field.notes,
            by_tasks(),
            _("The classes are ours."),
            _("Longer dialogues are other dialogues: this shows no effect of turns."),
        ),
    )


def named_axis(label: str, names: Sequence[str]) -> Axis:
    return Axis(label=label, low=0, high=max(1, len(names) - 1), names=tuple(names))


def _points(x: float, mean: Statistic, trials: Sequence[int]) -> tuple[Point, ...]:
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
            trials=tuple(trials),
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
