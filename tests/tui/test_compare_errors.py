"""From figures of a comparison, and from causes of failure, to the trials behind them, by keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import OptionList, Static

from cuecard.core.engine.events import RunState
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.errors import ErrorsScreen, TrialListScreen
from cuecard.tui.screens.trial.screen import ListedTrialScreen
from cuecard.tui.services import Services
from effect_runs import judged_run, judgement
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]
ALPHA = ("yyyy", "yyyn", "yyyy", "yyyn", "yyyy", "yynn")
BETA = ("yynn", "nnnn", "yynn", "ynnn", "yyyy", "yynn")


@pytest.fixture(scope="module")
def compared_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run 1 of two agents by two judges, run 2 of one agent by a judge that the run does not name."""
    path = tmp_path_factory.mktemp("compared") / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        _run, trials = judged_run(workspace, {"alpha": ALPHA, "beta": BETA})
        for (agent, at), trial in trials.items():
            found = judgement({"alpha": ALPHA, "beta": BETA}[agent][at])
            lexical = found.judge.model_copy(update={"name": DEFAULT_JUDGE})
            workspace.verdicts.add(trial, found.model_copy(update={"judge": lexical}))
        lone, _trials = judged_run(workspace, {"alpha": ("yy",)})
        # One that is still running would be judged when the app starts.
        workspace.runs.set_state(lone, RunState.DONE)
    return path


@pytest.fixture
def compared(home: Path, compared_once: Path) -> Path:
    return Path(shutil.copy(compared_once, home / "cuecard.db"))


def test_screens_share_a_pool_until_anything_is_saved(compared: Path) -> None:
    services = Services(str(compared))
    workspace = services.workspace()
    for run in (1, 2):
        services.pool(workspace, (run,))  # Keeps figures of trials, which saves something.
    first = services.pool(workspace, (1,))
    assert services.pool(workspace, (1,)) is first
    assert services.pool(workspace, (2,)) is not first
    assert services.pool(workspace, (1,)) is first
    with Workspace.open(compared) as elsewhere:
        elsewhere.verdicts.add(elsewhere.runs.trials(1)[0].id, judgement("nnnn"))
    assert services.pool(workspace, (1,)) is not first
    workspace.close()


async def test_a_long_title_makes_room_for_the_last_step(
    compared: Path, make_app: AppMaker
) -> None:
    app = make_app(compared)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = CompareScreen(
            (1,), "A run whose name is as long as a line of the terminal is, " * 2
        )
        await app.push_screen(screen)
        await until(pilot, lambda: "compared by agent" in shown(screen))
        assert shown(screen).splitlines()[0].rstrip().endswith("› Compare")


async def test_a_comparison_leads_to_tasks_and_trials(compared: Path, make_app: AppMaker) -> None:
    app = make_app(compared)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = CompareScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "compared by agent" in shown(screen))
        assert "against alpha" in str(screen.query_one("#title", Static).content)
        assert "baseline" in shown(screen)
        assert list(screen.way)[-1] == "Compare"
        await pilot.press("v", "s")
        # Costs and tokens have no axis in common.
        await until(pilot, lambda: screen.view is not None and screen.view.section == "spending")
        assert screen.view is not None
        assert not screen.view.plottable
        await pilot.press("v", "t")
        # t1: 0.75 against nothing found.
        await until(pilot, lambda: "t1" in shown(screen) and "-0." in shown(screen))
        await pilot.press("enter")
        listed = app.screen
        assert isinstance(listed, TrialListScreen)
        await until(pilot, lambda: "2 trials · 1 task" in shown(listed))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ListedTrialScreen))
        names = {"alpha", "beta"}
        await until(pilot, lambda: any(name in shown(app.screen) for name in names))
        first = next(name for name in names if name in shown(app.screen))
        await pilot.press("plus")
        await until(pilot, lambda: (names - {first}).pop() in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is listed)
        await pilot.press("escape")
        await pilot.press("e")
        await until(pilot, lambda: app.screen.query(OptionList))
        options = app.screen.query_one(OptionList)
        wanted = next(i for i, o in enumerate(options.options) if (o.id or "") == "judge")
        await pilot.press(*["down"] * wanted, "enter", "v", "d")
        await until(pilot, lambda: "compared by judge" in shown(screen))
        lone = CompareScreen((2,), "lone")
        await app.push_screen(lone)
        await until(pilot, lambda: "Nothing to compare yet" in shown(lone))


async def test_a_tall_screen_shows_differences_intervals_and_the_worst_tasks_together(
    compared: Path, make_app: AppMaker
) -> None:
    app = make_app(compared)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = CompareScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "tasks that differ most in Triplet F1" in shown(screen))
        text = shown(screen)
        assert "compared by agent" in text
        assert "├" in text
        below = text.partition("tasks that differ most")[2]
        title = next(iter(Services(str(compared)).workspace().tasks.summaries())).title
        assert title in below
        assert "t1" in below
        await pilot.press("down")
        await until(pilot, lambda: "tasks that differ most in Node F1" in shown(screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialListScreen))


async def test_errors_lead_to_failed_trials(compared: Path, make_app: AppMaker) -> None:
    app = make_app(compared)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = ErrorsScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "why trials failed" in shown(screen))
        title = screen.query_one("#title", Static)
        # Triplet F1 is the share of covered triples: below 0.5 are t1 and t3 of beta.
        assert "12 trials, 2 failed" in str(title.content)
        await pilot.press("down", "right", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrialListScreen))
        await until(pilot, lambda: "2 trials · 2 tasks" in shown(app.screen))
        assert "too little of the gold" in shown(app.screen)
        await pilot.press("escape", "v", "t")
        await until(pilot, lambda: "could be read" in shown(screen))
        await pilot.press("full_stop", "a")
        await until(pilot, lambda: app.screen.query(OptionList))
        await pilot.press("down", "down", "enter", "v", "l")
        await until(pilot, lambda: "founded in" in shown(screen))
        assert "beta · 6 trials, 2 failed" in str(title.content)
        unjudged = ErrorsScreen((2,), "lone")
        await app.push_screen(unjudged)
        await until(pilot, lambda: "Nothing is judged yet" in shown(unjudged))
