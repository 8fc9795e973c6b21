"""Which gold cells a predicted table gets right, with the columns' own metrics where they need no model."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.judges.lexical_layout import lay_out
from cuecard.core.judges.similarity import same_thing
from cuecard.core.judges.table_verdicts import judge_cells
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import failing_metric
from cuecard.core.tasks import Column, Metric, Table
from cuecard.core.verdicts import Decision, TableMatch, Verdict


def judge_table(
    table: Table, prediction: TablePrediction
) -> tuple[tuple[Verdict, ...], TableMatch]:
    """One verdict per gold cell, and how the two tables were laid over each other."""
    layout = lay_out(table, prediction)

    def decide(row: int, column: int) -> tuple[Decision, str]:
        predicted = layout.rows[layout.joined[row]][column]
        right, reason = _compare(table.columns[column], predicted, table.rows[row][column])
        return Decision.YES if right else Decision.NO, reason

    return judge_cells(table, layout, decide)


def _compare(column: Column, predicted: str, gold: str) -> tuple[bool, str]:
    failed = failing_metric(column, predicted, gold, _alike)
    by_letters = Metric.LLM_JUDGE in column.metric
    if failed is None:
        names = metric_names(column)
        if by_letters:
            return True, _("{metric} holds, judged by letters").format(metric=names)
        return True, _("{metric} holds").format(metric=names)
    if failed is Metric.LLM_JUDGE:
        return False, _("{metric} does not hold, judged by letters").format(metric=failed.value)
    return False, _("{metric} does not hold").format(metric=failed.value)


def metric_names(column: Column) -> str:
    return ", ".join(metric.value for metric in column.metric)


def _alike(predicted: str, gold: str, criterion: str) -> bool:
    """What the baseline puts in the place of a model; it cannot read the criterion."""
    del criterion
    if not predicted.strip() or not gold.strip():
        return predicted.strip() == gold.strip()
    return same_thing(gold, predicted) is not None
