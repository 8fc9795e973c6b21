"""Which gold cells a predicted table gets right: columns and keys paired by their letters, cells by the columns' own
metrics, in which letters take the place of a model.

The same names and keys go together first, then the most alike: `St. Paul` and `[Saint Paul](https://…)` are one key
(`similarity`), `1998` and `1999` never are.
"""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.judges.similarity import form, same_thing
from cuecard.core.judges.table_layout import (
    Columns,
    Key,
    Layout,
    Row,
    Rows,
    same_columns,
    same_rows,
)
from cuecard.core.judges.table_verdicts import judge_cells
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import failing_metric, norm_column
from cuecard.core.tasks import Column, Metric, Table
from cuecard.core.verdicts import Decision, TableMatch, Verdict

_LEAST_COLUMN_LIKENESS = 75.0
_KEY_CANDIDATES = 10
_LEAST_KEY_LIKENESS = 40.0
_FUZZY_METRICS = frozenset((Metric.EXACT_MATCH, Metric.LLM_JUDGE))


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


def lay_out(table: Table, prediction: TablePrediction) -> Layout:
    """Align columns, drop duplicates by key, join rows one to one: the same names and keys first, then
    the most alike.
    """
    columns = same_columns(table, prediction.columns)
    columns = columns.paired(_like_columns(columns))
    if reason := columns.left_over():
        return Layout({}, {}, reason)
    rows = same_rows(table, prediction, columns)
    return rows.layout(_like_rows(table, rows))


def _like_columns(columns: Columns) -> list[tuple[int, int]]:
    """Pairs of open columns, the most alike first."""
    pairs = [
        (-likeness, gold, norm_column(text), other)
        for gold, name in columns.open_gold.items()
        for other, text in columns.open_predicted.items()
        if (likeness := _column_likeness(name, text))
    ]
    return [(gold, other) for _likeness, gold, _name, other in sorted(pairs)]


def _column_likeness(gold: str, predicted: str) -> float:
    if likeness := same_thing(gold, predicted):
        return likeness.score
    left, right = form(gold), form(predicted)
    if left.numbers != right.numbers:
        return 0.0
    from rapidfuzz import fuzz

    if left.cjk or right.cjk:
        return fuzz.ratio(left.compact, right.compact, score_cutoff=_LEAST_COLUMN_LIKENESS)
    # One name within the other: `State` and `State Name`, `Capital` and `Present Capital City`.
    shorter, longer = sorted((set(left.words), set(right.words)), key=len)
    if shorter and shorter <= longer:
        return _LEAST_COLUMN_LIKENESS
    return fuzz.token_sort_ratio(
        " ".join(left.words), " ".join(right.words), score_cutoff=_LEAST_COLUMN_LIKENESS
    )


def _like_rows(table: Table, rows: Rows) -> list[tuple[int, int]]:
    """Pairs of rows whose keys are not equal but alike in every part, the most alike first."""
    if not rows.open_gold or not rows.open_keys:
        return []
    from rapidfuzz import fuzz, process

    texts = {key: form(" ".join(key)).plain for key in sorted(rows.open_keys)}
    pairs: list[tuple[float, int, Key]] = []
    for gold, gold_key in rows.open_gold.items():
        hits = process.extract(
            form(" ".join(gold_key)).plain,
            texts,
            scorer=fuzz.WRatio,
            score_cutoff=_LEAST_KEY_LIKENESS,
            limit=_KEY_CANDIDATES,
        )
        for _text, score, key in hits:
            predicted = rows.rows[rows.open_keys[key]]
            if _keys_agree(table, table.rows[gold], gold_key, predicted, key):
                pairs.append((-score, gold, key))
    return [(gold, rows.open_keys[key]) for _score, gold, key in sorted(pairs)]


def _keys_agree(table: Table, gold: Row, gold_key: Key, predicted: Row, predicted_key: Key) -> bool:
    for position, index in enumerate(table.key_indices):
        if gold_key[position] == predicted_key[position]:
            continue
        if not _FUZZY_METRICS & set(table.columns[index].metric):
            return False
        if not same_thing(gold[index], predicted[index]):
            return False
    return True
