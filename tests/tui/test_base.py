"""What every screen shares."""

from __future__ import annotations

import asyncio
import gc

import pytest
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardApp, CuecardScreen
from cuecard.tui.screens.dialogs import ConfirmDialog


async def test_a_screen_that_was_left_cannot_take_another_with_it(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test() as pilot:
        await pilot.pause()
        home = app.screen
        below, above = ConfirmDialog("a?", "", "Yes"), ConfirmDialog("b?", "", "Yes")
        await app.push_screen(below)
        await app.push_screen(above)
        below.dismiss(True)
        await pilot.pause()
        assert app.screen is home
        for dialog in (above, below):
            dialog.dismiss(True)
        await pilot.pause()
        assert app.screen is home


class SlowToClose(Static):
    async def on_unmount(self) -> None:
        await asyncio.sleep(0.2)


class AsksItsList(CuecardScreen[None]):
    BINDINGS = keys(Key("test.open", "o", "open", "Open", "Open it"))

    def compose(self) -> ComposeResult:
        yield Static(id="list")
        yield Vertical(SlowToClose())
        yield KeyBar()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return self.query_one("#list").display

    def action_open(self) -> None:
        """Nothing."""


async def test_an_app_that_closes_asks_no_screen_for_its_keys(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test() as pilot:
        screen = AsksItsList()
        await app_with_samples.push_screen(screen)
        await pilot.pause()
        screen.refresh_bindings()


@pytest.mark.parametrize("paused", [True, False])
async def test_garbage_is_collected_again_where_the_start_had_paused_it(
    app_with_samples: CuecardApp, paused: bool
) -> None:
    before = gc.get_threshold()
    if paused:
        gc.disable()
    try:
        async with app_with_samples.run_test() as pilot:
            await pilot.pause(2.5)
            assert gc.isenabled()
            # Elsewhere the settings are those of whoever runs the app.
            assert (gc.get_threshold() == before) is not paused
    finally:
        gc.enable()
        gc.set_threshold(*before)
