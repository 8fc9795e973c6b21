"""Cells of a table: how they are normalised and compared (FORMATS: widesearch).

Every function is pure and takes the predicted text before the gold one. Where the released grader
would reward an empty or unreadable cell for being so, the text decides instead; its docstring says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import urlsplit

from cuecard.core.scoring.dates import parse_date
from cuecard.core.tasks import Column, Metric, Preprocess

_NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+)%?")
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+)")
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\]，。；、）】》]+", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_NEAR_DAYS = 31

Semantic = Callable[[str, str, str], bool]
"""predicted, gold, criterion -> equivalent; fills the place of `llm_judge`."""


def norm_column(name: str) -> str:
    """Column names compare after strip, lower and removal of blanks (FORMATS: widesearch)."""
    return _BLANKS.sub("", name).lower()


def norm_str(text: str) -> str:
    """Lower, strip, blanks and `*` removed."""
    return _BLANKS.sub("", text).lower().replace("*", "")


def extract_number(text: str) -> str:
    """The first number, `,` removed, a `%` behind it kept; `NULL` if there is none."""
    found = _NUMBER.search(unicodedata.normalize("NFKC", text).replace("−", "-").replace(",", ""))
    return found.group() if found else "NULL"


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
    """Within the relative tolerance `criterion` of gold; `%` means /100.

    Texts of which one is no number match only if neither is and they are equal.
    """
    left, right = _to_number(predicted), _to_number(gold)
    if left is None or right is None:
        return left is right and predicted == gold
    # The slack keeps 1.1 within 10 % of 1, which binary fractions would put outside.
    return abs(left - right) <= abs(right) * tolerance(criterion) * (1 + 1e-12) + 1e-12 * abs(right)


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
    return abs(_to_number(criterion.strip()) or 0.0)


def failing_metric(column: Column, predicted: str, gold: str, semantic: Semantic) -> Metric | None:
    """The first of the column's metrics that does not hold between two raw cells; None if all do.

    Several metrics on one column must all hold: the released grader takes a row's minimum over them.
    """
    left, right = preprocess(column, predicted), preprocess(column, gold)
    for metric in column.metric:
        if not _holds(metric, left, right, column.criterion, semantic):
            return metric
    return None


def _holds(metric: Metric, left: str, right: str, criterion: str, semantic: Semantic) -> bool:
    match metric:
        case Metric.EXACT_MATCH:
            return exact_match(_as_read(left), _as_read(right))
        case Metric.NUMBER_NEAR:
            return number_near(left, right, criterion)
        case Metric.DATE_NEAR:
            return date_near(left, right)
        case Metric.URL_MATCH:
            return url_match(left, right)
        case Metric.IN_MATCH:
            return in_match(left, right)
        case Metric.LLM_JUDGE:
            return semantic(left, right, criterion)


def _as_read(text: str) -> str:
    """`5.0` as `5`: the released grader reads whole columns as numbers, where the two are one."""
    if "." in text and _PLAIN_NUMBER.fullmatch(text):
        whole, _, fraction = text.partition(".")
        return (whole or "0") if not fraction.strip("0") else text
    return text


def _to_number(text: str) -> float | None:
    percent = "%" in text
    plain = text.replace("%", "").strip()
    if not _PLAIN_NUMBER.fullmatch(plain):
        return None
    return float(plain) / 100 if percent else float(plain)


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
