"""What a run is going to take: a known answer, and what earlier trials took as the store has it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cuecard.annotate.results.forecast import Forecast, Taken, forecast, past_trials
from cuecard.annotate.samples import import_samples
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.store.workspace import Workspace

PAST = {
    "small": [
        Taken(calls=2, tokens=100, cost=0.1, seconds=10),
        Taken(calls=4, tokens=300, cost=0.3, seconds=20),
        Taken(calls=6, tokens=200, cost=0.2, seconds=900),
    ],
    "large": [Taken(calls=10, tokens=1_000, cost=1.0, seconds=60)],
    "unpriced": [Taken(calls=1, tokens=10, cost=None, seconds=1)],
    "new": [],
}


def test_means_of_calls_and_medians_of_time_are_added_up() -> None:
    # 10 x (4 + 10) calls; 20 trials of 20 and 60 seconds, 5 at a time.
    found = forecast(PAST, ("small", "large"), 10, 5)
    assert (found.trials, found.calls, found.tokens, found.unknown) == (4, 140, 12_000, ())
    assert (found.cost, found.seconds) == (pytest.approx(12), pytest.approx(160))


def test_the_last_round_takes_as_long_as_a_full_one() -> None:
    assert forecast(PAST, ("large",), 5, 4).seconds == pytest.approx(120)
    assert forecast(PAST, ("large",), 1, 100).seconds == pytest.approx(60)


def test_what_is_not_known_is_said() -> None:
    assert forecast(PAST, ("unpriced", "new", "other"), 3, 1) == Forecast(
        trials=1, calls=3, tokens=30, cost=None, seconds=3, unknown=("new", "other")
    )
    assert forecast(PAST, ("new",), 3, 1).trials == 0
    assert forecast(PAST, ("large",), 0, 1).seconds == 0


def test_earlier_trials_are_found_in_the_store(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "w.db") as workspace:
        workspace.people.add("Ana")
        import_samples(workspace, by="Ana")
        assert past_trials(workspace, ["offline"]) == {"offline": []}
        plan = RunPlan(tasks=("espresso", "facts-night-train"))
        asyncio.run(start_run(workspace, plan, by="Ana"))
        found = past_trials(workspace, ["offline", "other"])
        assert [(each.calls, each.tokens, each.cost) for each in found["offline"]] == [
            (0, 0, 0)
        ] * 2
        assert all(each.seconds >= 0 for each in found["offline"])
        assert found["other"] == []
