"""When the agent has handed in: the form, before any score is shown, and then how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.session_form import decline_form, keep_form, questions_of
from cuecard.core.config import Config
from cuecard.core.config_play import FormQuestion
from cuecard.lab.play import PlayOutcome
from cuecard.lab.trial_view import trial_view
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.after import AfterPane
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.form import SessionFormPane, form_draft, show_handed_in
from cuecard.tui.screens.play.playing import Playing
from cuecard.tui.widgets.transcript import Transcript


class Finishing(Playing):
    """The form takes the place of the input, and the outcome that of the form."""

    _questions: Sequence[FormQuestion] = ()

    def _configure(self, config: Config) -> None:
        self._questions = questions_of(config)
        self._later = config.play.later
        self._currency = config.currency

    @guarded("form")
    async def ask_form(self) -> None:
        trial_id = self._link.trial_id if self._link else None
        if trial_id is None:
            return
        await self._after().ask(self._questions, form_draft(self.services.url, trial_id))
        self._show_dialogue()
        show_handed_in(self.query_one(Transcript))

    @guarded("ended")
    async def show_ending(self, outcome: PlayOutcome) -> None:
        judge = self._link.judge if self._link else "lexical"
        view = await self.services.ask(lambda ws: trial_view(ws, outcome.trial_id, judge))
        after = self._after()
        if outcome.termination is not None and not outcome.termination.is_failure:
            # A session that was taken up after the agent had handed in has not been asked yet.
            await after.ask(self._questions, form_draft(self.services.url, outcome.trial_id))
        after.close(outcome, view.measures, view.judge)
        if outcome.termination is not None and self._file:
            self._file.discard()

    def on_session_form_pane_given(self, message: SessionFormPane.Given) -> None:
        self.keep_form(message.answers)

    def on_session_form_pane_declined(self) -> None:
        self.keep_form(None)

    def on_session_form_pane_later(self) -> None:
        self.dismiss()

    def on_ending_read(self, message: Ending.Read) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        message.stop()
        trial_id = self._link.trial_id if self._link else None
        if trial_id is not None:
            self.app.switch_screen(TrialScreen(trial_id))

    def on_ending_taken_up(self, message: Ending.TakenUp) -> None:
        from cuecard.tui.screens.play.screen import PlayScreen

        message.stop()
        trial_id = self._link.trial_id if self._link else None
        if trial_id is not None:
            self.app.switch_screen(PlayScreen(trial_id=trial_id))

    @guarded("keep_form")
    async def keep_form(self, answers: dict[str, int | str] | None) -> None:
        """What the person says of the session; None: they would rather not."""
        trial_id = self._link.trial_id if self._link else None
        if trial_id is None:
            return
        person, questions = self.person, self._questions
        if answers is None:
            await self.services.ask(lambda ws: decline_form(ws, trial_id, person, questions))
        else:
            await self.services.ask(lambda ws: keep_form(ws, trial_id, person, questions, answers))
        self.query_one(AfterPane).settle()

    def _after(self) -> AfterPane:
        """What stands in the input's place from now on."""
        self.composer.display = False
        self.add_class("-over")
        after = self.query_one(AfterPane)
        after.display = True
        return after
