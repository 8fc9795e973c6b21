"""The tab of triples, by keys alone."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import Select, TextArea

from cuecard.annotate.authoring.task_data import blank_triple
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.task.graph import GraphPane
from cuecard.tui.screens.task.graph_dialogs import AskName, AskSources, PastePreview
from cuecard.tui.screens.task.graph_nodes import NodesPane
from cuecard.tui.screens.task.screen import TaskScreen
from tui_rooms import shown, until

TRIPLES = ("gold", "triples")


async def open_graph(pilot: Pilot, task_id: str, place: str) -> tuple[TaskScreen, GraphPane]:
    screen = TaskScreen(task_id, place=place, editing=bool(place))
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    pane = screen.editor.pane
    assert isinstance(pane, GraphPane)
    return screen, pane


async def put(pilot: Pilot, text: str) -> None:
    """Paste one line, which is quicker than a key a letter."""
    assert pilot.app.focused is not None
    pilot.app.focused.post_message(events.Paste(text))
    await pilot.pause()


def preview(pilot: Pilot) -> PastePreview:
    if not isinstance(pilot.app.screen, PastePreview):
        raise LookupError
    return pilot.app.screen


def parts(screen: TaskScreen, *indices: int) -> list[tuple[Any, ...]]:
    triples = screen.edit.items(TRIPLES)
    return [tuple(triples[i][k] for k in ("head", "relation", "tail", "stage")) for i in indices]


async def test_triples_are_typed_with_names_offered_then_pasted_and_filtered(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen, pane = await open_graph(pilot, "espresso", "gold.triples[78]")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: pane.editable_grid.editing == (79, 1))
        await pilot.press(*"Angel", "down", "tab")
        await put(pilot, "hobby")
        await pilot.press("s", "ctrl+z")
        await until(pilot, lambda: pane.editable_grid.value != "hobbys")
        await pilot.press("ctrl+y", "backspace", "tab")
        await put(pilot, "Chess")
        await pilot.press("enter")
        await put(pilot, "Faema")
        await pilot.press("tab", "w", "tab", "X", "tab", "3", "enter")
        await pilot.press("ctrl+r", "tab", "l", "tab", "Y", "enter")
        await until(pilot, lambda: len(screen.edit.items(TRIPLES)) == 83)
        assert parts(screen, 79, 80, 81) == [
            ("Angelo Moriondo", "hobby", "Chess", 12),
            ("Faema", "w", "X", 3),
            ("Faema", "l", "Y", 3),
        ]
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.edit.items(TRIPLES)) == 82)
        assert pane.grid.has_focus

        rows = "主语\t谓语\t宾语\nFaema\tcolour\t红色\nFaema\tw\tX\nFaema\t\tred\n"
        pane.grid.post_message(events.Paste(rows))
        await until(pilot, lambda: preview(pilot).plan.triples)
        states = [row.state for row in preview(pilot).plan.triples]
        assert states == ["new", "duplicate", "bad"]
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current and len(screen.edit.items(TRIPLES)) == 83)
        assert parts(screen, 82) == [("Faema", "colour", "红色", 3)]

        await pilot.press("slash", *"moka", "enter")
        await until(pilot, lambda: 0 < len(pane.rows) < 83)
        shown = list(pane.rows.view.rows)
        pane.grid.move_to(0, 1)
        await pilot.press("X", "enter")
        await until(pilot, lambda: pane.editable_grid.editing == (1, 1))
        assert list(pane.rows.view.rows) == shown
        assert screen.edit.get((*TRIPLES, shown[0], "head")) == "X"
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(pane.rows) == 83)
        assert screen.is_current


async def test_what_is_pasted_takes_the_place_of_a_triple_that_says_nothing_yet(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen, pane = await open_graph(pilot, "espresso", "gold.triples[78]")
        screen.edit.arrange(TRIPLES, [blank_triple()])
        screen.editor.reload()
        pane.grid.post_message(events.Paste("a\tb\tc\nd\te\tf\n"))
        await until(pilot, lambda: isinstance(pilot.app.screen, PastePreview))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: len(screen.edit.items(TRIPLES)) == 2)
        assert parts(screen, 0, 1) == [("a", "b", "c", None), ("d", "e", "f", None)]


async def test_marked_rows_are_written_alike_and_names_renamed_and_merged_everywhere(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen, pane = await open_graph(pilot, "espresso", "gold.triples[4].head")
        before = screen.edit.data
        await pilot.press("space", "shift+down", "shift+down", "ctrl+e")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskName))
        await put(pilot, "Luigi B")
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.is_current and screen.edit.can_undo)
        assert [row[0] for row in parts(screen, 4, 5, 6, 7)] == [
            *["Luigi Bezzera"] * 3,
            "Angelo Moriondo",
        ]
        await pilot.press("ctrl+z", "escape", "ctrl+e")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskName))
        await put(pilot, "A. Moriondo")
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current and screen.edit.can_undo)
        assert {parts(screen, i)[0][0] for i in range(4, 10)} == {"A. Moriondo"}
        assert parts(screen, 0)[0][2] == "A. Moriondo"
        await pilot.press("ctrl+z")
        assert screen.edit.data == before

        await pilot.press("f10", "s")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskName))
        await pilot.press("7", "enter")
        await until(pilot, lambda: screen.is_current and screen.edit.can_undo)
        assert parts(screen, 4)[0][3] == 7
        await pilot.press("ctrl+b")
        await put(pilot, "https://a.org")
        await pilot.press("escape")
        assert pane.grid.has_focus
        assert "https://a.org" in screen.edit.get((*TRIPLES, 4, "sources"))[0]

        await pilot.press("space", "shift+down", "ctrl+b")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskSources))
        dialog = pilot.app.screen
        dialog.query_one("#text", TextArea).text = "somewhere"
        await until(pilot, lambda: "✗ “somewhere” is no web address" in shown(dialog))
        dialog.query_one("#text", TextArea).text = "https://b.org"
        dialog.query_one("#mode", Select).value = "replace"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.is_current)
        sources = [screen.edit.get((*TRIPLES, row, "sources")) for row in (4, 5)]
        assert sources == [["https://b.org"]] * 2

        await screen.editor.go_to(("gold", "nodes", 3, "id"))
        nodes = screen.editor.pane
        assert isinstance(nodes, NodesPane)
        assert nodes.nodes.rows[3].name == "Turin"
        await pilot.press("f2")
        await put(pilot, " (Italy)")
        await pilot.press("tab", "tab", "X", "enter")
        await until(pilot, lambda: parts(screen, 5)[0][2] == "Turin (Italy)")
        assert screen.edit.get(("gold", "nodes", 3)) == {
            "id": "Turin (Italy)",
            "name": "",
            "aliases": ["X"],
        }
