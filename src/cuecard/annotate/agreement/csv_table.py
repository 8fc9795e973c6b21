"""Ratings from a CSV file of either shape: a line for each rating, or a line for each item with a column for
each rater; with the group of each item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard.annotate.agreement.csv_io import failed, read_lines, read_ratings
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.errors import FileProblem
from cuecard.core.i18n import _

_MOST_LABELS = 50


@dataclass(frozen=True)
class CsvColumns:
    """Where what stands. `raters`: the columns of a wide file, none meaning all but item and group; `domain`:
    the labels that can be given, in order, none meaning those that occur.
    """

    item: str = "item"
    rater: str = "rater"
    label: str = "label"
    group: str = ""
    raters: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupedRatings:
    """`groups`: the group of each item, such as its task; None where the file does not tell."""

    ratings: Ratings
    groups: tuple[str, ...] | None = None


def read_table(path: Path, columns: CsvColumns) -> GroupedRatings:
    """A file is wide if its raters are named, or if it has neither the column of the rater nor that of the
    label and both were left at their usual names. Raises `FileProblems` with every problem and its line.
    """
    file = str(path)
    lines = read_lines(path)
    header = [cell.strip() for cell in lines[0][1]]
    usual = (columns.rater, columns.label) == ("rater", "label")
    wide = bool(columns.raters) or (usual and not {"rater", "label"} & set(header))
    domain = columns.domain or None
    if wide:
        ratings, keys = _wide(file, header, lines[1:], columns)
    else:
        ratings = read_ratings(
            path, item=columns.item, rater=columns.rater, label=columns.label, domain=domain
        )
        at = header.index(columns.item)
        keys = [row[at].strip() if at < len(row) else "" for _line, row in lines[1:]]
    if not columns.group:
        return GroupedRatings(ratings)
    return GroupedRatings(ratings, _groups(file, header, lines[1:], keys, columns.group, ratings))


def _wide(
    file: str, header: list[str], lines: Sequence[tuple[int, list[str]]], columns: CsvColumns
) -> tuple[Ratings, list[str]]:
    """The ratings, and which item each line is about: its number where there is no column of items."""
    raters = columns.raters or tuple(
        name for name in header if name and name not in (columns.item, columns.group)
    )
    problems = [
        FileProblem(file, name, _("there is no such column, or it stands twice"), 1)
        for name in raters
        if header.count(name) != 1
    ]
    if not problems and len(raters) < 2:
        reason = _("two columns of raters at least are needed; the file has {columns}")
        problems.append(FileProblem(file, "", reason.format(columns=", ".join(header)), 1))
    if problems:
        raise failed(problems, _("Name the raters' columns with --column."))
    places = {name: header.index(name) for name in raters}
    item_at = header.index(columns.item) if columns.item in header else None
    keys: list[str] = []
    known: set[str] = set()
    rows: list[tuple[str, str, str]] = []
    for number, (line, cells) in enumerate(lines, 1):
        key = str(number) if item_at is None else _cell(cells, item_at)
        if not key or key in known:
            reason = _("the item is blank") if not key else _("the item stands twice")
            problems.append(FileProblem(file, _("line {line}").format(line=line), reason, line))
        keys.append(key)
        known.add(key)
        rows += [(key, name, _cell(cells, at)) for name, at in places.items()]
    labels = {label for _item, _rater, label in rows if label}
    if not columns.raters and len(labels) > _MOST_LABELS:
        reason = _("{n} different labels: not all of these columns hold ratings")
        problems.append(FileProblem(file, "", reason.format(n=len(labels)), 1))
    if problems:
        raise failed(problems, _("Name the raters' columns with --column."))
    return Ratings.from_rows(rows, domain=columns.domain or None), keys


def _groups(
    file: str,
    header: list[str],
    lines: Sequence[tuple[int, list[str]]],
    keys: Sequence[str],
    group: str,
    ratings: Ratings,
) -> tuple[str, ...]:
    if header.count(group) != 1:
        reason = _("there is no such column; the file has {columns}")
        problem = FileProblem(file, group, reason.format(columns=", ".join(header)), 1)
        raise failed([problem], _("Name the column of groups with --group."))
    at = header.index(group)
    found: dict[str, str] = {}
    problems: list[FileProblem] = []
    for key, (line, cells) in zip(keys, lines, strict=True):
        own = _cell(cells, at)
        if found.setdefault(key, own) != own:
            reason = _("item {item} is in group {one} and in {other}").format(
                item=key, one=found[key], other=own
            )
            problems.append(FileProblem(file, _("line {line}").format(line=line), reason, line))
    if problems:
        raise failed(problems)
    return tuple(found[item] for item in ratings.items)


def _cell(cells: Sequence[str], at: int) -> str:
    return cells[at].strip() if at < len(cells) else ""
