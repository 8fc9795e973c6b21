"""The keys of the Trial screen: jumping to places, stepping through events, bookmarks, comments."""

from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

from pydantic import Field

from cuecard.annotate.results.errors.blame import shown_to
from cuecard.annotate.results.trial_disclosure import EffectiveLog, MentionResult
from cuecard.annotate.results.trial_record import opinions
from cuecard.annotate.task_feedback import task_place
from cuecard.core.evaluation.blame import Party, blames_of
from cuecard.core.i18n import N_, _, headed, listed, ngettext
from cuecard.core.records import NoteKind, TrialNote
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item
from cuecard.tui.app import guarded
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.review_document import pin_places, words_of
from cuecard.tui.present.trial_places import JumpHistory, Spot, Stepping, my_bookmark, next_marked
from cuecard.tui.present.trial_summary import blame_lines
from cuecard.tui.present.trial_view import PaneName, finding_text
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog, TextDialog
from cuecard.tui.screens.trial.panes import LinesPane
from cuecard.tui.screens.trial.reading import Reading


class Jumping(Reading):
    """The effective log is read whole, to be searched, when the first item is looked for."""

    def __init__(self, trial_id: int) -> None:
        super().__init__(trial_id)
        self._jumps = JumpHistory()
        self._effective: EffectiveLog | None = None

    def on_lines_pane_went(self, message: LinesPane.Went) -> None:
        line = message.line
        if line.item is not None:
            self.look_for(line.item)
        elif line.seq is not None:
            self._go_to(line.seq)
        elif line.place:
            self.cue_app.tell(_("That did not happen in this dialogue."))

    @guarded("look_for")
    async def look_for(self, item: Item) -> None:
        """Go to where an item was first named, and say how."""
        state = self._state
        if state is None:
            return
        effective = await self._whole_log()
        found = await self.services.ask(lambda _ws: state.find(effective, item))
        if found is None:
            self.cue_app.tell(_("Neither the agent nor a tool named any of it."))
            return
        self._go_to(found.seq)
        self.cue_app.tell(_told(found))

    @guarded("verdicts_here")
    async def action_verdicts_here(self) -> None:
        state, seqs = self._state, self._events_here()
        if state is None:
            return
        items = ()
        if seqs:
            effective = await self._whole_log()
            items = await self.services.ask(lambda _ws: state.items_in(effective, seqs))
        if not items:
            self.cue_app.tell(_("No item that was decided on is named here."))
            return
        self._jumps.leave(self._spot())
        state.only = items
        self.show_pane("verdicts")

    def _events_here(self) -> frozenset[int]:
        """The events whose words count as here: of a hit or a call that one, else those of the whole turn."""
        state = self._state
        seq = self._event_here()
        if self._beside:
            seq = self._line.seq if self._line else None
        if state is None or seq is None:
            return frozenset()
        alone = self._beside and self._pane in ("hits", "context")
        return frozenset((seq,)) if alone else state.turn_of(seq)

    def action_return(self) -> None:
        spot = self._jumps.back()
        if spot is None:
            return
        transcript = self._transcript
        transcript.move_to(spot.entry)
        transcript.scroll_to(y=spot.top, animate=False, immediate=True)
        self.show_pane(spot.pane)
        if self._shown and spot.pane:
            self._shown.move_to(spot.line)
        self._refresh_keys()

    def show_pane(self, pane: PaneName | str) -> None:
        """Show a pane and go there; "" for the transcript."""
        raise NotImplementedError

    def _go_to(self, seq: int) -> None:
        """Show an event in the transcript, and remember where one was."""
        state = self._state
        if state is None:
            return
        self._jumps.leave(self._spot())
        if state.stepping and seq > state.stepping.seq:
            state.stepping.go_to(seq)
            self._show_all()
        if self._narrow_beside:
            self.show_pane("")
        # The transcript may have had no size until now.
        self.call_after_refresh(self._transcript.show_event, seq)
        self._refresh_keys()

    def _spot(self) -> Spot:
        transcript, pane = self._transcript, self._shown
        return Spot(
            pane=self._pane if self._beside else "",
            line=pane.cursor if pane else 0,
            entry=transcript.cursor,
            top=int(transcript.scroll_y),
        )

    async def _whole_log(self) -> EffectiveLog:
        trial_id = self._trial_id
        if self._effective is None:
            self._effective = await self.services.ask(
                lambda ws: EffectiveLog(ws.runs.events(trial_id))
            )
        return self._effective


