"""Blocks as lines at a width."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from cuecard.tui.state.entries import Piece
from cuecard.tui.state.flowing import Line, flow
from cuecard.tui.state.markdown.parse import Block, Flowing, Lead, Ruler, Table, Verbatim
from cuecard.tui.state.markdown.tables import table_lines
from cuecard.tui.state.wrapping import wrap

CODE_INDENT = "  "


def laid_out(blocks: Iterable[Block], width: int, indent: int = 0) -> list[Line]:
    """The blocks behind `indent` blanks, an empty line before each that wants one."""
    lines: list[Line] = []
    for block in blocks:
        first, rest = _leads(block.lead, width, indent)
        if block.space and lines:
            lines.append(_behind((" " * indent + block.lead.gap)[: len(rest)].rstrip(), ()))
        room = max(width - max(cell_len(first), cell_len(rest)), 2)
        for number, row in enumerate(_rows(block, room)):
            lines.append(_behind(rest if number else first, row))
    return lines


def _rows(block: Block, room: int) -> list[Line]:
    match block:
        case Flowing(pieces=pieces):
            return flow(pieces, room)
        case Verbatim(lines=rows):
            return [
                (Piece(CODE_INDENT + part, "code"),) if part else ()
                for row in rows
                for part in wrap(row, room - len(CODE_INDENT))
            ]
        case Ruler():
            return [(Piece("─" * room, "muted"),)]
        case Table():
            return table_lines(block, room)


def _leads(lead: Lead, width: int, indent: int) -> tuple[str, str]:
    """Marks and blanks, cut on the left where they would leave too little room for words."""
    blanks, most = " " * indent, width // 2
    first, rest = blanks + lead.first, blanks + lead.rest
    if len(rest) > most:
        first, rest = first[len(rest) - most :], rest[len(rest) - most :]
    return first, rest


def _behind(lead: str, row: Line) -> Line:
    if not lead:
        return row
    quiet = "▏" in lead or lead.isspace()
    return (Piece(lead, "muted" if quiet else "stage"), *row)
