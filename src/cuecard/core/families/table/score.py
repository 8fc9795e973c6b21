"""Scores of a table task (WideSearch), and how its cells are normalised and compared."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context
from urllib.parse import urlsplit

from cuecard.core.families.table.gold import Column, Metric, Preprocess, Table
from cuecard.core.i18n import _
from cuecard.core.judges.quantities import parse_date
from cuecard.core.text import first_number, normalise, plain_number, read_number, read_whole_number
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    ItemKind,
    Judgement,
    Measure,
    TableMatch,
    count,
    harmonic,
    share,
)

NO_NUMBER = "NULL"
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\]，。；、）】》]+", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_NEAR_DAYS = 31
# Cells of any length are compared: nothing overflows, and what is too long is rounded.
_ARITHMETIC = Context(prec=60, Emin=-(10**15), Emax=10**15, traps=[])

Semantic = Callable[[str, str, str], bool]
"""A function from predicted text, gold text and criterion to whether they are equivalent: the metric `llm_judge`."""


def norm_column(name: str) -> str:
    """A column's name as it is compared: lower case, without blanks (WideSearch)."""
    return _BLANKS.sub("", name).lower()


def norm_str(text: str) -> str:
    """The text in lower case, without blanks and `*`: ` The *Big* One` gives `thebigone`."""
    return _BLANKS.sub("", text).lower().replace("*", "")


def extract_number(text: str) -> str:
    """The first number as text, without separators of thousands, with its exponent and `%`; `NULL` if there is none
    (WideSearch). Numbers are read as in `text.spell_numbers`; they are compared as values later.

    >>> extract_number("$1,234.50 or so")
    '1234.50'
    """
    return first_number(text) or NO_NUMBER


def norm_date(text: str) -> str:
    """The date as YYYY-MM-DD, first of the month when the day is missing; else the text itself."""
    day = parse_date(text)
    return day.isoformat() if day else text


def preprocess(column: Column, text: str) -> str:
    """`text` after the column's preprocessing, in the column's order."""
    for step in column.preprocess:
        text = _STEPS[step](text)
    return text


def exact_match(predicted: str, gold: str) -> bool:
    """Whether two texts are equal in lower case."""
    return predicted.lower() == gold.lower()


def number_near(predicted: str, gold: str, criterion: str | float = 0.0) -> bool:
    """Whether the first number of `predicted` is within the relative tolerance `criterion` of gold's; `%` divides by
    100. If a text has no number, both must have none and be equal.

    >>> number_near("$1,050", "1000", "5%")
    True
    """
    left, right = read_number(predicted), read_number(gold)
    if left is None or right is None:
        return left is right and predicted == gold
    # Decimals, since with binary fractions 1.1 would not be within 10 % of 1.
    share = _ARITHMETIC.create_decimal(repr(tolerance(criterion)))
    difference = _ARITHMETIC.abs(_ARITHMETIC.subtract(left, right))
    return difference <= _ARITHMETIC.multiply(_ARITHMETIC.abs(right), share)


def date_near(predicted: str, gold: str) -> bool:
    """Whether two dates are at most 31 days apart. Two texts that are no dates match only if they are equal but for
    case (WideSearch's released grader accepts any two).
    """
    left, right = parse_date(predicted), parse_date(gold)
    if left is None or right is None:
        return left is right and exact_match(predicted, gold)
    return abs((left - right).days) <= _NEAR_DAYS


def url_match(predicted: str, gold: str) -> bool:
    """Whether two texts have the same set of hosts. Two texts without a web address match only if they are equal but
    for case (WideSearch's released grader accepts any two).
    """
    left, right = _hosts(predicted), _hosts(gold)
    return left == right if left or right else exact_match(predicted, gold)


def in_match(predicted: str, gold: str) -> bool:
    """Whether the predicted text is contained in gold. An empty one matches only an empty gold (WideSearch's released
    grader always accepts it).
    """
    return predicted in gold if predicted else not gold


