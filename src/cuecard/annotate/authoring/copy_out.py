"""Rows as text for the clipboard: for a spreadsheet, or for a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_QUOTED = ("\t", "\n", "\r", '"')


def as_tsv(rows: Iterable[Sequence[str]]) -> str:
    """Cells with tabs between them, quoted as spreadsheets do where they must be."""
    return "\n".join("\t".join(map(_quoted, row)) for row in rows)


def as_markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in _QUOTED) else cell


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
