"""Printing tables of agreement: for the terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.annotate.labelling.comparison.markdown import as_markdown, remarks_of
from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.annotate.labelling.comparison.words import compact
from cuecard.cli.output import prose, say, table


def print_sheets(sheets: Iterable[Sheet], *, markdown: bool) -> None:
    for sheet in sheets:
        if markdown:
            say(as_markdown(sheet))
            continue
        table(
            sheet.title,
            sheet.headings,
            [[_short(cell) for cell in line] for line in sheet.lines],
            numbers=range(1, len(sheet.headings)),
        )
        remarks = remarks_of(sheet)
        for remark in (*remarks, *sheet.notes):
            prose(remark)
        if remarks or sheet.notes:
            say("")


def _short(cell: Cell) -> str:
    return compact(cell.statistic) if cell.statistic is not None else cell.text
