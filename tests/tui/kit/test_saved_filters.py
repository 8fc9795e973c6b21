"""A filter that a person keeps under a name, in a list of the kit and in the list of tasks."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import AskLine, ChoiceDialog
from cuecard.tui.screens.run.list import RunsScreen
from cuecard.tui.screens.tasks import TasksScreen
from tui_rooms import shown, until


async def test_a_filter_is_kept_under_a_name_and_chosen_again(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        tasks = [task.id for task in ws.tasks.summaries()][:2]
        for name in ("baseline one", "baseline two", "other"):
            create_run(ws, RunPlan(tasks=tuple(tasks), agents=("offline",), name=name), by="Ana")
    app = app_with_samples
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("3")
        await until(
            pilot, lambda: isinstance(app.screen, RunsScreen) and len(app.screen.view.rows) == 3
        )
        view = app.screen.view
        await pilot.press("F")
        await until(
            pilot, lambda: any("Nothing is filtered" in n.message for n in app._notifications)
        )
        await pilot.press("/", *"baseline", "enter", "s", "S", "F")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        assert app.screen.query_one(Input).value == "baseline"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is view.screen)
        await pilot.press("escape", "S")
        assert len(view.rows) == 3
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert "baseline  / baseline · ▼ Run" in shown(app.screen)
        await pilot.press("1")
        await until(
            pilot, lambda: [run.name for run in view.rows] == ["baseline two", "baseline one"]
        )
        assert "/ baseline" in shown(view.screen)
        await pilot.press("escape")
        await until(pilot, lambda: len(view.rows) == 3)
        await pilot.press("F", "e")
        await until(pilot, lambda: "Rename a filter" in shown(app.screen))
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"first two", "enter")
        await until(pilot, lambda: app.screen is view.screen)
        # It is this list's and this person's.
        await pilot.press("F", "d")
        await until(pilot, lambda: "first two  / baseline · ▼ Run" in shown(app.screen))
        await until(pilot, lambda: "Forget a filter" in shown(app.screen))
        await pilot.press("1")
        await until(pilot, lambda: app.screen is view.screen)
        assert not any(
            app.preferences.forms[key] for key in app.preferences.forms if "RunsScreen" in key
        )


async def test_what_a_list_offers_beside_words_is_kept_too(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("2")
        await until(
            pilot, lambda: isinstance(app.screen, TasksScreen) and app.screen.listing.view.rows
        )
        view = app.screen.listing.view
        every = len(view.rows)
        await pilot.press("f")
        few = [line.id for line in view.rows]
        assert 0 < len(few) < every
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"graphs", "enter")
        await until(pilot, lambda: app.screen is view.screen)
        await pilot.press("full_stop", "c")
        await until(pilot, lambda: len(view.rows) == every)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("1")
        await until(pilot, lambda: [line.id for line in view.rows] == few)
        assert "family: graph" in shown(view.screen)
