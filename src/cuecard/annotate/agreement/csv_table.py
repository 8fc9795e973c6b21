"""Ratings read from a CSV file: a line for each rating, or a line for each item with a column for each rater."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard.annotate.agreement.csv_columns import (
    CsvColumns,
    NoLabels,
    Roles,
    label_key,
    roles_of,
    spellings,
)
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _, listed

_DELIMITERS = (",", ";", "\t")


def read_lines(path: Path) -> list[tuple[int, list[str]]]:
    """All lines that are not empty with their numbers, the header included. Raises `FileProblems`."""
    from cuecard.core.tasks.yaml_io import read_text

    file, text = str(path), read_text(path, _title())
    head = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=head.count), strict=True
    )
    try:
        lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        reason = _("line {line}: {reason}").format(line=reader.line_num, reason=error)
        raise failed([FileProblem(file, "", reason, reader.line_num)]) from error
    if not lines:
        raise failed([FileProblem(file, "", _("is empty"))])
    return lines


def failed(problems: Sequence[FileProblem], hint: str = "") -> FileProblems:
    """The error for a file of ratings that cannot be read."""
    return FileProblems(_title(), problems, hint)


def _title() -> str:
    return _("These ratings cannot be read")


Rating = tuple[int, str, str, str]
"""Its line, item, rater and what stands there."""


@dataclass(frozen=True)
class CsvReading:
    """How a file was read. `missing` and `cannot_tell`: how often each word for no label occurred ("" for a blank);
    `merged`: for each label, its other spellings.
    """

    roles: Roles
    missing: dict[str, int]
    cannot_tell: dict[str, int]
    merged: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class GroupedRatings:
    """`groups`: the group of each item, such as its task; None where the file does not tell."""

    ratings: Ratings
    taken: CsvReading
    groups: tuple[str, ...] | None = None


@dataclass(frozen=True)
class _File:
    """Stripped cells, each row as long as the header; the line of each row."""

    name: str
    header: list[str]
    lines: list[int]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def problem(self, line: int, reason: str) -> FileProblem:
        return FileProblem(self.name, _("line {line}").format(line=line), reason, line)


def read_table(path: Path, columns: CsvColumns) -> GroupedRatings:
    """Ratings from a CSV file in UTF-8, with commas, semicolons or tabs. Raises `FileProblems` with every problem and
    its line, and `UnclearColumns` if the columns' roles cannot be inferred.
    """
    found = read_lines(path)
    header = [cell.strip() for cell in found[0][1]]
    rows = [
        [row[at].strip() if at < len(row) else "" for at in range(len(header))]
        for _line, row in found[1:]
    ]
    file = _File(str(path), header, [line for line, _row in found[1:]], rows)
    named = [columns.item, columns.rater, columns.label, columns.group, *columns.raters]
    _check_columns(file, named)
    if not rows:
        raise failed([FileProblem(file.name, "", _("holds no rating"))])
    none = NoLabels(columns)
    roles = roles_of(header, rows, columns, none)
    long = roles.shape == "long"
    used = (roles.item, roles.rater, roles.label) if long else (roles.item, *roles.raters)
    _check_columns(file, used)
    keys = file.column(roles.item) if roles.item else [str(n + 1) for n in range(len(rows))]
    given = _long(file, keys, roles) if long else _wide(file, keys, roles)
    ratings, taken = _labelled(file, given, roles, columns, none)
    if not columns.group:
        return GroupedRatings(ratings, taken)
    return GroupedRatings(ratings, taken, _groups(file, keys, columns.group, ratings))


def _check_columns(file: _File, named: Sequence[str]) -> None:
    problems: list[FileProblem] = []
    for name in dict.fromkeys(filter(None, named)):
        reason = ""
        if name not in file.header:
            reason = _("there is no such column; the file has {columns}")
        elif file.header.count(name) > 1:
            reason = _("stands twice among the columns")
        if reason:
            told = reason.format(columns=listed(file.header))
            problems.append(FileProblem(file.name, name, told, 1))
    if problems:
        raise failed(
            problems,
            _(
                "Name the columns with --item and --raters, or --rater and --label; the column of groups with --group."
            ),
        )


def _long(file: _File, keys: Sequence[str], roles: Roles) -> list[Rating]:
    raters, labels = file.column(roles.rater), file.column(roles.label)
    found: list[Rating] = []
    problems: list[FileProblem] = []
    seen: dict[tuple[str, str], int] = {}
    for line, item, rater, label in zip(file.lines, keys, raters, labels, strict=True):
        reason = ""
        if not item:
            reason = _("the item is blank")
        elif not rater:
            reason = _("the rater is blank")
        elif (item, rater) in seen:
            reason = _("rater {rater} rated item {item} already in line {first}").format(
                rater=rater, item=item, first=seen[item, rater]
            )
        if reason:
            problems.append(file.problem(line, reason))
            continue
        seen[item, rater] = line
        found.append((line, item, rater, label))
    if problems:
        raise failed(problems)
    return found


def _wide(file: _File, keys: Sequence[str], roles: Roles) -> list[Rating]:
    problems: list[FileProblem] = []
    if len(roles.raters) < 2:
        reason = _("two columns of raters at least are needed; the file has {columns}")
        told = reason.format(columns=listed(file.header))
        problems.append(FileProblem(file.name, "", told, 1))
    known: set[str] = set()
    for line, key in zip(file.lines, keys, strict=True):
        if not key or key in known:
            reason = _("the item is blank") if not key else _("the item stands twice")
            problems.append(file.problem(line, reason))
        known.add(key)
    if problems:
        raise failed(
            problems,
            _(
                "Name the column of items with --item, that of what several lines share with --group, those of the raters with --raters."
            ),
        )
    places = [(name, file.header.index(name)) for name in roles.raters]
    return [
        (line, key, name, row[at])
        for line, key, row in zip(file.lines, keys, file.rows, strict=True)
        for name, at in places
    ]


def _labelled(
    file: _File, found: Sequence[Rating], roles: Roles, columns: CsvColumns, none: NoLabels
) -> tuple[Ratings, CsvReading]:
    """The ratings with one spelling of each label, and what was no label. Raises `FileProblems` for a label that
    is not one of the declared ones.
    """
    given = [label for _line, _item, _rater, label in found if label not in none]
    chosen = spellings(given, columns.domain)
    declared = tuple(dict.fromkeys(chosen[label_key(label)] for label in columns.domain))
    if declared:
        problems = [
            file.problem(
                line,
                _("{label} is not one of {domain}").format(label=label, domain=listed(declared)),
            )
            for line, _item, _rater, label in found
            if label not in none and chosen[label_key(label)] not in declared
        ]
        if problems:
            raise failed(problems)
    missing: Counter[str] = Counter()
    cannot_tell: Counter[str] = Counter()
    for _line, _item, _rater, label in found:
        if label in none:
            (cannot_tell if label_key(label) in none.cannot_tell else missing)[label] += 1
    others: dict[str, dict[str, None]] = {}
    for label in given:
        one = chosen[label_key(label)]
        if label != one:
            others.setdefault(one, {})[label] = None
    rows = [
        (item, rater, None if label in none else chosen[label_key(label)])
        for _line, item, rater, label in found
    ]
    return Ratings.from_rows(rows, domain=declared or None), CsvReading(
        roles=roles,
        missing=dict(missing),
        cannot_tell=dict(cannot_tell),
        merged={one: tuple(names) for one, names in others.items()},
    )


def _groups(file: _File, keys: Sequence[str], group: str, ratings: Ratings) -> tuple[str, ...]:
    found: dict[str, str] = {}
    problems: list[FileProblem] = []
    for line, key, own in zip(file.lines, keys, file.column(group), strict=True):
        if found.setdefault(key, own) != own:
            reason = _("item {item} is in group {one} and in {other}").format(
                item=key, one=found[key], other=own
            )
            problems.append(file.problem(line, reason))
    if problems:
        raise failed(problems)
    return tuple(found[item] for item in ratings.items)
