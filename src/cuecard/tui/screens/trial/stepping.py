"""A trial event by event, as if it were happening: everything shows what there was by then."""

from __future__ import annotations

from cuecard.tui.screens.trial.jumping import Jumping
from cuecard.tui.state.trial_jumps import Stepping

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
