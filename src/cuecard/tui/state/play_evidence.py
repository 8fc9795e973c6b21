"""What of the agent's reply a mark rests on: from places in a text area to characters of the raw text."""

from __future__ import annotations

import re
import unicodedata

from cuecard.core.parts import Evidence
from cuecard.core.text import one_line

# Everything at which a text area would begin a new line, besides the line feed.
_BREAKS = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
Location = tuple[int, int]


def selectable(raw: str) -> str:
    """The text as it can be shown, one character for each of `raw`'s: what a terminal would act on or
    reorder becomes visible.
    """
    return "".join(_shown(char) for char in _BREAKS.sub(" ", raw))


def _shown(char: str) -> str:
    if char == "\n" or char.isprintable():
        return char
    return " " if char == "\t" or unicodedata.category(char) == "Zs" else "\ufffd"


def offset_at(text: str, location: Location) -> int:
    """The character at a row and column of `text`, whose lines end with line feeds."""
    row, column = location
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[:row]) + min(column, len(lines[row]))


def location_at(text: str, offset: int) -> Location:
    before = text[:offset]
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)


def sentence_at(text: str, offset: int) -> tuple[int, int]:
    """Where the sentence around `offset` starts and ends; between sentences, the one before."""
    start = 0
    for mark in _ENDS.finditer(text):
        if mark.end() > offset and text[start : mark.end()].strip():
            return _trimmed(text, start, mark.end())
        if text[mark.end() :].strip():
            start = mark.end()
    return _trimmed(text, start, len(text))


def evidence_of(raw: str, start: int, end: int) -> Evidence | None:
    """The span as evidence, without the blanks around it; None if nothing is left."""
    start, end = _trimmed(raw, *sorted((start, end)))
    return Evidence(start=start, end=end, text=raw[start:end]) if start < end else None


def quoted(evidence: Evidence, limit: int = 40) -> str:
    return f"“{one_line(evidence.text, limit)}”"


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
