"""The tab of triples, by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.pilot import Pilot

from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.task import TaskScreen
from cuecard.tui.screens.task.graph import GraphPane
from cuecard.tui.screens.task.graph.ask import AskName
from cuecard.tui.screens.task.graph.pasting import PastePreview

TRIPLES = ("gold", "triples")


async def until(pilot: Pilot, condition: Callable[[], object]) -> None:
    """Wait for what the person would see next."""
    for _ in range(1000):
        await pilot.pause()
        try:
            if condition():
                return
        except LookupError:
            pass
        await pilot.pause(0.01)
    raise AssertionError("what was waited for did not happen")


async def open_graph(pilot: Pilot, task_id: str, place: str) -> tuple[TaskScreen, GraphPane]:
    screen = TaskScreen(task_id, place=place)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    pane = screen.editor.pane
    assert isinstance(pane, GraphPane)
    return screen, pane


async def type_text(pilot: Pilot, text: str) -> None:
    await pilot.press(*("space" if char == " " else char for char in text))


def parts(screen: TaskScreen, *indices: int) -> list[tuple[Any, ...]]:
    triples = screen.edit.items(TRIPLES)
    return [tuple(triples[i][k] for k in ("head", "relation", "tail", "stage")) for i in indices]


async def test_three_triples_are_typed_with_names_in_use_offered(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen, pane = await open_graph(pilot, "espresso", "gold.triples[78]")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: pane.sheet.editing == (79, 1))
        await type_text(pilot, "Angelo")
        await pilot.press("down", "tab")
        await type_text(pilot, "hobby")
        await pilot.press("tab")
        await type_text(pilot, "Chess")
        await pilot.press("enter")
        await type_text(pilot, "Faema")
        await pilot.press("tab", *"won", "tab", *"X", "tab", "backspace", "3", "enter")
        await pilot.press("ctrl+d", "tab", *"lost", "tab", *"Y", "enter")
        await until(pilot, lambda: len(screen.edit.items(TRIPLES)) == 83)
        assert parts(screen, 79, 80, 81) == [
            ("Angelo Moriondo", "hobby", "Chess", 12),
            ("Faema", "won", "X", 3),
            ("Faema", "lost", "Y", 3),
        ]
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.edit.items(TRIPLES)) == 82)
        assert pane.grid.has_focus
