"""Which gold cells a predicted table gets right: columns and keys paired by a model where letters do not
suffice, cells by their columns' own metrics, of which `llm_judge` is the model's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.judges.lexical_table import metric_names
from cuecard.core.judges.model_asking import Answers, Asking, Questions, ask_all
from cuecard.core.judges.model_layout import align_columns, align_rows
from cuecard.core.judges.model_shapes import CellEntry, Cells
from cuecard.core.judges.table_layout import Layout, same_rows
from cuecard.core.judges.table_verdicts import fill, judge_cells
from cuecard.core.parts import CallDesk
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import failing_metric, preprocess, same_cell
from cuecard.core.tasks import Column, Metric, Preprocess, Table
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, TableMatch, Verdict


@dataclass(frozen=True)
class TableAsking:
    columns: Asking
    keys: Asking
    cells: Asking


async def judge_table(
    asking: TableAsking, request: str, table: Table, prediction: TablePrediction, desk: CallDesk
) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    """One verdict per gold cell, and how the two tables were laid over each other: None where that
    remained open, and with it every cell. Raises `ModelCallError` and `Halt`.
    """
    columns = await align_columns(asking.columns, request, table, prediction, desk.scope("columns"))
    if columns is None:
        reason = _("no answer on which columns belong together")
        return fill(table, Decision.UNJUDGED, reason), None
    if reason := columns.left_over():
        return judge_cells(table, Layout({}, {}, reason), _never)
    rows = same_rows(table, prediction, columns)
    layout = await align_rows(asking.keys, request, table, rows, desk.scope("keys"))
    judge = _Cells(table, layout)
    await judge.ask(asking.cells, request, desk)
    return judge_cells(table, layout, judge.decide)


class _Cells:
    """Decides on cells: first what the metrics that need no model say, then the model."""

    def __init__(self, table: Table, layout: Layout) -> None:
        self._table = table
        self._layout = layout
        self._answers: dict[int, Answers[CellEntry]] = {}

    async def ask(self, asking: Asking, request: str, desk: CallDesk) -> None:
        """Ask about all cells that need a model, column by column, all at the same time."""
        wanted = {
            position: cells
            for position, column in enumerate(self._table.columns)
            if column.name not in self._table.unique_columns and (cells := self._open(position))
        }
        results = await asyncio.gather(
            *(
                self._ask_column(asking, request, position, cells, desk)
                for position, cells in wanted.items()
            ),
            return_exceptions=True,
        )
        failed = [result for result in results if isinstance(result, BaseException)]
        for error in failed:
            if not isinstance(error, ModelCallError):
                raise error
        if failed and len(failed) == len(wanted):
            raise failed[0]
        for (position, cells), result in zip(wanted.items(), results, strict=True):
            if isinstance(result, BaseException):
                reason = _("the call failed: {reason}").format(reason=result)
                result = Answers[CellEntry]({}, dict.fromkeys(cells, reason))
            self._answers[position] = result

    async def _ask_column(
        self,
        asking: Asking,
        request: str,
        position: int,
        cells: dict[int, tuple[str, str]],
        desk: CallDesk,
    ) -> Answers[CellEntry]:
        column = self._table.columns[position]
        context = {"request": request, "column": column.name, "criterion": column.criterion}
        questions = Questions(
            shape=Cells,
            title="cells",
            items={row: [row, *pair] for row, pair in cells.items()},
            context=lambda _batch: context,
        )
        return await ask_all(asking, questions, desk.scope(f"column/{position}"))

    def _open(self, position: int) -> dict[int, tuple[str, str]]:
        """The cells of a column on which only the model can decide, by gold row, as it sees them: the
        predicted one and gold.
        """
        column = self._table.columns[position]
        return {
            row: (as_read(column, self._predicted(row, position)), as_read(column, gold))
            for row in self._layout.joined
            if self._without_model(row, position) is None
            for gold in [self._table.rows[row][position]]
        }

    def decide(self, row: int, position: int) -> tuple[Decision, str]:
        decided = self._without_model(row, position)
        if decided is not None:
            return decided
        answers = self._answers[position]
        if row not in answers.found:
            return Decision.UNJUDGED, answers.problems[row]
        entry = answers.found[row]
        return Decision.YES if entry.score else Decision.NO, storable(entry.reason.strip())

    def _without_model(self, row: int, position: int) -> tuple[Decision, str] | None:
        column = self._table.columns[position]
        predicted, gold = self._predicted(row, position), self._table.rows[row][position]
        failed = failing_metric(column, predicted, gold, lambda _left, _right, _criterion: True)
        if failed is not None:
            reason = _("{metric} does not hold").format(metric=failed.value)
            return Decision.NO, reason
        if Metric.LLM_JUDGE not in column.metric:
            return Decision.YES, _("{metric} holds").format(metric=metric_names(column))
        if not predicted.strip() or not gold.strip():
            same = predicted.strip() == gold.strip()
            return (Decision.YES if same else Decision.NO), _("one of the cells is empty")
        if same_cell(column, preprocess(column, predicted), preprocess(column, gold)):
            return Decision.YES, _("the cells are the same")
        return None

    def _predicted(self, row: int, position: int) -> str:
        return self._layout.rows[self._layout.joined[row]][position]


def as_read(column: Column, text: str) -> str:
    """A cell as the model reads it: preprocessed, but with its blanks and capitals, which `norm_str`
    takes away for comparing letters.
    """
    steps = tuple(step for step in column.preprocess if step is not Preprocess.NORM_STR)
    return preprocess(column.model_copy(update={"preprocess": steps}), text)


def _never(_row: int, _position: int) -> tuple[Decision, str]:
    raise AssertionError("an unusable table has no joined rows")
