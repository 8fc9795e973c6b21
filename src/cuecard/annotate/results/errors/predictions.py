"""Errors in predicted graphs and tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.results.errors.groups import Judged, Trials
from cuecard.annotate.results.errors.rates import (
    CALL_CLASSES,
    Plan,
    Rate,
    TrialClass,
    calls_class,
    classes,
    counted,
    flagged,
    plan,
)
from cuecard.annotate.results.pool import Row
from cuecard.core.i18n import _
from cuecard.core.scoring.breakdowns import (
    FINE_TURN_CLASSES,
    TURN_CLASSES,
    fine_turns_class,
    over_generated,
    turns_class,
    under_generated,
)
from cuecard.core.scoring.trial_score import GraphFigures, Tally
from cuecard.core.tables.table import Coefficient, Statistic, ratio
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.verdicts import pearson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Coverage(Frozen):
    """Gold triples of one relation or stage, over all trials. `rate`: covered ones of those that were judged;
    `unjudged`: how many were not.
    """

    name: str
    rate: Rate
    unjudged: int

    @property
    def gold(self) -> int:
        return round(self.rate.of) + self.unjudged


class InvalidRelation(Frozen):
    """How often predicted triples with this relation supported nothing, and in which trials."""

    relation: str
    count: int
    trials: tuple[int, ...]


class GraphFindings(Frozen):
    """Errors of an arm on graphs. `over`, `under`: predicted more than 1.5 times, or less than half, the gold's
    triples; both over all judged trials, unreadable ones included. `generation`: predicted / gold triples of readable
    trials, mean over tasks. `relations`: the most frequent in the gold first; `stages` in their order; `invalid`: the
    most frequent first. Mean F1 by compaction (`with`, `without`), by user turns in the paper's classes and in finer
    ones (`fine`), by tool calls. `turns_f1`: Pearson's correlation of user turns and F1 over trials.
    """

    over: Rate
    under: Rate
    generation: Rate
    relations: tuple[Coverage, ...]
    stages: tuple[Coverage, ...]
    invalid: tuple[InvalidRelation, ...]
    by_compaction: tuple[TrialClass, ...]
    by_user_turns: tuple[TrialClass, ...]
    by_user_turns_fine: tuple[TrialClass, ...]
    turns_f1: Statistic
    by_tool_calls: tuple[TrialClass, ...]


def graph_findings(judged: Judged) -> GraphFindings:
    """Errors of one arm's trials on graphs."""
    graphs = [(row, figures.graph, figures) for row, figures in judged if figures.graph]
    read = [(row, graph) for row, graph, _f in graphs if graph.predicted is not None]
    trials = judged.trials if len(graphs) == len(judged) else Trials(row for row, *_told in graphs)
    whole = counted(
        {
            "over": flagged("over_generation", ((r, over_generated(g)) for r, g, _f in graphs)),
            "under": flagged("under_generation", ((r, under_generated(g)) for r, g, _f in graphs)),
            "ratio": plan(
                "generation_ratio",
                ((row, (graph.predicted or 0) / graph.gold, 1.0) for row, graph in read),
                share=False,
                empty=_("nothing readable was handed in"),
                each_task=True,
            ),
        }
    )
    return GraphFindings(
        over=whole["over"],
        under=whole["under"],
        generation=whole["ratio"],
        relations=_coverage(trials, (graph.relations for _row, graph, _f in graphs)),
        stages=tuple(
            sorted(
                _coverage(trials, (graph.stages for _row, graph, _f in graphs)),
                key=lambda each: int(each.name),
            )
        ),
        invalid=_invalid(read),
        by_compaction=classes(
            judged, "compactions", lambda n: "with" if n else "without", ("with", "without")
        ),
        by_user_turns=classes(judged, "user_turns", turns_class, TURN_CLASSES),
        by_user_turns_fine=classes(judged, "user_turns", fine_turns_class, FINE_TURN_CLASSES),
        turns_f1=turns_correlation(judged),
        by_tool_calls=classes(judged, "tool_calls", calls_class, CALL_CLASSES),
    )


def turns_correlation(judged: Judged) -> Statistic:
    """Pearson's correlation of user turns and triplet F1 over trials (VibeSearchBench), with an interval by task."""
    import numpy as np

    columns = judged.column("user_turns"), judged.column("triplet_f1")
    both = list(zip(judged, *columns, strict=True))
    tasks = [row.trial.task_id for (row, _figures), _turns, f1 in both if f1 is not None]
    pairs = [(float(int(turns or 0)), f1) for _one, turns, f1 in both if f1 is not None]
    found = pearson("turns_f1", pairs)
    if found.value is None:
        return Statistic(name=found.name, value=None, n=found.n, reason=found.reason)
    # About their means, so that sums of squares keep their digits.
    x, y = (column - column.mean() for column in np.array(pairs).T)

    def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        n, sx, sy, xx, yy, xy = (sums[..., at] for at in range(6))
        across, up = n * xx - sx**2, n * yy - sy**2
        # Drawn tasks that do not vary leave what rounding left of a zero, and a coefficient of anything.
        varies = (across > 1e-9 * n * xx) & (up > 1e-9 * n * yy)
        spread = np.sqrt(np.where(varies, across * up, 0))
        return np.clip(ratio(n * xy - sx * sy, spread), -1, 1)

    terms = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    coefficient = Coefficient(found.name, terms, of, found.n, found.reason)
    (drawn,) = with_intervals([coefficient], tasks)
    return drawn.model_copy(update={"value": found.value})


