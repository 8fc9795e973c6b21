from __future__ import annotations

from datetime import UTC, datetime

from rich.cells import cell_len

from cuecard.core.engine.events import (
    CallAnswered,
    Limits,
    RunBegan,
    RunState,
    Termination,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.records import RunLease, RunOrder, RunRecord, TrialRecord
from cuecard.core.verdicts import Measure
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.run_snapshot import RunSnapshot, Spending
from cuecard.tui.present.runs import (
    TrialState,
    counts,
    heading,
    progress,
    trial_state,
    when,
    why_it_stands,
)
from cuecard.tui.present.trial_summary import measure_rows, measure_value

NOW = datetime.now(UTC)
REF = PlayerRef(name="offline", kind="offline", baseline=True)


def trial(number: int, termination: Termination | None = None) -> TrialRecord:
    return TrialRecord(
        id=number,
        run_id=1,
        task_id="t",
        title="A task",
        family="graph",
        revision=1,
        agent=REF,
        user=REF,
        world=REF,
        sample=0,
        seed=0,
        termination=termination,
        detail="",
        created_at=NOW,
        ended_at=None,
        events=0,
    )


def run(
    state: RunState = RunState.RUNNING, trials: int = 4, finished: int = 1, failed: int = 0
) -> RunRecord:
    return RunRecord(
        id=1,
        name="r",
        kind="grid",
        created_by="Ana",
        created_at=NOW,
        state=state,
        samples=1,
        limits=Limits(),
        trials=trials,
        finished=finished,
        failed=failed,
    )


def text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_trial_is_waiting_playing_ended_or_failed() -> None:
    assert trial_state(trial(1), {}) is TrialState.WAITING
    assert trial_state(trial(1), {1: 0}) is TrialState.PLAYING
    assert trial_state(trial(1, Termination.MAX_TURNS), {}) is TrialState.ENDED
    assert trial_state(trial(1, Termination.API_ERROR), {}) is TrialState.FAILED


def test_a_run_of_which_every_trial_failed_is_not_told_as_done() -> None:
    assert "● done" in text(heading(run(RunState.DONE, 4, 4, failed=3)))
    assert "⊘ all failed" in text(heading(run(RunState.DONE, 4, 4, failed=4)))
    assert "● done" in text(heading(run(RunState.DONE, 0, 0)))


def looked_at(trials: list[TrialRecord]) -> RunSnapshot:
    return RunSnapshot(run(), tuple(trials), Spending())


def test_counts_tell_the_grid() -> None:
    trials = [trial(1, Termination.USER_DONE), trial(2, Termination.API_ERROR), trial(3), trial(4)]
    assert (
        text(counts(looked_at(trials).states_with({3: 2})))
        == "● 1 ended   ✗ 1 failed   ▸ 1 playing   ○ 1 waiting"
    )
    left = trial(5)._replace(events=3)
    assert text(counts(looked_at([left]).states)) == "◌ 1 begun"


def test_the_bar_is_full_only_when_all_is_done() -> None:
    assert text(progress(run(), 8)) == "██░░░░░░ 1 of 4 trials"
    assert "░" in text(progress(run(trials=1000, finished=999), 8))
    assert text(progress(run(trials=0, finished=0), 4)) == "░░░░ 0 of 0 trials"


def test_who_plays_a_run_elsewhere_or_why_it_is_paused_is_told() -> None:
    lease = RunLease(person="Ben", host="lab-3", pid=12, since=NOW, alive=True)
    (line,) = why_it_stands(run().model_copy(update={"lease": lease}), here=False)
    assert text(line).startswith("Ben plays it on lab-3, process 12, since ")
    paused = run(RunState.PAUSED).model_copy(update={"reason": "no credit", "lease": lease})
    assert [text(line).strip() for line in why_it_stands(paused, here=False)] == ["no credit"]
    free = paused.model_copy(update={"lease": None})
    assert [text(line) for line in why_it_stands(free, here=False)] == [
        "no credit · p plays on what is open."
    ]
    assert why_it_stands(paused, here=True) == []
    # Who asked is told in the words of whoever reads it, not of the worker that obeyed.
    order = RunOrder(id=1, run_id=1, kind="pause", value=None, person="Cy", at=NOW)
    (line,) = why_it_stands(paused, here=False, asked=order)
    assert text(line).startswith("Cy asked for a pause at ")
    dead = run(RunState.INTERRUPTED).model_copy(update={"lease": lease})
    (line,) = why_it_stands(dead, here=False, waits=True)
    assert text(line) == (
        "Its trials wait for workers: `cuecard worker` on any machine plays them."
        " p plays on what is open."
    )
    assert "‖ paused" in text(heading(paused))
    named = text(heading(run().model_copy(update={"name": "long " * 40}), 90))
    assert cell_len(named) <= 90
    assert named.startswith("long long long")
    assert "at most" in named


def test_the_year_is_told_only_when_it_is_another() -> None:
    assert when(NOW).count(":") == 1
    assert when(datetime(2020, 5, 6, 12, tzinfo=UTC)) == "2020-05-06"


def test_measures_are_counts_shares_or_a_dash_with_its_reason() -> None:
    assert measure_value("tool_calls", 1234.0) == "1,234"
    assert measure_value("tool_calls", 2.5) == "2.5"
    assert measure_value("triplet_f1", 2 / 3) == "0.667"
    (row,) = measure_rows([Measure("triplet_f1", None, 0, "nothing was judged")])
    assert (row.value, row.n, row.reason) == ("–", "0", "nothing was judged")


def test_a_live_run_knows_what_is_playing_what_went_wrong_and_how_fast_it_is() -> None:
    live = LiveRun()
    live.on_event(RunBegan(3, 2))
    live.on_event(TrialBegan("7", resumed=False))
    live.on_event(TrialBegan("8", resumed=True))
    live.on_event(TurnPlayed("7", 0))
    live.on_event(CallAnswered("7", "agent", "m", Usage(prompt=5, completion=2), 0.25))
    assert live.playing == {7: 1, 8: 0}
    live.on_event(TrialFinished("7", Termination.USER_DONE, problem="the judge is away"))
    live.on_event(TrialLeftOpen("8"))
    assert live.playing == {}
    assert live.problems == {7: "the judge is away"}
    assert live.ended[7].termination is Termination.USER_DONE
    assert (live.pace.total, live.pace.ended, live.pace.calls, live.pace.cost) == (3, 1, 1, 0.25)
    assert [each.reason for each in live.pace.troubles] == ["the judge is away"]
    live.on_event(TrialBegan("7", resumed=True))
    assert live.ended == {}
    assert not live.going_on
    assert live.trouble() is None
