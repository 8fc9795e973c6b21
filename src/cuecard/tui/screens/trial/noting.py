"""Bookmarks and comments on a trial, and findings that its task's authors are told."""

from __future__ import annotations

from cuecard.annotate.trial_findings import comment_on_task, task_place
from cuecard.core.i18n import _
from cuecard.results.trial.opening import opinions
from cuecard.store.result_records import NoteKind, TrialNote
from cuecard.store.workspace import Workspace
from cuecard.tui.base import guarded
from cuecard.tui.screens.ask import ConfirmDialog, TextDialog
from cuecard.tui.screens.trial.stepping import StepMode
from cuecard.tui.screens.trial.telling import TellDialog
from cuecard.tui.state.entries import Entry
from cuecard.tui.state.review_places import pin_places, words_of
from cuecard.tui.state.trial_finding import finding_text
from cuecard.tui.state.trial_notes import my_bookmark, next_marked


class Noting(StepMode):
    @guarded("opinions")
    async def load_opinions(self) -> None:
        """Judgements and notes, as they are now."""
        trial_id = self._trial_id
        found = await self.services.ask(lambda ws: opinions(ws, trial_id))
        if self._state:
            self._state.take(found)
            self._show_all()

    @guarded("note")
    async def action_bookmark(self) -> None:
        state, place, person = self._state, self._place(), self.person
        if state is None or not place:
            return
        mine = my_bookmark(self._notes, person, place)
        if mine is None:
            await self._add("bookmark", place, "")
            self.cue_app.tell(_("Bookmark set on {place}.").format(place=state.words_of(place)))
        else:
            await self.services.ask(lambda ws: ws.trial_notes.take_back(mine.uid, person))
            self.cue_app.tell(_("Bookmark taken back."))
        self.load_opinions()

    @guarded("note")
    async def action_comment(self) -> None:
        state, place = self._state, self._place()
        if state is None:
            return
        title = _("Comment on {place}").format(place=state.words_of(place))
        note = _(
            "Everybody who opens this trial can read it. The key a writes to the task's authors."
        )
        text = await self.app.push_screen_wait(TextDialog(title, note=note))
        if text and text.strip():
            await self._add("comment", place, text.strip())
            self.load_opinions()

    @guarded("note")
    async def action_untake(self) -> None:
        note, person = self._note, self.person
        if note is None:
            return
        if note.text:
            asked = ConfirmDialog(_("Take this comment back?"), note.text, _("Take back"))
            if not await self.app.push_screen_wait(asked):
                return
        await self.services.ask(lambda ws: ws.trial_notes.take_back(note.uid, person))
        self.load_opinions()

    @guarded("tell")
    async def action_tell(self) -> None:
        state, place, entry = self._state, self._place(), self._entry
        if state is None or entry is None:
            return
        opened, note = state.opened, self._note
        task, data = opened.task, opened.task.model_dump(mode="json")
        at = task_place(task, place, opened.events)
        places = [(one, words_of(one, data)) for one in pin_places(at, data)]
        text = note.text if note and note.text else finding_text(state, place, entry)
        told = await self.app.push_screen_wait(TellDialog(places, text))
        if told is None:
            return
        trial_id, person = self._trial_id, self.person

        def work(workspace: Workspace) -> None:
            comment_on_task(workspace, trial_id, person, told.text, told.place)

        await self.services.ask(work)
        self.cue_app.tell(_("The task's authors will find it among its comments."))

    def action_walk_notes(self, step: int) -> None:
        state, transcript = self._state, self._transcript
        if state is None:
            return
        places = (state.seq_of(note.place) for note in self._notes)
        entries, cursor = transcript.entries, transcript.cursor
        now = transcript.spot_event
        if now is None and cursor < len(entries) and entries[cursor].events:
            now = entries[cursor].events[0]
        marked = next_marked(
            [seq for seq in places if seq is not None], now if now is not None else -1, step
        )
        if marked is None:
            self.cue_app.tell(_("Nothing is marked in the dialogue."))
        else:
            self._go_to(marked)

    @property
    def _notes(self) -> tuple[TrialNote, ...]:
        state = self._state
        return state.notes if state else ()

    @property
    def _note(self) -> TrialNote | None:
        """The note under the cursor of the Notes pane."""
        line = self._line if self._beside and self._pane == "notes" else None
        return next((note for note in self._notes if line and note.uid == line.note), None)

    @property
    def _entry(self) -> Entry | None:
        """What is under the cursor, wherever that is."""
        if self._beside:
            return self._line.entry if self._line else None
        entries, cursor = self._transcript.entries, self._transcript.cursor
        return entries[cursor] if cursor < len(entries) else None

    async def _add(self, kind: NoteKind, place: str, text: str) -> None:
        trial_id, person = self._trial_id, self.person
        await self.services.ask(lambda ws: ws.trial_notes.add(trial_id, person, kind, place, text))
