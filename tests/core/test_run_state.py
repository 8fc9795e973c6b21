"""Where a run stands follows from how it was left and who plays it, and from nothing else."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from cuecard.core.engine.events import Played, RunState, run_state

MARKS = (RunState.RUNNING, RunState.PAUSED, RunState.DONE, RunState.CANCELLED)


@pytest.mark.parametrize("finished", [0, 3, 5])
@pytest.mark.parametrize(("marked", "played"), [*itertools.product(MARKS, get_args(Played))])
def test_what_is_played_runs_and_nothing_else_does(
    marked: RunState, played: Played, finished: int
) -> None:
    state = run_state(marked, played, trials=5, finished=finished)
    assert (state is RunState.RUNNING) == (played == "now")
    if state is RunState.DONE:
        assert finished == 5
    if played != "now" and marked in (RunState.PAUSED, RunState.CANCELLED):
        assert state is marked


def test_a_killed_run_and_one_that_waits_for_somebody_are_told_apart() -> None:
    assert run_state(RunState.RUNNING, "lapsed", trials=2, finished=1) is RunState.INTERRUPTED
    assert run_state(RunState.RUNNING, "no", trials=2, finished=1) is RunState.OPEN
    assert run_state(RunState.DONE, "no", trials=2, finished=2) is RunState.DONE


def test_no_two_states_look_alike() -> None:
    assert len({state.glyph for state in RunState}) == len(RunState)
    assert len({state.label for state in RunState}) == len(RunState)
    assert {state.badge for state in RunState} == {f"{s.glyph} {s.label}" for s in RunState}
