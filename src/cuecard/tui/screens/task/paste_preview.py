"""What a paste would do, shown before it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Footer

from cuecard.annotate.authoring.paste import Pasted
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.entries import Piece
from cuecard.tui.widgets.grid import Grid, GridColumn, ListSource
from cuecard.tui.widgets.pieces import Lines

_SHOWN = 200
_KIND = {"tsv": "TSV", "csv": "CSV", "json": "JSON", "markdown": "Markdown"}


@dataclass(frozen=True)
class PasteChoices:
    """`header`: the first line names the columns. `over`: over the cells from the cursor on, instead
    of as new rows. `more`: columns that are not there yet are added.
    """

    header: bool
    over: bool = False
    more: bool = True


@dataclass(frozen=True)
class Preview:
    """`said`: lines on what would happen. `columns`: what each pasted column would become. `offers`:
    which choices there are to make.
    """

    said: Sequence[Sequence[Piece]]
    columns: Sequence[str]
    possible: bool
    offers: frozenset[str] = frozenset()


class PastePreview(CuecardDialog[PasteChoices | None]):
    """Enter pastes as shown; None when the person left it."""

    CSS = """
    PastePreview .dialog { width: 90%; max-width: 110; height: auto; max-height: 90%; }
    PastePreview Grid { height: auto; max-height: 11; margin: 1 0 0 0; }
    """
    BINDINGS = keys(
        Key("paste_preview.header", "h", "flip('header')", N_("Header"), N_("Whether the first line names the columns")),
        Key("paste_preview.over", "o", "flip('over')", N_("Over / new"), N_("Over the cells from here on, or as new rows")),
        Key("paste_preview.more", "c", "flip('more')", N_("New columns"), N_("Add columns that are not there yet, or leave them out")),
    )  # fmt: skip

    def __init__(
        self,
        pasted: Pasted,
        choices: PasteChoices,
        preview: Callable[[Pasted, PasteChoices], Preview],
    ) -> None:
        super().__init__()
        self._pasted, self._preview = pasted, preview
        self._choices: PasteChoices = choices
        self._offers: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Paste"))
            yield Lines(id="what")
            grid = Grid(())
            grid.can_focus = False
            yield grid
            with Horizontal(classes="buttons"):
                yield Button(_("Paste"), variant="primary", id="accept")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show()
        self.query_one("#accept", Button).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "flip" or parameters[0] in self._offers

    def on_button_pressed(self) -> None:
        self.dismiss(self._choices)

    def action_flip(self, what: str) -> None:
        now = self._choices
        match what:
            case "header":
                self._choices = replace(now, header=not now.header)
            case "over":
                self._choices = replace(now, over=not now.over)
            case _:
                self._choices = replace(now, more=not now.more)
        self._show()

    def _show(self) -> None:
        pasted = self._pasted.headed(self._choices.header)
        preview = self._preview(pasted, self._choices)
        self._offers = preview.offers
        rows, columns = len(pasted.rows), pasted.width
        size = [
            _KIND[pasted.kind],
            ngettext("{n} row", "{n} rows", rows).format(n=rows),
            ngettext("{n} column", "{n} columns", columns).format(n=columns),
        ]
        if pasted.header is not None:
            size.append(_("the first line names the columns"))
        warnings = [[Piece(f"! {problem}", "bad")] for problem in pasted.problems[:4]]
        lines = [[Piece(" · ".join(size), "strong")], *preview.said, *warnings]
        self.query_one("#what", Lines).load(lines)
        grid = self.query_one(Grid)
        grid.set_columns(
            [GridColumn(one_line(c, 40), 4, raw=True, most=28) for c in preview.columns]
        )
        grid.load(ListSource([list(row) for row in pasted.rows[:_SHOWN]]))
        self.query_one("#accept", Button).disabled = not preview.possible
        self.refresh_bindings()
