"""The app is laid out and styled once for each change, and looks as Textual would have it look."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.app import ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import OptionList, Static, TextArea

from cuecard.annotate.study import write_study
from cuecard.tui.app import CuecardApp, CuecardScreen
from cuecard.tui.drawing import Horizontal, KeptStyles, UniformLines, VerticalScroll
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.dialogs import ChoiceDialog
from cuecard.tui.screens.task.fields import FieldRow, Form
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.services import Services
from cuecard.tui.widgets.inputs import TextEditor
from steady_app import BareApp, SteadyApp
from tui_rooms import until

LONG = "A sentence that is to be longer than one line of the screen that it stands on. " * 3


def other_rules(app: CuecardApp) -> list[str]:
    """Widgets and their parts for which Textual's own way finds other rules than those that hold."""
    kept: Any = app.stylesheet
    plain = Stylesheet(variables=kept._variables)
    plain.source = dict(kept.source)
    plain.parse()
    wrong: list[str] = []
    for screen in app.screen_stack:
        for node in screen.walk_children(with_self=True):
            parts = {name: dict(each.base._rules) for name, each in node._component_styles.items()}
            held, flags = dict(node.styles.base._rules), told(node)
            plain.apply(node)
            found = {name: dict(each.base._rules) for name, each in node._component_styles.items()}
            if (held, flags, parts) != (dict(node.styles.base._rules), told(node), found):
                wrong.append(f"{node!r}")
    return wrong


def told(node: DOMNode) -> list[bool]:
    return [
        node._has_hover_style,
        node._has_focus_within,
        node._has_order_style,
        node._has_odd_or_even,
    ]


