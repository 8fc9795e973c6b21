"""Ranks of a comparison, and the plan of a study from a run: by keys, on twelve tasks of three agents."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.core.engine.events import RunState
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.planning import PlanScreen
from cuecard.tui.screens.plots import PlotView
from effect_runs import judged_run, judgement
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]
ALPHA = ("yyyy", "yyyn", "yyyy", "yyyn", "yyyy", "yynn") * 2
BETA = ("yyyn", "yyyy", "yyyn", "yyyn", "yyyy", "ynnn") * 2
GAMMA = ("nnnn", "ynnn", "ynnn", "nnnn", "yynn", "nnnn") * 2


@pytest.fixture(scope="module")
def piloted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("piloted") / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        agents = {"alpha": ALPHA, "beta": BETA, "gamma": GAMMA}
        for each in (agents, {"alone": ("yy", "yn")}):
            run, trials = judged_run(workspace, each)
            for (agent, at), trial in trials.items():
                found = judgement(each[agent][at])
                lexical = found.judge.model_copy(update={"name": DEFAULT_JUDGE})
                workspace.verdicts.add(trial, found.model_copy(update={"judge": lexical}))
            # One that is still running would be judged when the app starts.
            workspace.runs.set_state(run, RunState.DONE)
    return path


@pytest.fixture
def piloted(home: Path, piloted_once: Path) -> Path:
    return Path(shutil.copy(piloted_once, home / "cuecard.db"))


async def test_ranks_share_a_place_where_tasks_tell_nothing_apart(
    piloted: Path, make_app: AppMaker
) -> None:
    app = make_app(piloted)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = CompareScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "compared by agent" in shown(screen))
        await pilot.press("v", "r")
        await until(pilot, lambda: "leaderboard by Triplet F1" in shown(screen))
        places = re.findall(r"(alpha|beta|gamma)\W+?(1–2|3)\b", shown(screen))
        assert places == [("alpha", "1–2"), ("beta", "1–2"), ("gamma", "3")]
        await pilot.press("n")
        await until(pilot, lambda: "all pairs by Triplet F1" in shown(screen))


async def test_a_plan_from_a_run_and_another_study(piloted: Path, make_app: AppMaker) -> None:
    app = make_app(piloted)
    async with app.run_test(size=(120, 40)) as pilot:
        await app.push_screen(CompareScreen((1,), "main"))
        await until(pilot, lambda: "compared by agent" in shown(app.screen))
        assert "p, Holm" in shown(app.screen)
        await pilot.press("full_stop", "n")
        await until(pilot, lambda: isinstance(app.screen, PlanScreen))
        screen = app.screen
        assert isinstance(screen, PlanScreen)
        await until(pilot, lambda: "smallest difference in Triplet F1" in shown(screen))
        await pilot.press("v", "o")
        await until(pilot, lambda: "one more task" in shown(screen) and "12 × 1" in shown(screen))
        await pilot.press("v", "n")
        await until(pilot, lambda: "one sample of each task" in shown(screen))
        await pilot.press("v", "p")
        await until(pilot, lambda: screen.query_one(PlotView).display)
        await pilot.press("right")
        await until(
            pilot, lambda: "● 1 sample · Tasks 7 · Difference in Triplet F1" in shown(screen)
        )
        await pilot.press("v", "o", "e")
        await until(pilot, lambda: isinstance(app.screen, FormDialog))
        await pilot.press("5", "0", "ctrl+s")
        await until(pilot, lambda: app.screen is screen and "50 × 1" in shown(screen))
        assert "one more task" in shown(screen)


async def test_one_agent_is_no_pilot(piloted: Path, make_app: AppMaker) -> None:
    app = make_app(piloted)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = PlanScreen((2,), "alone")
        await app.push_screen(screen)
        await until(pilot, lambda: "Nothing to plan from yet" in shown(screen))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormDialog))
