"""A table of figures as the columns and rows of a grid, or its intervals drawn."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.annotate.labelling.comparison.words import compact
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.state.agreement import plot_of
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.grid.source import GridCell

Rows = Sequence[Sequence[str | GridCell | Text]]
WIDE = 100
_HEADING, _HEADING_WIDE, _MOST = 11, 16, 24


def table_rows(sheet: Sheet, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """The first column names the line; figures stand with their intervals."""
    digits = 3 if room >= WIDE else 2
    first, *others = sheet.headings
    longest = max((len(line[0].text) for line in sheet.lines), default=0)
    rows = [
        [
            GridCell(line[0].text, "strong"),
            *(
                GridCell(
                    compact(c.statistic, digits) if c.statistic else c.text,
                    "muted" if c.remark else "plain",
                )
                for c in line[1:]
            ),
        ]
        for line in sheet.lines
    ]
    columns = [GridColumn(first, 14, raw=True, most=min(40, max(20, longest)), grow=1)]
    roomy = _HEADING_WIDE if room >= WIDE else _HEADING
    for at, heading in enumerate(others, 1):
        # A figure is never cut, a heading may be.
        needed = max((len(row[at].text) for row in rows if at < len(row)), default=0)
        least = max(min(needed, _MOST), min(roomy, len(heading)))
        columns.append(GridColumn(one_line(heading), least, raw=True, right=True, most=_MOST))
    return columns, rows


def plot_rows(sheet: Sheet, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """A line for each figure that has a value, its interval drawn on one axis."""
    width = max(16, room - 20 - 14 - 7 - 10)
    axis, lines = plot_of(sheet, width)
    columns = (
        GridColumn(sheet.headings[0], 20, raw=True),
        GridColumn("", 14, raw=True),
        GridColumn(axis.head, width, raw=True),
        GridColumn(_("value"), 7, raw=True, right=True),
    )
    rows: list[Sequence[str | GridCell | Text]] = []
    before = ""
    for bar, drawn in lines:
        what = GridCell(bar.what if bar.what != before else "", "strong")
        before = bar.what
        value = f"{bar.statistic.value:.3f}"
        rows.append((what, GridCell(bar.who, "muted"), Text(drawn, no_wrap=True), value))
    return columns, rows
