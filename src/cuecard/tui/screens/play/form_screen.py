"""The form of a session that has ended already, beside what was said in it: for who left it for later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.widgets import Footer

from cuecard.annotate.session_form import decline_form, keep_form, questions_of
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.core.times import age
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.play.form import SessionFormPane, form_draft, show_handed_in
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.transcript import Piece, entries_of
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.config_play import FormQuestion
    from cuecard.core.events import Event
    from cuecard.core.tasks import Task
    from cuecard.store.records import TrialRecord
    from cuecard.store.workspace import Workspace


def _look(workspace: Workspace, trial_id: int) -> tuple[TrialRecord, Task, tuple[Event, ...]]:
    trial = workspace.runs.trial(trial_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    return trial, task, tuple(workspace.runs.events(trial_id))


class SessionFormScreen(CuecardScreen[None]):
    """Takes the trial's id. Shows no score; with the form handed in, the trial is opened to be read."""

    DEFAULT_CSS = """
    SessionFormScreen {
        #head { padding: 0 1; background: $panel; }
        Transcript { height: 1fr; padding: 0 1; }
    }
    """
    BINDINGS = keys(
        Key("session_form.back", "escape", "app.pop_screen", N_("Later"), N_("Leave; Home asks again")),
        Key("session_form.up", "pageup", "scroll_dialogue(-1)", N_("Back"), N_("Scroll the dialogue"), show=False, priority=True),
        Key("session_form.down", "pagedown", "scroll_dialogue(1)", N_("On"), N_("Scroll the dialogue"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._questions: tuple[FormQuestion, ...] = ()

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        yield Transcript(id="transcript")
        yield SessionFormPane()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.load()

    @guarded("session_form")
    async def load(self) -> None:
        from datetime import UTC, datetime

        trial_id = self._trial_id
        self._questions = questions_of(await self.services.config())
        trial, task, events = await self.services.ask(lambda ws: _look(ws, trial_id))
        ended = trial.ended_at or trial.created_at
        head = [
            Piece(one_line(trial.title, 36), "strong"),
            Piece("  " + _("agent") + " ", "muted"),
            Piece(player_label(trial.agent)),
            Piece("  " + age(ended, datetime.now(UTC)), "muted"),
        ]
        self.query_one(Lines).load([head])
        transcript = self.query_one(Transcript)
        transcript.load(entries_of(events, task))
        await self.query_one(SessionFormPane).load(
            self._questions, form_draft(self.services.url, trial_id)
        )
        show_handed_in(transcript)

    @guarded("give")
    async def on_session_form_pane_given(self, message: SessionFormPane.Given) -> None:
        trial_id, person, questions = self._trial_id, self.person, self._questions
        answers = message.answers
        await self.services.ask(lambda ws: keep_form(ws, trial_id, person, questions, answers))
        self._done(_("Thank you. Your answers are kept with the session."))

    @guarded("give")
    async def on_session_form_pane_declined(self) -> None:
        trial_id, person, questions = self._trial_id, self.person, self._questions
        await self.services.ask(lambda ws: decline_form(ws, trial_id, person, questions))
        self._done(_("Nothing is asked of this session any more."))

    def on_session_form_pane_later(self) -> None:
        self.dismiss()

    def action_scroll_dialogue(self, direction: int) -> None:
        transcript = self.query_one(Transcript)
        if direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    def _done(self, told: str) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        self.query_one(SessionFormPane).done()
        self.cue_app.tell(told)
        self.app.switch_screen(TrialScreen(self._trial_id))
