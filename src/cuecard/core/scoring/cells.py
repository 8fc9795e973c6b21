"""Cells of a table: how they are normalised and compared (FORMATS: widesearch).

Every function is pure and takes the predicted text before the gold one. Where the released grader
would reward an empty or unreadable cell for being so, the text decides instead; its docstring says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context
from urllib.parse import urlsplit

from cuecard.core.scoring.dates import parse_date
from cuecard.core.scoring.numerals import (
    first_number,
    plain_number,
    read_number,
    read_whole_number,
)
from cuecard.core.tasks import Column, Metric, Preprocess
from cuecard.core.text import normalise

NO_NUMBER = "NULL"
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\]，。；、）】》]+", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_NEAR_DAYS = 31
# Cells of any length are compared: nothing overflows, and what is too long is rounded.
_ARITHMETIC = Context(prec=60, Emin=-(10**15), Emax=10**15, traps=[])

Semantic = Callable[[str, str, str], bool]
"""predicted, gold, criterion -> equivalent; fills the place of `llm_judge`."""


def norm_column(name: str) -> str:
    """Column names compare after strip, lower and removal of blanks (FORMATS: widesearch)."""
    return _BLANKS.sub("", name).lower()


def norm_str(text: str) -> str:
    """Lower, strip, blanks and `*` removed."""
    return _BLANKS.sub("", text).lower().replace("*", "")


def extract_number(text: str) -> str:
    """The first number, exponent included, `,` removed, a `%` behind it kept; `NULL` if there is none.

    METHODS 11.4 says how numbers are read; two that are written differently compare as values later.
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
    """Equal but for case."""
    return predicted.lower() == gold.lower()


def number_near(predicted: str, gold: str, criterion: str | float = 0.0) -> bool:
    """Within the relative tolerance `criterion` of gold, by the first number of each text; `%` means /100.

    Texts of which one holds no number match only if neither does and they are equal.
    """
    left, right = read_number(predicted), read_number(gold)
    if left is None or right is None:
        return left is right and predicted == gold
    # Decimals: binary fractions would put 1.1 outside of 10 % around 1.
    share = _ARITHMETIC.create_decimal(repr(tolerance(criterion)))
    difference = _ARITHMETIC.abs(_ARITHMETIC.subtract(left, right))
    return difference <= _ARITHMETIC.multiply(_ARITHMETIC.abs(right), share)


def date_near(predicted: str, gold: str) -> bool:
    """At most 31 days apart. Two texts that are no dates match only if they are equal but for case
    (the released grader lets any two pass).
    """
    left, right = parse_date(predicted), parse_date(gold)
    if left is None or right is None:
        return left is right and exact_match(predicted, gold)
    return abs((left - right).days) <= _NEAR_DAYS


def url_match(predicted: str, gold: str) -> bool:
    """The same set of hosts. Two texts without any web address match only if they are equal but for
    case (the released grader lets any two pass).
    """
    left, right = _hosts(predicted), _hosts(gold)
    return left == right if left or right else exact_match(predicted, gold)


def in_match(predicted: str, gold: str) -> bool:
    """The response is contained in gold. An empty response matches only an empty gold (the
    released grader lets it pass everywhere).
    """
    return predicted in gold if predicted else not gold


def tolerance(criterion: str | float) -> float:
    """A relative tolerance from a column's criterion, `5%` or `0.05`; 0 where there is none."""
    if isinstance(criterion, float | int):
        return abs(float(criterion))
    return abs(float(read_whole_number(criterion) or 0))


def key_text(raw: str, prepared: str, *, number: bool) -> str:
    """What a cell of a key column is joined by, from its text before and after preprocessing. `number`: the column
    extracts numbers, so that `+5` and `5.0` are one key.
    """
    if number and (value := read_number(prepared)) is not None:
        return plain_number(value)
    # A key without the number that its column expects is still told apart by its text.
    return normalise(raw if prepared == NO_NUMBER else prepared) or raw.strip()


def failing_metric(column: Column, predicted: str, gold: str, semantic: Semantic) -> Metric | None:
    """The first of the column's metrics that does not hold between two raw cells; None if all do.

    Several metrics on one column must all hold: the released grader takes a row's minimum over them.
    """
    left, right = preprocess(column, predicted), preprocess(column, gold)
    return next((m for m in column.metric if not _holds(m, column, left, right, semantic)), None)


def same_cell(column: Column, predicted: str, gold: str) -> bool:
    """Whether two prepared cells are equal: as values where the column extracts numbers, else but for case. A text
    stays text: `007` is not `7` there.
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
