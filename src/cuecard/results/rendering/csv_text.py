"""Sheets as one CSV in long form: a row for each cell, so that tables of any shape go into one file and into any
program that reads data frames.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.annotate.labels_io.words import guarded
from cuecard.results.rendering.figures import figure_of, number, plain

COLUMNS = ("table", "line", "column", "text", "value", "low", "high", "n", "key", "remark")


def as_csv(sheets: Iterable[Sheet]) -> str:
    """A header, then a row for each cell of each sheet, by `COLUMNS`. `line` is the first cell of the line,
    `text` what a reader sees; numbers are unrounded. Texts that a spreadsheet would run begin with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for sheet in sheets:
        title = guarded(plain(sheet.title))
        for line in sheet.lines:
            name = guarded(plain(line[0].text)) if line else ""
            for heading, cell in list(zip(sheet.headings, line, strict=False))[1:]:
                found = figure_of(cell)
                writer.writerow(
                    (
                        title,
                        name,
                        guarded(plain(heading)),
                        _text(found.text),
                        number(found.value),
                        number(found.low),
                        number(found.high),
                        number(found.n),
                        guarded(found.key),
                        guarded(found.remark),
                    )
                )
    return out.getvalue()


def _text(text: str) -> str:
    """A plain negative number is no formula."""
    try:
        float(text)
    except ValueError:
        return guarded(text)
    return text
