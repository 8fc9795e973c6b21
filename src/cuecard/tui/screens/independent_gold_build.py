"""Building an independent gold from the brief, in the task editor's panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.session import OpenedEdit
from cuecard.annotate.authoring.task_data import Path, Snapshot
from cuecard.annotate.independent_gold import building
from cuecard.annotate.lint.codes import Finding
from cuecard.core.i18n import N_, _, headed, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.present.independent_gold import brief_entries
from cuecard.tui.present.task_editor import TabId, tab_of, tabs_of
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.task.drafting import DraftingScreen
from cuecard.tui.screens.task.editor import TaskMode, make_pane
from cuecard.tui.screens.task.forms import CHAIN
from cuecard.tui.screens.task.pane import FormPane, TaskPane
from cuecard.tui.screens.task.table import TablePane
from cuecard.tui.widgets.entry_list import EntryList

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_ANSWER_FIELDS = (("gold", "final_answer"), ("gold", "final_aliases"))
_OF_COLUMNS = ("add_column", "remove_column", "shift_column")


class GivenBrief(TaskPane):
    """What is asked, to be read."""

    EDITS = False

    def compose(self) -> ComposeResult:
        yield EntryList(gap=True)

    def load(self, edit: TaskEdit) -> None:
        self.query_one(EntryList).load(brief_entries(edit.data))

    def reveal(self, path: Path) -> None:
        self.query_one(EntryList).focus()


class GivenColumns(TablePane):
    """Rows for columns that stand."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in _OF_COLUMNS and super().check_action(action, parameters)


def second_pane(tab: TabId, family: str) -> TaskPane:
    """A new pane for the tab, with the tab's id."""
    match tab:
        case "brief":
            return GivenBrief(id=tab)
        case "table":
            return GivenColumns(id=tab)
        case "chain":
            fields = tuple(field for field in CHAIN if field.path in _ANSWER_FIELDS)
            return FormPane(fields, (), id=tab)
        case _:
            return make_pane(tab, family)


_NOT_HERE = ("persona", "stages", "columns", "sources", "history")


class IndependentGoldMode(TaskMode):
    """Edits a blank of the task, into which nothing of the author's gold is ever read. `brief_changed`: the brief is
    not the one this person saw last.
    """

    label = N_("independent gold")
    asks_first = False  # the author's task is not touched

    def __init__(self) -> None:
        self.brief_changed = False

    def open(self, ws: Workspace, task_id: str, person: str) -> OpenedEdit:
        opened, self.brief_changed = building.open_blank(ws, task_id, person)
        return opened

    def key(self, edit: Snapshot) -> str:
        return building.gold_key(str(edit.data["id"]))

    def leave(self, ws: Workspace, task_id: str, person: str) -> None:
        ws.drafts.leave(building.gold_key(task_id), person)

    def worked(self, ws: Workspace, task_id: str, person: str, seconds: float) -> None:
        ws.effort.add(building.gold_key(task_id), person, "time", seconds)

    def problems(self, found: Sequence[Finding]) -> Sequence[Finding]:
        return [problem for problem in found if problem.place.startswith("gold")]

    def tabs(self, data: Mapping[str, Any]) -> tuple[TabId, ...]:
        return tuple(tab for tab in tabs_of(data) if tab not in _NOT_HERE)

    def tab_of(self, path: Path, data: Mapping[str, Any]) -> TabId:
        tab = tab_of(path, data)
        return "table" if tab == "columns" else "brief" if tab in _NOT_HERE else tab

    def pane(self, tab: TabId, family: str) -> TaskPane:
        return second_pane(tab, family)


_ONLY_WHEN_OPEN = ("hand_in", "give_up", "turn")


class BuildGoldScreen(DraftingScreen):
    """Builds an independent gold. Input is kept under a key of its own, and nobody sees it until it is handed in."""

    CSS_PATH = ["task/task.tcss", "task/graph.tcss", "task/texts.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("second_gold.hand_in", Means.SUBMIT, "hand_in", N_("Hand in"), N_("Hand in your gold, for good; then it is compared with the author's")),
        Key("second_gold.leave", Means.UP_ONE, "leave", N_("Back"), N_("One step back; what you built is kept")),
        Key("second_gold.previous_tab", Means.VIEW_BEFORE, "turn(-1)", N_("‹ Tab"), N_("The tab to the left"), show=False, priority=True),
        Key("second_gold.next_tab", Means.VIEW_NEXT, "turn(1)", N_("Tab ›"), N_("The tab to the right"), priority=True),
        Key("second_gold.give_up", Means.COMMAND, "give_up", N_("Give up"), N_("Throw away what you built"), show=False, letter="r"),
    )  # fmt: skip

    def __init__(self, task_id: str) -> None:
        self._second = IndependentGoldMode()
        super().__init__(task_id, mode=self._second)

    async def show_task(self, opened: OpenedEdit) -> None:
        await super().show_task(opened)
        if self._second.brief_changed:
            self.notify(
                _("The brief has changed since you worked on it. What you built is still here."),
                severity="warning",
                timeout=10,
                markup=False,
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.loaded or action not in _ONLY_WHEN_OPEN

    @guarded("save")
    async def action_hand_in(self) -> None:
        edit, person, task_id = self.edit, self.author, self.task_id
        self.editor.commit()
        await self.keeper.flush()
        base, data = edit.base, edit.data
        if wrong := await self.services.ask(lambda ws: building.check_built(ws, task_id, data)):
            await self.editor.enter("problems")
            text = ngettext(
                "{n} problem keeps this from being handed in: {first}",
                "{n} problems keep this from being handed in, the first: {first}",
                len(wrong),
            ).format(n=len(wrong), first=one_line(headed(wrong[0].place, wrong[0].reason), 120))
            self.notify(text, severity="warning", markup=False)
            return
        told = _("It cannot be changed afterwards. Its authors see it beside theirs then, and so do you.")  # fmt: skip
        if extra := building.extra_columns(data["gold"], (edit.saved or data)["gold"]):
            names = one_line(listed(extra), 60)
            left = _("Columns that the brief does not have are left out: {names}.")
            told = f"{told}\n{left.format(names=names)}"
        note = await self.app.push_screen_wait(
            AskLine(
                _("Hand in your gold?"),
                told,
                button=_("Hand in"),
                placeholder=_("what was unclear, optional"),
                required=False,
            )
        )
        if note is None:
            return
        await self.enter_time()
        await self.services.ask(lambda ws: building.hand_in(ws, task_id, person, base, data, note))
        self.gone = True
        self.cue_app.tell(_("Handed in. This is how it compares."))
        from cuecard.tui.screens.independent_gold import CompareGoldScreen

        self.app.switch_screen(CompareGoldScreen(task_id))

    @guarded("revert")
    async def action_give_up(self) -> None:
        task_id, person = self.task_id, self.author
        self.editor.commit()
        question = ConfirmDialog(
            _("Throw away what you built?"), _("Nobody has seen it."), yes=_("Throw away")
        )
        if await self.app.push_screen_wait(question):
            self.gone = True
            await self.keeper.flush()
            await self.services.ask(lambda ws: building.give_up(ws, task_id, person))
            self.dismiss(None)
