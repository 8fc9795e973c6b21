"""Sending messages in Play: the mark asked for first, checks for faults, and turns taken back or repeated."""

import asyncio
from typing import Literal

from textual.timer import Timer
from textual.widgets import TextArea

from cuecard.core.engine.messages import UserReply
from cuecard.core.i18n import _
from cuecard.core.users.faults import Fault, FaultKind, faults_in
from cuecard.tui.app import guarded
from cuecard.tui.present.drafts import UnsentFile
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Decision, Mark, Reading
from cuecard.tui.present.play_status import may_retry, may_undo, to_ask
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.play.dialogs import (
    EvidenceDialog,
    FaultsDialog,
    MarkDialog,
    MeaningDialog,
    ReadingDialog,
    RetryDialog,
    StopDialog,
    TurnDialog,
    decision_of,
)
from cuecard.tui.screens.play.phrases import Wording
from cuecard.tui.screens.play.session import LONGEST_PASTE, Composer, Playing


class Marking(Playing):
    """Asks for a mark before anything is sent; it may also be given any time in the person's turn."""

    _suggested = ""

    @guarded("mark")
    async def action_mark(self) -> None:
        state = self._state
        if state is None or state.phase != "yours" or not state.markable:
            self.cue_app.tell(_("There is no reply to mark now."))
            return
        if await self._ask_mark():
            self._suggest(state)

    @guarded("evidence")
    async def action_evidence(self) -> None:
        state = self._state
        if state is None or state.phase != "yours" or not state.markable:
            self.cue_app.tell(_("There is no reply to mark now."))
            return
        dialog = EvidenceDialog(state.last_reply, state.evidence)
        choice = await self.app.push_screen_wait(dialog)
        if choice is not None:
            state.evidence = choice.evidence
            self._marked()

    def _suggest(self, state: PlayState) -> bool:
        """Put what follows from the mark into an input that has nothing of the person's own; whether it
        was put there.
        """
        text = self.composer.text
        if text.strip() and text != self._suggested:
            return False
        self._suggested = state.suggestion()
        self.composer.take(self._suggested)
        return self._suggested != text

    async def _ask_mark(self) -> bool:
        """Have the person mark the agent's last turn; False if they would rather not now."""
        state = self._state
        dialog = self._mark_dialog(state) if state else None
        if state is None or dialog is None:
            return True
        answer = await self.app.push_screen_wait(dialog)
        state.evidence = dialog.evidence
        if answer is not None and isinstance(dialog, ReadingDialog):
            state.reading = Reading(answer)
        elif answer is not None:
            state.mark = Mark(answer)
        self._marked()
        return answer is not None

    @staticmethod
    def _mark_dialog(state: PlayState) -> TurnDialog | None:
        reply, evidence = state.last_reply, state.evidence
        if state.chain and state.step and state.step_number is not None:
            return ReadingDialog(
                state.step.question,
                reply,
                evidence,
                ambiguous=state.step.ambiguity is not None,
                last=state.step_number == len(state.chain.steps) - 1,
            )
        return MarkDialog(state.stage.cue.text, reply, evidence) if state.stage else None

    def _marked(self) -> None:
        self._show_status()
        self._keep_now()


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
            self.cue_app.tell(
                hint(
                    _("Say something first: {SUGGEST} inserts the line, <play.push> pushes."),
                    typing=True,
                )
            )
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
        left = self.composer.text
        if left == typed:
            self.composer.take(waiting)
        elif left.startswith(typed):  # more was typed while it waited for the workspace
            self.composer.take(left.removeprefix(typed).lstrip())
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
            self.cue_app.tell(
                hint(_("{REPEAT} has the agent try again, {UNDO} takes your last words back."))
            )
        else:
            self.cue_app.tell(_("The agent has not answered yet; what you typed stays."))

    async def _sure(self, title: str, question: str, yes: str) -> bool:
        return await self.app.push_screen_wait(ConfirmDialog(title, question, yes)) is True


class TurnChanges(Speaking):
    """Takes turns back or repeats them. Nothing is deleted; what is taken back stays in the log as an earlier attempt."""

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
        told = _("The agent then hands in what it found, and that is judged.")
        if self.composer.text.strip():
            told += "\n" + _("What stands in the input is said before, as your last words.")
        if await self._sure(_("End the dialogue?"), told, _("End it")):
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
