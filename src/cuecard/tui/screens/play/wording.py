"""Words put into the message by keys: the card's, phrases, and answers to several questions."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.picking import AnswersDialog, PhraseDialog
from cuecard.tui.screens.play.playing import Playing
from cuecard.tui.state.play import Insertion
from cuecard.tui.state.play_phrases import choices_of
from cuecard.tui.state.play_questions import answers_for


class Wording(Playing):
    """All of it may be edited before it is sent."""

    def action_insert(self, what: str) -> None:
        state = self._state
        if state is None:
            return
        text = state.insert(Insertion(what))
        if what == Insertion.LINE and text and text in self.composer.text:
            self.cue_app.tell(_("The line is in the message already."))
        elif text:
            self.composer.put(text)
        else:
            self.cue_app.tell(_("This card has no line to say."))

    @guarded("phrases")
    async def action_phrases(self) -> None:
        state = self._state
        if state is None:
            return
        choices = choices_of(state)
        picked = await self.app.push_screen_wait(PhraseDialog(choices))
        if picked is not None:
            self.composer.put(choices[int(picked)].text)

    @guarded("answers")
    async def action_answers(self) -> None:
        state = self._state
        answers = answers_for(state) if state and state.phase == "yours" else []
        if state is None or not answers:
            self.cue_app.tell(_("The agent has asked nothing."))
            return
        stage = state.stage_number
        dialog = AnswersDialog(answers, state.task.language, stage)
        composed = await self.app.push_screen_wait(dialog)
        if composed is None or not composed.text:
            return
        if composed.line:
            state.insert(Insertion.LINE)
        self.composer.put(composed.text)
