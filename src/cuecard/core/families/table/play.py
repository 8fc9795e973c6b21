"""The offline agent on table tasks: find the names of the rows, then fill column by column."""

from collections.abc import Sequence

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher, markdown_table, say
from cuecard.core.engine.messages import Dialogue
from cuecard.core.text import clauses, content_words, coverage, normalise
from cuecard.core.worlds.statements import SUBJECT_JOIN

_NAMED = 0.6
_MAX_LEADS = 6


class Sheet:
    """The table as far as it is known. `keys`: the key columns; `rows`: the names of the rows, from their keys;
    `columns`: the other columns.
    """

    def __init__(self, public: PublicTask, notes: Notes) -> None:
        self._notes = notes
        self._values = {(found.subject, found.attribute): found.value for found in notes.facts}
        directory = max(notes.directories, key=lambda d: len(notes.directories[d]), default="")
        self.keys = tuple(directory.split(SUBJECT_JOIN)) if directory else ()
        names = dict(notes.directories.get(directory, {}))
        names.update(dict.fromkeys(notes.headings))
        names.update(dict.fromkeys(found.subject for found in notes.facts))
        self.rows = tuple(names)
        if not self.keys:
            self.keys = public.columns[:1]
        known = public.columns or tuple(dict.fromkeys(f.attribute for f in notes.facts))
        self.columns = tuple(column for column in known if column not in self.keys)

    def value(self, row: str, column: str) -> str:
        return self._values.get((row, column), "")

    def cells(self, row: str, columns: Sequence[str]) -> tuple[str, ...]:
        """A row's cells: parts of its name for key columns, what was found for the others."""
        parts = row.split(SUBJECT_JOIN) if len(self.keys) > 1 else [row]
        key = dict(zip(self.keys, parts, strict=False))
        return tuple(key.get(column) or self.value(row, column) for column in columns)

    def missing(self, columns: Sequence[str]) -> list[tuple[str, str]]:
        """The cells not found yet, column by column."""
        return [(row, c) for c in columns for row in self.rows if not self.value(row, c)]


def _wanted(dialogue: Dialogue, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that the user has named so far, in the table's order."""
    told = [content_words(message.text) for message in dialogue.of("user")]
    return tuple(
        column
        for column in columns
        if any(coverage(content_words(column), words) >= _NAMED for words in told)
    )


async def _find_rows(searcher: Searcher, public: PublicTask, dialogue: Dialogue) -> None:
    text = "\n".join(message.text for message in dialogue.of("user")[-1:])
    leads = (*public.columns[:1], *clauses(text)[:_MAX_LEADS], *public.columns[1:])
    for lead in leads:
        if searcher.notes.directories:
            break
        await searcher.search(lead)


async def answer(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> str:
    """One turn of the agent: find the rows, then fill the columns that the user has named; then the next column."""
    notes, language = searcher.notes, public.language
    if not notes.directories:
        await _find_rows(searcher, public, dialogue)
    sheet = Sheet(public, notes)
    wanted = _wanted(dialogue, sheet.columns)
    tried = {cell for cell in sheet.missing(sheet.columns) if _was_asked(notes, *cell)}
    open_cells = [cell for cell in sheet.missing(wanted) if cell not in tried]
    if not open_cells and dialogue.turn:
        rest = [c for c in sheet.columns if c not in wanted and not _is_known(sheet, c)]
        wanted = tuple(c for c in sheet.columns if c in wanted or c in rest[:1])
        open_cells = [cell for cell in sheet.missing(wanted) if cell not in tried]
    for row, column in open_cells:
        await searcher.search(_query(row, column))
    sheet = Sheet(public, notes)
    if not sheet.rows:
        return f"{say(language, 'nothing')}\n\n{say(language, 'name_one')}"
    shown = (*sheet.keys, *(c for c in sheet.columns if c in wanted or _is_known(sheet, c)))
    total = len(sheet.rows) * (len(shown) - len(sheet.keys))
    parts = [markdown_table(shown, [sheet.cells(row, shown) for row in sheet.rows])]
    if total:
        found = total - len(sheet.missing(shown[len(sheet.keys) :]))
        parts.append(say(language, "cells", found=found, all=total))
    parts.append(_closing(public, sheet, notes, shown))
    return "\n\n".join(parts)


def _closing(public: PublicTask, sheet: Sheet, notes: Notes, shown: Sequence[str]) -> str:
    missing = sheet.missing([c for c in shown if c not in sheet.keys])
    if any(not _was_asked(notes, *cell) for cell in missing):
        return say(public.language, "more_cells")
    left = [column for column in sheet.columns if column not in shown]
    if left:
        return say(public.language, "column", column=left[0])
    return say(public.language, "that_is_all")


def _is_known(sheet: Sheet, column: str) -> bool:
    return any(sheet.value(row, column) for row in sheet.rows)


def _query(row: str, column: str) -> str:
    return f"{row.replace(SUBJECT_JOIN, ' ')} {column}"


def _was_asked(notes: Notes, row: str, column: str) -> bool:
    return normalise(_query(row, column)) in notes.asked