def _told(found: MentionResult) -> str:
    turn = found.turn + 1
    if found.whole:
        text = (
            _("First named in turn {n}, by the agent.")
            if found.said
            else _("First named in turn {n}, by a tool.")
        )
        return text.format(n=turn)
    n = len(found.terms)
    text = ngettext(
        "Never named whole; {terms} first in turn {n}.",
        "Never named whole; {terms} first in turn {n}.",
        n,
    )
    return text.format(terms=listed(f"“{term}”" for term in found.terms), n=turn)


_STILL = ("verdicts", "notes", "measures")
"""Panes that stay as they are while events pass: alone on a narrow screen they would show nothing of it."""


class StepMode(Jumping):
    def action_step_mode(self) -> None:
        state = self._state
        if state is None or not state.events:
            return
        if state.stepping:
            self.action_leave_steps()
            return
        entries, cursor = state.entries, self._transcript.cursor
        state.stepping = Stepping(state.events, state.opened.task)
        if self._narrow_beside and self._pane in _STILL:
            self.show_pane("")
        if cursor < len(entries) and entries[cursor].events:
            state.stepping.go_to(entries[cursor].events[0])
        self._show_moment()

    def action_leave_steps(self) -> None:
        state = self._state
        if state and state.stepping:
            seq = state.stepping.seq
            state.stepping = None
            self._show_all()
            self._transcript.show_event(seq)

    def action_step(self, by: int) -> None:
        if step := self._stepping:
            step.move(by)
            self._show_moment()

    def action_step_said(self, by: int) -> None:
        if step := self._stepping:
            step.move_said(by)
            self._show_moment()

    def action_step_to(self, at: int) -> None:
        if step := self._stepping:
            step.move(-step.total if at == 0 else step.total)
            self._show_moment()

    @property
    def _stepping(self) -> Stepping | None:
        return self._state.stepping if self._state else None

    def _show_moment(self) -> None:
        """Everything as it was, with the event that happened last in view."""
        self._show_all()
        if step := self._stepping:
            self._transcript.show_event(step.seq, alone=True)


class ToldAuthors(Frozen):
    """A comment: `place` in the task, "" for the whole of it."""

    place: Annotated[str, Field(title=N_("On"))] = ""
    text: Annotated[str, Field(title=""), Row("text")] = ""


class TellDialog(FormDialog[ToldAuthors]):
    """Takes the places that the comment may be pinned to, with how they are called, the first one chosen; and
    the text to begin with.
    """

    BEGINS_AT = "text"

    def __init__(self, places: Sequence[tuple[str, str]], text: str) -> None:
        super().__init__(
            _("A comment for the task's authors"),
            ToldAuthors(place=places[0][0], text=text),
            ask=_("It stands with the comments on this revision and names this trial, its run and agent."),
            button=_("Tell them"),
            options={"place": [(one_line(label, 200), place) for place, label in places]},
        )  # fmt: skip

    def problem(self, model: ToldAuthors) -> str:
        return "" if model.text.strip() else _("Say in a few words what is wrong.")


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
        note = hint(
            _(
                "Everybody who opens this trial can read it. <trial.tell> writes to the task's authors."
            )
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
        said = {"text": told.text.strip(), "place": told.place}
        await self.services.write("comment", trial_id=self._trial_id, by=self.person, **said)
        self.cue_app.tell(_("The task's authors will find it among its comments."))

    @guarded("blame")
    async def action_blame(self) -> None:
        state, trial_id, person = self._state, self._trial_id, self.person
        if state is None or state.opinions is None:
            return
        if why := await self.services.ask(lambda _ws: state.none_to_blame):
            self.cue_app.tell(why)
            return
        said = await self.services.ask(lambda ws: shown_to(person, blames_of(ws, [trial_id])))
        asked = ChoiceDialog(
            _("Whose fault is it that this trial failed?"),
            "\n".join(blame_lines(said, person)),
            [(party.value, party.value[0], headed(party.label, party.rule)) for party in Party],
            first=next((b.party.value for b in said if b.by == person and not b.proposed), ""),
        )
        chosen = await self.app.push_screen_wait(asked)
        if chosen is None:
            return
        party = Party(chosen)
        reason = await self.app.push_screen_wait(
            TextDialog(_("Why {party}?").format(party=party.label), note=_("May be left empty."))
        )
        if reason is None:
            return
        await self._add("blame", party.value, reason.strip())
        everything = await self.services.ask(lambda ws: blames_of(ws, [trial_id]))
        others = [blame for blame in everything if blame.proposed or blame.by != person]
        self.cue_app.tell(
            "\n".join(blame_lines(others, person)) or _("Nobody else has said anything yet.")
        )

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
        note = {"trial_id": trial_id, "person": person, "kind": kind, "place": place, "text": text}
        await self.services.write("trial_note", **note, uid=uuid4().hex)
