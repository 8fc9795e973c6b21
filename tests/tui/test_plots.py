"""From a run's plots to their numbers, files and trials, by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.widgets import Static

from cuecard.core.engine.events import RunState
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.errors import TrialListScreen
from cuecard.tui.screens.plots import PlotsScreen, PlotView
from effect_runs import judged_run, judgement
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]


async def test_plots_tables_files_and_trials(home: Path, make_app: AppMaker) -> None:
    path = home / "plots.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        found = {"alpha": ("yyyy", "yynn"), "贝塔": ("ynnn", "yynn")}
        run, trials = judged_run(workspace, found)
        for (agent, at), trial in trials.items():
            one = judgement(found[agent][at])
            lexical = one.judge.model_copy(update={"name": DEFAULT_JUDGE})
            workspace.verdicts.add(trial, one.model_copy(update={"judge": lexical}))
        workspace.runs.set_state(run, RunState.DONE)
    app = make_app(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = PlotsScreen((run,), "main")
        await app.push_screen(screen)
        plot = screen.query_one("#plot", PlotView)
        await until(pilot, lambda: "■ 贝塔" in shown(screen))
        assert "1/5 · Triplet F1 with intervals" in shown(screen)
        await pilot.press("down")
        await until(pilot, lambda: "■ 贝塔 · Triplet F1" in shown(screen))
        await pilot.press("i")
        await until(pilot, lambda: "n (tasks)" in shown(screen))
        await pilot.press("escape", "n", "n", "v", "down")
        await until(pilot, lambda: screen.view is not None and screen.view.at == 3)
        await pilot.press("enter")
        await until(pilot, lambda: plot.has_focus and "a full bar" in shown(screen))
        await pilot.press("x")
        await until(pilot, lambda: "spread-graph.svg" in shown(app.screen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: (home / "spread-graph.svg").exists())
        assert "贝塔" in (home / "spread-graph.svg").read_text(encoding="utf-8")
        await until(pilot, lambda: app.screen is screen)
        # alpha: 1 and 2/3, the seventh and the last class.
        await pilot.press("end")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialListScreen))
        assert "Spread of Triplet F1" in str(app.screen.query_one("#title", Static).content)
