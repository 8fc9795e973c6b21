"""From what stands beside the dialogue to its place in it, and back; and from a turn to its verdicts."""

from __future__ import annotations

from cuecard.core.i18n import _, ngettext
from cuecard.core.verdicts import Item
from cuecard.results.trial.places import Course, Found
from cuecard.tui.base import guarded
from cuecard.tui.screens.trial.panes import LinesPane
from cuecard.tui.screens.trial.reading import Reading
from cuecard.tui.state.trial_jumps import Jumps, Spot
from cuecard.tui.state.trial_view import PaneName


class Jumping(Reading):
    """The course is read whole, to be searched, when the first item is looked for."""

    def __init__(self, trial_id: int) -> None:
        super().__init__(trial_id)
        self._jumps = Jumps()
        self._course: Course | None = None

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
        course = await self._whole_course()
        found = await self.services.ask(lambda _ws: state.find(course, item))
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
            course = await self._whole_course()
            items = await self.services.ask(lambda _ws: state.items_in(course, seqs))
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

    async def _whole_course(self) -> Course:
        trial_id = self._trial_id
        if self._course is None:
            self._course = await self.services.ask(lambda ws: Course(ws.runs.events(trial_id)))
        return self._course


def _told(found: Found) -> str:
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
    return text.format(terms=", ".join(f"“{term}”" for term in found.terms), n=turn)
