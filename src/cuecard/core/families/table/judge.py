"""The lexical judge of tables: it aligns a predicted table with the gold one and compares their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cuecard.core.families.table.gold import Column, Metric, Table
from cuecard.core.families.table.score import (
    distinct_gold_rows,
    failing_metric,
    norm_column,
    row_key,
)
from cuecard.core.i18n import _, listed
from cuecard.core.judges.similarity import form, same_thing
from cuecard.core.predictions import TablePrediction
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item, ItemKind, TableMatch, Verdict

Key = tuple[str, ...]
Row = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """A predicted table aligned with gold. `rows`: the predicted rows in gold's column order, by their original index,
    without duplicates by key. `joined`: gold row -> predicted row. `undecided`: gold rows whose predicted row, if any,
    could not be determined. With a `reason` the table is unusable.
    """

    rows: dict[int, Row]
    joined: dict[int, int]
    reason: str = ""
    undecided: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Columns:
    """A mapping of columns: the names of both sides, and `partner`: gold column -> predicted column, by index. With a
    `reason` no mapping can make the table usable.
    """

    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    partner: dict[int, int]
    reason: str = ""

    @property
    def open_gold(self) -> dict[int, str]:
        """The gold columns without a partner."""
        return {i: name for i, name in enumerate(self.gold) if i not in self.partner}

    @property
    def open_predicted(self) -> dict[int, str]:
        """The predicted columns that are no gold column's partner."""
        taken = set(self.partner.values())
        return {i: name for i, name in enumerate(self.predicted) if i not in taken}

    def paired(self, pairs: Iterable[tuple[int, int]]) -> Columns:
        """This mapping with further pairs of (gold, predicted); of several pairs with one column the first counts."""
        partner = dict(self.partner)
        gold_left, predicted_left = set(self.open_gold), set(self.open_predicted)
        for gold, other in pairs:
            if gold in gold_left and other in predicted_left:
                partner[gold] = other
                gold_left.remove(gold)
                predicted_left.remove(other)
        return replace(self, partner=partner)

    def left_over(self) -> str:
        """Why the table is unusable with this mapping, with the names of both sides; "" if it is usable. As in
        WideSearch's grader, every required column needs a partner and no predicted column may be left over.
        """
        if self.reason:
            why = self.reason
        elif self.open_gold:
            why = _("missing columns: {names}").format(names=_listed(self.open_gold.values()))
        elif self.open_predicted:
            extra = _listed(self.open_predicted.values())
            why = _("columns that were not asked for: {names}").format(names=extra)
        else:
            return ""
        sides = _("{why} (asked for: {asked}; handed in: {given})")
        return sides.format(why=why, asked=_listed(self.gold), given=_listed(self.predicted) or "–")


def _listed(names: Iterable[str]) -> str:
    return one_line(listed(names), 200)


