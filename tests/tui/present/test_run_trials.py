from __future__ import annotations

from itertools import product

from rich.cells import cell_len

from cuecard.core.engine.events import CallAnswered, RunBegan, Termination, TrialFinished
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Measure, Measures
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.run_snapshot import RunSnapshot, Spending, spending_line, troubles_line
from cuecard.tui.present.run_trials import (
    FigureTrials,
    RunTrials,
    Show,
    entries_of,
    failed,
    mosaic,
    outcome,
    state_cell,
    state_order,
)
from cuecard.tui.present.trial_summary import heading
from result_rows import row, run

END = Termination.USER_DONE


def trial(
    number: int, agent: str = "a", task: str = "t", end: Termination | None = END, detail: str = ""
) -> TrialRecord:
    made = row(agent, task, None, termination=end).trial
    return made._replace(id=number, detail=detail)


def text(lines: list[list[Piece]]) -> list[str]:
    return ["".join(piece.text for piece in line) for line in lines]


TRIALS = (
    trial(1, "a", "one"),
    trial(2, "b", "one", Termination.API_ERROR, "HTTP 503 \x1b[31mfrom the server"),
    trial(3, "a", "two"),
    trial(4, "b", "two", None),
)
SCORES = {
    1: Measures.of([Measure("triplet_f1", 0.5, 1), Measure("agent_turns", 7.0, 1)]),
    2: Measures.of([Measure("triplet_f1", 0.0, 1)]),
}


def listed() -> RunTrials:
    found = RunTrials()
    found.entries = entries_of(TRIALS, {4: 2}, SCORES, {3: "the judge is away"})
    return found


def test_a_trial_and_the_list_of_its_run_have_one_word_for_how_it_stands(
    samples: dict[str, Task],
) -> None:
    ongoing = trial(5, "b", "two", None)
    for each, playing in product((*TRIALS, ongoing._replace(events=3), ongoing), ({}, {5: 2})):
        (entry,) = entries_of([each], playing, {}, {})
        title, _players = heading(each, samples["espresso"], 3, None, 0, playing)
        assert title[1].text.strip() == state_cell(entry).text


def test_what_marks_a_baseline_is_told_on_a_line_of_its_own_where_there_is_no_room(
    samples: dict[str, Task],
) -> None:
    part = PlayerRef(name="offline:forgetful", kind="offline", baseline=True)
    played = trial(1)._replace(agent=part, user=part, world=part)
    every = text(heading(played, samples["espresso"], 3, None, 200))[1]
    assert every.endswith("  *\u00a0baseline")
    close = every.replace("  ", " ")
    for room, lines in ((cell_len(close), 2), (cell_len(close) - 1, 3)):
        assert len(heading(played, samples["espresso"], 3, None, room)) == lines
    assert text(heading(played, samples["espresso"], 3, None, cell_len(close) - 1))[1:] == [
        close.removesuffix(" *\u00a0baseline"), "*\u00a0baseline",
    ]  # fmt: skip


def ids(trials: RunTrials) -> list[int]:
    return [entry.trial.id for entry in trials.rows]


def test_a_line_says_its_score_or_why_there_is_none() -> None:
    entries = listed().entries
    assert [state_cell(entry).text for entry in entries[:2]] == ["● user done", "✗ API error"]
    assert (state_cell(entries[3]).text, entries[3].turns) == ("▸ playing", "2")
    assert (outcome(entries[0]).text, entries[0].turns) == ("Triplet F1 0.500", "7")
    assert outcome(entries[1]).text.startswith("Triplet F1 0.000 · HTTP 503")
    assert [outcome(entry).text for entry in entries[2:]] == ["the judge is away", ""]
    assert [entry.trial.id for entry in sorted(entries, key=state_order)] == [2, 4, 3, 1]