async def test_rules_that_are_kept_are_those_that_textual_finds(tmp_path: Any) -> None:
    write_study(tmp_path / "study.db")
    app = SteadyApp(Services(f"sqlite:///{tmp_path / 'study.db'}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        assert isinstance(app.stylesheet, KeptStyles)
        for mode, keys in (
            ("tasks", ("g", "enter", "f4", "f4", "enter", "tab")),
            ("settings", ("tab", "tab")),
            ("runs", ("g", "down", "enter", "v", "s", "down")),
            ("home", ("ctrl+f", "t", "h")),
        ):
            app.action_go(mode)
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
            await pilot.pause(0.3)
            assert other_rules(app) == []
        app.theme = "textual-light"
        await pilot.pause(0.3)
        assert other_rules(app) == []


class Restyled(SteadyApp):
    """Counts how often the rules of all widgets are looked up again."""

    restyled = 0

    def refresh_css(self, animate: bool = True) -> None:
        self.restyled += 1
        super().refresh_css(animate)


async def test_a_place_that_is_shown_first_leaves_the_rules_of_others(tmp_path: Any) -> None:
    write_study(tmp_path / "study.db")
    app = Restyled(Services(f"sqlite:///{tmp_path / 'study.db'}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        before = app.restyled
        for place in "123456":
            await pilot.press(place)
        assert app.restyled == before
        app.theme = "textual-light"
        await pilot.pause()
        assert app.restyled == before + 1
        await pilot.press("2")  # styled as of another theme
        assert app.restyled == before + 2


async def test_what_others_stand_on_looks_as_textual_would_draw_it(tmp_path: Any) -> None:
    write_study(tmp_path / "study.db")
    app = SteadyApp(Services(f"sqlite:///{tmp_path / 'study.db'}"), "Ana", Preferences())
    seen: set[str] = set()
    async with app.run_test(size=(120, 40)) as pilot:
        for mode, keys in (("tasks", ("g", "enter", "f4", "f4")), ("runs", ("g", "enter", "h"))):
            app.action_go(mode)
            for key in keys:
                await pilot.press(key)
            for widget in app.screen.walk_children(Widget, with_self=True):
                if isinstance(widget, UniformLines) and widget.size:
                    whole = widget.outer_size.region
                    ours, theirs = widget.render_lines(whole), Widget.render_lines(widget, whole)
                    assert [list(line) for line in ours] == [list(line) for line in theirs]
                    seen.add(type(widget).__name__)
    assert {"Vertical", "Form", "FieldRow", "TaskScreen", "ChainTrial"} <= seen


class ComparisonOutcome(BareApp):
    """Counts frames."""

    frames = 0

    def _display(self, screen: Any, renderable: Any) -> None:
        self.frames += renderable is not None
        super()._display(screen, renderable)


async def test_what_changes_with_its_size_is_painted_once() -> None:
    app = ComparisonOutcome(Services("sqlite://"), "Ana", Preferences())
    async with app.run_test(size=(60, 30)) as pilot:
        screen = Hidden()
        await app.push_screen(screen)
        await pilot.pause(0.2)
        app.frames = 0
        screen.query_one(VerticalScroll).display = True
        await pilot.pause()
        await pilot.pause(0.2)
        assert app.frames == 1
        app.frames = 0
        screen.refresh(layout=True)
        await pilot.pause()
        await pilot.pause(0.2)
        assert app.frames == 1


@pytest.mark.parametrize("place", ["home", "settings"])
async def test_a_place_with_nothing_new_is_laid_out_once_when_it_is_come_back_to(
    tmp_path: Any, place: str
) -> None:
    write_study(tmp_path / "study.db")
    app = SteadyApp(Services(f"sqlite:///{tmp_path / 'study.db'}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        app.action_go(place)
        await pilot.pause(0.6)
        await pilot.pause()
        screen = app.screen
        app.action_go("verdicts")
        await pilot.pause()
        laid_out: list[Any] = []
        screen.screen_layout_refresh_signal.subscribe(screen, laid_out.append)
        app.action_go(place)
        await until(pilot, lambda: app.screen is screen)
        await pilot.pause(0.3)
        assert len(laid_out) <= 1


async def test_lines_of_a_list_are_broken_by_the_room_beside_its_scrollbar(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(40, 20)) as pilot:
        screen: CuecardScreen[None] = CuecardScreen()
        await app_with_samples.push_screen(screen)
        for room in range(34, 42):  # with and without the borders, the padding and the scrollbar
            told = OptionList(*(f"{'a' * (room - 8)} end {n}" for n in range(8)))
            told.styles.height = 6
            await screen.mount(told)
            await pilot.pause()
            await pilot.pause(0.1)
            width = told.scrollable_content_region.width
            assert told.show_vertical_scrollbar
            height = told.get_content_height(screen.size, screen.size, width)
            assert told.virtual_size.height == height
            await told.remove()


class Hidden(CuecardScreen[None]):
    def compose(self) -> Any:
        with VerticalScroll() as pane:
            pane.display = False
            yield TextEditor(LONG)


async def test_what_is_shown_is_as_high_as_its_text(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(60, 30)) as pilot:
        screen = Hidden()
        await app_with_samples.push_screen(screen)
        await pilot.pause()
        area = screen.query_one(TextArea)
        area.styles.height = "auto"
        screen.refresh()
        await pilot.pause(0.2)
        screen.query_one(VerticalScroll).display = True
        await until(pilot, lambda: area.size.height > 0)
        await pilot.pause()
        assert area.content_size.height == area.wrapped_document.height > 3


async def test_a_text_is_as_high_as_what_is_typed(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(60, 30)) as pilot:
        screen = Hidden()
        await app_with_samples.push_screen(screen)
        screen.query_one(VerticalScroll).display = True
        area = screen.query_one(TextArea)
        area.styles.height = "auto"
        await pilot.pause()
        before = area.content_size.height
        area.insert("\n\nmore")
        await pilot.pause()
        assert area.content_size.height == before + 2


async def test_tabs_are_made_ahead_in_pieces_unless_somebody_types(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        screen = TaskScreen("checkpoints-highest-mountain")
        await app.push_screen(screen)
        await until(pilot, lambda: screen.loaded and screen.editor.pane)
        editor = screen.editor
        await editor.open("persona")
        assert not panes(screen, "steps")
        await until(pilot, lambda: len(panes(screen, "steps")) > 0)
        steps = panes(screen, "steps")[0]
        assert steps.ahead
        assert not steps.display
        await until(pilot, lambda: len(steps.query(FieldRow)) == len(steps.query_one(Form)._specs))
        await editor.open("steps")
        assert steps.display
        assert steps.query_one(TextEditor).text

        # What was begun is made whole when it is asked for.
        made = await editor._pane_of("chain", ahead=True)
        assert not made.query(FieldRow)
        await editor.open("chain")
        assert len(made.query(FieldRow)) == len(made.query_one(Form)._specs)


async def test_idle_is_when_no_key_came_for_a_while(app_with_samples: HoldsKeys) -> None:
    app: Any = app_with_samples
    async with app.run_test() as pilot:
        await pilot.pause()
        app.post_message(events.Key("down", None))
        typed = app._typed_at
        await app.idle(0.1)
        assert app._typed_at == typed
        assert not app._held


def panes(screen: TaskScreen, tab: str) -> list[TaskPane]:
    return [pane for pane in screen.query(TaskPane) if pane.id == tab]


async def test_what_stands_behind_a_dialog_is_painted_with_it() -> None:
    app = ComparisonOutcome(Services("sqlite://"), "Ana", Preferences())
    async with app.run_test(size=(60, 30)) as pilot:
        await app.push_screen(ChoiceDialog("Which?", "Of two", [("a", "One", "a")]))
        await pilot.pause(0.3)
        behind: Any = app.screen_stack[-2]
        behind._dirty_widgets.add(behind)  # as its grid is when it loses the focus
        app.screen.refresh()
        await pilot.pause(0.3)
        assert not behind._dirty_widgets
        before = app.frames
        behind.refresh()
        await pilot.pause(0.3)
        assert app.frames == before + 1


SAID = "已提交评审（现在不可用）。"


class Letters(CuecardScreen):
    """Lines of many narrow widgets, and words over them."""

    DEFAULT_CSS = """
    Letters Static { width: 1; height: 30 }
    Letters #over { width: 40; height: 3; overlay: screen }
    """

    def __init__(self, said: str) -> None:
        super().__init__()
        self._said = said

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(self._said, id="over")
            for _ in range(60):
                yield Static("x")


@pytest.mark.parametrize("said", [SAID, f".{SAID}"])
async def test_wide_signs_in_front_are_whole_whatever_stands_behind(said: str) -> None:
    app = BareApp(Services("sqlite://"), "Ana", Preferences())
    async with app.run_test(size=(60, 30)) as pilot:
        await app.push_screen(Letters(said))
        await pilot.pause()
        compositor = app.screen._compositor
        assert any(said in strip.text for strip in compositor.render_strips())
        # Of what is painted anew, too, half a sign is none.
        x, y, _width, height = app.screen.query_one("#over").region
        for width in (8, 9):
            compositor._dirty_regions = {Region(x, y, width, height)}
            update = compositor.render_partial_update()
            assert update is not None
            assert said in update.render_segments(app.console)
