"""The person's mark on the agent's last reply, and what it rests on."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.dialogs import MarkDialog, ReadingDialog, TurnDialog
from cuecard.tui.screens.play.evidence import EvidenceDialog
from cuecard.tui.screens.play.playing import Playing
from cuecard.tui.state.play import Mark, PlayState, Reading


class Marking(Playing):
    """A mark is asked for before anything is sent, or given at any time when it is the person's turn."""

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