def _coverage(
    trials: Trials, tallies: Iterable[Mapping[str, Tally] | Mapping[int, Tally]]
) -> tuple[Coverage, ...]:
    """Those with most gold triples first. `tallies`: of each of the trials."""
    columns: dict[str | int, tuple[list[int], list[Tally]]] = {}
    for at, by_name in enumerate(tallies):
        for name, tally in by_name.items():
            own = columns.get(name)
            if own is None:
                own = columns[name] = ([], [])
            own[0].append(at)
            own[1].append(tally)
    empty = _("no gold triple was judged")
    plans: dict[str, Plan] = {}
    unjudged: dict[str, int] = {}
    for name, (at, mine) in columns.items():
        yes, no, undecided = zip(*mine, strict=True)
        judged = [*map(add, yes, no)]
        plans[str(name)] = Plan("coverage", trials, yes, judged, empty=empty, at=at)
        unjudged[str(name)] = sum(undecided)
    rates = counted(plans)
    found = [Coverage(name=name, rate=rates[name], unjudged=unjudged[name]) for name in plans]
    return tuple(sorted(found, key=lambda each: (-each.gold, each.name)))


def _invalid(read: Sequence[tuple[Row, GraphFigures]]) -> tuple[InvalidRelation, ...]:
    counts: Counter[str] = Counter()
    trials: dict[str, list[int]] = defaultdict(list)
    for row, graph in read:
        trial = row.trial.id
        for relation, n in graph.invalid.items():
            counts[relation] += n
            trials[relation].append(trial)
    return tuple(
        InvalidRelation(relation=relation, count=n, trials=tuple(trials[relation]))
        for relation, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


class Reason(Frozen):
    """Why tables could not be aligned with the gold, in the judge's words, and in which trials."""

    reason: str
    trials: tuple[int, ...]


class WrongCells(Frozen):
    """Cells of joined rows in the columns of this name. `rate`: wrong ones of those that were judged."""

    column: str
    rate: Rate
    unjudged: int


class TableErrors(Frozen):
    """Errors of an arm on tables. `unusable`: trials without a table with the required columns, of those whose
    judgement says so or not; `reasons` by frequency. In usable tables, with rows of equal keys counted once: `missing`
    gold rows of all gold rows, `extra` predicted rows of all predicted. `columns`: the most wrong cells first; without
    key columns, by which rows are joined.
    """

    unusable: Rate
    reasons: tuple[Reason, ...]
    missing: Rate
    extra: Rate
    wrong: Rate
    columns: tuple[WrongCells, ...]


def table_errors(judged: Judged) -> TableErrors:
    """Errors of one arm's trials on tables."""
    told = [(row, f.table) for row, f in judged if f.table and f.table.usable is not None]
    usable = [(row, table) for row, table in told if table.usable]
    cells: dict[str, list[tuple[Row, Tally]]] = defaultdict(list)
    for row, table in usable:
        for column, tally in table.columns.items():
            cells[column].append((row, tally))
    none = _("no table was usable")
    whole = counted(
        {
            "unusable": flagged(
                "unusable",
                ((row, not table.usable) for row, table in told),
                _("the judgement does not say which rows were joined"),
            ),
            "missing": plan(
                "missing_rows",
                ((row, t.gold_rows - t.joined, t.gold_rows) for row, t in usable),
                hits=True,
                empty=none,
            ),
            "extra": plan(
                "extra_rows",
                ((row, t.predicted_rows - t.joined, t.predicted_rows) for row, t in usable),
                hits=True,
                empty=none,
            ),
            "wrong": plan(
                "wrong_cells",
                ((r, t.no, t.judged) for mine in cells.values() for r, t in mine),
                hits=True,
                empty=_("no cell was judged"),
            ),
        }
    )
    rates = counted(
        {
            column: plan(
                "wrong_cells",
                ((row, tally.no, tally.judged) for row, tally in mine),
                hits=True,
                empty=_("no cell was judged"),
            )
            for column, mine in cells.items()
        }
    )
    columns = [
        WrongCells(
            column=column, rate=rates[column], unjudged=sum(tally.unjudged for _row, tally in mine)
        )
        for column, mine in cells.items()
    ]
    reasons: dict[str, list[int]] = defaultdict(list)
    for row, table in told:
        if not table.usable:
            reasons[one_line(table.reason)].append(row.trial.id)
    return TableErrors(
        unusable=whole["unusable"],
        reasons=tuple(
            Reason(reason=reason, trials=tuple(trials))
            for reason, trials in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        missing=whole["missing"],
        extra=whole["extra"],
        wrong=whole["wrong"],
        columns=tuple(sorted(columns, key=lambda each: (-each.rate.count, each.column))),
    )
