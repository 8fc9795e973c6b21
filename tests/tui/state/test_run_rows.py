from __future__ import annotations

from datetime import UTC, datetime

from cuecard.core.events import Limits, Termination
from cuecard.core.parts import PlayerRef
from cuecard.core.run_events import TrialBegan, TrialFinished, TrialLeftOpen, TurnPlayed
from cuecard.core.scoring.aggregate import AggregateMeasure, Statistic
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.profiles import Profile, ProfileCount
from cuecard.lab.scores import GroupScores, RunScores
from cuecard.store.records import RunRecord, RunState, TrialRecord
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.state.runs import (
    MOSAIC,
    TrialState,
    counts,
    mosaic,
    progress,
    run_state_label,
    score_rows,
    trial_row,
    trial_state,
    when,
)
from cuecard.tui.state.transcript import Piece
from cuecard.tui.state.trial import measure_rows, measure_value

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


def run(state: RunState = RunState.RUNNING, trials: int = 4, finished: int = 1) -> RunRecord:
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
    )


def text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_trial_is_waiting_playing_ended_or_failed() -> None:
    assert trial_state(trial(1), {}) is TrialState.WAITING
    assert trial_state(trial(1), {1: 0}) is TrialState.PLAYING
    assert trial_state(trial(1, Termination.MAX_TURNS), {}) is TrialState.ENDED
    assert trial_state(trial(1, Termination.API_ERROR), {}) is TrialState.FAILED


def test_counts_and_mosaic_tell_the_grid() -> None:
    trials = [trial(1, Termination.USER_DONE), trial(2, Termination.API_ERROR), trial(3), trial(4)]
    assert text(counts(trials, {3: 2})) == "● 1 ended   ✗ 1 failed   ▸ 1 playing   ○ 1 waiting"
    assert text(mosaic(trials, {3: 2})) == "●✗▸○"
    assert mosaic([trial(n) for n in range(MOSAIC + 1)], {}) == []


def test_a_row_tells_turns_while_playing_and_the_main_score_when_judged() -> None:
    playing = trial_row(trial(3), {3: 2}, None)
    assert (playing.badge.text, playing.turns, playing.score) == ("▸ playing", "2", "")
    judged = trial_row(trial(3, Termination.USER_DONE), {}, {"triplet_f1": 0.5, "agent_turns": 7.0})
    assert (judged.turns, judged.score) == ("7", "Triplet F1 0.500")
    undefined = trial_row(trial(3, Termination.USER_DONE), {}, {"triplet_f1": None})
    assert undefined.score == "Triplet F1 –"


def test_the_bar_is_full_only_when_all_is_done() -> None:
    assert text(progress(run(), 8)) == "██░░░░░░ 1 of 4 trials"
    assert "░" in text(progress(run(trials=1000, finished=999), 8))
    assert text(progress(run(trials=0, finished=0), 4)) == "░░░░ 0 of 0 trials"


def test_a_run_nobody_finished_is_open_unless_it_goes_on_here() -> None:
    assert run_state_label(run(), here=False) == "◌ open"
    assert run_state_label(run(), here=True) == "▸ running"
    assert run_state_label(run(RunState.CANCELLED), here=False) == "– stopped"


def test_the_year_is_told_only_when_it_is_another() -> None:
    assert when(NOW).count(":") == 1
    assert when(datetime(2020, 5, 6, 12, tzinfo=UTC)) == "2020-05-06"


def score(statistic: Statistic, samples: int, undefined: int = 0) -> AggregateMeasure:
    return AggregateMeasure("triplet_f1", statistic, 0.25, 2, 2 * samples, undefined, samples)


def scores(*measures: AggregateMeasure, profiles: tuple[ProfileCount, ...] = ()) -> RunScores:
    group = GroupScores(
        agent="offline",
        family="graph",
        trials=4,
        ended=3,
        judged=2,
        failed=1,
        baseline=True,
        measures=measures,
        profiles=profiles,
    )
    return RunScores(run=run(), judge="lexical", trials=(), groups=(group,))


def test_scores_say_baselines_what_was_judged_and_n() -> None:
    rows = score_rows(scores(score(Statistic.AVG, 3, 1), score(Statistic.BEST, 3)))
    assert rows[0][0].text == "offline · ◆ graph · offline baselines"
    assert rows[1][0].text == "  2 judged of 3 ended of 4 trials · 1 failed"
    assert (rows[2][0].text, *rows[2][1:]) == ("  Triplet F1 · Avg@3", "0.250", "2", "6, 1 without")
    assert rows[3][0].text == "  Triplet F1 · Best@3"


def test_one_sample_has_no_best_of_itself() -> None:
    rows = score_rows(scores(score(Statistic.AVG, 1), score(Statistic.BEST, 1)))
    assert [row[0].text for row in rows[2:]] == ["  Triplet F1"]


def test_profiles_that_nobody_took_are_left_out() -> None:
    taken = ProfileCount(
        Profile.DIRECT_ASK, 2, Measure("share", 1.0, 2), Measure("pass_rate", 0.5, 2)
    )
    not_taken = ProfileCount(
        Profile.DIRECT_GUESS, 0, Measure("share", 0.0, 2), Measure("pass_rate", None, 0, "none")
    )
    rows = score_rows(scores(profiles=(taken, not_taken)))[2:]
    assert [(row[0].text.strip(), row[1]) for row in rows] == [
        ("Asks at once", "1.000"),
        ("of these advanced", "0.500"),
    ]


def test_measures_are_counts_shares_or_a_dash_with_its_reason() -> None:
    assert measure_value("tool_calls", 1234.0) == "1,234"
    assert measure_value("tool_calls", 2.5) == "2.5"
    assert measure_value("triplet_f1", 2 / 3) == "0.667"
    (row,) = measure_rows([Measure("triplet_f1", None, 0, "nothing was judged")])
    assert (row.value, row.n, row.reason) == ("–", "0", "nothing was judged")


def test_a_live_run_knows_what_is_playing_and_what_went_wrong() -> None:
    live = LiveRun()
    live.told(TrialBegan("7", resumed=False))
    live.told(TrialBegan("8", resumed=True))
    live.told(TurnPlayed("7", 0))
    assert live.playing == {7: 1, 8: 0}
    live.told(TrialFinished("7", Termination.USER_DONE, problem="the judge is away"))
    live.told(TrialLeftOpen("8"))
    assert live.playing == {}
    assert live.problems == {7: "the judge is away"}
    assert not live.going_on
    assert live.trouble() is None
