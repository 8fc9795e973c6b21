"""Lists of the kit: by themselves in a small app, and the example of docs/lists.md in the real one."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Input, Static

from cuecard.annotate.review.workflow import retire
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp, CuecardScreen
from cuecard.tui.drawing import DrawnOnce
from cuecard.tui.grid.cells import PADDING
from cuecard.tui.kit import list_screens
from cuecard.tui.kit.columns import Column, widths_of
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.preferences import DARK
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Pane, PlainText
from tui_rooms import shown, until

EXAMPLE = Path(__file__).parents[3] / "docs" / "lists_example.py"


@dataclass(frozen=True)
class Tree:
    name: str
    height: float | None
    note: str = ""


TREES = [
    Tree("trial 9", 3.5, "a note that is much longer than the room there is for it on this screen"),
    Tree("trial 10", None),
    Tree("Ash", 20, "short"),
    Tree("京都の木", 4),
]
COLUMNS = (
    Column[Tree]("Name", lambda tree: tree.name, grow=2, raw=True),
    Column[Tree]("Height", lambda tree: "" if tree.height is None else f"{tree.height:,.1f}", right=True, raw=True),
    Column[Tree]("Note", lambda tree: tree.note, grow=1, raw=True),
)  # fmt: skip


class PayloadCache(App[None]):
    def __init__(self, rows: list[Tree]) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self.rows = rows
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield ListView(COLUMNS, lambda tree: tree.name, marking=True)

    def on_mount(self) -> None:
        self.view.load(self.rows)
        self.view.focus()

    @property
    def view(self) -> ListView[Tree]:
        return self.query_one(ListView)

    @property
    def names(self) -> list[str]:
        return [tree.name for tree in self.view.rows]

    @property
    def told(self) -> str:
        return str(self.query_one(".told", Static).content)

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        self.heard.append(event.view.row.name)


async def test_a_cell_that_does_not_fit_is_told_in_full_below() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert app.told == f"Note: {TREES[0].note}"
        assert TREES[0].note not in shown(app.screen).splitlines()[1]
        height = app.view.grid.size.height
        await pilot.press("down")
        assert app.told == ""
        # The list does not jump when the next row has nothing to tell.
        assert app.view.grid.size.height == height
        await pilot.resize_terminal(140, 12)
        await pilot.pause()
        await pilot.press("up")
        assert app.told == ""
        assert TREES[0].note in shown(app.screen)


async def test_any_column_sorts_both_ways_visibly_and_what_says_nothing_comes_last() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("s")
        assert app.names == ["Ash", "trial 9", "trial 10", "京都の木"]
        assert "▲ Name" in shown(app.screen)
        assert app.view.row == TREES[0]
        await pilot.press("s")
        assert app.names == ["trial 9", "京都の木", "Ash", "trial 10"]
        await pilot.press("S")
        assert app.names == ["Ash", "京都の木", "trial 9", "trial 10"]
        assert "▼ Height" in shown(app.screen)
        await pilot.press("s", "s")
        assert app.names == [tree.name for tree in TREES]
        assert "▲" not in shown(app.screen)
        await pilot.click(ListView, offset=(3, 0))
        assert app.names[0] == "Ash"
        await pilot.click(ListView, offset=(3, 0))
        assert app.names[0] == "京都の木"


async def test_the_filter_keeps_lines_with_all_words_and_escape_takes_it_away() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("/", *"TRIAL 1")
        assert app.names == ["trial 10"]
        assert app.told.startswith("/ TRIAL 1 · 1 of 4 lines")
        assert "esc" not in app.told
        await pilot.press("z")
        assert app.told == "/ TRIAL 1z · 0 of 4 lines · esc shows all again"
        await pilot.press("backspace")
        await pilot.press("enter")
        assert app.view.grid.has_focus
        assert not app.query_one(Input).display
        app.view.load([*TREES, Tree("trial 11", 1)])
        assert app.names == ["trial 10", "trial 11"]
        await pilot.press("escape")
        assert len(app.names) == 5
        assert app.view.row == TREES[1]
        assert app.query_one(Input).value == ""


async def test_cursor_and_marks_stay_with_their_rows_when_others_come_and_go() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("space", "down", "down", "space", "up")
        assert app.view.row == TREES[1]
        assert app.view.chosen == [TREES[0], TREES[2]]
        await until(pilot, lambda: "2 marked" in shown(app.screen))
        new = [Tree("new", 1), TREES[2], TREES[1], Tree("last", 2)]
        app.view.load(new)
        await pilot.pause()
        assert app.view.row == TREES[1]
        assert app.view.chosen == [TREES[2]]
        # Its row is gone: the cursor stays on its line.
        app.view.load([new[0], new[1], new[3]])
        assert app.view.row == new[3]
        assert app.view.chosen == [TREES[2]]
        app.view.load([])
        assert (app.view.row, app.view.chosen) == (None, [])


async def test_the_mouse_selects_opens_scrolls_and_widens() -> None:
    app = PayloadCache([Tree(f"tree {n:03}", n, "a note " * 30) for n in range(200)])
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.click(ListView, offset=(3, 3))
        assert (app.view.row, app.heard) == (app.rows[2], [])
        top = app.view.grid.scroll_y
        await pilot._post_mouse_events([events.MouseScrollDown], ListView, offset=(3, 3), button=0)
        await until(pilot, lambda: app.view.grid.scroll_y > top)
        assert app.view.row == app.rows[2]
        head = shown(app.screen).split("\n")[0]
        edge = head.index("Height")
        region = app.view.grid.cell_region(int(app.view.grid.scroll_y), 0)
        await pilot.mouse_down(ListView, offset=(region.right, 0))
        await pilot.hover(ListView, offset=(region.right + 7, 0))
        await pilot.mouse_up(ListView, offset=(region.right + 7, 0))
        await until(pilot, lambda: shown(app.screen).split("\n")[0].index("Height") == edge + 7)
        assert "▲" not in shown(app.screen)


async def test_a_drag_sorts_nothing_and_selects_the_text_of_rows() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        height = shown(app.screen).split("\n")[0].index("Height")

        async def drag(start: tuple[int, int], end: tuple[int, int]) -> None:
            await pilot.mouse_down(ListView, offset=start)
            await pilot.hover(ListView, offset=end)
            await pilot.mouse_up(ListView, offset=end)
            await pilot._post_mouse_events([events.Click], ListView, offset=end, button=1)

        await drag((height, 0), (3, 0))
        assert "▲" not in shown(app.screen)
        assert app.names == [tree.name for tree in TREES]
        await drag((0, 2), (0, 4))
        assert app.view.row == TREES[0]
        selected = app.screen.get_selected_text() or ""
        for line, tree in zip(selected.split("\n"), TREES[1:3], strict=False):
            assert line.strip().startswith(tree.name)
        strip = app.view.grid.render_lines(app.view.grid.size.region)[2]
        inks = [s.style for s in strip if TREES[1].name in s.text and s.style]
        assert inks[0].color != inks[0].bgcolor != app.view.grid.rich_style.bgcolor
        await pilot.click(app.view.grid, offset=(3, 3), times=2)
        assert app.heard == ["Ash"]
        assert not app.screen.get_selected_text()


async def test_enter_is_left_to_others_and_a_double_click_opens() -> None:
    app = PayloadCache(TREES)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter")
        assert app.heard == []
        await pilot.click(ListView, offset=(3, 3), times=2)
        assert app.heard == ["Ash"]


async def test_a_hundred_thousand_rows_are_drawn_a_page_at_a_time() -> None:
    calls = 0

    def named(tree: Tree) -> str:
        nonlocal calls
        calls += 1
        return tree.name

    rows = [Tree(f"tree {n}", n) for n in range(100_000)]
    app = PayloadCache([])
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.columns = (replace(COLUMNS[0], get=named), *COLUMNS[1:])
        view.load(rows)
        await pilot.pause()
        assert calls < 400
        await pilot.press("pagedown", "ctrl+end")
        assert calls < 500
        assert view.row == rows[-1]


_TITLES = st.text("ab", max_size=9)
_COLUMN = st.builds(
    Column[Any],
    _TITLES,
    st.just(str),
    grow=st.integers(0, 3),
    least=st.integers(1, 20),
    spare=st.integers(0, 3),
    wide=st.sampled_from([0, 0, 13]),
    raw=st.just(True),
)


@given(
    st.lists(st.tuples(_COLUMN, st.integers(0, 90)), min_size=1, max_size=9), st.integers(1, 200)
)
def test_no_column_is_cut_while_another_says_nothing_or_has_room_to_spare(
    given_: list[tuple[Column[Any], int]], room: int
) -> None:
    columns = [column for column, _content in given_]
    contents = {i: content for i, (_column, content) in enumerate(given_)}
    widths = widths_of(columns, room, contents)
    contents = {i: max(column.wide, contents[i]) for i, column in enumerate(columns)}
    wants = {
        i: max(cell_len(column.label), contents[i] if column.grow else min(contents[i], 24))
        for i, column in enumerate(columns)
    }
    cut = {i for i in widths if widths[i] < wants[i]}
    total = sum(widths.values()) + 2 * PADDING * len(widths)
    assert all(columns[i].grow for i in cut)
    if cut:
        assert all(widths[i] <= wants[i] for i in widths)
        assert total >= room
    for out in contents.keys() - widths.keys():
        assert columns[out].spare or not contents[out]
    if total > room:
        assert all(contents[i] and not columns[i].spare for i in widths)
    # The more important one is not cut below forty while a lesser one has more than its least.
    for i in cut:
        for j in widths:
            if (
                columns[j].grow
                and columns[j].grow < columns[i].grow
                and widths[i] < min(wants[i], 40)
            ):
                assert widths[j] <= columns[j].least


def example() -> type[ListScreen[Any]]:
    spec = importlib.util.spec_from_file_location("lists_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TaskShelf


async def test_the_example_is_a_whole_screen_in_eighty_lines(
    app_with_samples: CuecardApp, database: Path
) -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 80
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        screen = example()()
        app.push_screen(screen)
        await until(pilot, lambda: "8 tasks" in shown(app.screen))
        assert screen.view.grid.has_focus
        await pilot.press("slash", *"espresso", "enter")
        await until(pilot, lambda: len(screen.view.rows) == 1)
        assert "espresso · Ana" in shown(app.screen)
        await pilot.press("escape", "ctrl+home", "space", "down", "space", "d")
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: "6 tasks" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: type(app.screen).__name__ == "TaskScreen")


async def test_what_others_save_is_listed_within_two_seconds_and_the_cursor_stays(
    app_with_samples: CuecardApp, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list_screens.LOOK < 2
    monkeypatch.setattr(list_screens, "LOOK", 0.05)
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        screen = example()()
        app.push_screen(screen)
        await until(pilot, lambda: "8 tasks" in shown(app.screen))
        await pilot.press("down", "down", "down")
        row, first = screen.row, screen.view.rows[0]
        read = 0
        original = screen.read

        async def counted() -> Any:
            nonlocal read
            read += 1
            return await original()

        screen.read = counted  # pyright: ignore
        await pilot.pause(0.3)
        # Nothing was changed, so nothing was read.
        assert read == 0
        with Workspace.open(database) as other:
            retire(other, first.id, "Ana", "old")
        await until(pilot, lambda: "7 tasks" in shown(app.screen))
        assert (screen.row, read) == (row, 1)
        # Behind a dialog the list is seen, behind another screen it is not.
        app.push_screen(ConfirmDialog("Sure?", "", "Yes"))
        with Workspace.open(database) as other:
            retire(other, screen.view.rows[0].id, "Ana", "old")
        await until(pilot, lambda: len(screen.view.rows) == 6)
        await pilot.press("escape")
        app.push_screen(CuecardScreen[None]())
        await pilot.pause(0.1)
        read = 0
        with Workspace.open(database) as other:
            retire(other, screen.view.rows[0].id, "Ana", "old")
        await pilot.pause(0.3)
        assert read == 0
        app.pop_screen()
        await until(pilot, lambda: "5 tasks" in shown(app.screen))


async def test_a_text_of_another_height_is_laid_out_once_until_a_scrollbar_comes() -> None:
    class PromptUpdates(DrawnOnce, Screen[None]):
        def compose(self) -> ComposeResult:
            with Pane():
                yield PlainText("one")

    class Bare(App[None]):
        def get_default_screen(self) -> PromptUpdates:
            return PromptUpdates()

    app, layouts = Bare(), 0

    def count(_screen: object) -> None:
        nonlocal layouts
        layouts += 1

    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        text = app.query_one(PlainText)
        await until(pilot, lambda: text.size.height == 1)
        await pilot.pause()
        app.screen.screen_layout_refresh_signal.subscribe(app, count, immediate=True)
        text.load("one\ntwo\nthree")
        await until(pilot, lambda: text.size.height == 3)
        assert layouts == 1
        text.load("one\ntwo\nthree")
        await pilot.pause()
        assert layouts == 1
        text.load("\n".join("abcdefghijklmnop"))
        await until(pilot, lambda: app.query_one(Pane).max_scroll_y == 6)
        # One for the text, and for a scrollbar as many as its two steps may fall into.
        assert layouts <= 4
        assert text.size == (38, 16)


class SlowShelf(ListScreen[Tree]):
    """Reads when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()

    def columns(self) -> tuple[Column[Tree], ...]:
        return COLUMNS

    def key(self, row: Tree) -> str:
        return row.name

    async def read(self) -> list[Tree]:
        await self.let.wait()
        return TREES

    def empty(self) -> EmptyState:
        return EmptyState("No trees", "")


async def test_a_screen_that_is_still_to_be_read_says_so(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        screen = SlowShelf()
        await app.push_screen(screen)
        await until(pilot, lambda: "Reading…" in shown(screen))
        screen.let.set()
        await until(pilot, lambda: "京都の木" in shown(screen))
        assert "Reading…" not in shown(screen)
