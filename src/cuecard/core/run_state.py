"""Where a run stands: one answer for every screen, verb and report."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from cuecard.core.i18n import N_, _

Played = Literal["now", "lapsed", "no"]
"""Whether somebody plays a run: `now`; `lapsed`, whoever did is gone without a word; `no`."""


class RunState(StrEnum):
    """`running`: somebody plays it. `interrupted`: whoever played it was killed. `open`: it was entered, or left in
    good order, and nobody plays it. `paused`: it stopped by itself or was paused. `cancelled`: it was stopped.
    """

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    OPEN = "open"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def label(self) -> str:
        return _(_LOOKS[self][1])

    @property
    def glyph(self) -> str:
        return _LOOKS[self][0]

    @property
    def tone(self) -> Literal["stage", "user", "good", "bad", "muted"]:
        return _LOOKS[self][2]

    @property
    def told(self) -> str:
        """`▸ running`."""
        return f"{self.glyph} {self.label}"


_LOOKS: dict[RunState, tuple[str, str, Literal["stage", "user", "good", "bad", "muted"]]] = {
    RunState.RUNNING: ("▸", N_("running"), "user"),
    RunState.INTERRUPTED: ("✗", N_("interrupted"), "bad"),
    RunState.OPEN: ("◌", N_("open"), "muted"),
    RunState.PAUSED: ("‖", N_("paused"), "stage"),
    RunState.DONE: ("●", N_("done"), "good"),
    RunState.CANCELLED: ("–", N_("stopped"), "muted"),
}


def run_state(marked: RunState, played: Played, *, trials: int, finished: int) -> RunState:
    """What a run's mark means, in view of who plays it and how many of its trials have ended.

    `marked`: how whoever played it last left it: `running` from its first moment on, then `paused`, `done` or
    `cancelled`. What is played runs, whatever is marked; what is marked as running and not played is not.
    """
    if played == "now":
        return RunState.RUNNING
    if marked is RunState.RUNNING:
        return RunState.INTERRUPTED if played == "lapsed" else RunState.OPEN
    if marked is RunState.DONE and finished < trials:
        return RunState.OPEN
    return marked
