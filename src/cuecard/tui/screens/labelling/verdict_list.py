"""The list of all verdicts of runs, page by page, with filters for labelled ones and doubtful gold."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import RunLabels, VerdictLine
from cuecard.core.text import one_line
from cuecard.store.judgements import VerdictFilter
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column
from cuecard.tui.present.verdicts import (
    ListedVerdict,
    VerdictLines,
    VerdictReader,
    item_label,
    said_cell,
)
from cuecard.tui.screens.labelling.verdicts import over_item
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def _item(row: ListedVerdict) -> str:
    return item_label(row.line.item) if row.line else ""


COLUMNS = (
    Column[ListedVerdict](N_("Run"), lambda row: str(row.line.run_id) if row.line else "", right=True),
    Column[ListedVerdict](N_("Gold item"), lambda row: row.gold or _item(row), grow=3, least=14),
    Column[ListedVerdict](N_("Item"), _item),
    Column[ListedVerdict](N_("Task"), lambda row: row.line.task_id if row.line else "", grow=2, spare=2),
    Column[ListedVerdict](N_("Agent"), lambda row: row.line.agent if row.line else "", grow=1, spare=3),
    Column[ListedVerdict](N_("Judge"), lambda row: row.line.judge if row.line else "", grow=1, spare=1),
    Column[ListedVerdict](N_("Mine"), lambda row: said_cell(row.line.mine if row.line else None), wide=13),
    Column[ListedVerdict](N_("Judge said"), lambda row: said_cell(row.line.decision if row.line else None), wide=13),
)  # fmt: skip
MINE: dict[str, str] = {
    "": N_("all"),
    "open": N_("not labelled by me"),
    "labelled": N_("labelled by me"),
}
PAUSE = 0.05
"""Seconds in which the first page is painted before all are counted."""
_ORDER: tuple[Literal["", "open", "labelled"], ...] = ("", "open", "labelled")


class VerdictListScreen(ListScreen[ListedVerdict]):
    """The first page is shown at once; how many there are, and the others, as they are read."""

    LIVE = False
    PAGED = True
    BINDINGS = keys(
        Key("verdict_list.open", "enter", "open", N_("Open"), N_("Label this item, or label it anew")),
        Key("verdict_list.mine", "o", "mine", N_("Mine"), N_("All, only what I have not labelled, only what I have; again for the next")),
        Key("verdict_list.flagged", "f", "flagged", N_("Flagged"), N_("Only items whose gold somebody holds for wrong, or all")),
        Key("verdict_list.judge", "j", "next_judge", N_("Judge"), N_("Only one judge; again for the next")),
        Key("verdict_list.run", "u", "next_run", N_("Run"), N_("Only one run; again for the next")),
        Key("verdict_list.reveal", "v", "reveal", N_("Reveal"), N_("What the judge decided on this item; what I label after that counts apart")),
        Key("verdict_list.back", "escape", "dismiss", N_("Back"), N_("Back to the runs")),
    )  # fmt: skip

    def __init__(self, runs: Sequence[RunLabels]) -> None:
        super().__init__()
        self._runs = tuple(runs)
        self._judges = sorted({judge for run in runs for judge in run.judges})
        self._run: int | None = runs[0].run_id if len(runs) == 1 else None
        self._filter = VerdictFilter(runs=tuple(run.run_id for run in runs))
        self._lines = VerdictLines(1, ())
        self._reader: VerdictReader | None = None
        self._reading = False

    def columns(self) -> Sequence[Column[ListedVerdict]]:
        return COLUMNS

    def key(self, row: ListedVerdict) -> int | None:
        return row.line.verdict_id if row.line else None

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No verdict is like that"),
            _("These filters leave nothing."),
            ("o", _("all, mine, or what is left")),
            ("f", _("flagged gold, or all")),
            ("j", _("another judge")),
        )

    def on_mount(self) -> None:
        self.watch(self.view.grid, "scroll_y", self._scrolled, init=False)

    @guarded("verdict_list")
    async def load(self, to: Hashable = None) -> None:
        """Show the first page, then find out how many there are."""
        person, filter = self.person, self._filter

        def begin(workspace: Workspace) -> tuple[VerdictReader, list[ListedVerdict], int]:
            reader = VerdictReader(workspace, person, filter)
            return reader, reader.page(0), workspace.verdict_pages.size

        reader, first, size = await self.services.ask(begin)
        lines = VerdictLines(size, first)
        self._reader = reader
        if lines.whole or not self._lines:
            self._lines = lines
            self.show(lines)
        if not lines.whole:
            self.cue_app.goes_on()
            await asyncio.sleep(PAUSE)
            lines.cut(await self.services.ask(lambda ws: reader.pages()))
            self._lines = lines
            self.show(lines)
            self.view.changed()
            self._scrolled()

    def title_words(self) -> str:
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

    def _scrolled(self) -> None:
        """Other rows may be in view."""
        if not self._reading and self._missing() is not None:
            self._reading = True
            self.read_pages()

    def _missing(self) -> int | None:
        grid = self.view.grid
        return self._lines.missing(int(grid.scroll_y), grid.size.height)

    @guarded("pages", background=True)
    async def read_pages(self) -> None:
        """Read the pages in view, and the one after."""
        try:
            while (reader := self._reader) is not None and (page := self._missing()) is not None:
                lines, start = self._lines, self._lines.start_of(page)
                lines.load(page, await self.services.ask(lambda ws, r=reader, s=start: r.page(s)))
                self.view.changed()
        finally:
            self._reading = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_judge":
            return len(self._judges) > 1
        if action == "next_run":
            return len(self._runs) > 1
        if action == "reveal":
            line = self._line
            return bool(line and line.mine and not line.decision)
        return super().check_action(action, parameters)

    @property
    def _line(self) -> VerdictLine | None:
        return self.row.line if self.row is not None else None

    def action_open(self) -> None:
        if line := self._line:
            self.app.push_screen(over_item(line))

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
        self.view.grid.move_to(0)
        self._lines = VerdictLines(1, ())
        self.load()

    @guarded("reveal")
    async def action_reveal(self) -> None:
        person, row, at = self.person, self.row, self.view.grid.cursor_row
        if row is None or row.line is None or row.line.mine is None:
            return
        line = row.line
        record = await self.services.ask(lambda ws: ws.verdicts.reveal(line.verdict_id, person))
        told = line.model_copy(update={"decision": record.decision})
        self._lines.show(at, row._replace(line=told))
        self.view.changed(at)
        said = said_cell(record.decision).text
        self.cue_app.tell(
            _("{judge}: {said}. {why}").format(
                judge=one_line(line.judge, 30), said=said, why=one_line(record.rationale, 300)
            )
        )
