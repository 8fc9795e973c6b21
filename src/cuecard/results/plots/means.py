"""Figures of rows for points of plots, by the definitions of the score table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.results.pool import Row
from cuecard.results.taking import scores_of, with_task_intervals


def averages(rows: Sequence[Row], *measures: str) -> tuple[Statistic, ...]:
    """Avg@N of each measure (pooled ratios pooled) over the judged ones of `rows`, intervals by resampling tasks; `n`
    counts tasks.
    """
    found = with_task_intervals(scores_of(rows, measures), measures)
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
