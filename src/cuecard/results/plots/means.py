"""Figures of rows for points of plots, by the definitions of the score table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.results.pool import Row
from cuecard.results.taking import scores_of, with_task_intervals


def averages(rows: Sequence[Row], *measures: str) -> tuple[Statistic, ...]:
    """Avg@N of each measure over the judged ones of `rows`, intervals by resampling tasks; `n` counts tasks."""
    found = with_task_intervals(scores_of(rows, measures))
    none = _("no trial has a value")
    return tuple(
        found[name, Taken.AVG][1]
        if (name, Taken.AVG) in found
        else Statistic(name=name, value=None, n=0, reason=none)
        for name in measures
    )


def grouped(rows: Sequence[Row], name: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return dict(groups)
