"""What labels correct of a run's scores, found on its screens by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.engine.events import RunState
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.run.screen import RunScreen
from effect_runs import judged_run, judgement, label
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]
ALPHA, BETA = ["yyyn", "yynn"] * 4, ["ynnn", "yynn"] * 4


@pytest.fixture
def labelled(home: Path) -> Path:
    """A run of two agents, drawn by trials and wholly labelled: of alpha people find one triple fewer."""
    path = home / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        run, trials = judged_run(workspace, {"alpha": ALPHA, "beta": BETA})
        for (agent, at), trial in trials.items():
            found = judgement((ALPHA if agent == "alpha" else BETA)[at])
            lexical = found.judge.model_copy(update={"name": DEFAULT_JUDGE})
            workspace.verdicts.add(trial, found.model_copy(update={"judge": lexical}))
        workspace.runs.set_state(run, RunState.DONE)
        plan = SamplingPlan(runs=(run,), n=99, by="trials", strata=("agent",))
        make_set(workspace, plan, name="whole", by="Ana")
        for (agent, at), trial in trials.items():
            said = "n" + ALPHA[at][1:] if agent == "alpha" else BETA[at]
            label(workspace, trial, said)
    return path


async def test_scores_have_a_tab_of_what_labels_correct(labelled: Path, make_app: AppMaker) -> None:
    app = make_app(labelled)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = RunScreen(1, over=True)
        await app.push_screen(screen)
        await until(pilot, lambda: "Corrected: 0.375" in shown(screen))
        assert "labels alone: 0.375" in shown(screen)
        assert "8 of 8 trials labelled" in shown(screen)
        await pilot.press("b")
        await until(pilot, lambda: "[Corrected]" in shown(screen))
        assert "Triplet F1 · alpha" in shown(screen)
        assert "labelled" in shown(screen)
        await pilot.press("b")
        await until(pilot, lambda: "[Corrected]" not in shown(screen))


async def test_compare_has_corrected_differences_after_those_of_the_judge(
    labelled: Path, make_app: AppMaker
) -> None:
    app = make_app(labelled)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = CompareScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "Differences 1/2" in shown(screen))
        await pilot.press("n")
        await until(pilot, lambda: "Differences corrected by labels" in shown(screen))
        assert "Triplet F1 · beta − alpha" in shown(screen)
