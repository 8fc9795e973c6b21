"""The panes of an open review (document, dimensions, progress), and keeping what is filled in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.authoring.session import WorkedTime
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.present import review as present
from cuecard.tui.present.drafts import DraftKeeper, DraftState
from cuecard.tui.present.entries import Paragraph, Piece, Tone, ink
from cuecard.tui.present.labels import VOTE
from cuecard.tui.present.review_document import ReviewView
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.review import DimensionList
from cuecard.tui.widgets.text import HeadLine, Paragraphs, Tinted

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.annotate.review.reviewing import ReviewContext
    from cuecard.annotate.review.workflow import Protocol
    from cuecard.core.records import Review
    from cuecard.store.workspace import Workspace
    from cuecard.tui.present.review_document import Row


class QcSummary(Paragraphs):
    """A summary of quality control on a task, which it reads itself."""

    DEFAULT_CSS = """
    QcSummary { margin-top: 1; }
    """

    _task_id = ""

    def load_task(self, task_id: str) -> None:
        """Show what is known of this task, unless it is shown."""
        if task_id != self._task_id:
            self._task_id = task_id
            self.load_report()

    @guarded("qc_summary", background=True)
    async def load_report(self) -> None:
        from cuecard.annotate.quality.pipeline import qc_report
        from cuecard.tui.present.qc import summary

        screen = cast("CuecardScreen[Any]", self.screen)
        person, task_id = screen.person, self._task_id
        config = await screen.services.config()
        report = await screen.services.ask(lambda ws: qc_report(ws, task_id, person, config))
        self.load(summary(report))


_INK: dict[Tone, str] = {"good": "success", "bad": "error", "muted": "muted", "stage": "primary"}


class Comparison(Tinted):
    """Lines of pieces whose blanks are kept, so that columns stay columns."""

    DEFAULT_CSS = """
    Comparison { height: auto; width: 1fr; text-wrap: nowrap; }
    """

    def show(self, lines: Sequence[Sequence[Piece]]) -> None:
        def drawing(colours: Mapping[str, str]) -> Text:
            text = Text(no_wrap=True, overflow="crop")
            for line in lines:
                for piece in line:
                    colour = ink(colours, _INK.get(piece.tone, ""))
                    text.append(piece.text, "bold" if piece.tone == "strong" else colour)
                text.append("\n")
            text.rstrip()
            return text

        self.draw(drawing)


class ReviewDocument(EntryList):
    """The task, or what changed in it. Enter opens what its mark says is folded, so the footer has
    room for what else works here.
    """

    BINDINGS = keys(
        Key("review_document.open", (Means.OPEN, Means.MARK), "open", N_("Open/fold"), N_("Show or hide what is folded under the cursor"), show=False),
    )  # fmt: skip


class ReviewSide(VerticalScroll, can_focus=False):
    """`load` shows what fits: a form to fill in, or reviews to read."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self._reviews: Sequence[Review] = ()
        self._review_context: ReviewContext | None = None
        self._me = ""

    def compose(self) -> ComposeResult:
        yield DimensionList(id="dimensions")
        yield Paragraphs(id="standing")
        yield Comparison(id="compared", markup=False)
        yield Paragraphs(id="notes")
        yield QcSummary(id="qc")

    @property
    def dimensions(self) -> DimensionList:
        return self.query_one(DimensionList)

    @property
    def qc(self) -> QcSummary:
        return self.query_one(QcSummary)

    def load(
        self, context: ReviewContext, form: present.ReviewForm, words: Callable[[str], str]
    ) -> None:
        self._review_context, self._me = context, form.reviewer
        reading = context.reading
        self.qc.load_task(context.sheet.task.id)
        self.can_focus = reading
        self.dimensions.display = not reading
        self.query_one("#standing").display = self.query_one("#compared").display = reading
        if reading:
            self._read(context, words)
            return
        self.dimensions.load(
            context.sheet.dimensions,
            form.ratings,
            hints=present.hints(context),
            wants=present.wants(form, context.sheet.dimensions),
        )
        self.query_one("#notes", Paragraphs).load(present.writing_paragraphs(context, form, words))

    def on_resize(self, event: events.Resize) -> None:
        if self._review_context is not None and self._review_context.reading:
            self._compare()

    def _read(self, context: ReviewContext, words: Callable[[str], str]) -> None:
        given = context.sheet.visible
        newest = max((review.revision for review in given), default=0)
        self._reviews = [review for review in given if review.revision == newest]
        split = present.disagreeing(self._reviews)
        self.query_one("#standing", Paragraphs).load(
            [*present.reading_paragraphs(context, split=split), Paragraph("")]
        )
        self._compare()
        lines: list[Paragraph] = []
        for review in reversed(given):
            glyph, _colour, label = VOTE[review.decision.value]
            name = _("you") if review.reviewer == self._me else one_line(review.reviewer)
            head = _("{reviewer}, revision {n}: {decision}").format(
                reviewer=name, n=review.revision, decision=f"{glyph} {_(label)}"
            )
            tone: Tone = "good" if review.decision.value == "approve" else "bad"
            lines += [Paragraph(""), Paragraph(head, tone)]
            lines += present.given_paragraphs(review, context.sheet.dimensions, words)
        self.query_one("#notes", Paragraphs).load(lines)

    def _compare(self) -> None:
        if self._review_context is None:
            return
        widget = self.query_one(Comparison)
        widget.display = bool(self._reviews)
        width = max(self.scrollable_content_region.width, 24)
        dimensions = self._review_context.sheet.dimensions
        if self._reviews:
            widget.show(present.compared(self._reviews, dimensions, self._me, width))


