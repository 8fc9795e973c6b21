"""Printing tables of agreement: for the terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.annotate.labelling.comparison.words import compact
from cuecard.cli.output import prose, say, table
from cuecard.core.i18n import _
from cuecard.core.text import one_line


def print_sheets(sheets: Iterable[Sheet], *, markdown: bool) -> None:
    for sheet in sheets:
        remarks = _remarks(sheet)
        if markdown:
            say(_as_markdown(sheet, remarks))
            continue
        table(
            sheet.title,
            sheet.headings,
            [[_short(cell) for cell in line] for line in sheet.lines],
            numbers=range(1, len(sheet.headings)),
        )
        for remark in (*remarks, *sheet.notes):
            prose(remark)
        if remarks or sheet.notes:
            say("")


def _short(cell: Cell) -> str:
    return compact(cell.statistic) if cell.statistic is not None else cell.text


def _remarks(sheet: Sheet) -> tuple[str, ...]:
    """Why a figure, or its interval, is missing: each reason once, with the lines it stands for."""
    about: dict[str, list[str]] = {}
    for line in sheet.lines:
        for reason in dict.fromkeys(cell.remark for cell in line if cell.remark):
            about.setdefault(reason, []).append(line[0].text)
    return tuple(
        _("{reason}: {lines}").format(reason=reason, lines=", ".join(lines))
        for reason, lines in about.items()
    )


def _as_markdown(sheet: Sheet, remarks: Sequence[str]) -> str:
    lines = [
        f"## {escaped(sheet.title)}",
        "",
        _row([Cell(heading) for heading in sheet.headings]),
        "| --- |" + " ---: |" * (len(sheet.headings) - 1),
        *(_row(line) for line in sheet.lines),
        "",
    ]
    for remark in (*remarks, *sheet.notes):
        lines += [escaped(remark), ""]
    return "\n".join(lines)


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(escaped(cell.text) for cell in cells) + " |"


def escaped(text: str) -> str:
    """One line of Markdown that reads as the text: names of people and relations are no Markdown."""
    for mark in "\\|<*_`":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return one_line(text)
