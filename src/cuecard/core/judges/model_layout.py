"""Columns and keys of two tables, paired up by a model where their letters differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.core.judges.material import likely
from cuecard.core.judges.model_asking import Answers, Asking, Questions, ask_all
from cuecard.core.judges.model_shapes import PartnerEntry, Partners
from cuecard.core.judges.model_words import Complaint
from cuecard.core.judges.table_layout import Columns, Layout, Rows, same_columns
from cuecard.core.parts import CallDesk
from cuecard.core.prediction import TablePrediction
from cuecard.core.tasks import Table

SHOWN = 400
"""Of more predicted keys, a batch sees this many: those nearest to its gold keys."""


async def align_columns(
    asking: Asking, request: str, table: Table, prediction: TablePrediction, desk: CallDesk
) -> Columns | None:
    """Columns of the same name first, the rest by the model. None where it gave no usable answer on one
    that matters. Raises `ModelCallError` and `Halt`.
    """
    columns = same_columns(table, prediction.columns)
    # With one more column on either side the table is unusable however they are paired.
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
    answers = await ask_all(asking, questions, desk)
    if answers.problems:
        return None
    return columns.paired((gold, predicted) for predicted, gold in _pairs(answers))


async def align_rows(
    asking: Asking, request: str, table: Table, rows: Rows, desk: CallDesk
) -> Layout:
    """Rows of the same key first, the rest by the model. A gold row on which it gave no usable answer is
    undecided. Raises `ModelCallError` and `Halt`.
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
    answers = await ask_all(asking, questions, desk)
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
