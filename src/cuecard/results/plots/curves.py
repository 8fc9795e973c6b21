"""How facts are found call by call, a line for each arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cuecard.core.i18n import _
from cuecard.core.tasks import Family
from cuecard.results.plots.arms import Arm, by_tasks, notes_of, title
from cuecard.results.plots.means import over_trials, trials_of
from cuecard.results.plots.model import Axis, Plot, Point, Series
from cuecard.results.plots.ticks import bounds
from cuecard.results.pool import Row

FEW = 5
"""Where fewer trials are left a curve tells of these few only: it is drawn thin."""
Value = Callable[[Row, int], "float | None"]


def curve_plots(family: Family, arms: Sequence[Arm]) -> Iterator[Plot]:
    """FCR(k), new facts at k and hit precision(k), as `core.scoring.curves` defines them."""
    if family != "facts" or not any(_calls(row) for arm in arms for row in arm.judged):
        return
    calls = _("Tool call k")
    yield _plot(
        "coverage",
        _("Fact coverage after k calls"),
        calls,
        _("Fact coverage"),
        arms,
        covered,
        whole=True,
    )
    yield _plot("fresh", _("New facts at call k"), calls, _("New facts at call k"), arms, fresh)
    yield _plot(
        "precision", _("Hit precision after k calls"), calls, _("Hit precision"), arms, precise
    )


def covered(row: Row, k: int) -> float | None:
    """Of all trials: one that stopped keeps what it had."""
    facts = row.figures.facts if row.figures else None
    return None if facts is None or not facts.facts else sum(facts.fresh[:k]) / facts.facts


def fresh(row: Row, k: int) -> float | None:
    """Of trials that made as many calls."""
    facts = row.figures.facts if row.figures else None
    return None if facts is None or len(facts.fresh) < k else float(facts.fresh[k - 1])


def precise(row: Row, k: int) -> float | None:
    """Of trials that made as many calls."""
    facts = row.figures.facts if row.figures else None
    return None if facts is None or len(facts.hits) < k else sum(facts.hits[:k]) / k


def _plot(
    key: str,
    name: str,
    across: str,
    up: str,
    arms: Sequence[Arm],
    value: Value,
    whole: bool = False,
) -> Plot:
    series = tuple(one for one in (_line(arm, value, whole=whole) for arm in arms) if one.points)
    longest = max((p.x for one in series for p in one.points), default=1.0)
    tops = [p.high if p.high is not None else p.y for one in series for p in one.points]
    scale = "number" if value is fresh else "share"
    low, high = bounds(tops, scale=scale)
    cohort = (
        _("Trials that stopped keep what they had; thin: fewer than {n} trials made the call.")
        if whole
        else _("Of trials that made the call; thin: fewer than {n}.")
    )
    return Plot(
        key=f"{key}-facts",
        kind="lines",
        title=title(name, "facts"),
        family="facts",
        x=Axis(label=across, low=1, high=max(2.0, longest), scale="count"),
        y=Axis(label=up, low=low, high=high, scale=scale),
        counted=_("trials that made the call"),
        series=series,
        notes=(*notes_of(arms), by_tasks(), cohort.format(n=FEW)),
    )


def _line(arm: Arm, value: Value, *, whole: bool) -> Series:
    rows = [row for row in arm.judged if row.figures and row.figures.facts]
    longest = max((_calls(row) for row in rows), default=0)
    places = range(1, longest + 1)
    found = over_trials(rows, "curve", [lambda row, k=k: value(row, k) for k in places])
    points: list[Point] = []
    for k, statistic in zip(places, found, strict=True):
        cohort = [row for row in rows if _calls(row) >= k]
        if statistic.value is not None:
            points.append(
                Point(
                    x=k,
                    y=statistic.value,
                    low=statistic.low,
                    high=statistic.high,
                    n=len(cohort),
                    remark=statistic.no_interval,
                    thin=len(cohort) < FEW,
                    trials=trials_of(cohort),
                )
            )
    return arm.series(points)


def _calls(row: Row) -> int:
    facts = row.figures.facts if row.figures else None
    return len(facts.hits) if facts else 0
