"""Markdown that holds what people wrote without acting on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cuecard.core.i18n import _
from cuecard.core.text import one_line

_ACTIVE = re.compile(r"([\\`*_\[\]<>|#~$])")

Row = Sequence[object]


def heading(text: str, level: int = 2) -> str:
    return f"{'#' * level} {text}"


def table(headings: Sequence[str], rows: Iterable[Row]) -> str:
    """Columns that hold nothing but numbers align right. No rows: a line that says so."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        return _("{what}: none.").format(what=headings[0][:1].upper() + headings[0][1:])
    numeric = [all(_is_number(row[index]) for row in cells) for index in range(len(headings))]
    lines = [
        [_cell(heading) for heading in headings],
        ["---:" if right else "---" for right in numeric],
        *cells,
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    """Text from people stays text: on one line, with nothing in it that Markdown or HTML would act on."""
    return _ACTIVE.sub(r"\\\1", one_line(str(value)))


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.replace(".", "", 1).isdigit()
