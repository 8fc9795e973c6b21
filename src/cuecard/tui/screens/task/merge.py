"""Two people's changes side by side: take mine, theirs or both of each, and save the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Footer, Static

from cuecard.annotate.authoring.merge import Side
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.merging import SIDE, MergeView
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.grid import Grid, GridCell, GridColumn

_COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("Place"), 18, grow=3),
    GridColumn(N_("About"), 10, grow=2, hidden_below=60),
    GridColumn(N_("Taken"), 8),
)
_MARK: dict[str, GridCell] = {
    "clash": GridCell("≠", "bad"),
    "theirs": GridCell("›", "accent"),
    "mine": GridCell("‹", "muted"),
}


class MergeScreen(CuecardScreen[dict[str, Any] | None]):
    """Answers the merged data, or None when the person leaves; nothing is saved here. `told` says who
    saved what meanwhile.
    """

    CSS_PATH = "merge.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("merge.mine", "m", "take('mine')", N_("Mine"), N_("Take my version of this")),
        Key("merge.theirs", "t", "take('theirs')", N_("Theirs"), N_("Take their version of this")),
        Key("merge.both", "b", "take('both')", N_("Both"), N_("Keep both: two items, or two paragraphs")),
        Key("merge.all", "A", "all", N_("Alike"), N_("Decide every open clash like the last one")),
        Key("merge.next", "n", "next", N_("Next"), N_("To the next clash that is open")),
        Key("merge.save", "ctrl+s", "save", N_("Save"), N_("Save the outcome as the next revision"), shown_as="^s"),
        Key("merge.leave", "escape", "leave", N_("Leave"), N_("Go back; your draft is kept as it was")),
    )  # fmt: skip

    def __init__(self, view: MergeView, told: str) -> None:
        super().__init__()
        self.view = view
        self._told = told
        self._last: Side | None = None

    def compose(self) -> ComposeResult:
        yield Static(for_display(self._told), id="merge-told", markup=False)
        with Container(id="merge-body"):
            with Vertical(classes="pane", id="differences"):
                yield Grid(_COLUMNS, id="rows")
            with Vertical(classes="pane", id="difference"):
                yield EntryList(gap=True, id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#difference").border_title = _("Mine and theirs")
        self._fill()
        self.grid.focus()

    @property
    def grid(self) -> Grid:
        return self.query_one("#rows", Grid)

    @on(Grid.CursorMoved)
    def moved(self, event: Grid.CursorMoved) -> None:
        self.show_detail(event.row)

    @on(Grid.Chosen)
    def chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.query_one("#detail").focus()

    @guarded("detail", background=True)
    async def show_detail(self, row: int) -> None:
        """Compare words off the screen's thread; a newer row cancels this."""
        entries = await asyncio.to_thread(self.view.detail, row) if self.view.rows else []
        detail = self.query_one("#detail", EntryList)
        detail.load(entries)
        detail.move_to(0)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        rows = self.view.rows
        row = self.grid.cursor_row if self.is_mounted else 0
        match action:
            case "take":
                return row < len(rows) and parameters[0] in rows[row].sides
            case "all":
                return self.view.open > 0
            case "next":
                return self.view.open > 0
            case _:
                return True

    def action_take(self, side: Side) -> None:
        row = self.grid.cursor_row
        if not self.view.choose(row, side):
            return
        self._last = side
        self._changed()
        if row + 1 < self.grid.count:
            self.grid.move_to(row + 1)
        else:
            self.show_detail(row)

    def action_all(self) -> None:
        # Deciding one moves on to the next, so the cursor stands on one that is open.
        side = self._last
        if side is None:
            text = _("First decide one: m, t or b. Then A decides the others alike.")
            self.notify(text, markup=False)
            return
        n = self.view.choose_for_open(side)
        self._changed()
        text = ngettext("{n} clash decided: {side}.", "{n} clashes decided: {side}.", n)
        self.notify(text.format(n=n, side=_(SIDE[side])), timeout=3, markup=False)

    def action_next(self) -> None:
        row = self.view.next_open(self.grid.cursor_row)
        if row is not None:
            self.grid.move_to(row)

    @guarded("save")
    async def action_save(self) -> None:
        if self.view.open:
            self._tell_open()
            return
        data = await asyncio.to_thread(self.view.merged)
        if data is None:
            self._fill()
            self._tell_open()
        else:
            self.dismiss(data)

    def action_leave(self) -> None:
        if self.grid.has_focus:
            self.dismiss(None)
        else:
            self.grid.focus()

    def _tell_open(self) -> None:
        text = ngettext(
            "{n} clash is still open: m, t or b decides it.",
            "{n} clashes are still open: m, t or b decides each.",
            self.view.open,
        )
        self.notify(text.format(n=self.view.open), severity="warning", markup=False)
        self.action_next()

    def _fill(self) -> None:
        self.grid.load(_Rows(self.view))
        self._changed()
        first = self.view.next_open(-1)
        self.grid.move_to(first or 0)
        self.show_detail(first or 0)

    def _changed(self) -> None:
        self.grid.changed()
        self.query_one("#differences").border_title = self.view.summary()
        self.refresh_bindings()


class _Rows:
    """A `GridSource` over a view."""

    def __init__(self, view: MergeView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.rows)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        difference, choice = self._view.rows[row], self._view.choice(row)
        plain = "plain" if difference.whose == "clash" else "muted"
        about = difference.about or difference.mine or difference.theirs or difference.base
        return (
            _MARK[difference.whose],
            GridCell(difference.label, "strong" if difference.whose == "clash" else "plain"),
            GridCell(about, plain),
            GridCell(_(SIDE[choice]), plain) if choice else GridCell(_("?"), "bad"),
        )

    def gutter(self, row: int) -> GridCell:
        return GridCell("")
