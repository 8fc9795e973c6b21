"""How a predicted table is laid over the gold one: columns first, then keys.

What letters decide beyond doubt is decided here; who pairs up the rest (by likeness, by a model) is
another matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cuecard.core.i18n import _
from cuecard.core.prediction import TablePrediction
from cuecard.core.scoring.cells import norm_column
from cuecard.core.scoring.table import distinct_gold_rows, row_key
from cuecard.core.tasks import Table
from cuecard.core.text import one_line

Key = tuple[str, ...]
Row = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """`rows`: the predicted rows in gold column order, by their original index, duplicates dropped.
    `joined`: gold row -> predicted row. `undecided`: gold rows of which nobody could say which
    predicted row is theirs, if any. With a `reason` the table is unusable.
    """

    rows: dict[int, Row]
    joined: dict[int, int]
    reason: str = ""
    undecided: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Columns:
    """The names of both sides, and `partner`: gold column -> predicted column, by index. With a `reason` no
    pairing can make the table usable.
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
        """The predicted columns that are nobody's partner."""
        taken = set(self.partner.values())
        return {i: name for i, name in enumerate(self.predicted) if i not in taken}

    def paired(self, pairs: Iterable[tuple[int, int]]) -> Columns:
        """With further pairs of (gold, predicted), the first of each counting."""
        partner = dict(self.partner)
        gold_left, predicted_left = set(self.open_gold), set(self.open_predicted)
        for gold, other in pairs:
            if gold in gold_left and other in predicted_left:
                partner[gold] = other
                gold_left.remove(gold)
                predicted_left.remove(other)
        return replace(self, partner=partner)

    def left_over(self) -> str:
        """Why the table is unusable with this pairing, and the names of both sides; or "". FORMATS, widesearch:
        every required column needs a partner and no column may be left over, as in the released grader.
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
    return one_line(", ".join(names), 200)


def same_columns(table: Table, predicted: Sequence[str]) -> Columns:
    """Pair the columns of the same name: FORMATS, widesearch: names compare after strip, lower and
    removal of blanks.
    """
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
    """`rows` and `joined` as in `Layout`. `open_gold`: gold rows without a partner yet, with their keys;
    `open_keys`: the predicted rows, by key, that are left.
    """

    rows: dict[int, Row]
    joined: dict[int, int]
    open_gold: dict[int, Key]
    open_keys: dict[Key, int]

    def layout(
        self, pairs: Iterable[tuple[int, int]], undecided: frozenset[int] = frozenset()
    ) -> Layout:
        """With further pairs of (gold row, predicted row), the first of each counting."""
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
    # The parser gives every row all its cells; a table from elsewhere may not.
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
