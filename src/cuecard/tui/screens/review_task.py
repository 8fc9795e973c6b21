"""One review: the task as a document, the dimensions beside it, comments pinned to places."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display, one_line
from cuecard.store.records import ReviewDecision, TaskState
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog, TextDialog
from cuecard.tui.state.document import Element, document_of
from cuecard.tui.state.review import ReviewForm
from cuecard.tui.widgets.dimensions import RATING, DimensionList
from cuecard.tui.widgets.entry_list import EntryList

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.annotate.review import ReviewSheet
    from cuecard.store.workspace import Workspace


class ReviewTaskScreen(CuecardScreen[None]):
    """What is typed here is kept at once and taken up again when the review is opened next."""

    CSS_PATH = "review_task.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("review_task.comment", "c", "comment", N_("Comment"), N_("Comment on the place under the cursor")),
        Key("review_task.approve", "a", "hand_in('approve')", N_("Approve"), N_("Hand in: approve this revision")),
        Key("review_task.return", "e", "hand_in('return')", N_("Return"), N_("Hand in: return it to the author")),
        Key("review_task.pane", "tab", "app.focus_next", N_("Other pane"), N_("To the other pane")),
        Key("review_task.back", "escape", "back", N_("Back"), N_("Back to the queue; what you typed stays")),
    )  # fmt: skip

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self._task_id = task_id
        self._sheet: ReviewSheet | None = None
        self._form = ReviewForm(task_id, 0, "")
        self._document: list[Element] = []

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Horizontal(id="panes"):
            yield EntryList(id="document", classes="pane")
            with VerticalScroll(id="side", classes="pane", can_focus=False):
                yield DimensionList(id="dimensions")
                yield Static("", id="comments")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#document").border_title = _("Task")
        self.query_one("#side").border_title = _("Review")
        self.load()

    @guarded("review_task")
    async def load(self) -> None:
        from cuecard.annotate.review import review_sheet

        person, task_id = self.person, self._task_id

        def fetch(ws: Workspace) -> tuple[ReviewSheet, dict[str, JsonValue]]:
            sheet = review_sheet(ws, task_id, person)
            return sheet, ws.review_forms.get(task_id, sheet.revision, person)

        sheet, kept = await self.services.ask(fetch)
        self._sheet = sheet
        self._form = ReviewForm(task_id, sheet.revision, person)
        self._form.load(kept)
        self._document = document_of(sheet.task)
        title = f"{one_line(sheet.task.title)} · {_('revision {n}').format(n=sheet.revision)}"
        self.query_one("#title", Static).update(title)
        reader = self.query_one("#document", EntryList)
        reader.load([element.entry for element in self._document])
        self._show_form()
        if sheet.obstacle:
            self.notify(for_display(sheet.obstacle), severity="warning", markup=False)
        if self.focused is None:
            reader.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("comment", "hand_in"):
            return self._sheet is not None and not self._sheet.obstacle
        return True

    def on_dimension_list_rated(self, event: DimensionList.Rated) -> None:
        event.stop()
        if self._sheet is None or self._sheet.obstacle:
            return
        self._form.ratings[event.key] = event.rating
        self._show_form()
        self.keep()

    def on_entry_list_chosen(self, event: EntryList.Chosen) -> None:
        event.stop()

    @guarded("keep")
    async def keep(self) -> None:
        """Put the unfinished review on disk."""
        form, data = self._form, self._form.to_data()
        await self.services.ask(
            lambda ws: ws.review_forms.keep(form.task_id, form.revision, form.reviewer, data)
        )

    @guarded("hand_in")
    async def hand_in(self, decision: ReviewDecision) -> None:
        from cuecard.annotate.review import review

        given = self._form.to_review(decision)
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

    def action_back(self) -> None:
        self.dismiss()

    def _place(self) -> str:
        """The element under the document's cursor."""
        cursor = self.query_one("#document", EntryList).cursor
        return self._document[cursor].place if cursor < len(self._document) else ""

    def _decided(self, wanted: ReviewDecision, sure: bool | None) -> None:
        if sure:
            self.hand_in(wanted)

    def _commented(self, place: str, text: str | None) -> None:
        if text is not None:
            self._form.comment(place, text)
            self._show_form()
            self.keep()

    def _show_form(self) -> None:
        sheet = self._sheet
        if sheet is None:
            return
        mine = sheet.mine
        ratings = mine.ratings if mine else self._form.ratings
        self.query_one(DimensionList).load(sheet.dimensions, ratings)
        pinned = mine.comments if mine else tuple((c.place, c.text) for c in self._form.comments)
        text = Text()
        if pinned:
            n = len(pinned)
            text.append(ngettext("{n} comment", "{n} comments", n).format(n=n) + "\n", "bold")
        for place, said in pinned:
            text.append(f"{place or _('the task')}\n", "dim")
            text.append(f"  {for_display(said)}\n")
        for other in sheet.visible:
            if other.reviewer != self.person:
                text.append(f"\n{one_line(other.reviewer)}: {other.decision.value}\n", "bold")
                for key, rating in other.ratings.items():
                    text.append(f"  {RATING[rating][0]} {key}\n")
                for place, said in other.comments:
                    text.append(f"  {place or _('the task')}: {for_display(said)}\n")
        if not text:
            text.append(_("No comments yet. c comments on the place under the cursor."), "dim")
        self.query_one("#comments", Static).update(text)
