"""Ratings from a CSV file in long form: a line for each rating."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _

_DELIMITERS = (",", ";", "\t")


def read_ratings(
    path: Path,
    *,
    item: str = "item",
    rater: str = "rater",
    label: str = "label",
    domain: Sequence[str] | None = None,
) -> Ratings:
    """Read ratings; `item`, `rater` and `label` name the columns, a blank label is missing.

    UTF-8 with or without BOM; commas, semicolons or tabs. Raises `FileProblems` with every
    problem and its line.
    """
    file = str(path)
    lines = read_lines(path)
    columns = _columns(file, [cell.strip() for cell in lines[0][1]], (item, rater, label))
    return Ratings.from_rows(_rows(file, lines[1:], columns, domain), domain=domain)


def read_lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that hold anything, with their numbers, the header among them. Raises `FileProblems`."""
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise failed([FileProblem(file, "", _("is not UTF-8 text; save it as UTF-8"))]) from error
    except OSError as error:
        raise failed([FileProblem(file, "", error.strerror or str(error))]) from error
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


def _columns(file: str, header: list[str], wanted: tuple[str, str, str]) -> tuple[int, ...]:
    problems = [
        FileProblem(
            file,
            name,
            _("there is no such column; the file has {columns}").format(columns=", ".join(header))
            if name not in header
            else _("stands twice among the columns"),
            1,
        )
        for name in dict.fromkeys(wanted)
        if header.count(name) != 1
    ]
    if problems:
        raise failed(problems, _("Name the columns with --item, --rater and --label."))
    return tuple(header.index(name) for name in wanted)


def _rows(
    file: str,
    lines: Sequence[tuple[int, list[str]]],
    columns: tuple[int, ...],
    domain: Sequence[str] | None,
) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    problems: list[FileProblem] = []
    seen: dict[tuple[str, str], int] = {}
    for line, cells in lines:
        item, rater, label = (cells[c].strip() if c < len(cells) else "" for c in columns)
        reason = ""
        if not item:
            reason = _("the item is blank")
        elif not rater:
            reason = _("the rater is blank")
        elif (item, rater) in seen:
            reason = _("rater {rater} rated item {item} already in line {first}").format(
                rater=rater, item=item, first=seen[item, rater]
            )
        elif label and domain is not None and label not in domain:
            reason = _("{label} is not one of {domain}").format(
                label=label, domain=", ".join(domain)
            )
        if reason:
            place = _("line {line}").format(line=line)
            problems.append(FileProblem(file, place, reason, line))
            continue
        seen[item, rater] = line
        rows.append((item, rater, label))
    if problems:
        raise failed(problems)
    if not rows:
        raise failed([FileProblem(file, "", _("holds no rating"))])
    return rows


def failed(problems: Sequence[FileProblem], hint: str = "") -> FileProblems:
    """Why a file of ratings cannot be read."""
    return FileProblems(_("These ratings cannot be read"), problems, hint)
