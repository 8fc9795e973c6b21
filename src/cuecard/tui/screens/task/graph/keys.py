"""The tab of triples with its keys. Letters belong to the cells, so none of these is one."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, cast

from textual import events

from cuecard.annotate.authoring import graph_ops
from cuecard.annotate.authoring.copy_out import as_tsv
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.task.graph.bulk import Bulk, stage_count
from cuecard.tui.screens.task.graph.pane import TriplesPane
from cuecard.tui.screens.task.graph.pasting import PastePreview
from cuecard.tui.screens.task.graph.rows import HEAD, KIND, SOURCES, STAGE, TEXT_FIELD
from cuecard.tui.widgets.grid import Sheet

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp

_ANYWHERE = frozenset(("filter", "paste", "aside", "sort"))
_IN_CELL = frozenset(("add", "above"))
_ON_ROWS = frozenset(("above", "remove", "copy", "shift", "change", "stage", "sources", "text"))


class GraphPane(TriplesPane):
    """Every action is about the marked triples, else about the one under the cursor."""

    BINDINGS = keys(
        Key("graph.add", "ctrl+n,insert", "add", N_("Add"), N_("Add a triple below, of the same stage"), shown_as="^n"),
        Key("graph.above", "ctrl+d", "above", N_("As above"), N_("Take over what stands in the cell above"), shown_as="^d", priority=True, show=False),
        Key("graph.delete", "delete", "remove", N_("Delete"), N_("Delete these triples; ^z brings them back"), shown_as="del", show=False),
        Key("graph.filter", "ctrl+f", "filter", N_("Filter"), N_("Show only some: words, stage:3, no:source, problem, =Entity"), shown_as="^f"),
        Key("graph.paste", "ctrl+v", "paste", N_("Paste"), N_("Rows from a spreadsheet, CSV, JSON or Markdown, looked at first"), shown_as="^v", show=False),
        Key("graph.change", "ctrl+e", "change", N_("Change"), N_("By column: rename this everywhere, or write into all marked triples; their stage; their sources"), shown_as="^e"),
        Key("graph.merge", "ctrl+u", "merge", N_("Merge"), N_("Make the marked names one; the others become aliases"), shown_as="^u", show=False),
        Key("graph.stage", "f10", "stage", N_("Stage"), N_("Give these triples a stage"), show=False),
        Key("graph.sources", "ctrl+l", "sources", N_("Sources"), N_("Sources and note of this triple; sources of the marked ones"), shown_as="^l"),
        Key("graph.aside", "ctrl+g", "aside", N_("Graph"), N_("Neighbours of this entity, and figures"), shown_as="^g"),
        Key("graph.sort", "f8", "sort", N_("Sort"), N_("Sort by this column, the other way round, not at all"), show=False),
        Key("graph.copy", "ctrl+k", "copy", N_("Double"), N_("Add these triples once more below"), shown_as="^k", show=False),
        Key("graph.text", "ctrl+c", "text", N_("Copy text"), N_("Copy these triples for a spreadsheet"), shown_as="^c", show=False),
        Key("graph.up", "alt+up,ctrl+up", "shift(-1)", N_("Move up"), N_("Move these triples up"), show=False),
        Key("graph.down", "alt+down,ctrl+down", "shift(1)", N_("Move down"), N_("Move these triples down"), show=False),
    )  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        on_grid = self.grid.has_focus
        if action in _IN_CELL and self.sheet.editing is not None:
            return True
        if action == "add":
            return on_grid
        if action in _ANYWHERE:
            return on_grid or (action == "aside" and self.has_class("-aside"))
        if action == "merge":
            return on_grid and bool(self.chosen) and self.text_column is not None
        if action in _ON_ROWS:
            return on_grid and bool(self.chosen)
        return True

    def on_sheet_pasted(self, event: Sheet.Pasted) -> None:
        event.stop()
        self.paste(event.text)

    def on_paste(self, event: events.Paste) -> None:
        # With no triple yet there is no cell that it could go into.
        if self.grid.has_focus:
            event.stop()
            self.paste(event.text)

    def action_add(self) -> None:
        self.add_row(min(self.grid.cursor_row + 1, len(self.rows)))

    def action_above(self) -> None:
        row, column = self.sheet.editing or (self.grid.cursor_row, self.grid.cursor_column)
        above, here = self.rows.triple(row - 1), self.rows.triple(row)
        if above is None or here is None:
            self.say(_("There is no row above to take anything from."))
            return
        if column == SOURCES:
            urls = [str(url) for url in above.get("sources", ())]
            graph_ops.assign_sources(self.rows.edit, [self.rows.view.index(row)], urls, "add")
        elif column in TEXT_FIELD or column == STAGE:
            editing = self.sheet.editing is not None
            self.settle_cell()
            self.rows.write(row, column, self.rows.text(row - 1, column))
            if editing:
                self.begin(row, column)

    def action_remove(self) -> None:
        chosen, row = self.chosen, self.grid.cursor_row
        first = min(self.grid.marked, default=row)
        self.settle()
        self.grid.mark(())
        count = graph_ops.delete_triples(self.rows.edit, chosen)
        self.rows.apply()
        self.show_rows(first)
        if count > 1:
            text = ngettext("{n} triple deleted.", "{n} triples deleted.", count).format(n=count)
            self.say(text)

    def action_copy(self) -> None:
        chosen = self.chosen
        self.settle()
        at = graph_ops.duplicate_triples(self.rows.edit, chosen)
        self.grid.mark(())
        self.rows.follow()
        self.show_rows(self.rows.view.row(at) or 0)

    def action_text(self) -> None:
        chosen = self.chosen
        self.app.copy_to_clipboard(as_tsv(self.rows.copied(index) for index in chosen))
        count = len(chosen)
        self.say(ngettext("{n} triple copied.", "{n} triples copied.", count).format(n=count))

    def action_shift(self, by: int) -> None:
        if not self.rows.view.plain:
            self.say(
                _(
                    "Triples are moved in the task's own order; end the filter and the sorting first."
                )
            )
            return
        chosen, row = self.chosen, self.grid.cursor_row
        marked = bool(self.grid.marked)
        self.settle()
        places = graph_ops.move_triples(self.rows.edit, chosen, by)
        self.rows.follow()
        self.show_rows(row + places[0] - chosen[0])
        if marked:
            self.grid.mark(places)

    def action_filter(self) -> None:
        self.open_filter()

    def action_sort(self) -> None:
        self.sort_by(self.grid.cursor_column)

    def action_aside(self) -> None:
        """A wide terminal always shows the side: go there. A narrow one shows it instead."""
        if self.side.has_focus_within:
            self.step_back()
        else:
            self.settle()
            self.follow()
            self.add_class("-aside")
            self.side.around.grid.focus()

    def action_change(self) -> None:
        column = self.grid.cursor_column
        if column == STAGE:
            self.action_stage()
        elif column == SOURCES:
            self.action_sources()
        elif column in TEXT_FIELD and self.grid.marked:
            self.do(self._bulk.fill(column, self.chosen))
        elif column in KIND and (name := self.rows.text(self.grid.cursor_row, column)):
            self.do(self._bulk.rename(KIND[column], name))

    def action_merge(self) -> None:
        if (column := self.text_column) is not None:
            field = TEXT_FIELD[column]
            names = dict.fromkeys(str(self.rows.triples[i][field]) for i in self.chosen)
            self.do(self._bulk.merge(KIND[column], [name for name in names if name]))

    def action_stage(self) -> None:
        self.do(self._bulk.stage(self.chosen))

    def action_sources(self) -> None:
        if self.grid.marked:
            self.do(self._bulk.sources(self.chosen))
        else:
            self.open_detail(("sources",))

    def action_paste(self) -> None:
        self.paste(self.app.clipboard)

    @guarded("bulk")
    async def do(self, action: Awaitable[str]) -> None:
        """Do what may ask first, and say what came of it."""
        self.settle()
        if said := await action:
            self.rows.follow()
            self.show_rows(self.grid.cursor_row)
            self.say(said)
        else:
            self.follow()

    @guarded("bulk")
    async def paste(self, text: str) -> None:
        """Look at rows from elsewhere, then put them in below the cursor."""
        self.settle()
        row = self.grid.cursor_row
        here = self.rows.triple(row)
        stage = here.get("stage") if here else None
        preview = PastePreview(text, self.rows.index, stages=stage_count(self.rows), stage=stage)
        triples = await self.app.push_screen_wait(preview)
        if not triples:
            self.follow()
            return
        if self.rows.view.filter.active:
            self.end_filter()
        at = self.index + 1 if here is not None else len(self.rows.triples)
        graph_ops.insert_triples(self.rows.edit, at, triples)
        self.rows.apply()
        self.show_rows(self.rows.view.row(at) or 0, HEAD)
        count = len(triples)
        self.say(ngettext("{n} triple put in.", "{n} triples put in.", count).format(n=count))

    def say(self, text: str) -> None:
        cast("CuecardApp", self.app).tell(text)

    @property
    def _bulk(self) -> Bulk:
        return Bulk(cast("CuecardApp", self.app), self.rows)
