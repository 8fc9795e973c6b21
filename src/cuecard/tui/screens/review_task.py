"""One review: the task as a document, the dimensions beside it, comments pinned to places."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display, one_line
from cuecard.store.records import ReviewDecision, TaskState
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog, TextDialog
from cuecard.tui.state.document import Element, changed_places, document_of, entries_of
from cuecard.tui.state.review import ReviewForm, comments_on, side_paragraphs
from cuecard.tui.state.task_drafts import DraftKeeper, DraftState
from cuecard.tui.widgets.dimensions import DimensionList
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.paragraphs import Paragraphs

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.annotate.review import ReviewSheet
    from cuecard.store.workspace import Workspace


class ReviewTaskScreen(CuecardScreen[None]):
    """What is typed here is kept at once and taken up again when the review is opened next. Who may
    not review the task now reads here the reviews that they may see.
    """

    CSS_PATH = "review_task.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    AUTO_FOCUS = "#document"
    BINDINGS = keys(
        Key("review_task.comment", "c", "comment", N_("Comment"), N_("Comment on the place under the cursor")),
        Key("review_task.approve", "a", "hand_in('approve')", N_("Approve"), N_("Hand in: approve this revision")),
        Key("review_task.return", "e", "hand_in('return')", N_("Return"), N_("Hand in: return it to the author")),
        Key("review_task.changes", "d", "changes", N_("Changes"), N_("Only what changed since your last review, or all")),
        Key("review_task.edit", "t", "edit", N_("Edit"), N_("Edit the task, at the place under the cursor")),
        Key("review_task.pane", "tab", "app.focus_next", N_("Other pane"), N_("To the other pane"), show=False),
        Key("review_task.back", "escape", "back", N_("Back"), N_("Back; what you typed stays")),
    )  # fmt: skip

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self._task_id = task_id
        self._sheet: ReviewSheet | None = None
        self._form = ReviewForm(task_id, 0, "")
        self._document: list[Element] = []
        self._changed: frozenset[str] = frozenset()
        self._only_changed = False
        self._keeper = DraftKeeper(self._keep, self._kept, quiet=0.0)

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Horizontal(id="panes"):
            yield EntryList(id="document", classes="pane")
            with VerticalScroll(id="side", classes="pane", can_focus=False):
                yield DimensionList(id="dimensions")
                yield Paragraphs(id="notes")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for pane, title in (("#document", _("Task")), ("#side", _("Review"))):
            self.query_one(pane).border_title = title
        self.query_one("#side").border_subtitle = _("tab: other pane")
        self.load()

    async def on_unmount(self) -> None:
        with contextlib.suppress(CuecardError):
            await self._keeper.flush()

    @guarded("review_task")
    async def load(self) -> None:
        from cuecard.annotate.review import review_sheet

        person, task_id = self.person, self._task_id

        def fetch(ws: Workspace) -> tuple[ReviewSheet, dict[str, JsonValue]]:
            sheet = review_sheet(ws, task_id, person)
            return sheet, ws.review_forms.get(task_id, sheet.revision, person)

        try:
            sheet, kept = await self.services.ask(fetch)
        except CuecardError:
            self.dismiss()
            raise
        self._sheet = sheet
        self._form = ReviewForm(task_id, sheet.revision, person)
        self._form.load(kept)
        self._document = document_of(sheet.task)
        if sheet.previous is not None and not sheet.obstacle:
            self._changed = changed_places(document_of(sheet.previous), self._document)
        self.query_one("#title", Static).update(self._title(sheet))
        self.query_one(DimensionList).display = not sheet.obstacle or sheet.mine is not None
        self._show()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        sheet = self._sheet
        if action in ("comment", "hand_in"):
            return sheet is not None and not sheet.obstacle
        if action == "edit":
            return sheet is not None and sheet.own
        return bool(self._changed) if action == "changes" else True

    def on_dimension_list_rated(self, event: DimensionList.Rated) -> None:
        event.stop()
        if self._sheet is None or self._sheet.obstacle:
            return
        self._form.ratings[event.key] = event.rating
        self._edited()

    def on_entry_list_chosen(self, event: EntryList.Chosen) -> None:
        event.stop()

    @guarded("hand_in")
    async def hand_in(self, decision: ReviewDecision) -> None:
        from cuecard.annotate.review import review

        given = self._form.to_review(decision)
        # What is handed in takes the place of the unfinished review, so that must not be written later.
        await self._keeper.forget()
        state = await self.services.ask(lambda ws: review(ws, given))
        said = {
            TaskState.APPROVED: _("Both reviews are in: the task is approved."),
            TaskState.RETURNED: _("Both reviews are in: the task goes back to its author."),
        }
        self.cue_app.tell(said.get(state, _("Handed in. It waits for the other review.")))
        self.dismiss()

    def action_comment(self) -> None:
        place = self._place()
        title = _("Comment on {place}").format(place=place or _("the task"))
        note = _("An empty text takes the comment away.")
        self.app.push_screen(
            TextDialog(title, self._form.comment_at(place), note),
            partial(self._commented, place),
        )

    def action_hand_in(self, decision: str) -> None:
        from cuecard.annotate.review import check_review

        if self._sheet is None:
            return
        wanted = ReviewDecision(decision)
        complaint = check_review(self._form.to_review(wanted), self._sheet.task.family)
        if complaint:
            self.notify(for_display(complaint), severity="warning", markup=False)
            return
        approve = wanted is ReviewDecision.APPROVE
        self.app.push_screen(
            ConfirmDialog(
                _("Approve this revision?") if approve else _("Return it to the author?"),
                _("A review cannot be changed once it is handed in."),
                _("Approve") if approve else _("Return"),
            ),
            partial(self._decided, wanted),
        )

    def action_changes(self) -> None:
        self._only_changed = not self._only_changed
        self._show()

    def action_edit(self) -> None:
        from cuecard.tui.screens.task import TaskScreen

        self.app.push_screen(TaskScreen(self._task_id, place=self._place()))

    def action_back(self) -> None:
        self.dismiss()

    @property
    def _shown(self) -> list[Element]:
        if not self._only_changed:
            return self._document
        return [element for element in self._document if element.place in self._changed]

    def _place(self) -> str:
        """The element under the document's cursor."""
        cursor, shown = self.query_one(EntryList).cursor, self._shown
        return shown[cursor].place if cursor < len(shown) else ""

    def _title(self, sheet: ReviewSheet) -> str:
        parts = [_("revision {n}").format(n=sheet.revision)]
        if n := len(self._changed):
            parts.append(ngettext("{n} place changed", "{n} places changed", n).format(n=n))
        return " · ".join([*parts, one_line(sheet.task.title)])

    def _decided(self, wanted: ReviewDecision, sure: bool | None) -> None:
        if sure:
            self.hand_in(wanted)

    def _commented(self, place: str, text: str | None) -> None:
        if text is not None:
            self._form.comment(place, text)
            self._edited()

    def _edited(self) -> None:
        self._show()
        self._keeper.touch()

    async def _keep(self) -> None:
        form, data = self._form, self._form.to_data()
        await self.services.ask(
            lambda ws: ws.review_forms.keep(form.task_id, form.revision, form.reviewer, data)
        )

    def _kept(self, _state: DraftState, error: BaseException | None) -> None:
        if error is not None:
            self.report(error)

    def _show(self) -> None:
        sheet = self._sheet
        if sheet is None:
            return
        ratings = sheet.mine.ratings if sheet.mine else self._form.ratings
        self.query_one(DimensionList).load(sheet.dimensions, ratings, locked=bool(sheet.obstacle))
        comments = comments_on(sheet, self._form)
        self.query_one(EntryList).load(entries_of(self._shown, comments, self._changed))
        self.query_one("#notes", Paragraphs).load(side_paragraphs(sheet, self._form))