def tolerance(criterion: str | float) -> float:
    """The relative tolerance that a column's criterion gives, such as `5%` or `0.05`; 0 if it gives none."""
    if isinstance(criterion, float | int):
        return abs(float(criterion))
    return abs(float(read_whole_number(criterion) or 0))


def key_text(raw: str, prepared: str, *, number: bool) -> str:
    """The key text of a cell, by which rows are joined, from its text before and after preprocessing. `number`: the
    column extracts numbers, so that `+5` and `5.0` are the same key.
    """
    if number and (value := read_number(prepared)) is not None:
        return plain_number(value)
    # A key without the expected number is compared by its text.
    return normalise(raw if prepared == NO_NUMBER else prepared) or raw.strip()


def failing_metric(column: Column, predicted: str, gold: str, semantic: Semantic) -> Metric | None:
    """The first of the column's metrics that does not hold between two raw cells; None if all hold.

    All metrics of a column must hold, since WideSearch's released grader takes a row's minimum over them.
    """
    left, right = preprocess(column, predicted), preprocess(column, gold)
    return next((m for m in column.metric if not _holds(m, column, left, right, semantic)), None)


def same_cell(column: Column, predicted: str, gold: str) -> bool:
    """Whether two preprocessed cells are equal: as values if the column extracts numbers, else as texts but for case,
    so that `007` is not `7`.
    """
    if Preprocess.EXTRACT_NUMBER in column.preprocess:
        left, right = read_number(predicted), read_number(gold)
        if left is not None and right is not None:
            return left == right
    return exact_match(predicted, gold)


def _holds(metric: Metric, column: Column, left: str, right: str, semantic: Semantic) -> bool:
    match metric:
        case Metric.EXACT_MATCH:
            return same_cell(column, left, right)
        case Metric.NUMBER_NEAR:
            return number_near(left, right, column.criterion)
        case Metric.DATE_NEAR:
            return date_near(left, right)
        case Metric.URL_MATCH:
            return url_match(left, right)
        case Metric.IN_MATCH:
            return in_match(left, right)
        case Metric.LLM_JUDGE:
            return semantic(left, right, column.criterion)


def _hosts(text: str) -> frozenset[str]:
    hosts: set[str] = set()
    for address in _WEB_ADDRESS.finditer(text):
        try:
            hosts.add(urlsplit(address.group()).netloc.lower().rstrip(".,;:!?"))
        except ValueError:
            continue
    return frozenset(filter(None, hosts))


_STEPS: dict[Preprocess, Callable[[str], str]] = {
    Preprocess.NORM_STR: norm_str,
    Preprocess.EXTRACT_NUMBER: extract_number,
    Preprocess.NORM_DATE: norm_date,
}


TABLE_MEASURES = (
    "success",
    "row_precision",
    "row_recall",
    "row_f1",
    "item_precision",
    "item_recall",
    "item_f1",
)


def row_key(table: Table, cells: tuple[str, ...]) -> tuple[str, ...]:
    """The key of a row in gold column order, preprocessed and normalised for comparing."""
    columns = ((table.columns[index], cells[index]) for index in table.key_indices)
    return tuple(
        key_text(
            raw, preprocess(column, raw), number=Preprocess.EXTRACT_NUMBER in column.preprocess
        )
        for column, raw in columns
    )


def distinct_gold_rows(table: Table) -> tuple[int, ...]:
    """Indices of gold rows, the first of each key: the grader drops duplicates on both sides."""
    first: dict[tuple[str, ...], int] = {}
    for index, row in enumerate(table.rows):
        first.setdefault(row_key(table, row), index)
    return tuple(first.values())


