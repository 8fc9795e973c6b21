"""From what is typed to what is said: the mark, the person's word on doubtful lines, warnings, sending."""

from __future__ import annotations

import asyncio
from typing import Literal

from textual.timer import Timer
from textual.widgets import TextArea

from cuecard.core.i18n import _
from cuecard.core.parts import UserReply
from cuecard.core.users.faults import Fault, FaultKind, faults_in
from cuecard.tui.base import guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.play.composer import LONGEST_PASTE, Composer
from cuecard.tui.screens.play.doubts import FaultsDialog, MeaningDialog, decision_of
from cuecard.tui.screens.play.marking import Marking
from cuecard.tui.screens.play.wording import Wording
from cuecard.tui.state.play import Decision, PlayState
from cuecard.tui.state.play_faults import to_ask
from cuecard.tui.state.unsent import UnsentFile

LOOK = 0.5
"""Seconds of rest in typing after which the words are looked at for faults."""


class Speaking(Marking, Wording):
    """Sends what the person says. Whatever is asked before, going back leaves the words as they are."""

    _sending = False
    _look_timer: Timer | None = None

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if not isinstance(event.text_area, Composer):
            return
        self._typed = event.text_area.text
        self._frames.give_way()
        self._keep_soon()
        self._status_frames.ask()
        if self._look_timer:
            self._look_timer.stop()
        self._look_timer = self.set_timer(LOOK, self.look_for_faults)

    def on_composer_submitted(self) -> None:
        if not self._sending:
            self.send()

    def on_composer_shortened(self) -> None:
        told = _("Only the first {n} characters were pasted.")
        self.cue_app.tell(told.format(n=f"{LONGEST_PASTE:,}"))

    @guarded("look", background=True)
    async def look_for_faults(self) -> None:
        """What is wrong with the words as they stand, for the line above the input."""
        state, text = self._state, self.composer.text
        found: tuple[Fault, ...] = ()
        if state is not None and state.phase == "yours" and text.strip():
            found = await self._faults(state, state.reply(text))
        if self.composer.text == text:
            self._hints = found
            self._show_status()

    @guarded("send")
    async def send(self, *, done: bool = False) -> None:
        state, composer = self._state, self.composer
        if state is None or self._link is None or self._ground is None:
            return
        if state.phase != "yours":
            self._not_now(state)
            return
        if state.mark_wanted or state.reading_wanted:
            if not await self._ask_mark() and not done:
                return
            if not composer.text.strip() and not done and not state.completes:
                self._suggest(state)
                self._show_status()
                return
        text = composer.text
        if not text.strip() and not done and not state.completes:
            self.cue_app.tell(_("Say something first: ^l inserts the line, ^n pushes."))
            return
        decision = await self._decide(state, text, done=done)
        if decision == "edit":
            return
        reply = state.reply(text, done=done, decision=decision)
        found = to_ask(await self._faults(state, reply))
        if found and await self.app.push_screen_wait(FaultsDialog(found)) is not True:
            return
        await self._say(reply, text)

    async def _say(self, reply: UserReply, typed: str) -> None:
        link, ground = self._link, self._ground
        if link is None or ground is None:
            return
        waiting = self._said.draft
        self._sending = True
        try:
            await link.submit(ground, reply)
        finally:
            self._sending = False
        if self.composer.text == typed:
            self.composer.take(waiting)
        self._hints = ()
        if self._file:
            self._file.discard()
            self._file = UnsentFile(self.services.url, f"trial {link.trial_id}")

    async def _decide(
        self, state: PlayState, text: str, *, done: bool
    ) -> Decision | Literal["edit"] | None:
        """The person's word on whether `text` says the card's line, None where that is plain; `edit` to
        go on editing.
        """
        doubt = state.doubt(text)
        if doubt is None or (done and doubt == "unsaid"):
            return None
        dialog = MeaningDialog(doubt, state.line, text, state.due_stage)
        answer = await self.app.push_screen_wait(dialog)
        return decision_of(answer, doubt) or "edit"

    async def _faults(self, state: PlayState, reply: UserReply) -> tuple[Fault, ...]:
        found = await asyncio.to_thread(faults_in, state.task, state.dialogue, reply)
        if any(fault.kind is FaultKind.FORBIDDEN for fault in found):
            return found
        said = ", ".join(state.forbidden_in(reply.text))
        forbidden = Fault(kind=FaultKind.FORBIDDEN, found=said)
        return (forbidden, *found) if said else found

    def _not_now(self, state: PlayState) -> None:
        if state.phase == "stopped":
            self.cue_app.tell(_("F9 has the agent try again, F10 takes your last words back."))
        else:
            self.cue_app.tell(_("The agent has not answered yet; what you typed stays."))

    async def _sure(self, title: str, question: str, yes: str) -> bool:
        return await self.app.push_screen_wait(ConfirmDialog(title, question, yes)) is True
