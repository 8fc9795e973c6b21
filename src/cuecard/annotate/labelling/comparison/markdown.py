"""Tables of figures as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.core.i18n import _
from cuecard.core.text import one_line

_LISTED = 6


def remarks_of(sheet: Sheet) -> tuple[str, ...]:
    """Why a figure, or its interval, is missing: each reason once, with the lines it stands for."""
    about: dict[str, list[str]] = {}
    for line in sheet.lines:
        for reason in dict.fromkeys(cell.remark for cell in line if cell.remark):
            about.setdefault(reason, []).append(line[0].text)
    return tuple(
        _("{reason}: {lines}").format(reason=reason, lines=_listed(list(dict.fromkeys(lines))))
        for reason, lines in about.items()
    )


def _listed(lines: Sequence[str]) -> str:
    """All of them; of many the first ones, and how many there are."""
    if len(lines) <= _LISTED:
        return ", ".join(lines)
    return f"{', '.join(lines[: _LISTED - 1])}, … ({len(lines)})"


def as_markdown(sheet: Sheet) -> str:
    """A heading, the table, and a paragraph for each remark and note."""
    lines = [
        f"## {escaped(sheet.title)}",
        "",
        _row([Cell(heading) for heading in sheet.headings]),
        "| --- |" + " ---: |" * (len(sheet.headings) - 1),
        *(_row(line) for line in sheet.lines),
        "",
    ]
    for remark in (*remarks_of(sheet), *sheet.notes):
        lines += [escaped(remark), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Names of people and relations are no Markdown."""
    for mark in "\\|<*_`":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    # Neither a link nor a picture, which would be fetched from elsewhere.
    return one_line(text).replace("](", "]\\(").replace("][", "]\\[")


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(escaped(cell.text) for cell in cells) + " |"
