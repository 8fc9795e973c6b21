"""Samples of a task out of the rows of a pool, and their figures with intervals by resampling tasks; cost and tokens are told
like measures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from cuecard.annotate.agreement.intervals import RESAMPLES, each_with_interval
from cuecard.annotate.labelling.effect_figures import figure_of
from cuecard.annotate.results.pool import Row
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import (
    AggregateMeasure,
    ExtraMeasure,
    Key,
    Samples,
    keys_of,
    parts_of,
    totals_of,
)
from cuecard.core.scoring.aggregate import Statistic as Summary
from cuecard.core.tables.table import Statistic

SPENT = ("cost", "tokens")
"""What the agent's own calls took, told like a measure: the cost in the configuration's currency, prompt and
completion tokens together; over all attempts of a trial."""


def figure_key(measure: str, taken: Summary) -> str:
    """The key of a measure and a way of combining samples: `triplet_f1.avg`."""
    return f"{measure}.{taken.value}"


def samples_of(rows: Iterable[Row]) -> RowSamples:
    """The judged rows with their cost and tokens. Samples of several runs are put together in the order of runs' uids, so
    that the order of rows does not matter.
    """
    judged = [row for row in rows if row.figures is not None]
    if not judged or judged[0].figures is None:
        return RowSamples({})
    first = judged[0].figures
    first.beside = known = first.beside or {}
    key = tuple(map(id, judged))
    if key not in known:
        tasks: dict[str, list[Row]] = {}
        for row in sorted(judged, key=place_of_row):
            tasks.setdefault(row.trial.task_id, []).append(row)
        # With the rows, since their ids are theirs only while they are there.
        known[key] = judged, RowSamples(tasks)
    _rows, found = cast("tuple[list[Row], RowSamples]", known[key])
    return found


class RowSamples(Samples):
    """The samples of rows by task, and what was counted of them: tables, plots and screens ask for the same figures."""

    def __init__(self, tasks: Mapping[str, Sequence[Row]]) -> None:
        def spent(name: str) -> ExtraMeasure:
            import numpy as np

            values = [spent_value(row, name) for rows in tasks.values() for row in rows]
            return ExtraMeasure(np.array(values, dtype=np.float64), _("calls without a price"))

        super().__init__(
            {
                task: [row.figures.measures for row in rows if row.figures is not None]
                for task, rows in tasks.items()
            },
            {name: partial(spent, name) for name in SPENT},
        )
        self.known: dict[tuple[Key, int], tuple[AggregateMeasure, Statistic]] = {}
        self.these: dict[str, Statistic] = {}


def with_task_intervals(
    samples: RowSamples, wanted: Collection[str] | None = None, *, resamples: int = RESAMPLES
) -> dict[Key, tuple[AggregateMeasure, Statistic]]:
    """All results of `aggregate` for these samples (or only `wanted` measures), with intervals by resampling tasks. The
    values equal those of `aggregate` exactly, and each interval depends on its own measure only, so it is the same in
    every table.
    """
    keys = keys_of(samples, wanted)
    new = {key[0] for key in keys if (key, resamples) not in samples.known}
    parts = parts_of(samples, new)
    figures = [figure_of(key, own) for key, own in parts.items()]
    told = each_with_interval(figures, samples.tasks, resamples=resamples)
    for total, statistic in zip(totals_of(samples, parts), told, strict=True):
        exact = {"value": total.value, "n": total.n, "reason": total.reason}
        key = (total.name, total.statistic)
        samples.known[key, resamples] = (total, statistic.model_copy(update=exact))
    return {key: samples.known[key, resamples] for key in keys}


def place_of_row(row: Row) -> tuple[str, str, int, int]:
    """The order of samples."""
    return row.trial.task_id, row.run.uid, row.trial.sample, row.trial.id


def spent_value(row: Row, name: str) -> float | None:
    """Of `SPENT`; None where a call had no price."""
    spent = row.agent_spent
    if name == "tokens":
        return float(spent.usage.prompt + spent.usage.completion)
    return None if spent.unpriced else spent.cost
