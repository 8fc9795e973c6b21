"""The window of a person who plays the agent of somebody else's session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, Input, TextArea

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.parts import Act, ToolSpec
from cuecard.lab.wizard import WizardSeat
from cuecard.lab.wizard_view import SeatView
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.wizard.asking import ActDialog, BriefDialog
from cuecard.tui.screens.wizard.bindings import WIZARD_KEYS
from cuecard.tui.screens.wizard.typing import HandInPane, Notes, SearchLine, Words
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.kept_json import KeptJson
from cuecard.tui.state.wizard import Typed, WizardState
from cuecard.tui.state.wizard_calls import NotACall, call_from
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


class WizardScreen(CuecardScreen[None]):
    """Plays the agent of the open trial `trial_id`: see `lab.wizard`."""

    CSS_PATH = "wizard.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = WIZARD_KEYS

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

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        with Horizontal(id="body"):
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                yield Lines(id="status")
                yield SearchLine()
                yield Words()
                yield HandInPane()
            with Vertical(id="side"):
                yield Notes()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(HandInPane).display = False
        self.query_one(SearchLine).display = False
        self.query_one(Words).focus()
        self.sit_down()

    def on_unmount(self) -> None:
        self._keep_now()

    @guarded("watch")
    async def sit_down(self) -> None:
        """Take the seat, then look on until the session is over."""
        person, trial_id = self.person, self._trial_id
        try:
            config = await self.services.config()
            seat = await self.services.ask(lambda ws: WizardSeat.take(ws, trial_id, person, config))
        except Exception:
            self.app.pop_screen()
            raise
        self._seat = seat
        self._file = KeptJson(self.services.url, f"wizard {trial_id} {person}")
        self._state = WizardState(seat.briefing, Typed.of(self._file.load()))
        while True:
            try:
                await self._look()
            except CuecardError as error:
                self.report(error)
                await asyncio.sleep(PATIENCE)
            view = self._state.view
            if view is not None and view.phase == "over":
                return
            await asyncio.sleep(LOOK)

    def on_search_line_submitted(self, message: SearchLine.Submitted) -> None:
        # One move after the other: a second Enter must not cancel what the first one does.
        if not self._moving:
            self.search(message.tool, message.line)

    @guarded("move")
    async def search(self, tool: ToolSpec, line: str) -> None:
        state, seat = self._state, self._seat
        if state is None or seat is None or state.view is None:
            return
        try:
            call, seen = call_from(tool, line, self._last_request()), state.view
        except NotACall as wrong:
            self.cue_app.tell(str(wrong))
            return
        await self._move(lambda: seat.search(call, seen))
        state.searched()
        field = self.query_one(SearchLine)
        if field.text == line:
            field.take("")
        self._keep_now()
        await self._look()

    def on_words_submitted(self) -> None:
        if not self._moving:
            self.say()

    @guarded("move")
    async def say(self) -> None:
        state, seat, words = self._state, self._seat, self.query_one(Words)
        if state is None or seat is None or state.view is None:
            return
        text, seen = words.text, state.view
        if seen.phase != "yours":
            self.cue_app.tell(_("It is not your turn; what you typed stays."))
            return
        if not text.strip():
            self.cue_app.tell(_("Write your reply first."))
            return
        act = Act.REPLY
        if state.briefing.choose_act:
            chosen = await self.app.push_screen_wait(ActDialog(text))
            if chosen is None:
                return
            act = Act(chosen)
        await self._move(lambda: seat.say(text, act, seen))
        state.sent(text.strip())
        if words.text == text:
            words.take("")
        self._keep_now()
        await self._look()

    def action_hand_in(self) -> None:
        if not self._moving:
            self.hand_in()

    @guarded("move")
    async def hand_in(self) -> None:
        state, seat = self._state, self._seat
        if state is None or seat is None or state.view is None or state.view.phase != "hand_in":
            self.cue_app.tell(_("You hand in when the dialogue is over."))
            return
        task, text, seen = state.task, self.query_one(HandInPane).text, state.view
        read = await asyncio.to_thread(read_hand_in, task, text)
        title, question = _("Hand in?"), read.told
        if read.empty:
            title = _("Hand in nothing?")
            question = _("Nothing of it can be read as what was asked for.")
        if read.problems:
            question += "\n\n" + "\n".join(read.problems)
        if not await self.app.push_screen_wait(ConfirmDialog(title, question, _("Hand in"))):
            return
        await self._move(lambda: seat.hand_in(read.prediction, seen))
        await self._look()

    @guarded("read")
    async def read_handed(self) -> None:
        """Say what the text amounts to, once the person stops typing for a moment."""
        if self._state is None:
            return
        await asyncio.sleep(LOOK)
        pane = self.query_one(HandInPane)
        pane.load(await asyncio.to_thread(read_hand_in, self._state.task, pane.text))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._typed()
        if self.query_one(HandInPane).display:
            self.read_handed()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._typed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        phase = self._state.view.phase if self._state and self._state.view else "user"
        match action:
            case "hand_in" | "from_notes":
                return phase == "hand_in"
            case "look_up" | "reply":
                return phase not in ("hand_in", "over")
            case "next_tool":
                tools = self._seat.briefing.tools if self._seat else ()
                return len(tools) > 1 and phase not in ("hand_in", "over")
            case _:
                return True

    def action_look_up(self) -> None:
        self.query_one(SearchLine).focus()

    def action_reply(self) -> None:
        self.query_one(Words).focus()

    def action_next_tool(self) -> None:
        self.query_one(SearchLine).next_tool()
        self._typed()

    def action_notes(self) -> None:
        side, notes = self.query_one("#side"), self.query_one(Notes)
        if notes.has_focus:
            side.remove_class("-shown")
            self._focus_field()
        else:
            side.add_class("-shown")
            notes.focus()

    def action_from_notes(self) -> None:
        self.query_one(HandInPane).add(self.query_one(Notes).text)

    def action_calls(self) -> None:
        self.query_one(Transcript).open_last_work()

    def action_brief(self) -> None:
        if self._seat is not None:
            self.app.push_screen(BriefDialog(self._seat.briefing))

    def action_leave(self) -> None:
        self.app.pop_screen()

    def action_scroll_dialogue(self, direction: int) -> None:
        transcript = self.query_one(Transcript)
        if direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    async def _move(self, make: Callable[[], None]) -> None:
        """Make a move; returns when it is on the disk. Raises what the seat raises."""
        self._moving = True
        try:
            await asyncio.to_thread(make)
        finally:
            self._moving = False

    async def _look(self) -> None:
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
            self._enter(view, state)
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

    def _enter(self, view: SeatView, state: WizardState) -> None:
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
        idle = words.has_focus and not words.text and view.phase == "yours"
        if self.focused is None or not self.focused.display or handing or idle:
            self._focus_field()
        if over and self._file:
            self._file.save({"notes": state.typed.notes} if state.typed.notes else {})
        self.refresh_bindings()

    def _focus_field(self) -> None:
        pane, line = self.query_one(HandInPane), self.query_one(SearchLine)
        if pane.display:
            pane.query_one(TextArea).focus()
        elif line.display:
            line.focus()
        elif self.query_one(Words).display:
            self.query_one(Words).focus()
        else:
            self.query_one(Transcript).focus()

    def _last_request(self) -> str:
        events = self._state.view.events if self._state and self._state.view else ()
        said = [e.body.reply.text for e in events if e.body.type == "user_spoke"]
        return said[-1] if said else ""

    def _typed(self) -> None:
        state = self._state
        if state is None or state.view is None:
            return
        line = self.query_one(SearchLine)
        state.typed.reply = self.query_one(Words).text
        state.typed.search, state.typed.tool = line.text, line.tool
        state.typed.notes = self.query_one(Notes).text
        state.typed.hand_in = self.query_one(HandInPane).text
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self._keep_now)

    def _keep_now(self) -> None:
        self._keep_timer = None
        state = self._state
        if self._file and state and state.view and state.view.phase != "over":
            self._file.save(state.typed.kept())
