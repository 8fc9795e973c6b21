"""How a predicted table is laid over the gold one: columns first, then keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _
from cuecard.core.judges.similarity import form, same_thing
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import norm_column
from cuecard.core.scoring.table import distinct_gold_rows, row_key
from cuecard.core.tasks import Metric, Table
from cuecard.core.text import one_line

_LEAST_COLUMN_LIKENESS = 75.0
_KEY_CANDIDATES = 10
_LEAST_KEY_LIKENESS = 40.0
_FUZZY_METRICS = frozenset((Metric.EXACT_MATCH, Metric.LLM_JUDGE))


@dataclass(frozen=True)
class Layout:
    """`rows`: the predicted rows in gold column order, by their original index, duplicates dropped.
    `joined`: gold row -> predicted row. With a `reason` the table is unusable.
    """

    rows: dict[int, tuple[str, ...]]
    joined: dict[int, int]
    reason: str = ""


def lay_out(table: Table, prediction: TablePrediction) -> Layout:
    """Align columns, drop duplicates by key, join rows one to one.

    FORMATS, widesearch: names compare after strip, lower and removal of blanks, then by likeness; every
    required column needs a partner and no column may be left over, as in the released grader.
    """
    order, reason = _align_columns(table, prediction.columns)
    if reason:
        return Layout({}, {}, reason)
    # The parser gives every row all its cells; a table from elsewhere may not.
    rows = {
        index: tuple(row[position] if position < len(row) else "" for position in order)
        for index, row in enumerate(prediction.rows)
    }
    keys = _first_of_each(table, rows)
    return Layout({index: rows[index] for index in keys.values()}, _join(table, rows, keys))


def _align_columns(table: Table, predicted: Sequence[str]) -> tuple[list[int], str]:
    names = [norm_column(name) for name in predicted]
    repeated = next((i for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        name = one_line(predicted[repeated], 60)
        return [], _("the column {name} occurs twice").format(name=name)
    open_gold = dict(enumerate(table.column_names))
    open_predicted = dict(enumerate(predicted))
    partner: dict[int, int] = {}
    for gold, name in list(open_gold.items()):
        other = names.index(norm_column(name)) if norm_column(name) in names else None
        if other in open_predicted:
            partner[gold] = other
            del open_gold[gold], open_predicted[other]
    pairs = [
        (likeness, gold, other)
        for gold, name in open_gold.items()
        for other, text in open_predicted.items()
        if (likeness := _column_likeness(name, text))
    ]
    for _likeness, gold, other in sorted(
        pairs, key=lambda pair: (-pair[0], pair[1], names[pair[2]])
    ):
        if gold in open_gold and other in open_predicted:
            partner[gold] = other
            del open_gold[gold], open_predicted[other]
    if open_gold:
        missing = ", ".join(open_gold.values())
        return [], _("missing columns: {names}").format(names=missing)
    if open_predicted:
        extra = one_line(", ".join(open_predicted.values()), 200)
        return [], _("columns that were not asked for: {names}").format(names=extra)
    return [partner[gold] for gold in range(len(table.columns))], ""


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


def _first_of_each(table: Table, rows: dict[int, tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    first: dict[tuple[str, ...], int] = {}
    for index, row in rows.items():
        first.setdefault(row_key(table, row), index)
    return first


def _join(
    table: Table, rows: dict[int, tuple[str, ...]], keys: dict[tuple[str, ...], int]
) -> dict[int, int]:
    joined: dict[int, int] = {}
    open_keys = dict(keys)
    open_gold: dict[int, tuple[str, ...]] = {}
    for index in distinct_gold_rows(table):
        key = row_key(table, table.rows[index])
        if key in open_keys:
            joined[index] = open_keys.pop(key)
        else:
            open_gold[index] = key
    if not open_gold or not open_keys:
        return joined
    pairs = _near_keys(table, rows, open_gold, open_keys)
    for _score, gold, key in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if gold in open_gold and key in open_keys:
            joined[gold] = open_keys.pop(key)
            del open_gold[gold]
    return joined


def _near_keys(
    table: Table,
    rows: dict[int, tuple[str, ...]],
    open_gold: dict[int, tuple[str, ...]],
    open_keys: dict[tuple[str, ...], int],
) -> list[tuple[float, int, tuple[str, ...]]]:
    """Candidate pairs for keys that are not equal, each with the likeness of its least alike part."""
    from rapidfuzz import fuzz, process

    texts = {key: " ".join(key) for key in sorted(open_keys)}
    pairs: list[tuple[float, int, tuple[str, ...]]] = []
    for gold, gold_key in open_gold.items():
        hits = process.extract(
            " ".join(gold_key),
            texts,
            scorer=fuzz.WRatio,
            score_cutoff=_LEAST_KEY_LIKENESS,
            limit=_KEY_CANDIDATES,
        )
        for _text, score, key in hits:
            if _keys_agree(table, table.rows[gold], gold_key, rows[open_keys[key]], key):
                pairs.append((score, gold, key))
    return pairs


def _keys_agree(
    table: Table,
    gold: tuple[str, ...],
    gold_key: tuple[str, ...],
    predicted: tuple[str, ...],
    predicted_key: tuple[str, ...],
) -> bool:
    for position, index in enumerate(table.key_indices):
        if gold_key[position] == predicted_key[position]:
            continue
        if not _FUZZY_METRICS & set(table.columns[index].metric):
            return False
        if not same_thing(gold[index], predicted[index]):
            return False
    return True
