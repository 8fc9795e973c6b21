"""A Markdown table out of an agent's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PIPE = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?[-–—=]+:?")
_RULE_LINE = re.compile(r"[|\s:\-–—=]+")
_BREAK = re.compile(r"\s*<br\s*/?\s*>\s*", re.IGNORECASE)
# Only entities with their semicolon: "?a=1&copy=2" in a URL is none.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+-]*)")


@dataclass(frozen=True)
class FoundTable:
    """Every row has as many cells as there are columns; `over` rows had more in the text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    over: int = field(default=0, compare=False)


@dataclass(frozen=True)
class _Block:
    """The lines of one table, and whether they stood in a ```markdown fence."""

    lines: tuple[str, ...]
    fenced: bool


def find_table(text: str) -> FoundTable | None:
    """The table that is meant as the answer, or None.

    Tables in a ```markdown fence go before bare ones (WideSearch asks for the fence), tables with
    rows before empty ones; of several, the last one at least half as long as the longest: an
    answer follows its drafts, and a short closing summary is no answer. Ragged rows are padded or
    cut to the header.
    """
    found = [(block.fenced, table) for block in _blocks(text) if (table := _table(block.lines))]
    for fenced in (True, False):
        tables = [table for is_fenced, table in found if is_fenced == fenced and table.rows]
        if tables:
            longest = max(len(table.rows) for table in tables)
            return next(table for table in reversed(tables) if 2 * len(table.rows) >= longest)
    return found[-1][1] if found else None


def _blocks(text: str) -> list[_Block]:
    """Runs of lines with pipes in them, cut where another table begins (METHODS 11.5).

    Inside a fence blank lines end nothing. Outside they do, but a rule may stand one blank line below a header
    that stands alone.
    """
    blocks: list[_Block] = []
    # None: blank lines in a row.
    lines: list[str | None] = []
    fence, markdown = "", False

    def close() -> None:
        blocks.extend(_Block(lines, markdown) for lines in _cut(lines))
        lines.clear()

    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = raw.strip()
        line = line.lstrip("> \t") if line.startswith(">") else line
        if match := _FENCE.match(line):
            close()
            if fence and match[1].startswith(fence) and not match[2]:
                fence, markdown = "", False
            elif not fence:
                fence, markdown = match[1], match[2].lower() in ("markdown", "md")
        elif "|" in line:
            if not fence and lines[-1:] == [None] and not (len(lines) == 2 and _is_rule(line)):
                close()
            lines.append(line)
        elif line:
            close()
        elif fence or (lines and lines[-1] is not None):
            if lines[-1:] != [None]:
                lines.append(None)
        else:
            close()
    close()
    return blocks


def _cut(lines: list[str | None]) -> Iterator[tuple[str, ...]]:
    """The tables of one run: a line that is followed by a rule of dashes begins a new one, unless it stands
    right between two rules (a grid) or nothing follows (a rule at the end).
    """
    block: list[str] = []
    for place, line in enumerate(lines):
        if line is None:
            continue
        after = [other for other in lines[place + 1 : place + 5] if other is not None]
        headed = len(after) > 1 and _is_rule(after[0]) and not _is_rule(line)
        between = place > 0 and _is_rule(lines[place - 1] or "")
        if headed and not between and any(split_line(line)) and block:
            yield tuple(block)
            block = []
        block.append(line)
    if block:
        yield tuple(block)


def _table(lines: tuple[str, ...]) -> FoundTable | None:
    """The header is the line above the rule of dashes, or without a rule the first of at least two
    lines that begin with a pipe.
    """
    rule = next((i for i, line in enumerate(lines) if i and _is_rule(line)), None)
    if rule is not None:
        header, body = lines[rule - 1], lines[rule + 1 :]
    elif len(lines) >= 2 and all(line.startswith("|") for line in lines):
        header, body = lines[0], lines[1:]
    else:
        return None
    columns = tuple(_bare(cell) for cell in split_line(header))
    if not any(columns) or (len(columns) < 2 and not header.startswith("|")):
        return None
    width = len(columns)
    lines_of_cells = [split_line(line) for line in body if not _is_rule(line)]
    filled = [cells for cells in lines_of_cells if any(cells)]
    rows = tuple((*cells[:width], *[""] * (width - len(cells))) for cells in filled)
    return FoundTable(columns, rows, sum(any(cells[width:]) for cells in filled))


def _is_rule(line: str) -> bool:
    if not _RULE_LINE.fullmatch(line):
        return False
    cells = [cell.strip() for cell in _split(line)]
    return any(cells) and all(_RULE_CELL.fullmatch(cell) for cell in cells if cell)


def _split(line: str) -> list[str]:
    line = line.strip()
    cells = _PIPE.split(line)
    if line.startswith("|"):
        cells = cells[1:]
    if len(cells) > 1 and not cells[-1].strip() and line.endswith("|"):
        cells = cells[:-1]
    return cells


def split_line(line: str) -> tuple[str, ...]:
    """The cells of one line of a Markdown table, unescaped."""
    return tuple(_cell(cell) for cell in _split(line))


def _cell(text: str) -> str:
    text = _BREAK.sub(" ", text.replace("\\|", "|"))
    return _ENTITY.sub(_unescaped, text).strip()


def _unescaped(match: re.Match[str]) -> str:
    import html

    return html.unescape(match[0])


def _bare(cell: str) -> str:
    """A column's name without emphasis or code marks around it."""
    return cell.strip("*`").strip() or cell
