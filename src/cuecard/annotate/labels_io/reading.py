"""Files of labels, told apart by what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cuecard.annotate.labels_io.entries import LabelFile, Problems, refused
from cuecard.annotate.labels_io.label_studio import label_tasks
from cuecard.annotate.labels_io.plain import label_lines, label_rows
from cuecard.annotate.labels_io.sheets import label_file, sheet_kind
from cuecard.annotate.labels_io.tables import parse_rows, read_text
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.formats.walking import find_files
from cuecard.core.i18n import _

_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")


def read_files(paths: Sequence[Path]) -> list[LabelFile]:
    """All of them, and those in folders among `paths`. Raises `FileProblems` with what is wrong in each."""
    files, problems = _files(paths, _SUFFIXES)
    read: list[LabelFile] = []
    for path in files:
        try:
            read.append(read_file(path))
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise refused(problems)
    return read


def read_file(path: Path) -> LabelFile:
    """A meta-evaluation sheet, a table, JSON lines, or an export of Label Studio. Raises `FileProblems`."""
    text = read_text(path)
    problems = Problems(str(path))
    begin = text.lstrip()[:1]
    if begin == "[":
        found = label_tasks(path, text, problems)
    elif begin == "{":
        found = label_lines(path, text, problems)
    else:
        rows = parse_rows(text, problems)
        kind = sheet_kind(rows.columns)
        if kind:
            found = label_file(path, rows, kind, problems)
        else:
            found = label_rows(path, rows, problems)
    problems.raise_any()
    return found


def sheet_files(paths: Sequence[Path]) -> list[Path]:
    """These files, and the CSV files in folders among them. Raises `FileProblems`."""
    files, problems = _files(paths, _SUFFIXES[:2])
    if problems:
        raise refused(problems)
    return files


def is_sheet(path: Path) -> bool:
    """Whether a file begins as a meta-evaluation sheet, or is a folder with such files; False for what cannot
    be read.
    """
    files, _problems = _files([path], _SUFFIXES[:2])
    for file in files[:1]:
        try:
            with file.open(encoding="utf-8-sig") as lines:
                head = lines.readline(10_000)
        except (OSError, UnicodeDecodeError):
            return False
        return sheet_kind(parse_rows(head, Problems(str(file))).columns) is not None
    return False


def _files(paths: Sequence[Path], suffixes: Sequence[str]) -> tuple[list[Path], list[FileProblem]]:
    files: list[Path] = []
    problems: list[FileProblem] = []
    for path in paths:
        found = find_files(path, suffixes)
        problems += found.problems
        if not found.files and not found.problems:
            text = _("is a folder without files of labels ({suffixes})")
            reason = text.format(suffixes=", ".join(suffixes))
            problems.append(FileProblem(str(path), "", reason))
        files += found.files
    return list(dict.fromkeys(files)), problems
