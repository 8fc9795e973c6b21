"""The tabs of the editor over one edit, the pane of each tab, and the mode that decides what is edited."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.session import OpenedEdit, keep_draft, open_task
from cuecard.annotate.authoring.task_data import Path, Snapshot
from cuecard.annotate.independent_gold.building import refuse_while_building
from cuecard.annotate.lint.codes import Finding
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardApp, guarded
from cuecard.tui.drawing import UniformLines, Vertical
from cuecard.tui.present.task_editor import TAB_LABEL, TabId, tab_of, tabs_of, with_comments
from cuecard.tui.screens.task.brief import BriefPane, CommentsPane, PersonaPane, ProblemsPane
from cuecard.tui.screens.task.checkpoints import StepsPane
from cuecard.tui.screens.task.evidence import EvidencePane
from cuecard.tui.screens.task.facts import FactsPane
from cuecard.tui.screens.task.forms import ANSWER, CHAIN, pane_of_fields
from cuecard.tui.screens.task.graph import GraphPane
from cuecard.tui.screens.task.graph_nodes import NodesPane
from cuecard.tui.screens.task.pane import AsksFirst, Collection, FormPane, Spot, TaskPane
from cuecard.tui.screens.task.stages import StagesPane
from cuecard.tui.screens.task.table import ColumnsPane, TablePane
from cuecard.tui.screens.task.versions import HistoryPane
from cuecard.tui.widgets.nav import TabRow

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_QUIET = 0.2
"""Seconds after a key before tabs are made that nobody asked for yet."""
_PIECE = 2
"""Fields that are made at once then."""


_PANES: dict[str, type[TaskPane]] = {
    "brief": BriefPane,
    "persona": PersonaPane,
    "stages": StagesPane,
    "graph": GraphPane,
    "nodes": NodesPane,
    "table": TablePane,
    "columns": ColumnsPane,
    "steps": StepsPane,
    "facts": FactsPane,
    "sources": EvidencePane,
    "comments": CommentsPane,
    "problems": ProblemsPane,
    "history": HistoryPane,
}


def make_pane(tab: TabId, family: str) -> TaskPane:
    """A new pane for the tab, with the tab's id."""
    match tab:
        case "chain":
            return FormPane(CHAIN, (), id=tab)
        case "answer":
            return FormPane(ANSWER, ("gold",), id=tab)
        case "items" | "gold":
            return pane_of_fields(family, tab)
        case _:
            return _PANES[tab](id=tab)


class _Switcher(UniformLines, ContentSwitcher):
    """As Textual's."""


class TaskMode:
    """What is edited and how it is saved: a task as its author edits it. Methods that take a workspace run in a thread.
    `label`: a prefix of the title.
    """

    label = ""
    asks_first = True  # before the first change of a task that was approved or is in review

    def open(self, ws: Workspace, task_id: str, person: str) -> OpenedEdit:
        """What is edited, as it stands. Raises `CuecardError`."""
        refuse_while_building(ws, task_id, person)
        return open_task(ws, task_id, person)

    def keep(self, ws: Workspace, person: str, edit: Snapshot) -> None:
        """Write the draft."""
        keep_draft(ws, person, edit, self.key(edit))

    def key(self, edit: Snapshot) -> str:
        """Under what the draft is kept."""
        return str(edit.data["id"])

    def leave(self, ws: Workspace, task_id: str, person: str) -> None:
        """The editor is left in good order."""
        ws.drafts.leave(task_id, person)

    def worked(self, ws: Workspace, task_id: str, person: str, seconds: float) -> None:
        """Enter time that was worked."""
        ws.effort.add(task_id, person, "time", seconds)

    def problems(self, found: Sequence[Finding]) -> Sequence[Finding]:
        """Those of the problems that concern who edits."""
        return found

    def tabs(self, data: Mapping[str, Any]) -> tuple[TabId, ...]:
        return tabs_of(data)

    def tab_of(self, path: Path, data: Mapping[str, Any]) -> TabId:
        return tab_of(path, data)

    def pane(self, tab: TabId, family: str) -> TaskPane:
        return make_pane(tab, family)


@dataclass(frozen=True)
class TaskPosition:
    """Where a task was left: the tab that was shown, and the places in all tabs that were opened."""

    tab: TabId
    spots: Mapping[TabId, Sequence[Spot]]


