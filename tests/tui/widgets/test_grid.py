"""The grid and the editable grid as a person uses them, in a small app of their own."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot

from cuecard.tui.grid.cells import GridCell, GridColumn, ListSource
from cuecard.tui.grid.editable_grid import EditableGrid
from cuecard.tui.grid.grid import Grid
from cuecard.tui.preferences import DARK
from cuecard.tui.widgets.inputs import FittedColumn, ListTable

COLUMNS = (
    GridColumn("Head", 10, grow=1),
    GridColumn("Relation", 10),
    GridColumn("Tail", 10, grow=1),
    GridColumn("n", 3, right=True, editable=False),
)
SIZE = (60, 12)


class Themed(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self.heard: list[tuple[object, ...]] = []

    def lines(self) -> list[str]:
        return ["".join(s.text for s in strip) for strip in self.screen._compositor.render_strips()]


class Many:
    """Made-up rows that remember which of them were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: set[int] = set()

    def __len__(self) -> int:
        return self.count

    def cells(self, row: int) -> Sequence[str | GridCell | Text]:
        self.asked.add(row)
        return (f"head {row}", GridCell("[b]rel[/b]", "muted"), Text(f"京都 {row}"), str(row))

    def gutter(self, row: int) -> GridCell:
        return GridCell("!" if row == 9_999 else "", "warn")


class GridApp(Themed):
    def compose(self) -> ComposeResult:
        yield Grid(COLUMNS, marking=True, numbered=True)
        yield ListTable((FittedColumn("", 5), FittedColumn("", 4, grow=1)))

    def on_mount(self) -> None:
        self.query_one(ListTable).styles.height = 3
        self.query_one(ListTable).fill([("one", "x"), ("two", "y" * 90)], cursor=1)

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        self.heard.append(("moved", event.row, event.column))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        self.heard.append(("chosen", event.row))

    def on_grid_marks_changed(self, event: Grid.MarksChanged) -> None:
        self.heard.append(("marked", *sorted(event.marked)))


async def test_ten_thousand_rows_are_walked_marked_and_chosen() -> None:
    app, source = GridApp(), Many(10_000)
    async with app.run_test(size=SIZE) as pilot:
        grid = app.query_one(Grid)
        grid.load(source)
        grid.focus()
        await pilot.pause()
        assert "▌      1  head 0" in app.lines()[1]
        await pilot.press("pagedown")
        assert "▌      9  head 8" in app.lines()[1]
        await pilot.press("down", "ctrl+end")
        assert (grid.cursor_row, app.heard[-1]) == (9_999, ("moved", 9_999, 0))
        assert "▌! 10000  head 9999" in app.lines()[8]
        assert "[b]rel[/b]" in app.lines()[8]
        assert app.lines()[8].endswith("▐")
        assert len(source.asked) < 60

        await pilot.press("space", "shift+up", "enter")
        assert app.heard[-2:] == [("marked", 9_998, 9_999), ("chosen", 9_998)]
        assert "✓" in app.lines()[7]
        grid.load(Many(9_999))
        await pilot.pause()
        assert (grid.cursor_row, grid.marked) == (9_998, {9_998})
        await pilot.press("escape", "ctrl+home")
        assert not grid.marked
        await pilot.click(grid, offset=Offset(12, 3), times=2)
        assert app.heard[-2:] == [("moved", 2, 0), ("chosen", 2)]
        assert grid.cell_region(2, 3).right == SIZE[0] - 1
        assert not grid.cell_region(500, 0)

        await pilot.mouse_down(grid, offset=Offset(SIZE[0] - 1, 8))
        await pilot.mouse_up(grid, offset=Offset(SIZE[0] - 1, 8))
        assert app.lines()[8].startswith("   9999  head 9998")
        assert app.heard[-1] == ("chosen", 2)

        table = app.query_one(ListTable)
        assert app.lines()[9].startswith("  one")
        assert app.lines()[10].startswith("▌ two")
        assert "y…" in app.lines()[10]
        table.update_row(0, ("three", "z"))
        table.focus()
        await pilot.press("enter")
        assert "three" in app.lines()[9]
        assert app.heard[-1] == ("chosen", 2)  # Enter is left to the screen
        await pilot.click(table, offset=Offset(3, 0), times=2)
        assert app.heard[-1] == ("chosen", 0)


