"""A little Markdown as lines of toned pieces: headings, lists, paragraphs, emphasis. Anything else is
shown as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cuecard.core.text import for_display
from cuecard.tui.state.blocks import Line, flow
from cuecard.tui.state.entries import Piece, Tone

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d{1,3}[.)]))\s+(.*)")
_STRONG = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|(?<![*\w])\*([^*\s][^*]*)\*(?!\w)|`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class ProseBlock:
    """A paragraph: `mark` stands before its first line, the others hang below the text."""

    pieces: tuple[Piece, ...]
    mark: str = ""
    indent: int = 0
    space: bool = True


def prose_blocks(markdown: str) -> list[ProseBlock]:
    """The paragraphs of a text; lines of one paragraph are joined."""
    blocks: list[ProseBlock] = []
    pending: list[str] = []
    mark, indent, fenced, tight = "", 0, False, False

    def close() -> None:
        nonlocal mark, indent
        if pending:
            blocks.append(ProseBlock(_pieces(" ".join(pending)), mark, indent, not tight))
        pending.clear()
        mark, indent = "", 0

    for line in for_display(markdown).split("\n"):
        if line.lstrip().startswith("```"):
            close()
            fenced, tight = not fenced, False
            continue
        if fenced:
            blocks.append(ProseBlock((Piece(line, "muted"),), indent=2, space=False))
        elif not line.strip():
            close()
            tight = False
        elif heading := _HEADING.fullmatch(line.strip()):
            close()
            blocks.append(ProseBlock(_pieces(heading[2], "stage")))
            tight = True
        elif item := _ITEM.fullmatch(line):
            close()
            tight = bool(blocks) and bool(blocks[-1].mark or not blocks[-1].space or tight)
            mark, indent = f"{item[2] or '•'} ", min(len(item[1]), 8)
            pending.append(item[3].strip())
        else:
            pending.append(line.strip())
    close()
    return blocks


def prose_lines(blocks: list[ProseBlock], width: int) -> list[Line]:
    """The blocks at a width in cells, an empty line before each that wants one."""
    lines: list[Line] = []
    for block in blocks:
        if lines and block.space:
            lines.append(())
        hang = " " * (block.indent + len(block.mark))
        first = " " * block.indent + block.mark
        for number, row in enumerate(flow(block.pieces, max(width - len(hang), 8))):
            lead = first if number == 0 else hang
            lines.append((Piece(lead, "stage"), *row) if lead else row)
    return lines


def _pieces(text: str, tone: Tone = "plain") -> tuple[Piece, ...]:
    text = _LINK.sub(r"\1 (\2)", text)
    pieces: list[Piece] = []
    at = 0
    for match in _STRONG.finditer(text):
        if match.start() > at:
            pieces.append(Piece(text[at : match.start()], tone))
        inner = next(group for group in match.groups() if group)
        pieces.append(Piece(inner, "strong" if tone == "plain" else tone))
        at = match.end()
    if at < len(text) or not pieces:
        pieces.append(Piece(text[at:], tone))
    return tuple(pieces)
