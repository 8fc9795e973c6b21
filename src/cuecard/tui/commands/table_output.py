"""Printing of tables on the terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence

from cuecard.core.tables.table import Cell, Table
from cuecard.core.tables.texts import remarks_of
from cuecard.core.text import one_line
from cuecard.tui.commands.output import column_width, console, prose, say, table

_INTERVAL = re.compile(r"\[(?P<low>[^\[\], ]+), (?P<high>[^\[\] ]+)\]")
_NAME_MOST = 32


def print_tables(tables: Iterable[Table], *, share: bool = False) -> None:
    """Print tables with their remarks and notes. `share`: notes that several have say the same of all, and are printed once,
    below the last.
    """
    every = [each for each in tables if each.lines or each.notes]
    last = {note: at for at, each in enumerate(every) for note in each.notes}
    for at, each in enumerate(every):
        _print(each)
        notes = (note for note in each.notes if not share or last[note] == at)
        remarks = (*remarks_of(each), *notes)
        for text in remarks:
            prose(text)
        if remarks:
            say("")


def _print(each: Table) -> None:
    texts = [[_short_with_interval(cell) for cell in line] for line in each.lines]
    styles = [[_style(cell) for cell in line] for line in each.lines]
    for at, columns in enumerate(_blocks(each.headings, texts)):
        table(
            each.title if not at else "",
            [each.headings[column] for column in columns],
            [[line[column] if column < len(line) else "" for column in columns] for line in texts],
            numbers=range(1, len(columns)),
            styles=[[line[column] for column in columns if column < len(line)] for line in styles],
        )


def _style(cell: Cell) -> str:
    """More and less are told apart by colour too where the interval of a difference does not hold zero."""
    if not cell.apart:
        return ""
    return "cyan" if (cell.number or 0) > 0 else "magenta"


def _blocks(headings: Sequence[str], texts: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """The columns in blocks that fit the terminal, each beginning with the first column."""
    name = min(
        column_width(headings[0][:_NAME_MOST], [line[0][:_NAME_MOST] for line in texts]),
        _NAME_MOST + 2,
    )
    room = console().width - name
    block: list[int] = [0]
    used = 0
    for column in range(1, len(headings)):
        width = column_width(
            headings[column], [line[column] for line in texts if column < len(line)]
        )
        if used + width > room + 2 and len(block) > 1:
            yield block
            block, used = [0], 0
        block.append(column)
        used += width
    yield block


def _short_with_interval(cell: Cell) -> str:
    """With the interval where room is scarce: `0.613 [.550 .672]`."""
    return _INTERVAL.sub(
        lambda found: f"[{_end(found['low'])} {_end(found['high'])}]", one_line(cell.text)
    )


def _end(text: str) -> str:
    return re.sub(r"^([+-]?)0\.(?=\d{3})", r"\1.", text)
