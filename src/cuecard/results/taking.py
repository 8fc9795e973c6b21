"""How the samples of a task become one value for any group of rows, by the definitions of `aggregate`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from cuecard.annotate.agreement import Statistic, with_intervals
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.effect.figures import figure_over
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import (
    BEST_BY,
    AggregateMeasure,
    Key,
    TrialScore,
    by_task,
    measured_as,
    totals_of,
)
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.scoring.measures import Measure
from cuecard.results.pool import Row

SPENT = ("cost", "tokens")
"""What the agent's own calls took, told like a measure: the cost in the configuration's currency, prompt and
completion tokens together; over all takes of a trial."""


def figure_key(measure: str, taken: Taken) -> str:
    """`triplet_f1.avg`: how figures are addressed."""
    return f"{measure}.{taken.value}"


def measures_of(row: Row, wanted: Collection[str] | None = None) -> tuple[Measure, ...]:
    """A judged trial's measures and what it took; `wanted`: only these. None of one that is not judged."""
    if row.figures is None:
        return ()
    bases = None if wanted is None else {measured_as(name) for name in wanted}
    found = [m for m in row.figures.measures if bases is None or m.name in bases]
    names = {measure.name for measure in found}
    # The best sample is chosen by a measure that may not be asked for.
    if names & set(GRAPH_MEASURES) and BEST_BY not in names:
        found += [m for m in row.figures.measures if m.name == BEST_BY]
    found += [_spent(row, name) for name in SPENT if wanted is None or name in wanted]
    return tuple(found)


def scores_of(rows: Iterable[Row], wanted: Collection[str] | None = None) -> tuple[TrialScore, ...]:
    """The judged rows as `aggregate` takes them. Samples of several runs stand side by side, in the order of
    runs' uids and samples, so that the order of rows does not matter.
    """
    judged = sorted((row for row in rows if row.figures is not None), key=_place)
    at: dict[str, int] = defaultdict(int)
    found: list[TrialScore] = []
    for row in judged:
        task = row.trial.task_id
        found.append(TrialScore(task, at[task], measures_of(row, wanted)))
        at[task] += 1
    return tuple(found)


def with_task_intervals(
    scores: Sequence[TrialScore],
    wanted: Collection[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> dict[Key, tuple[AggregateMeasure, Statistic]]:
    """Everything that `aggregate` says of the scores (or of the measures that are `wanted`), with an interval by resampling tasks. The values are those of
    `aggregate` to the last digit, and an interval follows from its own figure alone: the same in every table,
    whatever else that tells.
    """
    parts = by_task(scores)
    tasks = sorted({score.task_id for score in scores})
    if wanted is not None:
        parts = {key: own for key, own in parts.items() if key[0] in wanted}
    totals = {(total.name, total.statistic): total for total in totals_of(parts, scores)}
    found: dict[Key, tuple[AggregateMeasure, Statistic]] = {}
    for key, total in totals.items():
        figure = figure_over(key, parts[key], tasks)
        (statistic,) = with_intervals([figure], tasks, resamples=resamples)
        exact = {"value": total.value, "n": total.n, "reason": total.reason}
        found[key] = (total, statistic.model_copy(update=exact))
    return found


def _place(row: Row) -> tuple[str, str, int, int]:
    return row.trial.task_id, row.run.uid, row.trial.sample, row.trial.id


def _spent(row: Row, name: str) -> Measure:
    spent = row.agent_spent
    if name == "tokens":
        return Measure(name, float(spent.usage.prompt + spent.usage.completion), 1)
    if spent.cost is None or spent.unpriced:
        return Measure(name, None, 0, _("calls without a price"))
    return Measure(name, spent.cost, 1)
