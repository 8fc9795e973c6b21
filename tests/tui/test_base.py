"""What every screen shares."""

from __future__ import annotations

from cuecard.tui.app import CuecardApp
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
