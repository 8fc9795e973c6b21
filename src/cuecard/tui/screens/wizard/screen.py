"""The window of a person who plays the agent of somebody else's session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input, TextArea

from cuecard.core.i18n import _
from cuecard.core.parts import Act, ToolSpec
from cuecard.tui.base import guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.wizard.asking import ActDialog, BriefDialog
from cuecard.tui.screens.wizard.bindings import WIZARD_KEYS
from cuecard.tui.screens.wizard.looking import Looking
from cuecard.tui.screens.wizard.typing import HandInPane, Notes, SearchLine, Words
from cuecard.tui.state.wizard_calls import NotACall, call_from
from cuecard.tui.state.wizard_hand_in import read_hand_in
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript


class WizardScreen(Looking):
    """Plays the agent of the open trial `trial_id`: see `lab.wizard`."""

    CSS_PATH = "wizard.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = WIZARD_KEYS

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
        self.keep_now()
        await self.look()

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
        self.keep_now()
        await self.look()

    def action_hand_in(self) -> None:
        if not self._moving:
            (self.focused or self).call_later(self.hand_in)

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
        await self.look()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.keep_soon()
        if self.query_one(HandInPane).display:
            self.read_handed()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.keep_soon()

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
        self.keep_soon()

    def action_notes(self) -> None:
        side, notes = self.query_one("#side"), self.query_one(Notes)
        if notes.has_focus:
            side.remove_class("-shown")
            self.focus_field()
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
        # The key comes here at once, what was typed before it may still wait for its field.
        (self.focused or self).call_later(self._leave)

    def action_scroll_dialogue(self, direction: int) -> None:
        transcript = self.query_one(Transcript)
        if direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    def _leave(self) -> None:
        self.keep_now()
        self.dismiss()

    async def _move(self, make: Callable[[], None]) -> None:
        """Make a move; returns when it is on the disk. Raises what the seat raises."""
        self._moving = True
        try:
            await asyncio.to_thread(make)
        finally:
            self._moving = False

    def _last_request(self) -> str:
        events = self._state.view.events if self._state and self._state.view else ()
        said = [e.body.reply.text for e in events if e.body.type == "user_spoke"]
        return said[-1] if said else ""
