"""What all parts of the Trial screen work with: the trial's state, its transcript, and the panes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from textual.containers import Vertical

from cuecard.core.i18n import _
from cuecard.core.verdicts import Item
from cuecard.results.trial.opening import note_seen
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.run.bindings import Keys, refresh_keys
from cuecard.tui.screens.trial.bindings import ACTIONS
from cuecard.tui.screens.trial.pane_bar import PaneBar
from cuecard.tui.screens.trial.panes import LinesPane, MeasuresPane, TablePane
from cuecard.tui.state.trial import heading
from cuecard.tui.state.trial_lines import PaneLine
from cuecard.tui.state.trial_notes import margin
from cuecard.tui.state.trial_view import PaneName, TrialState
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

Pane = LinesPane | TablePane | MeasuresPane
AT_ONCE = 8
"""Events from which on what was opened is shown before more of it is read."""


class Reading(CuecardScreen[None]):
    """Panes are made and filled when they are shown, and only the one that is shown."""

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._state: TrialState | None = None
        self._pane: PaneName = "stages"
        self._wants_focus = False
        self._keys: Keys = ()
        self._follows = False
        self._followed: dict[str, int] = {}

    @property
    def _transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def _beside(self) -> bool:
        """Whether the focus is in the pane rather than in the transcript."""
        return self._narrow_beside or (
            self.focused is not None and self._side in self.focused.ancestors
        )

    @property
    def _narrow_beside(self) -> bool:
        return self.has_class("-narrow") and self.has_class("-beside")

    @property
    def _side(self) -> Vertical:
        return self.query_one("#side", Vertical)

    @property
    def _shown(self) -> Pane | None:
        """The pane that is made for what is chosen."""
        found = self._side.query(f"#{self._pane}")
        return cast(Pane, found.first()) if found else None

    @property
    def _line(self) -> PaneLine | None:
        """What is under the cursor of the pane."""
        return self._shown.line if self._shown else None

    def _place(self) -> str:
        """Where a note would be pinned now."""
        state = self._state
        if state is None:
            return ""
        if self._beside:
            line = self._line
            return line.place if line else ""
        entries, cursor = self._transcript.entries, self._transcript.cursor
        return state.place_of(entries[cursor]) if cursor < len(entries) else ""

    def _show_all(self) -> None:
        """Everything that is in view, as the state has it now."""
        state = self._state
        if state is None:
            return
        self._show_head()
        self._show_transcript()
        self._show_bar()
        if self._side.display:
            self._fill()
        self._refresh_keys()

    def _refresh_keys(self) -> None:
        self._keys = refresh_keys(self, sorted(ACTIONS), self._keys)

    def _show_head(self) -> None:
        state = self._state
        if state is None:
            return
        opened, judgement = state.opened, state.judgement
        judge = judgement.judge if judgement and not state.covers("verdicts") else None
        events = len(opened.events) if opened.whole else opened.trial.events
        lines = heading(opened.trial, opened.task, events, judge, self.size.width - 2)
        self.query_one("#head", Lines).load(lines)

    def _show_transcript(self) -> None:
        state = self._state
        if state is None:
            return
        self._transcript.load(state.shown_entries)
        self._transcript.mark(margin(state.notes, state.seq_of))

    def _show_bar(self) -> None:
        state = self._state
        if state is None:
            return
        step = state.stepping
        moment = _("step {n} of {all}").format(n=step.at + 1, all=step.total) if step else ""
        happened = state.words_of(f"event/{step.seq}") if step else ""
        hidden = self.has_class("-narrow") and not self.has_class("-beside")
        pane = "" if hidden else self._pane
        self.query_one(PaneBar).load(pane, moment, happened, steps=state.is_chain)

    def _fill(self) -> None:
        """The pane that is shown, from the state."""
        state, pane = self._state, self._shown
        if state is None:
            return
        if pane is None:
            self._make()
            return
        for other in self._side.children:
            other.display = other is pane
        match pane:
            case TablePane():
                table = state.table
                if table is not None:
                    pane.load(table)
            case MeasuresPane():
                covered = state.text("measures").note if state.covers("measures") else ""
                pane.load(() if covered else state.measures, covered)
            case LinesPane():
                pane.load(state.text(self._pane))
                if self._follows:
                    self._follow(pane)
        self._note_seen()

    def _follow(self, pane: LinesPane) -> None:
        """Put the pane's cursor where the transcript's is, unless it followed there before."""
        self._follows = False
        seq = self._event_here()
        if seq is None or self._followed.get(self._pane) == seq:
            return
        self._followed[self._pane] = seq
        at = pane.line_at(seq)
        if at is not None:
            # A pane that was just made has no size yet.
            self.call_after_refresh(pane.move_to, at)

    def _event_here(self) -> int | None:
        """The event that the transcript's cursor is on."""
        transcript = self._transcript
        if transcript.spot_event is not None:
            return transcript.spot_event
        entries, cursor = transcript.entries, transcript.cursor
        events = entries[cursor].events if cursor < len(entries) else ()
        return events[0] if events else None

    @guarded("pane")
    async def _make(self) -> None:
        """Make the pane that is to be shown, then fill it."""
        state = self._state
        if state is None or self._shown is not None:
            return
        table = self._pane == "gold" and not state.covers("gold") and state.table is not None
        pane: Pane
        if table:
            pane = TablePane(id=self._pane)
        elif self._pane == "measures":
            pane = MeasuresPane(id=self._pane)
        else:
            pane = LinesPane(id=self._pane)
        await self._side.mount(pane)
        self._fill()
        if self._wants_focus:
            self._wants_focus = False
            pane.take_focus()

    def _note_seen(self) -> None:
        state = self._state
        if state is None or self._pane not in ("gold", "verdicts", "measures"):
            return
        judgement = state.judgement
        if judgement and not state.covers(self._pane) and state.sees(judgement):
            self.remember_seen([verdict.item for verdict in judgement.verdicts])

    @guarded("seen", background=True)
    async def remember_seen(self, items: Sequence[Item]) -> None:
        """What was decided is known to this person from now on."""
        trial_id, person = self._trial_id, self.person
        await self.services.ask(lambda ws: note_seen(ws, trial_id, items, person))
