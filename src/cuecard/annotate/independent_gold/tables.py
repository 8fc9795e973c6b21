"""Tables built twice: aligned by row and cell, and made one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Decided,
    Element,
    GoldComparer,
    Level,
    best_assignment,
    canonical,
    composed,
    named,
)
from cuecard.core.families.table.gold import Metric, Table
from cuecard.core.families.table.score import failing_metric, norm_column, row_key
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing

Row = tuple[str, ...]
_READ_LOOSELY = frozenset((Metric.EXACT_MATCH, Metric.LLM_JUDGE))
_LEAST_LIKE, _NEAR_KEY = 80.0, 75.0


def in_columns_of(table: Table, second: Table) -> tuple[Row, ...]:
    """The rows of `second` in the columns of `table`, by name; a column it lacks is empty."""
    names = [norm_column(name) for name in second.column_names]
    at = [
        names.index(name) if (name := norm_column(column)) in names else None
        for column in table.column_names
    ]
    return tuple(
        tuple(row[index] if index is not None else "" for index in at) for row in second.rows
    )


class _Laying:
    """Joins rows of equal keys, then of keys that mean the same, then of similar keys if most cells agree, one to one. A
    row agrees if all its cells do. Cells agree if the column's metric holds with either one as gold (a metric such as
    `in_match` has a direction, agreement has none); for `llm_judge`, texts are compared as names are.
    """

    def __init__(self, table: Table, second: Sequence[Row]) -> None:
        self._table = table
        self._rows, self._others = table.rows, tuple(second)
        self._left, self._right = canonical(self._rows), canonical(self._others)
        self._keys = [row_key(table, self._rows[index]) for index in self._left]
        self._other_keys = [row_key(table, self._others[index]) for index in self._right]
        self._checked: dict[tuple[int, int, int], bool] = {}

    def alignment(self) -> Alignment:
        joined = self._joined()
        width = len(self._table.columns)
        right_rows = right_cells = 0
        for m, n in joined.items():
            agreeing = sum(self._agree(m, n, column) for column in range(width))
            right_cells += agreeing
            right_rows += agreeing == width
        mine, theirs = len(self._rows), len(self._others)
        return Alignment(
            named(self._elements(joined)),
            (
                Level("row", right_rows, mine, theirs),
                Level("key", self._same_keys(joined), mine, theirs),
                Level("cell", right_cells, mine * width, theirs * width),
            ),
        )

    def _joined(self) -> dict[int, int]:
        """The rows that are joined, by their places in the order of `canonical`."""
        by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for n, key in enumerate(self._other_keys):
            by_key[key].append(n)
        joined = best_assignment(
            {
                (m, n): self._alike(m, n)
                for m, key in enumerate(self._keys)
                for n in by_key.get(key, ())
            }
        )
        for close in (False, True):
            gone = set(joined.values())
            lefts = [m for m in range(len(self._keys)) if m not in joined]
            rights = [n for n in range(len(self._other_keys)) if n not in gone]
            joined |= best_assignment(self._loosely(lefts, rights, close=close))
        return joined

    def _loosely(
        self, lefts: list[int], rights: list[int], *, close: bool
    ) -> dict[tuple[int, int], float]:
        if not lefts or not rights:
            return {}
        from rapidfuzz import fuzz, process

        least = _NEAR_KEY if close else _LEAST_LIKE
        texts = [" ".join(self._other_keys[n]) for n in rights]
        edges: dict[tuple[int, int], float] = {}
        for m in lefts:
            hits = process.extract_iter(
                " ".join(self._keys[m]), texts, scorer=fuzz.WRatio, score_cutoff=least
            )
            for _text, score, at in hits:
                n = rights[at]
                if self._mostly_agree(m, n) if close else self._keys_agree(m, n):
                    edges[m, n] = score + 100 * self._alike(m, n)
        return edges

    def _keys_agree(self, m: int, n: int) -> bool:
        return all(self._agree(m, n, column) for column in self._table.key_indices)

    def _mostly_agree(self, m: int, n: int) -> bool:
        rest = [c for c in range(len(self._table.columns)) if c not in self._table.key_indices]
        agreeing = sum(self._agree(m, n, column) for column in rest)
        return bool(rest) and 2 * agreeing >= len(rest)

    def _same_keys(self, joined: dict[int, int]) -> int:
        return sum(self._keys_agree(m, n) for m, n in joined.items())

    def _alike(self, m: int, n: int) -> float:
        """How many cells of two rows agree."""
        return sum(self._agree(m, n, column) for column in range(len(self._table.columns)))

    def _agree(self, m: int, n: int, column: int) -> bool:
        known = self._checked.get((m, n, column))
        if known is None:
            known = self._checked[m, n, column] = self._compare(m, n, column)
        return known

    def _compare(self, m: int, n: int, column: int) -> bool:
        one, other = self._rows[self._left[m]][column], self._others[self._right[n]][column]
        if one == other:
            return True
        keys = self._table.key_indices
        spec = self._table.columns[column]
        if column in keys:
            at = keys.index(column)
            if self._keys[m][at] == self._other_keys[n][at]:
                return True
            if _READ_LOOSELY & set(spec.metric):
                return _one_thing(one, other)
        return any(
            failing_metric(spec, *pair, lambda a, b, _criterion: _one_thing(a, b)) is None
            for pair in ((one, other), (other, one))
        )

    def _elements(self, joined: dict[int, int]) -> Iterator[tuple[Element, object, object]]:
        partner = {self._left[m]: (m, n) for m, n in joined.items()}
        width = range(len(self._table.columns))
        for index, row in enumerate(self._rows):
            if index not in partner:
                yield Element("", "row", "author", index, None), row, None
                continue
            m, n = partner[index]
            other = self._right[n]
            told = self._others[other]
            wrong = [column for column in width if not self._agree(m, n, column)]
            if not wrong:
                yield Element("", "row", "agreed", index, other), row, told
            for column in wrong:
                key = column in self._table.key_indices
                why = _("another key") if key else _("another value")
                yield Element("", "cell", "differ", index, other, column, why), row, told
        taken = {self._right[n] for n in joined.values()}
        for index, row in enumerate(self._others):
            if index not in taken:
                yield Element("", "row", "second", None, index), None, row


def _one_thing(one: str, other: str) -> bool:
    if not one.strip() or not other.strip():
        return one.strip() == other.strip()
    return same_thing(one, other) is not None and same_thing(other, one) is not None


def _table(author: Table, second: Table, decided: Decided) -> dict[str, Any]:
    mine = [list(row) for row in author.rows]
    theirs = [list(row) for row in in_columns_of(author, second)]
    rows = decided.of("row")
    for element, take in decided.of("cell"):
        at, other, column = element.author, element.second, element.column
        if at is None or other is None or column is None:
            continue
        if take == "second":
            mine[at][column] = theirs[other][column]
        # A row whose cells were decided one by one stays; it is listed once for all of them.
        if not any(known.author == at for known, _take in rows):
            rows.append((element, "author"))
    made = composed(mine, theirs, rows, lambda one, _other: one, lambda _one, other: other)
    return {**author.model_dump(mode="json"), "rows": made}


def _blank(table: Table, cover: Callable[[str], str]) -> dict[str, Any]:
    columns = [
        {**column.model_dump(mode="json"), "criterion": cover(column.criterion)}
        for column in table.columns
    ]
    keys = list(table.unique_columns)
    rows = [[""] * len(columns)]
    return {"family": "table", "columns": columns, "unique_columns": keys, "rows": rows}


def _fitted(gold: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The rows in the given columns, by name; what they do not have is empty."""
    names = [column["name"] for column in gold["columns"]]
    at = [names.index(c["name"]) if c["name"] in names else len(names) for c in given["columns"]]
    rows = [[row[i] if i < len(row) else "" for i in at] for row in gold["rows"]]
    return {**gold, "rows": rows}


TABLE = GoldComparer(
    blank=_blank,
    given=("columns", "unique_columns"),
    secret=lambda table: table.things,
    align=lambda author, second: _Laying(author, in_columns_of(author, second)).alignment(),
    adjudicated=_table,
    fitted=_fitted,
)
