"""What `y` copies of a screen: the text that the mouse selected, else what a person chooses of the list, table or text
with the focus. The terminal is asked to take it (OSC 52).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from textual.screen import Screen

from cuecard.annotate.authoring.paste import as_tsv
from cuecard.core.i18n import _, ngettext
from cuecard.tui.app import CuecardApp
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import plain
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.entries import Entry
from cuecard.tui.screens.dialogs import ChoiceDialog
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.text import Prose

Choice = tuple[str, str, Callable[[], str]]
"""A letter, what it copies, and how that is made."""


def copy(screen: Screen[Any]) -> None:
    """Copy what is selected, or ask what to copy. Nothing happens where there is nothing."""
    app = cast(CuecardApp, screen.app)

    def take(text: str) -> None:
        app.copy_to_clipboard(text)
        said = ngettext("{n} character copied.", "{n} characters copied.", len(text))
        app.tell(said.format(n=f"{len(text):,}"))

    def chosen(letter: str | None) -> None:
        for each, _name, make in choices:
            if each == letter:
                take(make())

    if selected := screen.get_selected_text():
        take(selected)
        screen.clear_selection()
        return
    choices = _choices(screen)
    if len(choices) == 1:
        chosen(choices[0][0])
    elif choices:
        options = [(letter, letter, name) for letter, name, _make in choices]
        screen.app.push_screen(ChoiceDialog(_("Copy"), "", options), chosen)


def copies(screen: Screen[Any]) -> bool:
    """Whether there is anything to copy."""
    return bool(screen.selections) or _source(screen) is not None


def _source(screen: Screen[Any]) -> Grid | EntryList | Prose | None:
    """What has the focus, or stands around it; else the first that is shown."""
    found = [*(screen.focused.ancestors_with_self if screen.focused else ()), *screen.query("Grid, EntryList, Prose")]  # fmt: skip
    for node in found:
        if isinstance(node, Grid | EntryList | Prose) and node.is_on_screen:
            there = node.count if isinstance(node, Grid) else node.size.area
            if there:
                return node
    return None


def _choices(screen: Screen[Any]) -> list[Choice]:
    source = _source(screen)
    if isinstance(source, Grid):
        return _of_grid(source)
    if isinstance(source, Prose):
        return [("a", _("The whole text"), lambda: source.text)]
    if isinstance(source, EntryList) and source.entries:
        entries, at = source.entries, source.cursor
        return [
            ("e", _("The text under the cursor"), lambda: _text_of([entries[at]])),
            ("a", _("The whole text"), lambda: _text_of(entries)),
        ]
    return []


def _text_of(entries: Iterable[Entry]) -> str:
    """Head, body and what is folded of each, a line between them."""
    return "\n\n".join(
        "\n".join(
            filter(None, ("".join(piece.text for piece in entry.head).strip(), *(p.text for p in (*entry.body, *entry.fold))))
        )
        for entry in entries
    )  # fmt: skip


def _of_grid(grid: Grid) -> list[Choice]:
    view = cast("ListView[Any]", grid.parent) if isinstance(grid.parent, ListView) else None
    chosen: Sequence[int] = sorted(grid.marked) or [grid.cursor_row]
    titles = [column.label for column in (grid.columns if view is None else view.columns)]

    def rows(which: Iterable[int]) -> list[list[str]]:
        return [[plain(cell).strip() for cell in grid.source.cells(row)] for row in which]

    def ids() -> str:
        assert view is not None
        keys = [view.key(view.rows[row]) for row in chosen]
        parts = [cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,) for key in keys]  # fmt: skip
        return "\n".join(" ".join(map(str, part)) for part in parts)

    def as_json() -> str:
        # Columns without a title, as of marks, say nothing by themselves.
        said = [{title: cell for title, cell in zip(titles, row, strict=False) if title} for row in rows(range(grid.count))]  # fmt: skip
        return json.dumps(said, ensure_ascii=False, indent=2)

    found: list[Choice] = [("r", ngettext("This row", "The {n} marked rows", len(chosen)).format(n=len(chosen)), lambda: as_tsv(rows(chosen)))]  # fmt: skip
    if view is not None:
        found.append(("i", ngettext("Its id", "Their ids", len(chosen)), ids))
    else:
        text = rows([grid.cursor_row])[0]
        at = min(grid.cursor_column, len(text) - 1)
        found.append(("c", _("The text under the cursor"), lambda: text[at]))
    every = ("t", _("All rows as TSV, for a spreadsheet"), lambda: as_tsv([titles, *rows(range(grid.count))]))  # fmt: skip
    return [*found, every, ("j", _("All rows as JSON"), as_json)]
