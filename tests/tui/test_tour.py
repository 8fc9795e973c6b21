"""The tour of the example study: from an empty workspace through every step, left and taken up again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.annotate.study import STUDY_NAME, write_study
from cuecard.core.i18n import set_language
from cuecard.tui.app import OPEN, CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.tour import STEPS, TourPanel
from steady_app import SteadyApp
from tui_rooms import shown, until

SIZE = (80, 24)
KEYS = (("2",), ("enter",), ("escape", "3"), ("enter",), ("v", "t"), ("enter",), ("escape", "w"), ("escape", "5"), ("enter",), ("escape", "full_stop", "a"), ("escape", "4"), ("enter",))  # fmt: skip
"""What the steps say, one after the other."""


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


@pytest.fixture
def study(home: Path) -> Path:
    return write_study(home / STUDY_NAME)


def step_of(app: CuecardApp) -> int:
    return app.tour.at if app.tour is not None else -1


async def test_a_key_on_home_opens_the_study_beside_an_empty_workspace(
    home: Path, make_app
) -> None:
    app = make_app(home / "new.db")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "The example study" in shown(app.screen))
        await pilot.press("T")
        await until(pilot, lambda: app.return_value)
    assert app.return_value == f"{OPEN}{home / STUDY_NAME}"
    assert (home / STUDY_NAME).stat().st_size > 1_000_000


async def test_doing_what_it_says_leads_through_the_whole_tour(study: Path, make_app) -> None:
    app = make_app(study, person="Mai")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "This is the example study" in shown(app.screen))
        await pilot.press("T")
        assert len(KEYS) == len(STEPS) - 1
        for at, pressed in enumerate(KEYS):
            await until(pilot, lambda at=at: f"Tour {at + 1}/{len(STEPS)}" in shown(app.screen))
            panel = app.screen.query_one(TourPanel)
            assert "?" not in app.tour.words()[2]
            assert "<" not in "".join(app.tour.words())
            # It stands above the footer, and covers neither this nor the screen.
            assert panel.region.bottom == SIZE[1] - 1
            assert panel.size.height <= 4
            for key in pressed:
                await pilot.press(key)
            await until(pilot, lambda at=at: step_of(app) == at + 1)
        await until(pilot, lambda: f"Tour {len(STEPS)}/{len(STEPS)}" in shown(app.screen))
        await pilot.press("ctrl+w")
        assert not app.tour.on
        assert not app.screen.query_one(TourPanel).display


async def test_it_is_left_by_one_key_and_goes_on_from_there(study: Path, make_app) -> None:
    app = make_app(study, person="Mai")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "This is the example study" in shown(app.screen))
        await pilot.press("T", "ctrl+w")
        assert step_of(app) == 1
        await pilot.press("ctrl+backslash")
        await until(pilot, lambda: "Tour 2" not in shown(app.screen))
        await pilot.press("2", "1")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        assert step_of(app) == 1
        assert not app.tour.on
    assert Preferences.load().tour == 1
    app = make_app(study, person="Mai")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "This is the example study" in shown(app.screen))
        labels = [command.title for command in app.get_system_commands(app.screen)]
        assert "Tour" in labels
        app.preferences = Preferences.load()
        app.take_tour()
        await until(pilot, lambda: "Tour 2/" in shown(app.screen))


async def test_who_only_goes_on_is_told_how_to_get_there(study: Path, make_app) -> None:
    app = make_app(study, person="Mai")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "This is the example study" in shown(app.screen))
        await pilot.press("T")
        await until(pilot, lambda: "Tour 1/" in shown(app.screen))
        await pilot.press("ctrl+w")
        await until(pilot, lambda: "Tour 2/" in shown(app.screen))
        assert "▸ 2 opens the tasks." in shown(app.screen)
        await pilot.press("2")
        await until(pilot, lambda: "▸ Enter opens the one under the cursor." in shown(app.screen))
        assert step_of(app) == 1


def test_every_step_is_said_in_chinese_too(home: Path) -> None:
    from cuecard.core.i18n import _

    set_language("zh")
    assert all(_(text) != text for step in STEPS for text in (step.sees, step.press))