def test_trials_are_listed_by_kind_and_figure() -> None:
    trials = listed()
    assert [trials.count(show) for show in Show] == [4, 1, 1, 1, 2]
    for show, wanted in ((Show.FAILED, [2]), (Show.UNJUDGED, [3]), (Show.OPEN, [4])):
        trials.next_show()
        assert (trials.show, ids(trials)) == (show, wanted)
    assert text([trials.heading()]) == ["open trials · 1 of 4 trials"]
    trials.clear()
    assert failed(trials.rows) == (2,)
    trials.behind = FigureTrials(frozenset({1, 3}), "a · Mean")
    assert ids(trials) == [1, 3]
    assert trials.narrowed
    assert text([trials.heading()])[0].startswith("Behind a · Mean · 2 of 4 trials")


def test_a_mosaic_fits_whatever_the_number_of_trials() -> None:
    assert text(mosaic(TRIALS, {4: 2}, 40, 4)) == ["a ●●", "b ✗▸"]
    assert mosaic(TRIALS[:1], {}, 40, 4) == []
    many = [trial(n, f"agent {n % 3}", f"t{n // 3}", END if n < 600 else None) for n in range(1000)]
    many[4] = trial(4, "agent 1", "t1", Termination.API_ERROR)
    for width, height in ((78, 4), (118, 10), (20, 3), (10, 1)):
        lines = text(mosaic(many, {700: 1}, width, height))
        assert 0 < len(lines) <= height
        assert max(map(cell_len, lines)) <= width
    lines = text(mosaic(many, {700: 1}, 78, 4))
    assert lines[-1] == "each mark stands for 5 trials"
    # 334 trials of an agent: 200 ended, one of them in the first five failed; one is playing.
    assert [line.count("◐") for line in lines[:3]] == [0, 1, 0]
    assert lines[1].count("▸") == 1
    assert lines[0].split()[-1] == "●" * 40 + "○" * 27


def test_few_failures_among_many_trials_do_not_make_all_marks_red() -> None:
    many = [
        trial(n, end=Termination.API_ERROR if n % 100 < share else END)
        for share in (3, 30, 60)
        for n in range(1000)
    ]
    line = text(mosaic(many, {}, 32, 1))[0]
    assert line == "a " + 10 * "●" + 10 * "◐" + 10 * "✗"


def test_what_is_told_since_a_look_is_added_to_it() -> None:
    live = LiveRun()
    live.on_event(RunBegan(2, 1))
    live.on_event(CallAnswered("4", "agent", "m", Usage(prompt=10, completion=1), 0.5))
    snapshot = RunSnapshot(
        run=run().model_copy(update={"trials": 4, "finished": 3}),
        trials=TRIALS,
        spent=Spending(3, Usage(prompt=100, completion=10), 2.0),
        budget=10.0,
        pace=live.pace,
    )
    assert snapshot.since(None) is snapshot
    assert snapshot.since(live) is snapshot
    live.on_event(CallAnswered("4", "user", "m", Usage(prompt=5, completion=2), None))
    live.on_event(CallAnswered("4", "agent", "m", Usage(prompt=20, completion=3), 0.25))
    live.on_event(TrialFinished("4", Termination.MAX_TURNS))
    live.on_event(TrialFinished("3", Termination.INTERNAL_ERROR, problem="could not begin"))
    now = snapshot.since(live)
    assert now.trials[3].termination is Termination.MAX_TURNS
    assert now.trials[2].termination is END
    assert now.run.finished == 4
    assert now.spent == Spending(5, Usage(prompt=125, completion=15), 2.25)
    line = text([spending_line(now.spent, 10.0, "USD")])[0]
    assert line == "5 model calls · 125 + 15 tokens · cost 2.2500 of 10 USD (22%)"
    assert spending_line(Spending(), None, "USD") == []
    assert text([spending_line(Spending(), 3.0, "EUR")])[0].endswith("cost – of 3 EUR (0%)")
    told = text([troubles_line(now.failed, live.pace, live.problems)])[0]
    assert told == "✗ 2 errors: could not begin"
    assert text([troubles_line(snapshot.failed, None, {})]) == [
        "✗ 1 error: HTTP 503 from the server"
    ]
    assert troubles_line((), None, {}) == []
