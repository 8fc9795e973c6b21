"""The list of all verdicts of runs, page by page, with filters for labelled ones and doubtful gold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import RunLabels
from cuecard.core.text import one_line
from cuecard.store.judgements import VerdictFilter
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.grid import Grid
from cuecard.tui.present.verdicts import ListedVerdict, VerdictLines, VerdictReader, said_cell
from cuecard.tui.screens.labelling.verdicts import over_item
from cuecard.tui.widgets.lists import FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

COLUMNS = (
    FittedColumn(N_("Run"), 4, right=True),
    FittedColumn(N_("Gold item"), 14, grow=5),
    FittedColumn(N_("Item"), 11, grow=1),
    FittedColumn(N_("Task"), 8, grow=2, hidden_below=90),
    FittedColumn(N_("Agent"), 7, grow=1, hidden_below=100),
    FittedColumn(N_("Judge"), 8, grow=1, hidden_below=66),
    FittedColumn(N_("Mine"), 13),
    FittedColumn(N_("Judge said"), 13),
)
MINE: dict[str, str] = {
    "": N_("all"),
    "open": N_("not labelled by me"),
    "labelled": N_("labelled by me"),
}
PAUSE = 0.05
"""Seconds in which the first page is painted before all are counted."""
_ORDER: tuple[Literal["", "open", "labelled"], ...] = ("", "open", "labelled")


class VerdictListScreen(CuecardScreen[None]):
    """The first page is shown at once; how many there are, and the others, as they are read."""

    CSS_PATH = "verdict_list.tcss"
    BINDINGS = keys(
        Key("verdict_list.open", "enter", "open", N_("Open"), N_("Label this item, or label it anew")),
        Key("verdict_list.mine", "o", "mine", N_("Mine"), N_("All, only what I have not labelled, only what I have; again for the next")),
        Key("verdict_list.flagged", "f", "flagged", N_("Flagged"), N_("Only items whose gold somebody holds for wrong, or all")),
        Key("verdict_list.judge", "j", "next_judge", N_("Judge"), N_("Only one judge; again for the next")),
        Key("verdict_list.run", "u", "next_run", N_("Run"), N_("Only one run; again for the next")),
        Key("verdict_list.reveal", "v", "reveal", N_("Reveal"), N_("What the judge decided on this item; what I label after that counts apart")),
        Key("verdict_list.refresh", "r", "reload", N_("Refresh"), N_("Look again"), show=False),
        Key("verdict_list.back", "escape", "dismiss", N_("Back"), N_("Back to the runs")),
    )  # fmt: skip

    def __init__(self, runs: Sequence[RunLabels]) -> None:
        super().__init__()
        self._runs = tuple(runs)
        self._judges = sorted({judge for run in runs for judge in run.judges})
        self._run: int | None = runs[0].run_id if len(runs) == 1 else None
        self._filter = VerdictFilter(runs=tuple(run.run_id for run in runs))
        self._lines = VerdictLines(1, self._wanted)
        self._reader: VerdictReader | None = None
        self._reading = False
        self._revealing = False

    def compose(self) -> ComposeResult:
        yield Static("", id="heading", markup=False)
        yield Static("", id="which", markup=False)
        yield ListTable(COLUMNS, id="verdicts")
        yield EmptyState(
            _("No verdict is like that"),
            _("These filters leave nothing."),
            ("o", _("all, mine, or what is left")),
            ("f", _("flagged gold, or all")),
            ("j", _("another judge")),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self._table.focus()

    def on_screen_resume(self) -> None:
        self.load()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#verdicts", ListTable)

    @guarded("verdict_list")
    async def load(self) -> None:
        """Show the first page, then find out how many there are."""
        person, filter = self.person, self._filter

        def begin(workspace: Workspace) -> tuple[VerdictReader, list[ListedVerdict], int]:
            reader = VerdictReader(workspace, person, filter)
            return reader, reader.page(0), workspace.verdict_pages.size

        reader, first, size = await self.services.ask(begin)
        lines = VerdictLines(size, self._wanted)
        lines.begin(first)
        at = self._table.cursor_row
        self._reader = reader
        if lines.whole or not self._lines:
            self._show(lines)
        if not lines.whole:
            self.cue_app.goes_on()
            await asyncio.sleep(PAUSE)
            lines.cut(await self.services.ask(lambda ws: reader.pages()))
            self._show(lines)
        if at < len(lines):
            self._table.move_to(at)

    def _show(self, lines: VerdictLines) -> None:
        self._lines = lines
        table = self._table
        table.load(lines)
        table.display = bool(lines)
        self.query_one(EmptyState).display = not lines
        self.query_one("#heading", Static).update(self._heading())
        self._tell_which()
        self._revealing = self._can_reveal()
        self.refresh_bindings()

    def _tell_which(self) -> None:
        """Of the row at the cursor, also what a narrow table leaves out."""
        found = self._lines.at(self._table.cursor_row)
        said = [found.line.task_id, found.line.agent, found.gold] if found else []
        told = " · ".join(one_line(part, 200) for part in said if part)
        self.query_one("#which", Static).update(told)

    def _heading(self) -> str:
        run = next((run for run in self._runs if run.run_id == self._run), None)
        runs, count = len(self._runs), len(self._lines)
        parts = [
            one_line(run.name, 30) if run else ngettext("{n} run", "{n} runs", runs).format(n=runs),
            ngettext("{n:,} verdict", "{n:,} verdicts", count).format(n=count)
            if self._lines.whole
            else "…",
            _(MINE[self._filter.mine]),
        ]
        if self._filter.judges:
            parts.append(_("judge {name}").format(name=one_line(self._filter.judges[0], 24)))
        if self._filter.gold_wrong:
            parts.append(_("gold held for wrong"))
        return " · ".join(parts)

    def _wanted(self) -> None:
        if not self._reading:
            self._reading = True
            self.call_later(self.read)

    @guarded("pages", background=True)
    async def read(self) -> None:
        """Read the pages that are asked for, those in view first."""
        lines, reader = self._lines, self._reader
        try:
            while reader is not None and (page := lines.wanted()) is not None:
                start = lines.start_of(page)
                found = await self.services.ask(lambda ws, r=reader, s=start: r.page(s))
                if lines is not self._lines:
                    lines, reader = self._lines, self._reader
                    continue
                if lines.load(page, found):
                    self._table.changed()
                    self._tell_which()
        finally:
            self._reading = False

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._tell_which()
        # Only if it changes: the footer is made anew each time.
        if self._can_reveal() != self._revealing:
            self._revealing = not self._revealing
            self.refresh_bindings()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "open":
            return bool(self._lines)
        if action == "next_judge":
            return len(self._judges) > 1
        if action == "next_run":
            return len(self._runs) > 1
        if action == "reveal":
            return self._can_reveal()
        return True

    def _can_reveal(self) -> bool:
        found = self._lines.at(self._table.cursor_row) if self.is_mounted else None
        return bool(found and found.line.mine and not found.line.decision)

    def action_open(self) -> None:
        found = self._lines.at(self._table.cursor_row)
        if found is not None:
            self.app.push_screen(over_item(found.line))

    def action_mine(self) -> None:
        after = _ORDER[(_ORDER.index(self._filter.mine) + 1) % len(_ORDER)]
        self._narrow(mine=after)

    def action_flagged(self) -> None:
        self._narrow(gold_wrong=not self._filter.gold_wrong)

    def action_next_judge(self) -> None:
        choices: list[tuple[str, ...]] = [(), *((judge,) for judge in self._judges)]
        self._narrow(judges=choices[(choices.index(self._filter.judges) + 1) % len(choices)])

    def action_next_run(self) -> None:
        ids = [run.run_id for run in self._runs]
        choices = [None, *ids]
        self._run = choices[(choices.index(self._run) + 1) % len(choices)]
        self._narrow(runs=tuple(ids) if self._run is None else (self._run,))

    def _narrow(self, **changes: object) -> None:
        self._filter = self._filter.model_copy(update=changes)
        self._table.move_to(0)
        self._lines = VerdictLines(1, self._wanted)
        self.load()

    @guarded("reveal")
    async def action_reveal(self) -> None:
        person, row = self.person, self._table.cursor_row
        found = self._lines.at(row)
        if found is None or found.line.mine is None:
            return
        line = found.line
        record = await self.services.ask(lambda ws: ws.verdicts.reveal(line.verdict_id, person))
        told = line.model_copy(update={"decision": record.decision})
        self._lines.show(row, found._replace(line=told))
        self._table.changed(row)
        self._revealing = self._can_reveal()
        self.refresh_bindings()
        said = said_cell(record.decision.value).text
        self.cue_app.tell(
            _("{judge}: {said}. {why}").format(
                judge=one_line(line.judge, 30), said=said, why=one_line(record.rationale, 300)
            )
        )

    def action_reload(self) -> None:
        self.load()
