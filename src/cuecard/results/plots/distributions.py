"""How the values of trials are spread, a picture for each arm."""

from __future__ import annotations

from math import floor

from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import PASS_MEASURES
from cuecard.core.scoring.labels import measure_label
from cuecard.results.errors.rates import counted, flagged
from cuecard.results.plots.arms import Arm, Field, by_tasks, trials_of
from cuecard.results.plots.model import Axis, Plot, Point, Series
from cuecard.results.pool import Row

CLASSES = 10


def class_of(value: float) -> int:
    """In which tenth of 0 to 1 it lies; a tenth holds its lower end, the last one also 1."""
    return max(0, min(CLASSES - 1, floor(value * CLASSES + 1e-9)))


def distribution(field: Field, measure: str) -> Plot:
    """Shares of an arm's trials by class of the measure: tenths, or 0 and 1 of a measure that has nothing between."""
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
