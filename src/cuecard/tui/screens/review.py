"""The screen of one review: the task as a document, dimensions beside it, marks and comments in place."""

from functools import partial

from cuecard.annotate.review.reviewing import GOLD
from cuecard.core.contributions import CheckMark, ReviewDecision, TaskState
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.present.review import Need, given_paragraphs, next_need, obstacle_to_gold
from cuecard.tui.screens.dialogs import ConfirmDialog, TextDialog
from cuecard.tui.screens.review_dialogs import CommentDialog, Pin, Pinned, source_dialog
from cuecard.tui.screens.review_panes import OpenReview
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.review import DimensionList

_WRITING = {"comment", "mark", "next", "hand_in", "undo"}


class ReviewTaskScreen(OpenReview):
    """Reviews a task. Input is saved at once and is there when the review is opened again. People who may not review
    the task now read the reviews they may see.
    """

    CSS_PATH = "review.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("review_task.comment", Means.COMMENT, "comment", N_("Comment"), N_("Comment on the place under the cursor")),
        Key("review_task.right", Means.YES, "mark('right')", N_("Mark"), N_("This gold item is right; again: no mark")),
        Key("review_task.wrong", Means.NO, "mark('wrong')", N_("Wrong"), N_("This gold item is wrong; say what is"), show=False),
        Key("review_task.unsure", Means.UNSURE, "mark('unsure')", N_("Unsure"), N_("Whether this gold item is right cannot be told"), show=False),
        Key("review_task.next", Means.FURTHER, "next", N_("Next"), N_("To the next item of your spot check that has no mark"), show=False),
        Key("review_task.undo", Means.UNDO, "undo", N_("Undo"), N_("Take back the last mark, rating or comment of mine"), show=False),
        Key("review_task.source", Means.OUTSIDE, "source", N_("Source"), N_("Open a page behind this item in the browser")),
        Key("review_task.changes", Means.COMPARE, "changes(True)", N_("Changes"), N_("Only what changed since your last review")),
        Key("review_task.whole", Means.COMPARE, "changes(False)", N_("Whole task"), N_("The whole task, not only what changed")),
        Key("review_task.threads", Means.DETAILS, "threads", N_("Comments"), N_("All comments with their answers")),
        Key("review_task.comments", Means.DETAILS, "comments", N_("Comments"), N_("All comments with their answers"), show=False),
        Key("review_task.approve", Means.APPROVE, "hand_in('approve')", N_("Approve"), N_("Hand in: approve this revision")),
        Key("review_task.return", Means.RETURN, "hand_in('return')", N_("Return"), N_("Hand in: return it to the author")),
        Key("review_task.edit", Means.EDIT, "edit", N_("Edit"), N_("Edit the task, at the place under the cursor")),
        Key("review_task.qc", Means.QC, "qc", N_("QC"), N_("Quality control of this task: stages, evidence, verdict"), show=False),
        Key("review_task.third", Means.COMMAND, "third", N_("Third opinion"), N_("Have a third person decide, who sees neither review"), letter="t"),
        Key("review_task.rate", (Means.ONWARD, Means.BACKWARD), "to_side", N_("Rate"), N_("From the task to the dimensions")),
        Key("review_task.reviews", (Means.ONWARD, Means.BACKWARD), "to_reviews", N_("Reviews"), N_("From the task to its reviews")),
        Key("review_task.task", (Means.ONWARD, Means.BACKWARD), "to_task", N_("Task"), N_("Back to the task")),
        Key("review_task.back", Means.UP_ONE, "back", N_("Back"), N_("Back; what you typed stays")),
    )  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self.view
        if action == "back":
            return True
        if view is None:
            return False
        if action in ("to_side", "to_reviews", "to_task"):
            wanted = "to_reviews" if view.context.reading else "to_side"
            return action == (wanted if (self.focused is self.document) else "to_task")
        if action in _WRITING and view.context.reading:
            return False
        row = self.row
        match action:
            case "mark":
                return bool(row and row.item) and self.focused is self.document
            case "next":
                return bool(view.form.left_to_mark)
            case "undo":
                return len(view.form.steps) > 1
            case "source":
                return bool(row and row.item and view.sources(row)) and (
                    self.focused is self.document
                )
            case "edit":
                return view.context.sheet.own
            case "third":
                return view.context.may_ask_third
            case "changes":
                return bool(view.context.changes) and view.only_changes != parameters[0]
            case "comments" | "threads":
                # While a review is written the footer has no room for it; the side names it.
                return bool(view.context.threads) and view.context.reading == (action == "threads")
            case _:
                return True

    def on_entry_list_chosen(self, event: EntryList.Chosen) -> None:
        event.stop()

    def on_entry_list_cursor_moved(self, event: EntryList.CursorMoved) -> None:
        event.stop()
        self.refresh_keys()

    def on_dimension_list_rated(self, event: DimensionList.Rated) -> None:
        event.stop()
        view = self.view
        if view is None or view.context.reading:
            return
        if event.key == GOLD and event.rating == "pass" and (need := obstacle_to_gold(view.form)):
            self._lead(need)
            return
        view.form.ratings[event.key] = event.rating
        self.edited()
        if event.rating == "fail" and not view.form.explained(event.key):
            label = next(_(d.label) for d in view.context.sheet.dimensions if d.key == event.key)
            self._ask_comment(
                self.place, event.key, _("Why does “{name}” fail?").format(name=label)
            )

    @guarded("hand_in")
    async def hand_in(self, decision: ReviewDecision) -> None:
        from cuecard.annotate.review.reviewing import review

        if self.view is None or self.protocol is None:
            return
        self.view.form.seconds += self.worked.rest()
        given, protocol = self.view.form.to_review(decision), self.protocol
        # What is handed in takes the place of the unfinished review, so that must not be written later.
        await self.keeper.forget()
        state = await self.services.ask(lambda ws: review(ws, given, protocol=protocol))
        said = {
            TaskState.APPROVED: _("The reviews are in: the task is approved."),
            TaskState.RETURNED: _("The reviews are in: the task goes back to its author."),
        }
        self.cue_app.tell(said.get(state, _("Handed in. It waits for the other review.")))
        self.dismiss()

    def action_comment(self) -> None:
        self._ask_comment(self.place)

    def action_mark(self, mark: CheckMark) -> None:
        view, row = self.view, self.row
        if view is None or row is None or not row.item:
            return
        view.form.mark(row.item, mark)
        self.edited()
        if row.item in view.form.unexplained_wrong:
            self._ask_comment(row.item, GOLD, _("What is wrong here?"))

    def action_undo(self) -> None:
        if self.view is not None and self.view.form.undo():
            self.edited()

    def action_next(self) -> None:
        if self.view is not None and (place := self.view.next_to_mark(self.document.cursor)):
            self.go_to(place)

    def action_source(self) -> None:
        view, row = self.view, self.row
        if view is None or row is None:
            return
        urls = view.sources(row)
        if len(urls) == 1:
            self._open(row.item, urls[0])
        elif urls:
            opened = view.form.opened.get(row.item, ())
            self.app.push_screen(source_dialog(urls, opened), partial(self._open, row.item))
        else:
            self.cue_app.tell(_("This cites no source."))

    def action_changes(self, only: bool) -> None:
        if self.view is not None:
            place = self.place
            self.view.only_changes = only
            self.show()
            self.document.move_to(self.view.row_of(place) or 0)

    def action_threads(self) -> None:
        self.action_comments()

    def action_comments(self) -> None:
        from cuecard.tui.screens.review_dialogs import ThreadsScreen

        def back(place: str | None) -> None:
            self.load(place)

        self.app.push_screen(ThreadsScreen(self.task_id), back)

    def action_hand_in(self, decision: str) -> None:
        if self.view is None:
            return
        form, wanted = self.view.form, ReviewDecision(decision)
        dimensions = self.view.context.sheet.dimensions
        if need := next_need(form, dimensions, wanted):
            self._lead(need)
            return
        approve = wanted is ReviewDecision.APPROVE
        self.app.push_screen(
            ConfirmDialog(
                _("Approve this revision?") if approve else _("Return it to the author?"),
                _("A review cannot be changed once it is handed in. The author will receive:"),
                _("Approve") if approve else _("Return"),
                given_paragraphs(form.to_review(wanted), dimensions, self.view.words),
            ),
            partial(self._decided, wanted),
        )

    def action_edit(self) -> None:
        from cuecard.tui.screens.task.screen import open_task

        open_task(self.cue_app, self.task_id, place=self.place)

    def action_third(self) -> None:
        note = _("A third person reviews the same revision and sees neither review. Say why.")
        self.app.push_screen(TextDialog(_("Ask a third person"), "", note), self._asked)

    def action_qc(self) -> None:
        from cuecard.tui.screens.quality import QcScreen

        def back(_done: None) -> None:
            self.side.qc.load_report()

        self.app.push_screen(QcScreen(self.task_id), back)

    def action_back(self) -> None:
        self.dismiss()

    def _lead(self, need: Need) -> None:
        """Say what is missing, and go where it is done."""
        view = self.view
        if view is None:
            return
        match need.kind:
            case "why":
                self._ask_comment(self.place, need.dimension, need.said)
                return
            case "wrong":
                self.go_to(need.place)
                self._ask_comment(need.place, GOLD, need.said)
                return
            case "say":
                self._ask_comment(self.place, "", need.said)
                return
            case "rate":
                self.side.dimensions.go_to(need.dimension)
                self.action_to_side()
            case "mark":
                self.go_to(need.place)
            case "stop":
                pass
        self.notify(need.said, severity="warning", markup=False)

    def _ask_comment(self, place: str, dimension: str = "", ask: str = "") -> None:
        view = self.view
        if view is None:
            return
        dimensions = [(d.key, _(d.label)) for d in view.context.sheet.dimensions]
        # Not every family has a dimension for its gold alone.
        pin = Pin(place, dimension if dimension in dict(dimensions) else "")
        if not ask:
            here = next((c for c in view.form.comments if c.place == place), None)
            pin = Pin(place, here.dimension if here else self._unexplained)
        form = view.form
        dialog = CommentDialog(
            pin,
            view.places(place),
            dimensions,
            lambda at: form.comment_at(at.place, at.dimension),
            ask,
        )
        self.app.push_screen(dialog, self._commented)

    @property
    def _unexplained(self) -> str:
        """A dimension that fails without a word of why; "" if there is none."""
        form = self.view.form if self.view else None
        failed = (key for key, rating in form.ratings.items() if rating == "fail") if form else ()
        return next((key for key in failed if form and not form.explained(key)), "")

    def _commented(self, said: Pinned | None) -> None:
        if said is None or self.view is None:
            return
        if said.before is not None and said.before != said.pin:
            self.view.form.comment(said.before.place, "", said.before.dimension)
        self.view.form.comment(said.pin.place, said.text, said.pin.dimension)
        self.edited()

    def _decided(self, wanted: ReviewDecision, sure: bool | None) -> None:
        if sure:
            self.hand_in(wanted)

    def _asked(self, reason: str | None) -> None:
        if reason is not None and reason.strip():
            self.ask_third(reason)

    @guarded("third")
    async def ask_third(self, reason: str) -> None:
        from cuecard.annotate.review.workflow import ask_third

        person, task_id = self.person, self.task_id
        await self.services.ask(lambda ws: ask_third(ws, task_id, person, reason))
        self.cue_app.tell(_("A third person will decide."))
        self.load()

    def _open(self, item: str, url: str | None) -> None:
        if url is not None:
            self.open_source(item, url)

    @guarded("browser", background=True)
    async def open_source(self, item: str, url: str) -> None:
        from cuecard.tui.outside_programs import open_told

        told = await open_told(url)
        if self.view is not None and not self.view.context.reading:
            self.view.form.note_opened(item, url)
            self.edited()
        self.notify(told, markup=False)
