"""A model's proposal, item by item, to be accepted or rejected."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.assist.proposals import Pending
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.drawing import Container, Vertical
from cuecard.tui.grid import Grid, GridCell, GridColumn
from cuecard.tui.present.entries import Entry, Piece
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.proposals import MARKS, ProposalView, cost_of, headline, raw_entries
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.text import HeadLine

COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("Proposed"), 30, grow=3),
    GridColumn(N_("In doubt because"), 24, grow=2, hidden_below=60),
)


class ProposalRows:
    """A `GridSource` over a view."""

    def __init__(self, view: ProposalView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.items)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        item, ticked = self._view.items[row], self._view.is_ticked(row)
        said = item.checked[0] if item.checked else ""
        more = f" (+{len(item.checked) - 1})" if len(item.checked) > 1 else ""
        return (
            GridCell("✓", "good") if ticked else GridCell("·", "muted"),
            GridCell(f"{MARKS[item.deed]} {headline(item)}", "plain" if ticked else "muted"),
            GridCell(said + more, "warn"),
        )

    def gutter(self, row: int) -> GridCell:
        return GridCell("!", "warn") if self._view.items[row].checked else GridCell("")


KEEP_AFTER = 0.3


@dataclass(frozen=True)
class Decided:
    """`accepted`: ids of the items to take in; none of them means that all were rejected."""

    accepted: tuple[str, ...]


class ProposalScreen(CuecardScreen[Decided | None]):
    """Answers what was decided; None where the proposal is left for later. `keep` is called, off this
    thread, with what is ticked.
    """

    CSS_PATH = "proposal.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("proposal.tick", Means.MARK, "tick", N_("Tick"), N_("Take this item, or not")),
        Key("proposal.all", Means.MARK_ALL, "all", N_("All"), N_("Tick every item")),
        Key("proposal.none", Means.COMMAND, "none", N_("None"), N_("Tick no item"), letter="n"),
        Key("proposal.accept", (Means.OPEN, Means.SAVE), "accept", N_("Take ticked"), N_("Take what is ticked into the task; the rest is rejected"), priority=True),
        Key("proposal.raw", Means.DETAILS, "raw", N_("Replies"), N_("What the model said that could not be read")),
        Key("proposal.throw", Means.DELETE, "throw", N_("Reject"), N_("Reject the whole proposal")),
        Key("proposal.leave", Means.UP_ONE, "leave", N_("Later"), N_("Leave; the proposal waits until you decide")),
    )  # fmt: skip

    def __init__(
        self,
        data: Mapping[str, Any],
        pending: Pending,
        currency: str,
        keep: Callable[[Pending], None],
    ) -> None:
        super().__init__()
        self.view = ProposalView(data, pending)
        self._currency = currency
        self._keep = keep

    def compose(self) -> ComposeResult:
        proposal = self.view.proposal
        yield HeadLine("", id="proposal-title", markup=False)
        notes = "\n".join(f"! {note}" for note in proposal.notes)
        if notes:
            yield Static(for_display(notes), id="proposal-notes", markup=False)
        with Container(id="proposal-body"):
            with Vertical(classes="pane", id="items"):
                yield Grid(COLUMNS, id="rows")
            with Vertical(classes="pane", id="one"):
                yield EntryList(gap=True, id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.grid.load(ProposalRows(self.view))
        self.query_one("#one").border_title = _("What it changes")
        self.query_one("#items").border_subtitle = cost_of(self.view.proposal.spent, self._currency)
        self._retitle()
        self.grid.focus()
        self.show_detail(0)

    @property
    def grid(self) -> Grid:
        return self.query_one("#rows", Grid)

    @on(Grid.CursorMoved)
    def moved(self, event: Grid.CursorMoved) -> None:
        self.show_detail(event.row)

    @on(Grid.Chosen)
    def chosen(self, event: Grid.Chosen) -> None:
        """A click on the row under the cursor."""
        event.stop()
        self.action_tick()

    @guarded("detail", background=True)
    async def show_detail(self, row: int) -> None:
        """Compare with the task off the screen's thread; a newer row cancels this."""
        entries = await asyncio.to_thread(self.view.detail, row)
        detail = self.query_one("#detail", EntryList)
        detail.load(entries)
        detail.move_to(0)

    @guarded("keep", background=True)
    async def keep(self) -> None:
        """What is ticked goes to disk once the keys rest."""
        await asyncio.sleep(KEEP_AFTER)
        await asyncio.to_thread(self._keep, self.view.pending)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "raw":
            return bool(self.view.proposal.raw)
        return True

    def action_tick(self) -> None:
        row = self.grid.cursor_row
        self.view.toggle(row)
        self.grid.changed(row)
        self.grid.move_to(min(row + 1, self.grid.count - 1))
        self._ticked()

    def action_all(self) -> None:
        self._tick_only({item.id for item in self.view.items})

    def action_none(self) -> None:
        self._tick_only(set())

    def action_accept(self) -> None:
        if not self.view.ticked:
            self.notify(
                hint(_("Nothing is ticked; {DELETE} rejects the whole proposal.")), markup=False
            )
            return
        self.dismiss(Decided(self.view.ticked))

    @guarded("throw")
    async def action_throw(self) -> None:
        question = ConfirmDialog(
            _("Reject the whole proposal?"),
            _("It was paid for, and is gone then: {cost}.").format(
                cost=cost_of(self.view.proposal.spent, self._currency)
            ),
            yes=_("Reject"),
        )
        if await self.app.push_screen_wait(question):
            self.dismiss(Decided(()))

    @guarded("leave")
    async def action_leave(self) -> None:
        await asyncio.to_thread(self._keep, self.view.pending)
        self.dismiss(None)

    def action_raw(self) -> None:
        self.app.push_screen(RawDialog(self.view.proposal.raw))

    def _tick_only(self, ids: set[str]) -> None:
        self.view.tick(ids)
        self.grid.changed()
        self._ticked()

    def _ticked(self) -> None:
        self._retitle()
        self.keep()

    def _retitle(self) -> None:
        self.query_one("#proposal-title", Static).update(f" {for_display(self.view.summary())}")


class RawDialog(CuecardDialog[None]):
    """What a model said, as it said it. `why`: what is to be read above it."""

    CSS_PATH = "proposal.tcss"

    def __init__(self, raw: tuple[str, ...], why: str = "") -> None:
        super().__init__()
        self._raw, self._why = raw, why

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog raw") as box:
            box.border_title = _("What the model said")
            if self._why:
                yield Static(for_display(self._why), id="why", markup=False)
            yield EntryList(gap=True, id="replies")
        yield KeyBar()

    def on_mount(self) -> None:
        replies = self.query_one("#replies", EntryList)
        nothing = Entry("work", 0, (Piece(_("Not a word."), "muted"),))
        replies.load(raw_entries(self._raw) or [nothing])
        replies.focus()
