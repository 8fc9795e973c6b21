"""A review that is open: read from the workspace, kept as it is filled in, shown in its two panes."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from cuecard.annotate.authoring.effort import WorkedTime
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.review_task_panes import ReviewDocument, ReviewSide
from cuecard.tui.state.review import ReviewForm
from cuecard.tui.state.review_side import progress
from cuecard.tui.state.review_view import ReviewView
from cuecard.tui.state.task_drafts import DraftKeeper, DraftState
from cuecard.tui.widgets.entry_list import EntryList

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.annotate.review.desk import ReviewDesk
    from cuecard.annotate.review.protocol import Protocol
    from cuecard.store.workspace import Workspace
    from cuecard.tui.state.review_rows import Row

_CHANGING = (
    ("mark", ()), ("source", ()), ("next", ()), ("comment", ()), ("hand_in", ()), ("edit", ()),
    ("third", ()), ("comments", ()), ("threads", ()), ("changes", (True,)), ("changes", (False,)),
    ("to_side", ()), ("to_reviews", ()),
)  # fmt: skip


class OpenReview(CuecardScreen[None]):
    """What is filled in is on disk at once; what is done with it is the screen's that builds on this."""

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
            yield Static("", id="title", markup=False)
            yield Static("", id="progress", markup=False)
        with Horizontal(id="panes"):
            yield ReviewDocument(id="document", classes="pane")
            yield ReviewSide(id="side")
        yield Footer(show_command_palette=False)

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
        from cuecard.annotate.review.desk import review_desk
        from cuecard.annotate.review.protocol import protocol_of

        person, task_id = self.person, self.task_id
        await self.keeper.flush()
        try:
            protocol = self.protocol = protocol_of(await self.services.config())

            def fetch(ws: Workspace) -> tuple[ReviewDesk, dict[str, JsonValue]]:
                desk = review_desk(ws, task_id, person, protocol)
                return desk, ws.review_forms.get(task_id, desk.sheet.revision, person)

            desk, kept = await self.services.ask(fetch)
        except CuecardError:
            self.dismiss()
            raise
        form = ReviewForm(task_id, desk.sheet.revision, person, desk.sample)
        form.load(kept)
        before, view = self.view, await asyncio.to_thread(ReviewView, desk, form)
        if before is not None and before.desk.sheet.revision == desk.sheet.revision:
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
        self.show()
        # What is under the cursor may have grown out of view.
        self.document.move_to(self.document.cursor)
        self.keeper.touch()

    def _add_time(self, seconds: float) -> None:
        if self.view is not None and seconds > 0 and not self.view.desk.reading:
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

        await self.services.ask(keep)

    def _kept(self, _state: DraftState, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, asyncio.CancelledError):
            self.report(error)

    def show(self) -> None:
        view = self.view
        if view is None:
            return
        view.refresh()
        self.query_one("#title", Static).update(view.title)
        dimensions = view.desk.sheet.dimensions
        told = "" if view.desk.reading else progress(view.form, dimensions)
        self.query_one("#progress", Static).update(told)
        self.document.border_title = view.pane_title
        self.document.load([row.entry for row in view.rows])
        self.side.load(view.desk, view.form, view.words)
        self.refresh_keys()
