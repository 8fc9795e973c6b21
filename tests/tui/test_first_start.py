"""An empty machine: a name is asked for, the samples are offered, Home shows where to begin."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Checkbox, Input

from cuecard.store.workspace import Workspace
from cuecard.tui.app import RESTART, CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.settings import WelcomeDialog
from steady_app import SteadyApp
from tui_rooms import shown, until

SIZE = (80, 24)


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def tasks_in(path: Path) -> int:
    with Workspace.open(path) as workspace:
        return workspace.tasks.count()


async def asked(pilot) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, WelcomeDialog))
    await until(pilot, lambda: pilot.app.screen.query_one("#name", Input).has_focus)


async def test_the_name_is_asked_and_the_samples_are_added(
    home: Path, empty_app: CuecardApp
) -> None:
    async with empty_app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        assert "Welcome to Cuecard" in shown(empty_app.screen)
        await pilot.press("ctrl+u", *"Mai", "enter")
        await until(pilot, lambda: "Nothing waits for you, Mai" in shown(empty_app.screen))
        await until(pilot, lambda: "Where to begin" in shown(empty_app.screen))
        assert isinstance(empty_app.screen, HomeScreen)
        assert "Mai" in shown(empty_app.screen).splitlines()[0]
    assert tasks_in(home / "new.db") == 8
    assert Preferences.load().people == {f"sqlite:///{home / 'new.db'}": "Mai"}


async def test_without_the_samples_home_says_how_to_get_tasks(
    home: Path, empty_app: CuecardApp
) -> None:
    async with empty_app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        await pilot.press("ctrl+u", *"Mai", "tab", "space")
        assert not empty_app.screen.query_one("#samples", Checkbox).value
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "This workspace is empty" in shown(empty_app.screen))
    assert tasks_in(home / "new.db") == 0


async def test_an_empty_name_is_refused_and_an_unusable_one_asked_again(
    empty_app: CuecardApp,
) -> None:
    async with empty_app.run_test(size=SIZE, notifications=True) as pilot:
        await asked(pilot)
        await pilot.press("ctrl+u", "space", "enter")
        await until(pilot, lambda: "Please type a name" in shown(empty_app.screen))
        assert isinstance(empty_app.screen, WelcomeDialog)
        empty_app.screen.query_one("#name", Input).value = "a\u202eb"
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be used" in shown(empty_app.screen))
        await until(pilot, lambda: isinstance(empty_app.screen, WelcomeDialog))
        assert empty_app.person == ""


async def test_escape_leaves_without_entering_anybody(home: Path, empty_app: CuecardApp) -> None:
    async with empty_app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        await pilot.press("escape")
    assert empty_app.return_value is None
    with Workspace.open(home / "new.db") as workspace:
        assert workspace.people.all() == []


async def test_places_cannot_be_visited_before_there_is_a_name(empty_app: CuecardApp) -> None:
    async with empty_app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        await pilot.press("tab", "2")
        await pilot.pause()
        assert isinstance(empty_app.screen, WelcomeDialog)


async def test_the_other_language_is_one_key_away(empty_app: CuecardApp) -> None:
    async with empty_app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        await until(pilot, lambda: "中文" in shown(empty_app.screen))
        await pilot.press("f6")
    assert empty_app.return_value == RESTART
    assert Preferences.load().language == "zh"


async def test_a_workspace_with_tasks_offers_no_samples(database: Path, make_app) -> None:
    app = make_app(database, person="")
    async with app.run_test(size=SIZE) as pilot:
        await asked(pilot)
        assert "sample" not in shown(app.screen)
        await pilot.press("ctrl+u", *"Dee", "enter")
        await until(pilot, lambda: "for you, Dee" in shown(app.screen))
