"""What every screen shares."""

from __future__ import annotations

import asyncio
import gc

import pytest
from rich.color import Color
from rich.style import Style
from textual.app import ComposeResult
from textual.events import Paste
from textual.widgets import Button, Input, Static
from textual.widgets._toast import Toast

from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardApp, CuecardScreen, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.preferences import OURS
from cuecard.tui.screens.dialogs import AskLine, ChoiceDialog, ConfirmDialog, TextDialog
from picture_contrast import GROUNDS, contrast
from tui_rooms import until


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


class Leaving(CuecardScreen[None]):
    """Left by Escape while something is read, which then looks for a widget."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("here")

    @guarded("reading")
    async def read(self) -> None:
        self.dismiss()
        for _turn in range(500):
            await asyncio.sleep(0.01)
            if not self.query(Static):
                break
        self.query_one(Static)


async def test_what_a_screen_that_was_left_does_not_find_is_no_error(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test() as pilot:
        screen = Leaving()
        await app.push_screen(screen)
        worker = screen.read()
        await until(pilot, lambda: worker.is_finished)
        assert not list(app._notifications)  # pyright: ignore


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_toast_leaves_free_where_one_types(
    app_with_samples: CuecardApp, size: tuple[int, int]
) -> None:
    """At the top, in a filter, and in a dialog."""
    app = app_with_samples
    message = "What happened, and " + "more of it. " * 12
    async with app.run_test(size=size, notifications=True) as pilot:
        for keys_ in (("2", "slash"), ("ctrl+f",)):
            await pilot.press(*keys_)
            await pilot.pause(0.3)
            app.notify(message, title="Not saved", markup=False)
            await until(pilot, lambda: bool(app.screen.query(Toast)))
            await pilot.pause()
            toasts = list(app.screen.query(Toast))
            focused = app.screen.focused
            assert isinstance(focused, Input)
            y = focused.cursor_screen_offset.y
            assert not any(each.region.y <= y < each.region.bottom for each in toasts)
            foot = app.screen.query_one(KeyBar).region.y if app.screen.query(KeyBar) else size[1]
            assert all(each.region.bottom <= foot for each in toasts)
            app.clear_notifications()
            await pilot.pause()


async def test_lines_that_are_pasted_into_one_come_one_behind_the_other(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test() as pilot:
        await app.push_screen(AskLine("?", "", button="OK"))
        line = app.screen.query_one(Input)
        line.post_message(Paste("a b\rc\r\rd\r"))
        await until(pilot, lambda: line.value == "a b c d")


class AtTheBottom(CuecardScreen[None]):
    def compose(self) -> ComposeResult:
        yield Vertical()
        yield Input(compact=True)
        yield KeyBar()


async def test_a_toast_goes_where_nothing_is_typed_also_when_the_focus_moves(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await app.push_screen(AtTheBottom())
        await pilot.pause()
        app.tell("Recorded.")
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        await pilot.pause()
        assert app.screen.query_one(Toast).region.y == 0
        await app.screen.mount(high := Input(compact=True), before=0)
        high.focus()
        await until(pilot, lambda: app.screen.query_one(Toast).region.y == 22)


async def test_a_toast_leaves_the_first_lines_free_where_nothing_has_the_focus(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await app.push_screen(AtTheBottom())
        app.screen.set_focus(None)
        app.notify("The keymap has a line that says nothing.")
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        await until(pilot, lambda: app.screen.query_one(Toast).region.y == 22)


async def test_the_key_that_accepts_says_yes_and_takes_what_is_under_the_cursor(
    app_with_samples: CuecardApp,
) -> None:
    app, answers = app_with_samples, list[object]()
    async with app.run_test() as pilot:
        app.push_screen(ConfirmDialog("Sure?", "", "Yes"), answers.append)
        await pilot.pause()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: answers == [True])
        choice = ChoiceDialog("Which?", "", [("a", "", "One"), ("b", "", "Two")])
        app.push_screen(choice, answers.append)
        await pilot.pause()
        await pilot.press("down", "ctrl+s")
        await until(pilot, lambda: answers == [True, "b"])


class SlowToClose(Static):
    async def on_unmount(self) -> None:
        await asyncio.sleep(0.2)


class AsksItsList(CuecardScreen[None]):
    BINDINGS = keys(Key("test.open", Means.OUTSIDE, "open", "Open", "Open it"))

    def compose(self) -> ComposeResult:
        yield Static(id="list")
        yield Vertical(SlowToClose())
        yield KeyBar()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return self.query_one("#list").display

    def action_open(self) -> None:
        """Nothing."""


async def test_a_notice_ends_at_the_edge(app_with_samples: CuecardApp) -> None:
    """Else the last letters of what it covers are read as its own."""
    app = app_with_samples
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("Noted.")
        await until(pilot, lambda: app.screen.query(Toast))
        await pilot.pause()
        assert app.screen.query_one(Toast).region.right == 80


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


async def test_no_button_is_as_striking_as_the_one_with_the_focus(
    app_with_samples: CuecardApp,
) -> None:
    """In every theme of ours, told by more than colour; also where a field has the focus."""
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        for dialog in (ConfirmDialog("Leave?", "", "Leave"), TextDialog("Words")):
            await app.push_screen(dialog)
            for theme in OURS:
                app.theme = theme.name
                await pilot.pause()
                ground = GROUNDS["dark" if theme.dark else "light"]
                for button in dialog.query(Button):
                    look = next(each.style for each in button.render_line(0) if each.text.strip())
                    assert look is not None
                    fill = (look.color if look.reverse else look.bgcolor) or Color.default()
                    seen_as = fill.get_truecolor(ground, foreground=bool(look.reverse))
                    surface = dialog.query_one(".dialog").rich_style.bgcolor
                    patch = Style(color=Color.from_triplet(seen_as), bgcolor=surface)
                    ratio = contrast(patch, ground)
                    seen = f"{theme.name}: {button.label} {look} {ratio}"
                    assert (ratio > 3) == button.has_focus == bool(look.reverse), seen
            dialog.dismiss()
