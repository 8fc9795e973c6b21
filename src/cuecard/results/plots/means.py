"""Figures of rows for points of plots, by the definitions of the score table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.agreement.bootstrap import with_intervals
from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.text import one_line
from cuecard.results.pool import Row
from cuecard.results.taking import scores_of, with_task_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NAME = 60


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


def over_trials(
    rows: Sequence[Row], name: str, values: Sequence[Callable[[Row], float | None]]
) -> tuple[Statistic, ...]:
    """Of each value the mean over those of the trials that have it, all trials of a task resampled together; `n`
    counts trials.
    """
    import numpy as np

    tasks = {task: at for at, task in enumerate(sorted({row.trial.task_id for row in rows}))}
    coefficients: list[Coefficient] = []
    for value in values:
        terms = np.zeros((len(tasks), 2))
        known = [(row, v) for row in rows if (v := value(row)) is not None]
        for row, v in known:
            terms[tasks[row.trial.task_id]] += (v, 1.0)
        coefficients.append(
            Coefficient(
                name=name,
                terms=terms,
                of=_mean,
                n=len(known),
                undefined=_("no trial has a value"),
                share=all(0 <= v <= 1 for _row, v in known),
            )
        )
    return with_intervals(coefficients)


def grouped(rows: Sequence[Row], name: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return dict(groups)


def trials_of(rows: Sequence[Row]) -> tuple[int, ...]:
    return tuple(sorted(row.trial.id for row in rows))


def plain_name(text: str) -> str:
    """What it is called in a plot; a dash for what is not known."""
    return one_line(text, _NAME) or "–"


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])
