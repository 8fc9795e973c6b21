"""From a run's suspect gold to its page, its trials and its authors, by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.annotate.review.comments import threads_for
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.bulk import RefusedDialog
from cuecard.tui.present.run_snapshot import run_snapshot
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.errors import TrialListScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.suspects import ItemsScreen, SuspectsScreen
from judged_trials import GOLD, graph_task
from suspect_runs import PAGE, RIVAL, WRONG, suspect_run
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]


@pytest.fixture
def suspected(home: Path) -> Path:
    path = home / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        suspect_run(workspace)
    return path


async def test_a_suspect_is_looked_at_and_sent_to_review(
    suspected: Path, make_app: AppMaker
) -> None:
    app = make_app(suspected)
    async with app.run_test(size=(100, 32)) as pilot:
        screen = SuspectsScreen((1,), "four")
        await app.push_screen(screen)
        await until(pilot, lambda: PAGE.url in shown(screen))
        assert "4 agents say: 1899" in shown(screen)
        assert "Found by: delta" in shown(screen)
        # Each time it is read again, and listed as it was; at the second, of the same trials in memory.
        for _time in range(2):
            await pilot.press("i")
            await until(
                pilot,
                lambda: isinstance(app.screen, ItemsScreen) and "6 items" in shown(app.screen),
            )
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)
            await app.workers.wait_for_complete()
        assert not [n.title for n in app._notifications]
        await pilot.press("enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, TrialListScreen) and "7 trials" in shown(app.screen),
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"1899", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert len(screen.view.rows) > 1
        await pilot.press("ctrl+a", "c")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RefusedDialog))
        assert "You have told its authors already." in shown(app.screen)
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.view.marked) == 1)
    with Workspace.open(suspected) as workspace:
        threads = threads_for(workspace, "ann", "makers")
    assert len({thread.place for thread in threads}) == len(threads) > 1
    thread = threads[0]
    assert thread.place == "gold.triples[2]"
    assert thread.comment.text.startswith("1899\n")


async def test_a_run_is_scored_on_corrected_gold_by_keys(
    suspected: Path, make_app: AppMaker
) -> None:
    with Workspace.open(suspected) as workspace:
        head, relation, _year = GOLD[WRONG]
        gold = [*GOLD]
        gold[WRONG] = (head, relation, RIVAL)
        workspace.tasks.save(graph_task(gold=gold), author="ann", message="1899 is right")
    app = make_app(suspected)
    async with app.run_test(size=(100, 32)) as pilot:
        screen = RunScreen(1, over=True)
        await app.push_screen(screen)
        await until(pilot, lambda: "1 task has other gold by now" in shown(screen))
        await pilot.press(".", "r")
        await until(pilot, lambda: "The gold of 1 task has changed" in shown(app.screen))
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen is not screen)
        await until(pilot, lambda: "four, rescored" in shown(app.screen))
        assert "by now" not in shown(app.screen)
        # Its own gold is the newest.
        await pilot.press(".", "r")
        await until(
            pilot, lambda: any("No gold has changed" in n.message for n in app._notifications)
        )
        # The old one leads to it.
        await app.push_screen(RunScreen(1, over=True))
        await until(pilot, lambda: "run 2 has these trials on it" in shown(app.screen))
        await pilot.press(".", "r")
        await until(pilot, lambda: "four, rescored" in shown(app.screen))


def test_a_run_whose_settings_cannot_be_read_is_shown_though_gold_was_corrected(
    suspected: Path,
) -> None:
    with Workspace.open(suspected) as workspace:
        gold = [triple for at, triple in enumerate(GOLD) if at != WRONG]
        workspace.tasks.save(graph_task(gold=gold), author="ann", message="it is wrong")
        workspace.runs.set_plan(1, {"budget": "much"})
        found = run_snapshot(workspace, 1, None)
    assert found.unread is not None
    assert (found.renewed.gold, found.rescored) == (1, None)


async def test_a_run_without_suspects_says_so(suspected: Path, make_app: AppMaker) -> None:
    app = make_app(suspected)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = SuspectsScreen((1,), "four", task="none")
        await app.push_screen(screen)
        await until(pilot, lambda: "No gold is suspect" in shown(screen))
