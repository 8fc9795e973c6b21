"""The preview of pasting into a grid, and its choices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Button

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import PastedTable
from cuecard.annotate.authoring.table_ops import TablePaste, plan_paste
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.grid import Grid, GridColumn, ListSource
from cuecard.tui.present.entries import Piece
from cuecard.tui.widgets.text import Lines

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
        Key("paste_preview.take", Means.SAVE, "take", N_("Paste"), N_("Paste as it is shown")),
        Key("paste_preview.header", Means.CHOICE, "flip('header')", N_("Header"), N_("Whether the first line names the columns"), letter="h"),
        Key("paste_preview.over", Means.CHOICE, "flip('over')", N_("Over / new"), N_("Over the cells from here on, or as new rows"), letter="o"),
        Key("paste_preview.more", Means.CHOICE, "flip('more')", N_("New columns"), N_("Add columns that are not there yet, or leave them out"), letter="c"),
    )  # fmt: skip

    def __init__(
        self,
        pasted: PastedTable,
        choices: PasteChoices,
        preview: Callable[[PastedTable, PasteChoices], Preview],
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
                yield Button(_("Paste"), variant="primary", id="accept", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._show()
        self.query_one("#accept", Button).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "flip" or parameters[0] in self._offers

    def on_button_pressed(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        if not self.query_one("#accept", Button).disabled:
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


def planned(
    edit: TaskEdit, pasted: PastedTable, choices: PasteChoices, row: int, column: int
) -> TablePaste:
    """What pasting at a cell would do."""
    return plan_paste(
        edit, pasted, "cells" if choices.over else "rows", row, column, add_columns=choices.more
    )


def preview_of(edit: TaskEdit, plan: TablePaste) -> Preview:
    """The plan in words."""
    names = [plan.named.get(i) or name for i, name in enumerate(ops.column_names(edit))]
    names += plan.new
    said = [[Piece(_rows_said(plan))]]
    if plan.new:
        text = ngettext("{n} new column: {names}", "{n} new columns: {names}", len(plan.new))
        said.append([Piece(text.format(n=len(plan.new), names=_listed(plan.new)), "good")])
    left_out = sum(target is None for target in plan.targets)
    if left_out:
        text = ngettext(
            "{n} column is left out: {names}", "{n} columns are left out: {names}", left_out
        )
        said.append([Piece(text.format(n=left_out, names=_listed(plan.left_out)), "bad")])
    shown = [_("(left out)") if target is None else names[target] for target in plan.targets]
    taken = bool(plan.pasted.rows) and any(target is not None for target in plan.targets)
    offers = {"header", "over"} | ({"more"} if plan.new or left_out else set[str]())
    return Preview(said, shown, taken, frozenset(offers))


def _rows_said(plan: TablePaste) -> str:
    if plan.replaces_blank:
        said = ngettext("{n} row, in place of the empty ones", "{n} rows, in place of the empty ones", plan.added)  # fmt: skip
        return said.format(n=plan.added)
    if plan.mode == "rows":
        said = ngettext("{n} new row below row {row}", "{n} new rows below row {row}", plan.added)
        return said.format(n=plan.added, row=plan.start)
    over = len(plan.pasted.rows) - plan.added
    said = ngettext("over {n} row from row {row} on, which changes {changed}", "over {n} rows from row {row} on, which changes {changed}", over)  # fmt: skip
    text = said.format(n=over, row=plan.start + 1, changed=plan.changed)
    if plan.added:
        more = ngettext("{n} new row at the end", "{n} new rows at the end", plan.added)
        text = _("; ").join((text, more.format(n=plan.added)))
    return text


def _listed(names: tuple[str, ...]) -> str:
    return listed((one_line(name, 24) or _("(no name)") for name in names), 6)
