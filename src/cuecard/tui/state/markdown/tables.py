"""A table in columns that fit the width; where they cannot, each row as a list of its cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from cuecard.tui.state.entries import Piece
from cuecard.tui.state.flowing import Line, flow
from cuecard.tui.state.markdown.parse import Pieces, Table

NARROWEST = 6
BETWEEN = " │ "


def table_lines(table: Table, width: int) -> list[Line]:
    """Columns as wide as their longest cell where there is room; else the widest give way first."""
    count = len(table.head)
    room = width - len(BETWEEN) * (count - 1)
    wanted = _wanted(table)
    if room < sum(min(cells, NARROWEST) for cells in wanted):
        return _listed(table, width)
    widths = _fitted(wanted, room)
    lines = _row(table.head, widths, table.align)
    lines.append((Piece("─┼─".join("─" * cells for cells in widths), "muted"),))
    for row in table.rows:
        lines += _row(row, widths, table.align)
    return lines


def _wanted(table: Table) -> list[int]:
    """Cells that each column would take."""
    wanted = [1] * len(table.head)
    for row in (table.head, *table.rows):
        for column, pieces in enumerate(row[: len(wanted)]):
            wanted[column] = max(wanted[column], cell_len(_text(pieces)))
    return wanted


def _fitted(wanted: Sequence[int], room: int) -> list[int]:
    """Widths that sum up to at most `room`: the lowest cap on all columns that uses it up."""
    if sum(wanted) <= room:
        return list(wanted)
    ordered, left = sorted(wanted), room
    cap = 1
    for position, cells in enumerate(ordered):
        cap = left // (len(ordered) - position)
        if cells > cap:
            break
        left -= cells
    widths = [min(cells, cap) for cells in wanted]
    for column, cells in enumerate(wanted):
        if sum(widths) < room and widths[column] < cells:
            widths[column] += 1
    return widths


def _row(row: Sequence[Pieces], widths: Sequence[int], align: Sequence[str]) -> list[Line]:
    cells = [flow(pieces, max(cells, 2)) for pieces, cells in zip(row, widths, strict=False)]
    cells += [[()]] * (len(widths) - len(cells))
    lines: list[Line] = []
    for number in range(max(map(len, cells))):
        line: list[Piece] = []
        for column, parts in enumerate(cells):
            if column:
                line.append(Piece(BETWEEN, "muted"))
            part = parts[number] if number < len(parts) else ()
            line += _padded(part, widths[column], align[column] if column < len(align) else "left")
        lines.append(tuple(line))
    return lines


def _padded(line: Line, width: int, align: str) -> list[Piece]:
    spare = max(width - sum(cell_len(piece.text) for piece in line), 0)
    before = spare if align == "right" else spare // 2 if align == "center" else 0
    padded = [Piece(" " * before)] if before else []
    padded += line
    if spare > before:
        padded.append(Piece(" " * (spare - before)))
    return padded


def _listed(table: Table, width: int) -> list[Line]:
    """`Head: cell` on lines of their own, an empty line between the rows."""
    lines: list[Line] = []
    for row in table.rows or (table.head,):
        if lines:
            lines.append(())
        for column, pieces in enumerate(row):
            name = _text(table.head[column]) if table.rows and column < len(table.head) else ""
            label = (Piece(f"{name}: ", "muted"),) if name else ()
            if pieces:
                lines += flow((*label, *pieces), width)
    return lines or flow((Piece(" · ".join(filter(None, map(_text, table.head)))),), width)


def _text(pieces: Pieces) -> str:
    return "".join(piece.text for piece in pieces)
