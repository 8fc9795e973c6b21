"""What else there is to see beside the card and the dialogue, and notes."""

from __future__ import annotations

from datetime import UTC, datetime

from cuecard.annotate.session_notes import place_at_play, tell_authors
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.figures import FiguresPane
from cuecard.tui.screens.play.note import NewNote, NoteDialog
from cuecard.tui.screens.play.playing import Playing
from cuecard.tui.screens.play.sources import SourcesDialog
from cuecard.tui.state.kept_json import KeptJson
from cuecard.tui.state.play import PlayState
from cuecard.tui.state.sources import sources_of
from cuecard.tui.widgets.transcript import Transcript


class Looking(Playing):
    """On a narrow screen the figures take the card's place."""

    def action_figures(self) -> None:
        pane = self.query_one(FiguresPane)
        pane.display = not pane.display
        self.set_class(pane.display, "-figures")
        self._show_figures()

    @guarded("sources")
    async def action_sources(self) -> None:
        if self._state is not None:
            await self.app.push_screen_wait(SourcesDialog(sources_of(self._state.course)))

    @guarded("note")
    async def action_note(self) -> None:
        state, link = self._state, self._link
        if state is None or link is None or link.trial_id is None:
            self.cue_app.tell(_("Notes belong to a session, and it begins with your first words."))
            return
        kept = KeptJson(self.services.url, f"note of trial {link.trial_id}")
        note = await self.app.push_screen_wait(NoteDialog(_place_told(state), kept=kept))
        if note is not None:
            await link.note(note.about, note.text)
            if note.about == "task":
                await self._tell_authors(link.trial_id, state, note)
            self.cue_app.tell(_("Noted."))

    def action_calls(self) -> None:
        self.query_one(Transcript).open_last_work()

    def action_persona(self) -> None:
        self.query_one(CardPane).fold_persona()

    def action_scroll_page(self, direction: int) -> None:
        card, transcript = self.query_one(CardPane), self.query_one(Transcript)
        if card.held:
            card.scroll_relative(y=direction * max(card.size.height - 2, 1), animate=False)
        elif direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    def _show_figures(self) -> None:
        pane = self.query_one(FiguresPane)
        if pane.display:
            going = self._state is not None and self._state.phase != "ended"
            now = datetime.now(UTC) if going and self._figures.turns else None
            pane.load(
                self._figures,
                now=now,
                currency=self._currency,
                context=self._reads,
                listening=self._link.listening if self._link else None,
            )

    async def _tell_authors(self, trial_id: int, state: PlayState, note: NewNote) -> None:
        place = place_at_play(state.task, state.stage_number, state.step_number)
        person = self.person
        await self.services.ask(lambda ws: tell_authors(ws, trial_id, person, note.text, place))


def _place_told(state: PlayState) -> str:
    """What a comment on the task would be pinned to."""
    if state.stage:
        return one_line(state.stage.title, 40)
    return one_line(state.step.question, 40) if state.step else ""