class EditableGridApp(Themed):
    def __init__(self, rows: list[list[str]]) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        yield EditableGrid(COLUMNS)

    def on_mount(self) -> None:
        self.editable_grid.load(ListSource(self.rows))
        self.editable_grid.grid.focus()

    @property
    def editable_grid(self) -> EditableGrid:
        return self.query_one(EditableGrid)

    def begin(self, row: int, column: int) -> None:
        known = sorted({text for cells in self.rows for text in cells if text})
        self.editable_grid.begin(
            row,
            column,
            self.rows[row][column],
            candidates=known,
            hint=lambda text: "twice" if text == "Keio" else "",
        )

    def on_editable_grid_begin_asked(self, event: EditableGrid.BeginAsked) -> None:
        if event.column < 3:
            self.begin(event.row, event.column)

    def on_editable_grid_next_row_asked(self) -> None:
        self.rows.append([""] * 4)
        self.editable_grid.load(ListSource(self.rows))
        self.begin(len(self.rows) - 1, 0)

    def on_editable_grid_cell_edited(self, event: EditableGrid.CellEdited) -> None:
        self.rows[event.row][event.column] = event.text
        event.editable_grid.grid.changed(event.row)

    def on_editable_grid_cell_given_up(self, event: EditableGrid.CellGivenUp) -> None:
        self.rows[event.row][event.column] = event.text

    def on_editable_grid_cell_committed(self, event: EditableGrid.CellCommitted) -> None:
        self.heard.append((event.row, event.column, event.text))

    def on_editable_grid_pasted(self, event: EditableGrid.Pasted) -> None:
        self.heard.append(("pasted", event.row, event.column, event.text))


async def all_at_once(pilot: Pilot[None], *pressed: str) -> None:
    """Keys in one burst, as from a terminal that lagged behind: none waits for the one before."""
    driver = pilot.app._driver
    assert driver is not None
    for key in pressed:
        for char in key if key.startswith("'") else [key]:
            if char != "'":
                name = "space" if char == " " else char
                driver.send_message(events.Key(name, char if len(char) == 1 else None))
    for _ in range(8):
        await pilot.pause()


async def test_rows_are_typed_as_fast_as_keys_come() -> None:
    app = EditableGridApp([["Keio", "part of", "Tokyo", "1"]])
    async with app.run_test(size=SIZE) as pilot:
        await all_at_once(
            pilot, "enter", "tab", "'located in", "enter",
            "'京都大学", "tab", "'founded in", "backspace", "backspace", "'by", "tab", "'1897", "tab",
            "'Tok", "down", "tab", "'xy", "escape", "enter", "enter", "'z",
        )  # fmt: skip
        assert app.rows == [
            ["Keio", "located in", "Tokyo", "1"],
            ["京都大学", "founded by", "1897", ""],
            ["Tokyo", "", "", ""],
            ["z", "", "", ""],
        ]
        assert app.editable_grid.editing == (3, 0)
        assert (0, 0, "Keio") not in app.heard  # taken as it was
        await all_at_once(pilot, "escape", "enter", "enter")
        assert (len(app.rows), app.editable_grid.editing) == (
            4,
            None,
        )  # no empty row below an empty one


async def test_a_cell_is_edited_in_place() -> None:
    app = EditableGridApp([["Keio", "part of", "Tokyo", "1"], ["", "", "", ""]])
    async with app.run_test(size=SIZE) as pilot:
        editable_grid = app.editable_grid
        await pilot.press("down", "k")
        await pilot.pause()
        assert (editable_grid.editing, editable_grid.value) == ((1, 0), "k")
        assert any("Keio" in line for line in app.lines()[3:])
        await pilot.press("down")
        await pilot.pause()
        assert (editable_grid.value, app.rows[1][0]) == ("Keio", "Keio")
        assert "! twice" in app.lines()[-1]
        await pilot.press("escape")
        await pilot.pause()
        assert (editable_grid.editing, app.rows[1][0]) == (None, "")
        assert editable_grid.grid.has_focus

        await pilot.press("t", "o")
        await pilot.click(editable_grid.grid, offset=Offset(12, 3))
        await pilot.pause()
        assert (editable_grid.editing, editable_grid.value, app.rows[1][0]) == (
            (1, 0),
            "Tokyo",
            "Tokyo",
        )
        await pilot.press("escape")

        # What nobody answers is not edited, and keys go on to where the cursor is.
        await pilot.press("end", "f2", "x", "home")
        await pilot.pause()
        assert (editable_grid.editing, editable_grid.grid.cursor_column) == (None, 0)
        await pilot.press("shift+tab", "down")
        editable_grid.grid.focus()
        await pilot.press("enter", "ctrl+u")
        app.screen.focused.post_message(events.Paste("new\r\nname\x07"))
        await pilot.pause()
        editable_grid.commit()
        await pilot.pause()
        assert app.rows[1][0] == "new name�"

        editable_grid.grid.post_message(events.Paste("a\tb\nc\td\n"))
        editable_grid.grid.post_message(events.Paste("one\n"))
        await pilot.pause()
        await pilot.pause()
        assert ("pasted", 1, 0, "a\tb\nc\td\n") in app.heard
        assert (editable_grid.editing, editable_grid.value) == ((1, 0), "one")
        await pilot.click(editable_grid.grid, offset=Offset(30, 1))
        await pilot.pause()
        assert (editable_grid.editing, app.rows[1][0]) == (None, "one")
        assert app.heard[-1] == (1, 0, "one")