_CHANGING = (
    ("mark", ()), ("source", ()), ("next", ()), ("comment", ()), ("hand_in", ()), ("edit", ()),
    ("third", ()), ("comments", ()), ("threads", ()), ("changes", (True,)), ("changes", (False,)),
    ("to_side", ()), ("to_reviews", ()), ("undo", ()),
)  # fmt: skip


class OpenReview(CuecardScreen[None]):
    """Base of the review screen: shows a review, and saves what is filled in at once."""

    AUTO_FOCUS = "#document"

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.protocol: Protocol | None = None
        self.view: ReviewView | None = None
        self.keeper = DraftKeeper(self._keep, self._kept, quiet=0.0)
        self.worked = WorkedTime()
        self._works: tuple[bool | None, ...] = ()

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield HeadLine("", id="title", markup=False)
            yield Static("", id="progress", markup=False)
        with Horizontal(id="panes"):
            yield ReviewDocument(id="document", classes="pane")
            yield ReviewSide(id="side")
        yield KeyBar()

    @property
    def document(self) -> EntryList:
        return self.query_one("#document", EntryList)

    @property
    def side(self) -> ReviewSide:
        return self.query_one(ReviewSide)

    def on_mount(self) -> None:
        self.side.border_title = _("Review")
        self.load()

    async def on_unmount(self) -> None:
        self._add_time(self.worked.rest())
        with contextlib.suppress(CuecardError):
            await self.keeper.flush()

    def on_key(self) -> None:
        self._add_time(self.worked.key(asyncio.get_running_loop().time()))

    @guarded("review_task")
    async def load(self, place: str | None = None) -> None:
        """Read the review anew, and go to `place`."""
        from cuecard.annotate.review.reviewing import review_context
        from cuecard.annotate.review.workflow import protocol_of

        person, task_id = self.person, self.task_id
        await self.keeper.flush()
        with self.or_leave():
            protocol = self.protocol = protocol_of(await self.services.config())

            def fetch(ws: Workspace) -> tuple[ReviewContext, dict[str, JsonValue]]:
                context = review_context(ws, task_id, person, protocol)
                return context, ws.review_forms.get(task_id, context.sheet.revision, person)

            context, kept = await self.services.ask(fetch)
        form = present.ReviewForm(task_id, context.sheet.revision, person, context.sample)
        form.load(kept)
        before, view = self.view, await asyncio.to_thread(ReviewView, context, form)
        if before is not None and before.context.sheet.revision == context.sheet.revision:
            view.only_changes = view.only_changes and before.only_changes
        self.view = view
        self.show()
        if place is not None:
            self.go_to(place)

    def action_to_side(self) -> None:
        self.set_class(True, "-side")
        self.side.dimensions.focus()

    def action_to_reviews(self) -> None:
        self.set_class(True, "-side")
        self.side.focus()

    def action_to_task(self) -> None:
        self.set_class(False, "-side")
        self.document.focus()

    @property
    def row(self) -> Row | None:
        return self.view.row_at(self.document.cursor) if self.view else None

    @property
    def place(self) -> str:
        """What a comment made now is about."""
        return self.row.place if self.row else ""

    def go_to(self, place: str) -> None:
        """Put the cursor of the document on a place."""
        view = self.view
        if view is None:
            return
        row = view.row_of(place)
        if row is None and view.only_changes:
            view.only_changes = False
            self.show()
            row = view.row_of(place)
        self.action_to_task()
        if row is not None:
            self.document.move_to(row)
        self.refresh_keys()

    def refresh_keys(self) -> None:
        """The footer is made anew only when other keys work: that costs more than all the rest."""
        works = tuple(self.check_action(action, told) for action, told in _CHANGING)
        if works != self._works:
            self._works = works
            self.refresh_bindings()

    def edited(self) -> None:
        """Something was filled in: show it and keep it."""
        if self.view is not None:
            self.view.form.step()
        self.show()
        # What is under the cursor may have grown out of view.
        self.document.move_to(self.document.cursor)
        self.keeper.touch()

    def _add_time(self, seconds: float) -> None:
        if self.view is not None and seconds > 0 and not self.view.context.reading:
            self.view.form.seconds += seconds
            self.keeper.touch()

    async def _keep(self) -> None:
        if self.view is None:
            return
        from cuecard.annotate.review.assignment import renew

        form, data, protocol = self.view.form, self.view.form.to_data(), self.protocol

        def keep(ws: Workspace) -> None:
            ws.review_forms.keep(form.task_id, form.revision, form.reviewer, data)
            if protocol is not None:
                renew(ws, form.task_id, form.reviewer, protocol)  # at work, so it stays theirs

        given = {
            "task_id": form.task_id,
            "revision": form.revision,
            "reviewer": form.reviewer,
            "data": data,
        }
        key = f"{form.task_id} {form.revision} {form.reviewer}"
        await asyncio.to_thread(self.services.put, "review_form", lambda: given, key, keep)

    def _kept(self, _state: DraftState, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, asyncio.CancelledError):
            self.report(error)

    def show(self) -> None:
        view = self.view
        if view is None:
            return
        view.refresh()
        self.query_one("#title", Static).update(view.title)
        dimensions = view.context.sheet.dimensions
        told = "" if view.context.reading else present.progress(view.form, dimensions)
        self.query_one("#progress", Static).update(told)
        self.document.border_title = view.pane_title
        self.document.load([row.entry for row in view.rows])
        self.side.load(view.context, view.form, view.words)
        self.refresh_keys()
