"""The series of plots, and plots of one measure's means by arm, cost, domain and user turns."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.results.errors.groups import Group, by_family, groups_of, notes_of
from cuecard.annotate.results.errors.rates import classes
from cuecard.annotate.results.plots.model import Axis, HeatCell, Plot, Point, Series, bounds
from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.annotate.results.row_samples import samples_of, with_task_intervals
from cuecard.annotate.results.words import dimension_word, value_word
from cuecard.core.i18n import N_, _, joined, listed, ngettext
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.breakdowns import FINE_TURN_CLASSES, fine_turns_class
from cuecard.core.scoring.measures import measure_label
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.models import Family

MARKS = 12
"""How many series have a marker of their own; if there are more, each family is numbered by itself."""


@dataclass(frozen=True)
class Arm:
    """A group of trials of one family that makes a series. `mark`: its number among all arms of the pool."""

    group: Group
    mark: int

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its judged trials."""
        return tuple(row for row, _figures in self.group.judged)

    def series(self, points: Iterable[Point]) -> Series:
        return Series(
            name=self.name, mark=self.mark, points=tuple(points), baseline=self.group.baseline
        )


@dataclass(frozen=True)
class Field:
    """The arms of one family. `notes` belong below each of its plots."""

    family: Family
    arms: tuple[Arm, ...]
    notes: tuple[str, ...]

    def title(self, text: str) -> str:
        return f"{text} · {value_word('family', self.family)}"


def fields_of(pool: Pool, by: Sequence[Dimension]) -> Iterator[Field]:
    """Each family with judged trials. If there are several judges, each has arms of its own."""
    groups = groups_of(pool, tuple(by))
    every = {values: mark for mark, values in enumerate(sorted({g.values for g in groups}))}
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        own = {group.values: mark for mark, group in enumerate(mine)}
        marks = every if len(every) <= MARKS else own
        arms = tuple(Arm(group, marks[group.values]) for group in mine)
        yield Field(family, arms, (_counted(arms), *notes.get(family, ())))


def by_tasks() -> str:
    return _("Intervals are 95%, by resampling tasks.")


def trials_of(rows: Sequence[Row]) -> tuple[int, ...]:
    return tuple(sorted(row.trial.id for row in rows))


def _counted(arms: Sequence[Arm]) -> str:
    """What the plot's n counts; it names the judges if there are several."""
    rows = [row for arm in arms for row in arm.rows]
    tasks = len({row.trial.task_id for row in rows})
    trials = len({row.trial.id for row in rows})
    over = ngettext("{n} judged trial", "{n} judged trials", trials).format(n=f"{trials:,}")
    on = ngettext("on {n} task", "on {n} tasks", tasks).format(n=f"{tasks:,}")
    return joined((over, on)) + _(".")


def averages(rows: Sequence[Row], *measures: str) -> tuple[Statistic, ...]:
    """Avg@N of each measure (pooled ratios pooled) over the judged ones of `rows`, with intervals by resampling tasks;
    `n` counts tasks.
    """
    found = with_task_intervals(samples_of(rows), measures)
    none = _("no trial has a value")
    keys = [(name, statistics_of(name)[0]) for name in measures]
    return tuple(
        found[key][1] if key in found else Statistic(name=key[0], value=None, n=0, reason=none)
        for key in keys
    )


def grouped(rows: Sequence[Row], name: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return dict(groups)


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
    """One point for each arm: the mean of what its trials cost, and the mean of the measure."""
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
    """A heat map: domains by arms."""
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
    """Means of the measure by number of user turns, in our classes; None if all are in one class."""
    found = [
        classes(arm.group.judged, "user_turns", fine_turns_class, FINE_TURN_CLASSES, measure)
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
        _("Not drawn: {names} ({reason})").format(names=listed(names), reason=reason)
        for reason, names in reasons.items()
    )
