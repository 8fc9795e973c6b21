"""Turns taken back, repeated, broken off; and how the dialogue is left."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.parts import UserReply
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.dialogs import RetryDialog, StopDialog
from cuecard.tui.screens.play.speaking import Speaking
from cuecard.tui.state.play_keys import may_retry, may_undo


class Turning(Speaking):
    """Nothing is deleted: what is taken back stays in the log as an earlier take."""

    @guarded("turn")
    async def action_interrupt(self) -> None:
        if self._link is None or self._state is None:
            return
        if self._state.phase == "writing":
            await self._link.interrupt()
        else:
            self.cue_app.tell(_("The agent is not at work any more."))

    @guarded("turn")
    async def action_retry(self) -> None:
        state, link = self._state, self._link
        if state is None or link is None or not may_retry(state):
            return
        reason: str | None = ""
        if state.phase == "yours" and not state.interrupted:
            reason = await self.app.push_screen_wait(RetryDialog())
        if reason is not None:
            await link.retry(reason)

    @guarded("turn")
    async def action_undo(self) -> None:
        if self._link and self._state and may_undo(self._state):
            reply = await self._link.undo()
            # After what the log told of it.
            self.call_later(self._put_back, reply)

    @guarded("end")
    async def action_end(self) -> None:
        state = self._state
        if state is None or state.phase != "yours" or state.opening:
            self.cue_app.tell(_("You can end when it is your turn; Escape pauses."))
            return
        if await self._sure(
            _("End the dialogue?"),
            _("The agent then hands in what it found, and that is judged."),
            _("End it"),
        ):
            self.send(done=True)

    @guarded("pause")
    async def action_pause(self) -> None:
        state, way = self._state, "pause"
        if self.composer.display and self.focused is not self.composer:
            # From the card or the dialogue back to where one types.
            self.composer.focus()
            return
        if state and state.phase == "writing":
            way = await self.app.push_screen_wait(StopDialog()) or ""
        if way == "interrupt":
            self.action_interrupt()
        elif way == "pause":
            if state and state.phase != "ended" and not state.opening:
                self.cue_app.tell(_("Paused. Home and Runs bring you back here."))
            self.dismiss()

    def _put_back(self, reply: UserReply) -> None:
        """The person's words stand in the input again; what they had typed since waits below them."""
        if self._state is None:
            return
        text, typed = self._state.take_back(reply), self.composer.text
        self.composer.take(text)
        self._said.restore(typed.strip() and typed)
        self._show()
        self._keep_now()
