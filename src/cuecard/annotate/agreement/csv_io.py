"""The lines of a CSV file of ratings, and why it cannot be read."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _

_DELIMITERS = (",", ";", "\t")


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


def failed(problems: Sequence[FileProblem], hint: str = "") -> FileProblems:
    """Why a file of ratings cannot be read."""
    return FileProblems(_("These ratings cannot be read"), problems, hint)
