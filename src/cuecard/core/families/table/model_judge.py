"""The model judge of tables: columns, keys and cells that are not equal by rule are compared by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuecard.core.engine.step_context import CallContext
from cuecard.core.errors import ModelCallError
from cuecard.core.families.table.gold import Column, Metric, Preprocess, Table
from cuecard.core.families.table.judge import (
    Columns,
    Layout,
    Rows,
    fill,
    judge_cells,
    metric_names,
    same_columns,
    same_rows,
)
from cuecard.core.families.table.score import failing_metric, preprocess, same_cell
from cuecard.core.i18n import _
from cuecard.core.judges.model_asking import (
    Answers,
    Asking,
    CellEntry,
    Cells,
    Complaint,
    PartnerEntry,
    Partners,
    Questions,
    all_of,
    ask_all,
    likely,
)
from cuecard.core.predictions import TablePrediction
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, TableMatch, Verdict

SHOWN = 400
"""Most predicted keys that one batch is shown: those most similar to its gold keys."""


async def align_columns(
    asking: Asking,
    request: str,
    table: Table,
    prediction: TablePrediction,
    step_context: CallContext,
) -> Columns | None:
    """Map columns with the same names, the rest by the model. None if it gave no usable answer on a column that
    matters. Raises `ModelCallError` and `Halt`.
    """
    columns = same_columns(table, prediction.columns)
    # With different numbers of columns the table is unusable, however they are mapped.
    if columns.reason or len(columns.open_gold) != len(columns.open_predicted):
        return columns
    if not columns.open_gold:
        return columns
    required = [[gold, name] for gold, name in columns.open_gold.items()]
    samples = {i: _sample(prediction, i) for i in columns.open_predicted}
    questions = Questions(
        shape=Partners,
        title="columns",
        items={i: [i, name, samples[i]] for i, name in columns.open_predicted.items()},
        context=lambda _batch: {"request": request, "required": required},
        accept=lambda entry, _batch: _unknown(entry, columns.open_gold),
    )
    answers = await ask_all(asking, questions, step_context)
    if answers.problems:
        return None
    return columns.paired((gold, predicted) for predicted, gold in _pairs(answers))


async def align_rows(
    asking: Asking, request: str, table: Table, rows: Rows, step_context: CallContext
) -> Layout:
    """Join rows with the same keys, the rest by the model. A gold row on which it gave no usable answer is undecided.
    Raises `ModelCallError` and `Halt`.
    """
    if not rows.open_gold or not rows.open_keys:
        return rows.layout(())
    keys = {index: list(table.key_of(rows.rows[index])) for index in rows.open_keys.values()}
    left = list(keys)
    texts = [" ".join(keys[index]) for index in left]
    names = list(table.unique_columns)

    def context(batch: Sequence[int]) -> Mapping[str, object]:
        wanted = [" ".join(table.key_of(table.rows[index])) for index in batch]
        shown = [left[position] for position in likely(texts, wanted, SHOWN)]
        return {
            "request": request,
            "key_columns": names,
            "predicted": [[index, *keys[index]] for index in shown],
        }

    questions = Questions(
        shape=Partners,
        title="gold",
        items={index: [index, *table.key_of(table.rows[index])] for index in rows.open_gold},
        context=context,
        accept=lambda entry, _batch: _unknown(entry, keys),
    )
    answers = await ask_all(asking, questions, step_context)
    return rows.layout(_pairs(answers), undecided=frozenset(answers.problems))


def _sample(prediction: TablePrediction, column: int) -> list[str]:
    cells = (row[column] for row in prediction.rows if column < len(row))
    return [cell for cell in cells if cell.strip()][:3]


def _unknown(entry: PartnerEntry, known: Mapping[int, object]) -> Complaint | None:
    if entry.partner is None or entry.partner in known:
        return None
    return Complaint.NO_SUCH_INDEX


def _pairs(answers: Answers[PartnerEntry]) -> list[tuple[int, int]]:
    found = ((index, entry.partner) for index, entry in sorted(answers.found.items()))
    return [(index, partner) for index, partner in found if partner is not None]


@dataclass(frozen=True)
class TableAsking:
    columns: Asking
    keys: Asking
    cells: Asking


async def judge_table(
    asking: TableAsking,
    request: str,
    table: Table,
    prediction: TablePrediction,
    step_context: CallContext,
) -> tuple[tuple[Verdict, ...], TableMatch | None]:
    """One verdict per gold cell, and how the two tables were aligned; None, with all cells unjudged, if the columns
    could not be mapped. Raises `ModelCallError` and `Halt`.
    """
    columns = await align_columns(
        asking.columns, request, table, prediction, step_context.scope("columns")
    )
    if columns is None:
        reason = _("no answer on which columns belong together")
        return fill(table, Decision.UNJUDGED, reason), None
    if reason := columns.left_over():
        return judge_cells(table, Layout({}, {}, reason), _never)
    rows = same_rows(table, prediction, columns)
    layout = await align_rows(asking.keys, request, table, rows, step_context.scope("keys"))
    judge = _Cells(table, layout)
    await judge.ask(asking.cells, request, step_context)
    return judge_cells(table, layout, judge.decide)


class _Cells:
    """Decides on cells: by the metrics that need no model where they suffice, else by the model."""

    def __init__(self, table: Table, layout: Layout) -> None:
        self._table = table
        self._layout = layout
        self._answers: dict[int, Answers[CellEntry]] = {}

    async def ask(self, asking: Asking, request: str, step_context: CallContext) -> None:
        """Ask about all cells that need a model: columns separately, and concurrently."""
        wanted = {
            position: cells
            for position, column in enumerate(self._table.columns)
            if column.name not in self._table.unique_columns and (cells := self._open(position))
        }
        results = await all_of(
            self._ask_column(asking, request, position, cells, step_context)
            for position, cells in wanted.items()
        )
        for (position, cells), result in zip(wanted.items(), results, strict=True):
            if isinstance(result, ModelCallError):
                reason = _("the call failed: {reason}").format(reason=result)
                result = Answers[CellEntry]({}, dict.fromkeys(cells, reason))
            self._answers[position] = result

    async def _ask_column(
        self,
        asking: Asking,
        request: str,
        position: int,
        cells: dict[int, tuple[str, str]],
        step_context: CallContext,
    ) -> Answers[CellEntry]:
        column = self._table.columns[position]
        context = {"request": request, "column": column.name, "criterion": column.criterion}
        questions = Questions(
            shape=Cells,
            title="cells",
            items={row: [row, *pair] for row, pair in cells.items()},
            context=lambda _batch: context,
        )
        return await ask_all(asking, questions, step_context.scope(f"column/{position}"))

    def _open(self, position: int) -> dict[int, tuple[str, str]]:
        """The cells of a column that only the model can decide, by gold row: the predicted and the gold text."""
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
    """A cell as the model reads it: preprocessed, but without `norm_str`, which removes blanks and capitals."""
    steps = tuple(step for step in column.preprocess if step is not Preprocess.NORM_STR)
    return preprocess(column.model_copy(update={"preprocess": steps}), text)


def _never(_row: int, _position: int) -> tuple[Decision, str]:
    raise AssertionError("an unusable table has no joined rows")