def score_table(table: Table, judgement: Judgement) -> tuple[Measure, ...]:
    """Success, and precision, recall and F1 of rows and items, each in [0, 1], and `unjudged`.

    After WideSearch: item scores are sums over the cells of joined rows, a row scores the minimum over its cells;
    precision is over predicted rows or cells (without duplicates by key), recall over gold rows or cells; key columns of
    joined rows score 1; success is 1 only if the whole table is right. A response that is no table, or whose columns do
    not map to the required ones, scores 0.

    Unjudged cells are left out of numerators and denominators; so is a row with such a cell and no wrong one, which also
    leaves success undefined unless another row is wrong. The same holds for a gold row whose predicted row the judge
    could not determine. For rows, a verdict on the whole row overrides those on its cells. If the judgement does not say
    how the tables were aligned, all measures are undefined.
    """
    gold = distinct_gold_rows(table)
    width = len(table.columns)
    match = judgement.table
    if match is None:
        reason = _("the judgement does not say which rows were joined")
        unjudged = count("unjudged", len(gold) * width, len(gold) * width)
        return (*(Measure(name, None, 0, reason) for name in TABLE_MEASURES), unjudged)
    tally = _count(table, judgement, gold, match)
    nothing = match.reason or _("no rows were handed in")
    rows = (
        share("row_precision", tally.right_rows, tally.predicted_rows, nothing, zero=True),
        share("row_recall", tally.right_rows, tally.gold_rows, _("no gold row was judged")),
    )
    items = (
        share("item_precision", tally.right_cells, tally.predicted_cells, nothing, zero=True),
        share("item_recall", tally.right_cells, tally.gold_cells, _("no gold cell was judged")),
    )
    return (
        _success(tally, match.predicted_rows, len(gold)),
        *rows,
        harmonic("row_f1", *rows),
        *items,
        harmonic("item_f1", *items),
        count("unjudged", tally.unjudged, len(gold) * width),
    )


@dataclass
class _Tally:
    """Counts of rows and cells, without those that were not judged."""

    gold_rows: int
    gold_cells: int
    predicted_rows: int
    predicted_cells: int
    right_rows: int = 0
    right_cells: int = 0
    unjudged: int = 0
    undecided_rows: int = 0


def _count(table: Table, judgement: Judgement, gold: tuple[int, ...], match: TableMatch) -> _Tally:
    decisions = Decisions.of(judgement.verdicts)
    width = len(table.columns)
    predicted = match.predicted_rows if match.usable else 0
    tally = _Tally(len(gold), len(gold) * width, predicted, predicted * width)
    joined = _joined(match, gold)
    for row in set(gold).difference(joined) if match.usable else ():
        if _left_open(table, decisions, row):
            tally.unjudged += width
            tally.gold_cells -= width
            tally.gold_rows -= 1
            tally.undecided_rows += 1
    for row in joined:
        states = [
            Decision.YES
            if column.name in table.unique_columns
            else decisions.decision(ItemKind.CELL, row, column.name)
            for column in table.columns
        ]
        open_cells = states.count(Decision.UNJUDGED)
        tally.right_cells += states.count(Decision.YES)
        tally.unjudged += open_cells
        tally.gold_cells -= open_cells
        tally.predicted_cells -= open_cells
        whole = decisions.decision(ItemKind.ROW, row)
        if whole is not Decision.UNJUDGED:
            tally.right_rows += whole is Decision.YES
            continue
        if Decision.NO in states:
            continue
        if open_cells:
            tally.undecided_rows += 1
            tally.gold_rows -= 1
            tally.predicted_rows -= 1
        else:
            tally.right_rows += 1
    return tally


def _left_open(table: Table, decisions: Decisions, row: int) -> bool:
    """Whether the judge gave `unjudged` for every cell of a row (cells without any verdict do not count)."""
    found = (decisions.verdict(ItemKind.CELL, row, column.name) for column in table.columns)
    return all(verdict and verdict.decision is Decision.UNJUDGED for verdict in found)


def _joined(match: TableMatch, gold: tuple[int, ...]) -> list[int]:
    """Gold rows with a partner; a row on either side is joined once."""
    if not match.usable:
        return []
    known, taken = set(gold), set[int]()
    rows: list[int] = []
    for row, partner in match.joined:
        if row in known and partner not in taken:
            known.discard(row)
            taken.add(partner)
            rows.append(row)
    return rows


def _success(tally: _Tally, predicted: int, gold: int) -> Measure:
    whole = predicted == gold == tally.right_rows + tally.undecided_rows
    if whole and tally.undecided_rows:
        return Measure("success", None, 0, _("some cells were not judged"))
    return Measure("success", float(whole), 1)