class TaskEditor(Vertical):
    """The tabs over one edit, the only state that their panes share. A pane is made when its tab is first opened.

    While the tabs have the focus, the task is read: no key changes it, and the screen's own keys work. Enter or F2
    focuses the pane, where keys write; Escape comes back.
    """

    BINDINGS = keys(
        Key("editor.edit", (Means.OPEN, Means.EDIT), "edit", N_("Edit"), N_("From reading to changing: the cursor goes into the tab")),
        Key("editor.into", (Means.OPEN, Means.EDIT), "into", N_("Into the tab"), N_("From the tabs to what is below")),
        Key("editor.guidelines", Means.COMMAND, "guidelines", N_("Guidelines"), N_("What a good task of this family is"), letter="g"),
        Key("editor.up", Means.UP, "browse('up')", N_("Up"), N_("Read on above"), show=False),
        Key("editor.down", Means.DOWN, "browse('down')", N_("Down"), N_("Read on below"), show=False),
        Key("editor.page_up", Means.PAGE_UP, "browse('pageup')", N_("Page up"), N_("One page up"), show=False),
        Key("editor.page_down", Means.PAGE_DOWN, "browse('pagedown')", N_("Page down"), N_("One page down"), show=False),
        Key("editor.home", Means.START, "browse('home')", N_("Start"), N_("To the beginning of the tab"), show=False),
        Key("editor.end", Means.END, "browse('end')", N_("End"), N_("To the end of the tab"), show=False),
        Key("editor.undo", Means.UNDO, "undo", N_("Undo"), N_("Take the last change back"), priority=True, show=False),
        Key("editor.redo", Means.REDO, "redo", N_("Redo"), N_("Change it again"), priority=True, show=False),
    )  # fmt: skip

    class Turned(Message):
        """Another tab is shown, or was made `ahead`: what it tells of the workspace is to be read."""

        def __init__(self, tab: TabId, *, ahead: bool = False) -> None:
            super().__init__()
            self.tab: TabId = tab
            self.ahead = ahead

    def __init__(self, mode: TaskMode) -> None:
        super().__init__()
        self._mode = mode
        self._edit: TaskEdit | None = None
        self._left: dict[TabId, Sequence[Spot]] = {}
        self._loaded: dict[str, Mapping[str, Any]] = {}  # what of the edit each pane was given
        self._problems: Sequence[Finding] = ()
        self._comments = False
        self._counts: dict[TabId, str] = {}
        self._going_in = False  # the focus is on its way to where keys change the task
        self._place: Path = ()  # what was looked for on the tab that is shown, and is gone into first
        # Keys and clicks may ask for tabs faster than they are mounted.
        self._opening = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield TabRow({})
        yield _Switcher()

    @property
    def edit(self) -> TaskEdit:
        """What is edited; only once it was begun."""
        if self._edit is None:
            raise RuntimeError("the task is not open yet")
        return self._edit

    def begin(self, edit: TaskEdit, left: TaskPosition | None) -> None:
        """Edit this; `left`: where the task was left, to be gone back to tab by tab."""
        self._edit = edit
        self._left = dict(left.spots) if left is not None else {}

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._focus_moved, init=False)

    @property
    def tabs(self) -> TabRow:
        return self.query_one(TabRow)

    @property
    def _wanted_tabs(self) -> tuple[TabId, ...]:
        tabs = self._mode.tabs(self.edit.data)
        return with_comments(tabs) if self._comments else tabs

    @property
    def _labels(self) -> dict[str, str]:
        return {tab: f"{_(TAB_LABEL[tab])}{self._counts.get(tab, '')}" for tab in self._wanted_tabs}

    @property
    def pane(self) -> TaskPane | None:
        """The pane that is shown."""
        current = self.query_one(ContentSwitcher).visible_content
        return current if isinstance(current, TaskPane) else None

    def where(self) -> TaskPosition | None:
        """Where the task is left now; None before a tab is shown."""
        panes = [pane for pane in self.query(TaskPane) if pane.id]
        spots: dict[TabId, Sequence[Spot]] = dict(self._left)
        spots |= {
            tab: pane.spots() for tab in self._wanted_tabs for pane in panes if pane.id == tab
        }
        here = self.pane.id if self.pane is not None else None
        shown: TabId | None = next((tab for tab in self._wanted_tabs if tab == here), None)
        return TaskPosition(shown, spots) if shown else None

    def commit(self) -> None:
        """Write pending input to the edit."""
        if self.pane is not None:
            self.pane.commit()

    def reload(self) -> None:
        """The edit changed as a whole: show it again."""
        if (pane := self.pane) is not None:
            pane.load(self.edit)
            self._loaded[pane.id or ""] = self.edit.data

    def noticed(self, path: Path) -> None:
        """Something at `path` changed."""
        if self.pane is not None:
            self.pane.noticed(path)
        if len(path) < 2:
            self.tabs.load(self._labels)

    async def come_back(self, tab: TabId) -> None:
        """Open the tab on which the task was left, if it still has it."""
        await self.open(tab if tab in self._wanted_tabs else self._wanted_tabs[0])

    async def show_place(self, path: Path) -> None:
        """Open the tab on which `path` is edited and show it there, to be read."""
        await self._open_for(path)
        self._place = path
        if self.pane is not None:
            self.pane.locate(path)

    async def go_to(self, path: Path) -> None:
        """Open the tab on which `path` is edited, and go there."""
        await self._open_for(path)
        self._enter(path)

    async def _open_for(self, path: Path) -> None:
        """Open the tab on which `path` is edited; going there, it is not put back to where it was left."""
        tab = self._mode.tab_of(path, self.edit.data)
        if path:
            self._left.pop(tab, None)
        await self.open(tab)

    async def open(self, tab: TabId) -> None:
        """Show a tab, with the edit as it stands."""
        self._place = ()
        self.tabs.load(self._labels)
        async with self._opening:
            switcher = self.query_one(ContentSwitcher)
            if switcher.current != tab:
                self.commit()
            with self.app.batch_update():
                await (await self._pane_of(tab)).grow()
                switcher.current = tab
                self.tabs.active = tab
                if self._loaded.get(tab) is not self.edit.data:
                    self.reload()
                await asyncio.sleep(0)  # until all that changed has asked to be laid out
            if self.pane is not None:
                self.pane.found(self._problems)
                if spots := self._left.pop(tab, None):
                    self.pane.call_after_refresh(self.pane.put_back, spots)
        if tab == "problems":
            self._show_problems()
        self.refresh_bindings()
        self.post_message(self.Turned(tab))
        self.look_ahead()

    async def _pane_of(self, tab: TabId, *, ahead: bool = False) -> TaskPane:
        switcher = self.query_one(ContentSwitcher)
        for pane in switcher.query_children(f"#{tab}").results(TaskPane):
            return pane
        family = self._edit.data["gold"]["family"] if self._edit is not None else ""
        pane = self._mode.pane(tab, family)
        pane.ahead = ahead
        await switcher.add_content(pane)
        return pane

    async def make_ahead(self) -> None:
        """Make the tab that most tasks begin with, before it is known which one is edited."""
        app, pane = cast("CuecardApp", self.app), await self._pane_of("brief", ahead=True)
        while await pane.grow(_PIECE):
            await app.idle(0)
        self.query_one(ContentSwitcher).current = pane.id
        self.display = True

    @guarded("ahead", background=True)
    async def look_ahead(self) -> None:
        """Make the tabs beside this one while nobody types, in pieces: a key waits for the one that is under way."""
        app, tabs, here = cast("CuecardApp", self.app), self._wanted_tabs, self.tabs.active
        at = next((at for at, tab in enumerate(tabs) if tab == here), 0)
        await app.idle(_QUIET)
        for tab in (tabs[(at + 1) % len(tabs)], tabs[at - 1]):
            new, more = not self.query_one(ContentSwitcher).query_children(f"#{tab}"), True
            while more and self.screen.is_current:
                # One that was begun is ended, whatever comes.
                more = await asyncio.shield(self._go_on_with(tab))
                await app.idle(0)
            if new and not more:
                self.post_message(self.Turned(tab, ahead=True))

    async def _go_on_with(self, tab: TabId) -> bool:
        """Make the next piece of a tab; whether there may be more. Grids, which may be long, are loaded when they are shown."""
        async with self._opening:
            if not self.is_attached:
                return False
            made = self.query_one(ContentSwitcher).query_children(f"#{tab}")
            pane = await self._pane_of(tab, ahead=True)
            if not made or await pane.grow(_PIECE):
                return True
            if isinstance(pane, FormPane | Collection) and tab not in self._loaded:
                pane.load(self.edit)
                self._loaded[tab] = self.edit.data
            return False

    async def enter(self, tab: TabId) -> None:
        """Show a tab and go into it."""
        await self.open(tab)
        self._enter(())

    def _enter(self, path: Path) -> None:
        """Go into the pane that is shown; where that is to change the task, it may be asked about first."""
        pane = self.pane
        if pane is None:
            return
        if pane.EDITS:
            pane.locate(path)
            pane.to_change(lambda: self._go_in(pane, path))
        else:
            pane.reveal(path)

    def _go_in(self, pane: TaskPane, path: Path) -> None:
        self._going_in = True
        pane.reveal(path)

    @property
    def editing(self) -> bool:
        """Whether keys go where they change the task, or are about to."""
        return self._going_in or (self.pane is not None and self.pane.writing)

    def show_problems(self, problems: Sequence[Finding]) -> None:
        """Count them in the tab's label, by severity, and list them on the tab."""
        self._problems = problems
        still = [problem for problem in problems if not problem.silenced]
        errors = sum(problem.severity == "error" for problem in still)
        self._count("problems", {"✗": errors, "!": len(still) - errors})
        if self.pane is not None:
            self.pane.found(problems)
        self._show_problems()

    def show_comments(self, open_ones: int) -> None:
        """There are comments on the task: their tab comes, and tells how many are open."""
        self._comments = True
        self._count("comments", {"✎": open_ones})

    def _count(self, tab: TabId, told: Mapping[str, int]) -> None:
        """Say behind a tab's label how many there are, by glyph."""
        self._counts[tab] = "".join(f" {glyph}{n}" for glyph, n in told.items() if n)
        self.tabs.load(self._labels)

    def crumbs(self) -> Sequence[str]:
        """What `step_back` leaves, the last of it first."""
        # Asked before it is composed.
        pane = self.pane if self.query_children(ContentSwitcher) else None
        if pane is None or not pane.has_focus_within or not pane.EDITS:
            return ()
        return [*(_(name) for tab, name in TAB_LABEL.items() if tab == pane.id), *pane.crumbs()]

    def step_back(self) -> bool:
        """Escape: out of a form to its list, from changing to reading; False when the task is only read."""
        pane = self.pane
        if pane is None or not pane.has_focus_within:
            return False
        if pane.step_back():
            return True
        if pane.EDITS:
            self.tabs.focus()
        return pane.EDITS

    async def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        for tab in self._wanted_tabs:
            if tab == event.tab:
                await self.open(tab)

    async def on_task_pane_place_wanted(self, event: TaskPane.PlaceWanted) -> None:
        event.stop()
        await self.go_to(event.path)

    async def turn(self, by: int) -> None:
        """Go to the next tab, and into it; while the task is read the focus stays outside, except where there is
        nothing to change.
        """
        tabs, editing = self._wanted_tabs, self.editing
        here = next((i for i, tab in enumerate(tabs) if tab == self.tabs.active), 0)
        await self.open(tabs[(here + by) % len(tabs)])
        if self.pane is not None and (editing or not self.pane.EDITS):
            self._enter(())
        else:
            self.screen.set_focus(self.tabs)

    async def action_undo(self) -> None:
        await self._travel(back=True)

    async def action_redo(self) -> None:
        await self._travel(back=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("edit", "into"):
            edits = self.pane is None or self.pane.EDITS
            return self.tabs.has_focus and edits is (action == "edit")
        if action == "guidelines":
            return isinstance(self.pane, BriefPane)
        return action != "browse" or self.tabs.has_focus

    def action_guidelines(self) -> None:
        if isinstance(self.pane, BriefPane):
            self.pane.show_guidelines()

    def action_edit(self) -> None:
        self._enter(self._place)

    def action_into(self) -> None:
        self._enter(self._place)

    def action_browse(self, key: str) -> None:
        self._place = ()
        if self.pane is not None:
            self.pane.browse(key)

    async def _travel(self, *, back: bool) -> None:
        self.commit()
        edit, screen = self.edit, self.screen
        if (
            isinstance(screen, AsksFirst)
            and screen.asks_first
            and (edit.can_undo if back else edit.can_redo)
        ):
            # The history of an earlier sitting reaches behind what was approved since.
            screen.to_change(lambda: self.call_later(self._travel, back=back))
            return
        path = edit.undo() if back else edit.redo()
        if path is None:
            message = _("Nothing to take back.") if back else _("Nothing to do again.")
            self.notify(message, timeout=2, markup=False)
            return
        tab = self._mode.tab_of(path, edit.data)
        if path and tab != self.tabs.active:
            await self.open(tab)
            self.tabs.focus()
        else:
            self.reload()
        if self.pane is not None:
            self.pane.locate(path)

    def _focus_moved(self, before: Widget | None, now: Widget | None) -> None:
        self._going_in = self._going_in and now is None
        if before is not None and now is None:
            self.call_after_refresh(self._hold_focus)
        elif now is not None and self.editing:
            self.call_next(self._ask_first, now)

    def _ask_first(self, widget: Widget) -> None:
        """A field was gone into by mouse: of a task that is not changed without a question it is asked."""
        screen = self.screen
        if isinstance(screen, AsksFirst) and screen.asks_first and screen.focused is widget:
            screen.set_focus(self.tabs)
            screen.to_change(widget.focus)

    def _hold_focus(self) -> None:
        """What had the focus is gone, as the list of an empty tab: the tabs hear the keys then."""
        if self.is_attached and self.screen.focused is None and not self._going_in:
            # A screen that is being left has given up its children already.
            for tabs in self.query(TabRow):
                tabs.focus()

    def _show_problems(self) -> None:
        for pane in self.query_one(ContentSwitcher).query_children(ProblemsPane):
            pane.show(self._problems)
