"""Tables: keys, empty cells, and whether cells and columns are what the metrics compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.core.i18n import _
from cuecard.core.scoring.dates import parse_plain_date
from cuecard.core.scoring.numerals import first_number, read_whole_number
from cuecard.core.tasks import Column, Metric, Preprocess, Table


def lint_table(case: Case) -> Iterator[Finding]:
    """L003, L012, L013, L017 and L018."""
    if case.table is not None:
        yield from _keys(case.table)
        yield from _columns(case.table)
        yield from _cells(case.table)


def _keys(table: Table) -> Iterator[Finding]:
    first: dict[tuple[str, ...], int] = {}
    indices = table.key_indices
    for index, row in enumerate(table.rows):
        if not indices:
            return
        key = tuple(plain(row[at]) for at in indices)
        for at, cell in zip(indices, key, strict=True):
            if not cell:
                yield error(
                    "L012",
                    f"gold.rows[{index}][{at}]",
                    _("the key column {column} is empty").format(column=table.columns[at].name),
                    _("Fill it in; rows are joined on their key."),
                )
        if not all(key):
            continue
        if key in first:
            yield error(
                "L003",
                f"gold.rows[{index}]",
                _same_key(table, first[key], index),
                _("Remove one row, or add a column to unique_columns that tells them apart."),
                " | ".join(table.key_of(row)),
            )
        first.setdefault(key, index)


def _same_key(table: Table, one: int, other: int) -> str:
    """Whether two rows of one key say the same, and if not where they differ."""
    left, right = table.rows[one], table.rows[other]
    for column, mine, theirs in zip(table.columns, left, right, strict=True):
        if plain(mine) != plain(theirs):
            text = _("row {n} has this key too, and another {column}: {one} / {other}")
            return text.format(n=one + 1, column=column.name, one=mine, other=theirs)
    return _("says the same as row {n}").format(n=one + 1)


def _cells(table: Table) -> Iterator[Finding]:
    keys = set(table.key_indices)
    readers = [_reader(column) for column in table.columns]
    for index, row in enumerate(table.rows):
        for at, cell in enumerate(row):
            column = table.columns[at]
            if not cell.strip():
                if at not in keys and column.name:
                    yield warning(
                        "L013",
                        f"gold.rows[{index}][{at}]",
                        _("the cell of {column} is empty").format(column=column.name),
                        _("Fill it in; for what does not exist write what an answer should say."),
                        _cell_of(table, row, column),
                    )
            elif (reader := readers[at]) is not None and not reader(cell):
                yield warning(
                    "L018",
                    f"gold.rows[{index}][{at}]",
                    _("“{cell}” is not what {column} compares").format(
                        cell=cell, column=column.name
                    ),
                    _("Write a number, a date or an address, as the column's metric reads it."),
                    _cell_of(table, row, column),
                )


def _cell_of(table: Table, row: tuple[str, ...], column: Column) -> str:
    return " | ".join((*table.key_of(row), column.name))


def _reader(column: Column) -> Callable[[str], bool] | None:
    """Whether a cell is what the column's metric and preprocessing read; None where all are."""
    if Metric.DATE_NEAR in column.metric or Preprocess.NORM_DATE in column.preprocess:
        return _is_date
    if Preprocess.EXTRACT_NUMBER in column.preprocess or Metric.NUMBER_NEAR in column.metric:
        return _has_number
    return _has_address if Metric.URL_MATCH in column.metric else None


@lru_cache(maxsize=16384)
def _is_date(cell: str) -> bool:
    text = cell.strip()
    return (text.isdecimal() and len(text) == 4) or parse_plain_date(text) is not None


@lru_cache(maxsize=16384)
def _has_number(cell: str) -> bool:
    return first_number(cell) is not None


def _has_address(cell: str) -> bool:
    return "://" in cell


def _columns(table: Table) -> Iterator[Finding]:
    for index, column in enumerate(table.columns):
        place = f"gold.columns[{index}]"
        for field, reason, hint in _clashes(column):
            yield error("L017", f"{place}.{field}", reason, hint, column.name)
        criterion = column.criterion.strip()
        if Metric.LLM_JUDGE in column.metric and not criterion:
            yield warning(
                "L017",
                f"{place}.criterion",
                _("the judge of {column} is told no criterion").format(column=column.name),
                _("Say when two cells mean the same."),
                column.name,
            )


def _clashes(column: Column) -> Iterator[tuple[str, str, str]]:
    """Combinations that cannot work: field, reason, hint."""
    number = Preprocess.EXTRACT_NUMBER in column.preprocess
    day = Preprocess.NORM_DATE in column.preprocess
    if number and day:
        yield (
            "preprocess",
            _("extract_number and norm_date leave nothing of each other's work"),
            _("Keep the one that the metric reads."),
        )
        return
    for metric in column.metric:
        spoilt = {
            Metric.DATE_NEAR: number,
            Metric.URL_MATCH: number or day,
            Metric.NUMBER_NEAR: day,
        }.get(metric, False)
        if spoilt:
            step = Preprocess.EXTRACT_NUMBER if number else Preprocess.NORM_DATE
            yield (
                "preprocess",
                _("{step} takes away what {metric} compares").format(
                    step=step.value, metric=metric.value
                ),
                _("Take the preprocessing out, or choose another metric."),
            )
    criterion = column.criterion.strip()
    if Metric.NUMBER_NEAR in column.metric and criterion and read_whole_number(criterion) is None:
        yield (
            "criterion",
            _("“{criterion}” is no tolerance").format(criterion=criterion),
            _("Write it as 0.01 or 1%."),
        )