def same_columns(table: Table, predicted: Sequence[str]) -> Columns:
    """Map the columns with the same names, which are compared in lower case and without blanks (WideSearch)."""
    names = [norm_column(name) for name in predicted]
    columns = Columns(table.column_names, tuple(predicted), {})
    repeated = next((i for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        reason = _("the column {name} occurs twice").format(name=one_line(predicted[repeated], 60))
        return replace(columns, reason=reason)
    return columns.paired(
        (gold, names.index(norm_column(name)))
        for gold, name in enumerate(table.column_names)
        if norm_column(name) in names
    )


@dataclass(frozen=True)
class Rows:
    """Rows joined so far; `rows` and `joined` as in `Layout`. `open_gold`: gold rows without a partner, with their keys;
    `open_keys`: the remaining predicted rows by key.
    """

    rows: dict[int, Row]
    joined: dict[int, int]
    open_gold: dict[int, Key]
    open_keys: dict[Key, int]

    def layout(
        self, pairs: Iterable[tuple[int, int]], undecided: frozenset[int] = frozenset()
    ) -> Layout:
        """The layout with further pairs of (gold row, predicted row); of several pairs with one row the first counts."""
        joined = dict(self.joined)
        gold_left, predicted_left = set(self.open_gold), set(self.open_keys.values())
        for gold, predicted in pairs:
            if gold in gold_left and predicted in predicted_left:
                joined[gold] = predicted
                gold_left.remove(gold)
                predicted_left.remove(predicted)
        return Layout(self.rows, joined, undecided=undecided & gold_left)


def same_rows(table: Table, prediction: TablePrediction, columns: Columns) -> Rows:
    """Put the cells into gold column order, drop duplicates by key, join rows of the same key."""
    order = [columns.partner[gold] for gold in range(len(table.columns))]
    # Our parser gives every row all its cells; tables from elsewhere may lack some.
    rows = {
        index: tuple(row[position] if position < len(row) else "" for position in order)
        for index, row in enumerate(prediction.rows)
    }
    open_keys: dict[Key, int] = {}
    for index, row in rows.items():
        open_keys.setdefault(row_key(table, row), index)
    kept = {index: rows[index] for index in open_keys.values()}
    joined: dict[int, int] = {}
    open_gold: dict[int, Key] = {}
    for index in distinct_gold_rows(table):
        key = row_key(table, table.rows[index])
        if key in open_keys:
            joined[index] = open_keys.pop(key)
        else:
            open_gold[index] = key
    return Rows(kept, joined, open_gold, open_keys)


Decide = Callable[[int, int], tuple[Decision, str]]
"""A function from a gold row and column to the decision and its reason, for a cell of a joined row that is no key."""


def judge_cells(
    table: Table, layout: Layout, decide: Decide
) -> tuple[tuple[Verdict, ...], TableMatch]:
    """One verdict per gold cell, and how the two tables were aligned.

    As in WideSearch, key columns of joined rows are right, whatever their text. A gold row that repeats an earlier key
    is not judged, since graders drop it.
    """
    if layout.reason:
        verdicts = fill(table, Decision.NO, layout.reason)
        return verdicts, TableMatch(usable=False, reason=layout.reason)
    match = TableMatch(
        usable=True, predicted_rows=len(layout.rows), joined=tuple(sorted(layout.joined.items()))
    )
    found: list[Verdict] = []
    for index in distinct_gold_rows(table):
        found.extend(_row_verdicts(table, layout, index, decide))
    return tuple(found), match


def fill(table: Table, decision: Decision, reason: str) -> tuple[Verdict, ...]:
    """The same verdict for every gold cell."""
    return tuple(
        Verdict(item=_item(index, column), decision=decision, rationale=reason)
        for index in distinct_gold_rows(table)
        for column in table.columns
    )


def _row_verdicts(table: Table, layout: Layout, index: int, decide: Decide) -> list[Verdict]:
    partner = layout.joined.get(index)
    if partner is None:
        decision, reason = Decision.NO, _("no predicted row has this key")
        if index in layout.undecided:
            decision, reason = Decision.UNJUDGED, _("no answer on which row has this key")
        return [
            Verdict(item=_item(index, column), decision=decision, rationale=reason)
            for column in table.columns
        ]
    verdicts: list[Verdict] = []
    for position, column in enumerate(table.columns):
        if column.name in table.unique_columns:
            decision, reason = Decision.YES, _("key of a joined row")
        else:
            decision, reason = decide(index, position)
        verdicts.append(
            Verdict(
                item=_item(index, column),
                decision=decision,
                supporting=(partner,),
                rationale=reason,
            )
        )
    return verdicts


def _item(index: int, column: Column) -> Item:
    return Item(kind=ItemKind.CELL, index=index, column=column.name)


_LEAST_COLUMN_SIMILARITY = 75.0
_KEY_CANDIDATES = 10
_LEAST_KEY_SIMILARITY = 40.0
_FUZZY_METRICS = frozenset((Metric.EXACT_MATCH, Metric.LLM_JUDGE))


def judge_table(
    table: Table, prediction: TablePrediction
) -> tuple[tuple[Verdict, ...], TableMatch]:
    """One verdict per gold cell, and how the two tables were aligned."""
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
    return listed(metric.value for metric in column.metric)


def _alike(predicted: str, gold: str, _criterion: str) -> bool:
    """The baseline's substitute for `llm_judge`: similarity of names; the criterion is ignored."""
    if not predicted.strip() or not gold.strip():
        return predicted.strip() == gold.strip()
    return same_thing(gold, predicted) is not None


def lay_out(table: Table, prediction: TablePrediction) -> Layout:
    """Align columns, drop duplicates by key and join rows one to one: equal names and keys first, then the most
    similar ones.
    """
    columns = same_columns(table, prediction.columns)
    columns = columns.paired(_like_columns(columns))
    if reason := columns.left_over():
        return Layout({}, {}, reason)
    rows = same_rows(table, prediction, columns)
    return rows.layout(_like_rows(table, rows))


def _like_columns(columns: Columns) -> list[tuple[int, int]]:
    """Pairs of columns without a partner, the most similar first."""
    pairs = [
        (-similarity, gold, norm_column(text), other)
        for gold, name in columns.open_gold.items()
        for other, text in columns.open_predicted.items()
        if (similarity := _column_similarity(name, text))
    ]
    return [(gold, other) for _similarity, gold, _name, other in sorted(pairs)]


def _column_similarity(gold: str, predicted: str) -> float:
    if similarity := same_thing(gold, predicted):
        return similarity.score
    left, right = form(gold), form(predicted)
    if left.numbers != right.numbers:
        return 0.0
    from rapidfuzz import fuzz

    if left.cjk or right.cjk:
        return fuzz.ratio(left.compact, right.compact, score_cutoff=_LEAST_COLUMN_SIMILARITY)
    # One name within the other: `State` and `State Name`, `Capital` and `Present Capital City`.
    shorter, longer = sorted((set(left.words), set(right.words)), key=len)
    if shorter and shorter <= longer:
        return _LEAST_COLUMN_SIMILARITY
    return fuzz.token_sort_ratio(
        " ".join(left.words), " ".join(right.words), score_cutoff=_LEAST_COLUMN_SIMILARITY
    )


def _like_rows(table: Table, rows: Rows) -> list[tuple[int, int]]:
    """Pairs of rows whose keys are not equal but similar in every part, the most similar first."""
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
            score_cutoff=_LEAST_KEY_SIMILARITY,
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
