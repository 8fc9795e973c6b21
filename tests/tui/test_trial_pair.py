"""Two trials side by side, from Compare, from lists, and two judges from a trial, by keys."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Static

from cuecard.core.players import DEFAULT_JUDGE
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.errors import TrialListScreen
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.run.trials import TrialsPane
from cuecard.tui.screens.trial.marked import TrialExportDialog
from cuecard.tui.screens.trial.pair import PairScreen
from cuecard.tui.screens.trial.screen import TrialScreen
from effect_runs import judged_run, judgement
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]


@pytest.fixture(scope="module")
def paired_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two agents on two tasks; the first trial is judged by two judges."""
    path = tmp_path_factory.mktemp("paired") / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        _run, trials = judged_run(workspace, {"alpha": ("yyn", "yyy"), "beta": ("nny", "yyy")})
        for (agent, at), trial in trials.items():
            found = judgement({"alpha": ("yyn", "yyy"), "beta": ("nny", "yyy")}[agent][at])
            lexical = found.judge.model_copy(update={"name": DEFAULT_JUDGE})
            workspace.verdicts.add(trial, found.model_copy(update={"judge": lexical}))
        second = judgement("nyn")
        other = second.judge.model_copy(update={"name": "harsh"})
        workspace.verdicts.add(trials["alpha", 0], second.model_copy(update={"judge": other}))
    return path


@pytest.fixture
def paired(home: Path, paired_once: Path) -> Path:
    return Path(shutil.copy(paired_once, home / "cuecard.db"))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_from_a_task_of_a_comparison_to_what_differs(
    paired: Path, make_app: AppMaker, size: tuple[int, int]
) -> None:
    app = make_app(paired)
    async with app.run_test(size=size) as pilot:
        screen = CompareScreen((1,), "main")
        await app.push_screen(screen)
        await until(pilot, lambda: "compared by agent" in shown(screen))
        await pilot.press("v", "t")
        await until(pilot, lambda: "t0" in shown(screen) and "-0." in shown(screen))
        await pilot.press("equals_sign")
        await until(
            pilot, lambda: isinstance(app.screen, PairScreen) and "alpha" in shown(app.screen)
        )
        pair = app.screen
        assert isinstance(pair, PairScreen)
        await until(pilot, lambda: "3 of 3 verdicts differ" in shown(pair))
        await pilot.press("v")
        await until(pilot, lambda: "not covered" in shown(pair))
        assert pair.row
        assert pair.row.differs
        await pilot.press("n")
        await until(pilot, lambda: pair.view.grid.cursor_row == 1)
        await pilot.press("v")
        await until(pilot, lambda: "Triplet recall" in shown(pair))
        await pilot.press("v", "2")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await until(pilot, lambda: "beta" in shown(app.screen))


async def test_two_marked_trials_and_two_judges_of_one(paired: Path, make_app: AppMaker) -> None:
    from cuecard.annotate.results.pool import gather

    with Workspace.open(paired) as workspace:
        rows = gather(workspace, (1,)).rows
    app = make_app(paired)
    async with app.run_test(size=(100, 30)) as pilot:
        listed = TrialListScreen("all", rows)
        await app.push_screen(listed)
        await until(pilot, lambda: listed.view.rows)
        await pilot.press("space", "end", "space", "equals_sign")
        await until(pilot, lambda: any("Mark two" in one.message for one in app._notifications))
        await pilot.press("escape", "home", "equals_sign")
        await until(pilot, lambda: isinstance(app.screen, PairScreen))
        await until(pilot, lambda: "beta" in shown(app.screen))
        trial = TrialScreen(rows[0].trial.id)
        await app.push_screen(trial)
        await until(pilot, lambda: "alpha" in str(trial.query_one("#head", Static).content))
        await until(pilot, lambda: trial.check_action("judges", ()))
        await pilot.press("equals_sign")
        await until(pilot, lambda: "harsh" in shown(app.screen))
        await until(pilot, lambda: "verdict" in shown(app.screen) and "≠" in shown(app.screen))


async def test_two_marked_trials_of_a_run_are_compared_with_each_other(
    paired: Path, make_app: AppMaker
) -> None:
    app = make_app(paired)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = RunScreen(1)
        await app.push_screen(screen)
        await until(pilot, lambda: screen.query_one(TrialsPane).table.rows)
        await pilot.press("space", "down", "down", "space", "w")
        await until(pilot, lambda: isinstance(app.screen, PairScreen))
        await pilot.press("escape", "space", "w")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))


async def test_listed_trials_are_tagged_named_labelled_and_exported_by_their_marks(
    paired: Path, make_app: AppMaker
) -> None:
    from cuecard.annotate.results.pool import gather

    with Workspace.open(paired) as workspace:
        rows = gather(workspace, (1,)).rows
    app = make_app(paired)
    async with app.run_test(size=(120, 30)) as pilot:
        listed = TrialListScreen("all", rows)
        await app.push_screen(listed)
        await until(pilot, lambda: listed.view.rows)
        await pilot.press("space", "down", "space", "t")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"odd", "enter")
        await until(pilot, lambda: listed.is_current and shown(listed).count("odd") == 2)
        await pilot.press("e")  # Nothing is marked any more.
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"drifts", "enter")
        await until(pilot, lambda: listed.is_current and "drifts" in shown(listed))
        assert "name:" not in shown(listed)
        await pilot.press("slash", *"drifts", "enter")
        await until(pilot, lambda: len(listed.view.rows) == 1)
        await pilot.press("escape", "ctrl+a", "l")
        await until(pilot, lambda: isinstance(app.screen, LabelScreen) and app.screen.step)
        await pilot.press("escape")
        await until(pilot, lambda: listed.is_current)
        uids = {row.trial.uid for row in listed.view.marked[:2]}
        listed.view.grid.mark([0, 1])
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, TrialExportDialog) and app.screen.focused)
        assert "Export 2 trials" in shown(app.screen)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: listed.is_current)
    assert _lines_in(Path("trials")) == 2
    with Workspace.open(paired) as workspace:
        tags = workspace.tags.of("trial")
        assert len(uids) == 2
        assert sorted(tags.values()) == [("name: drifts", "odd"), ("odd",)]


def _lines_in(folder: Path) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in folder.rglob("*.jsonl"))
