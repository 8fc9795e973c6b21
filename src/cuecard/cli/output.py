"""Printing: Rich tables for people, JSON for programs, errors to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cuecard.core.errors import CuecardError, FileProblem, FileProblems
from cuecard.core.text import for_display, one_line

if TYPE_CHECKING:
    from rich.console import Console


@cache
def console(stderr: bool = False) -> Console:
    """A console that never wraps what a program may read, and never interprets markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def say(text: str) -> None:
    console().print(for_display(text), soft_wrap=True)


def note(text: str) -> None:
    """Progress and remarks: on stderr, so that stdout stays readable for programs."""
    console(stderr=True).print(for_display(text), soft_wrap=True)


def as_json(data: object) -> None:
    """One JSON document on stdout; never NaN."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def complain(error: CuecardError) -> None:
    """What went wrong and how to mend it, on stderr."""
    if isinstance(error, FileProblems):
        for problem in error.problems:
            print(for_display(str(problem)), file=sys.stderr)
        if error.hint:
            print(for_display(error.hint), file=sys.stderr)
        return
    print(f"cuecard: {for_display(str(error))}", file=sys.stderr)


def problem_json(problem: FileProblem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "place": problem.place,
        "reason": problem.reason,
    }


def table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: int = -1
) -> None:
    """A table of plain texts; columns from index `right` on are numbers, aligned right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=Text(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left")
    for index, heading in enumerate(headings):
        numeric = 0 <= right <= index
        grid.add_column(
            Text(heading), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold"
        )
    for row in rows:
        grid.add_row(*(Text(one_line(str(cell))) for cell in row))
    console().print(grid)
