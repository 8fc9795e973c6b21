"""Which gold cells a predicted table gets right, with the columns' own metrics where they need no model."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing
from cuecard.core.judges.table_layout import Layout, lay_out
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import failing_metric
from cuecard.core.scoring.table import distinct_gold_rows
from cuecard.core.tasks import Column, Metric, Table
from cuecard.core.verdicts import Decision, Item, ItemKind, TableMatch, Verdict


def judge_table(
    table: Table, prediction: TablePrediction
) -> tuple[tuple[Verdict, ...], TableMatch]:
    """One verdict per gold cell, and how the two tables were laid over each other.

    A gold row that repeats an earlier key has no cells of its own to judge: graders drop it.
    """
    layout = lay_out(table, prediction)
    if layout.reason:
        return reject_table(table, layout.reason), TableMatch(usable=False, reason=layout.reason)
    verdicts: list[Verdict] = []
    for index in distinct_gold_rows(table):
        verdicts.extend(_row_verdicts(table, layout, index))
    match = TableMatch(
        usable=True,
        predicted_rows=len(layout.rows),
        joined=tuple(sorted(layout.joined.items())),
    )
    return tuple(verdicts), match


def reject_table(table: Table, reason: str) -> tuple[Verdict, ...]:
    """`no` for every gold cell, for a prediction that is no usable table."""
    return tuple(
        Verdict(item=_item(index, column), decision=Decision.NO, rationale=reason)
        for index in distinct_gold_rows(table)
        for column in table.columns
    )


def _row_verdicts(table: Table, layout: Layout, index: int) -> list[Verdict]:
    partner = layout.joined.get(index)
    if partner is None:
        reason = _("no predicted row has this key")
        return [
            Verdict(item=_item(index, column), decision=Decision.NO, rationale=reason)
            for column in table.columns
        ]
    row = layout.rows[partner]
    verdicts: list[Verdict] = []
    for position, column in enumerate(table.columns):
        if column.name in table.unique_columns:
            right, reason = True, _("key of a joined row")
        else:
            right, reason = _compare(column, row[position], table.rows[index][position])
        verdicts.append(
            Verdict(
                item=_item(index, column),
                decision=Decision.YES if right else Decision.NO,
                supporting=(partner,),
                rationale=reason,
            )
        )
    return verdicts


def _compare(column: Column, predicted: str, gold: str) -> tuple[bool, str]:
    failed = failing_metric(column, predicted, gold, _alike)
    by_letters = Metric.LLM_JUDGE in column.metric
    if failed is None:
        names = ", ".join(metric.value for metric in column.metric)
        if by_letters:
            return True, _("{metric} holds, judged by letters").format(metric=names)
        return True, _("{metric} holds").format(metric=names)
    if failed is Metric.LLM_JUDGE:
        return False, _("{metric} does not hold, judged by letters").format(metric=failed.value)
    return False, _("{metric} does not hold").format(metric=failed.value)


def _alike(predicted: str, gold: str, criterion: str) -> bool:
    """What the baseline puts in the place of a model; it cannot read the criterion."""
    del criterion
    if not predicted.strip() or not gold.strip():
        return predicted.strip() == gold.strip()
    return same_thing(gold, predicted) is not None


def _item(index: int, column: Column) -> Item:
    return Item(kind=ItemKind.CELL, index=index, column=column.name)
