"""What the agent's window looks at: how things stand in the session, and what was typed and not sent."""

from __future__ import annotations

import asyncio

from textual.timer import Timer
from textual.widgets import TextArea

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.lab.wizard import WizardSeat
from cuecard.lab.wizard_view import SeatView
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.wizard.typing import HandInPane, Notes, SearchLine, Words
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.kept_json import KeptJson
from cuecard.tui.state.wizard import Typed, WizardState
from cuecard.tui.state.wizard_hand_in import read_hand_in
from cuecard.tui.state.wizard_words import hand_in_hint
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

LOOK = 0.25
"""Seconds between looks at what has happened."""
PATIENCE = 3.0
"""Seconds until the workspace is asked again after it could not answer."""
KEEP = 0.4
"""Seconds after a keystroke until what was typed is on the disk."""


class Looking(CuecardScreen[None]):
    """Takes the seat of the trial `trial_id` and looks on, a few times a second, off the screen's thread."""

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._seat: WizardSeat | None = None
        self._state: WizardState | None = None
        self._file: KeptJson | None = None
        self._keep_timer: Timer | None = None
        self._moving = False
        self._looking = asyncio.Lock()
        self._status: list[Piece] = []

    @property
    def state(self) -> WizardState | None:
        """None until the seat is taken."""
        return self._state

    def on_unmount(self) -> None:
        self.keep_now()

    @guarded("watch")
    async def sit_down(self) -> None:
        """Take the seat, then look on until the session is over."""
        person, trial_id = self.person, self._trial_id
        try:
            config = await self.services.config()
            seat = await self.services.ask(lambda ws: WizardSeat.take(ws, trial_id, person, config))
        except Exception:
            self.dismiss()
            raise
        self._seat = seat
        self._file = KeptJson(self.services.url, f"wizard {trial_id} {person}")
        self._state = WizardState(seat.briefing, Typed.of(self._file.load()))
        while True:
            try:
                await self.look()
            except CuecardError as error:
                self.report(error)
                await asyncio.sleep(PATIENCE)
            view = self._state.view
            if view is not None and view.phase == "over":
                return
            self.cue_app.goes_on()
            await asyncio.sleep(LOOK)

    @guarded("read", background=True)
    async def read_handed(self) -> None:
        """Say what the text amounts to, once the person stops typing for a moment."""
        if self._state is None:
            return
        await asyncio.sleep(LOOK)
        pane = self.query_one(HandInPane)
        pane.load(await asyncio.to_thread(read_hand_in, self._state.task, pane.text))

    async def look(self) -> None:
        """See how things stand, and show it: one look after the other, so that none comes late."""
        if self._seat is None:
            return
        async with self._looking:
            view = await asyncio.to_thread(self._seat.view)
            self._follow(view)

    def _follow(self, view: SeatView) -> None:
        state = self._state
        # A look that ends while the screen is being taken down finds nothing to show it on.
        if state is None or not self.query("#status"):
            return
        before = state.view
        given_back = state.follow(view)
        if before is None:
            self._put_back(state)
        if given_back:
            self._give_back(given_back)
        if view != before:
            self.query_one("#head", Lines).load([state.heading])
            self.query_one(Transcript).load(state.entries, follow=True)
        if before is None or view.phase != before.phase:
            self._enter(view, state, before)
        status = state.status()
        if status != self._status:
            self._status = status
            self.query_one("#status", Lines).load([status])

    def _put_back(self, state: WizardState) -> None:
        """What was typed last time, and not sent."""
        typed = state.typed
        self.query_one(SearchLine).load(state.briefing.tools, typed.tool, typed.search)
        for field, text in ((Words, typed.reply), (Notes, typed.notes)):
            area = self.query_one(field)
            # Somebody may have typed while the seat was being taken.
            if text:
                area.load_text("\n".join(filter(None, (text, area.text))))
                area.move_cursor(area.document.end)
        short = state.briefing.task.family in ("checkpoints", "facts")
        self.query_one(HandInPane).ask(hand_in_hint(state.briefing), typed.hand_in, short=short)

    def _give_back(self, text: str) -> None:
        words = self.query_one(Words)
        if not words.text.strip():
            words.take(text)
            return
        notes = self.query_one(Notes)
        notes.load_text("\n\n".join(filter(None, (notes.text, text))))
        self.cue_app.tell(_("The reply that was taken back is in your notes."))

    def _enter(self, view: SeatView, state: WizardState, before: SeatView | None) -> None:
        """Another phase: show what belongs to it."""
        handing, over = view.phase == "hand_in", view.phase == "over"
        handed = state.view is not None and state.view.place.startswith("conclusion")
        pane = self.query_one(HandInPane)
        pane.display = handing
        self.query_one(Words).display = not (handing or over or handed)
        self.query_one(SearchLine).display = not (handing or over or handed) and bool(
            state.briefing.tools
        )
        if handing:
            self.read_handed()
        words = self.query_one(Words)
        # Not after a search: whoever has gone on to the reply meanwhile is about to type there.
        begins = view.phase == "yours" and (before is None or before.phase == "user")
        idle = begins and words.has_focus and not words.text
        if self.focused is None or not self.focused.display or handing or idle:
            self.focus_field()
        if over and self._file and any(e.body.type == "concluded" for e in view.events):
            self._file.save({"notes": state.typed.notes} if state.typed.notes else {})
        self.refresh_bindings()

    def focus_field(self) -> None:
        pane, line = self.query_one(HandInPane), self.query_one(SearchLine)
        if pane.display:
            pane.query_one(TextArea).focus()
        elif line.display:
            line.focus()
        elif self.query_one(Words).display:
            self.query_one(Words).focus()
        else:
            self.query_one(Transcript).focus()

    def keep_soon(self) -> None:
        """Something was typed."""
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self.keep_now)

    def keep_now(self) -> None:
        """What is typed goes to the disk."""
        self._keep_timer = None
        state = self._state
        if state is None or state.view is None or state.view.phase == "over":
            return
        self._read_typed(state)
        if self._file:
            self._file.save(state.typed.kept())

    def _read_typed(self, state: WizardState) -> None:
        if not self.query(Words):
            return  # The screen is being taken down.
        line = self.query_one(SearchLine)
        state.typed.reply = self.query_one(Words).text
        state.typed.search, state.typed.tool = line.text, line.tool
        state.typed.notes = self.query_one(Notes).text
        state.typed.hand_in = self.query_one(HandInPane).text
