"""Tables, closed worlds and checkpoint chains are written from the keyboard."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.pilot import Pilot

from cuecard.tui.app import CuecardApp
from cuecard.tui.grid.cell_input import HintLine
from cuecard.tui.screens.task.checkpoints import StepsPane
from cuecard.tui.screens.task.facts import FactsPane
from cuecard.tui.screens.task.pasting import PastePreview
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.task.table import TablePane
from cuecard.tui.widgets.text import Lines, Paragraphs
from tui_rooms import until

ROWS = ("gold", "rows")
FACTS = ("gold", "facts")
STEPS = ("gold", "steps")


async def open_task(pilot: Pilot[Any], task_id: str, place: str) -> TaskScreen:
    screen = TaskScreen(task_id, place=place, editing=bool(place))
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


def paste(screen: TaskScreen, text: str) -> None:
    assert screen.focused is not None
    # As terminals send it: line breaks are carriage returns.
    screen.focused.post_message(events.Paste(text.replace("\n", "\r")))


def preview_is_up(pilot: Pilot[Any]) -> bool:
    screen = pilot.app.screen
    return (
        isinstance(screen, PastePreview)
        and bool(screen.query("#accept:focus"))
        and bool(str(screen.query_one("#what").render()))
    )


def said(pane: StepsPane | FactsPane) -> str:
    texts = (str(box.render()) for box in pane.query(Paragraphs))
    return " ".join(" ".join(text.split()) for text in texts)


def noted(pane: TablePane) -> str:
    return pane.query_one(HintLine).text


async def test_a_table_is_pasted_sorted_and_put_right(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "table-us-states", "gold.rows[2][2]")
        edit, pane = screen.edit, screen.query_one(TablePane)
        before = edit.data
        assert (pane.grid.cursor_row, pane.grid.cursor_column) == (2, 2)
        paste(screen, 'state,capital,Motto,order\nMu,"Hira, old",Old,52\nDelaware,Dover,x,many\n')
        await until(pilot, lambda: preview_is_up(pilot))
        what = pilot.app.screen.query_one("#what", Lines)
        await until(pilot, lambda: "2 new rows below row 3" in str(what.render()))
        assert "Motto" in str(what.render())
        await pilot.press("c", "enter")
        await until(pilot, lambda: len(edit.items(ROWS)) == 52)
        assert edit.items(ROWS)[3][:4] == ["Mu", "", "Hira, old", "52"]
        await pilot.press("down")
        await until(pilot, lambda: "row 1 has the same key" in noted(pane))
        await pilot.press("right")
        await until(pilot, lambda: "no number" in noted(pane))
        await pilot.press("f8")
        assert edit.items(ROWS)[-1][0] == "Delaware"
        await pilot.press("f8", "space", "down", "space", "ctrl+c", "delete")
        assert len(edit.items(ROWS)) == 50
        assert pilot.app.clipboard.startswith("Delaware\t\tDover\tmany")
        for _step in range(4):
            await pilot.press("ctrl+z")
        assert edit.data == before
        assert len(pane.grid.source) == 50


async def test_a_closed_world_is_written_and_asked(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_task(pilot, "facts-night-train", "gold.facts[0].aliases")
        edit, pane = screen.edit, screen.query_one(FactsPane)
        count = len(edit.items(FACTS))
        await until(pilot, lambda: pane.form.has_focus_within)
        await pilot.press("escape", "ctrl+n", "c", "tab", "9", "tab", "tab", *"bn", "down", "tab")
        await pilot.press("escape")
        fact = edit.items(FACTS)[1]
        assert (fact["key"], fact["value"], fact["entity"]) == ("c", "9", "BN 7")
        assert len(edit.items(FACTS)) == count + 1
        pane.world.query_line.value = "BN 7 base fare"
        await until(pilot, lambda: "fact 1: BN 7 base fare" in said(pane))
        edit.set((*FACTS, 1, "value"), "")
        await until(pilot, lambda: "gold.facts[1].value" in said(pane))
        pane.world.query_line.focus()
        await pilot.press("escape")
        assert pane.grid.has_focus
        paste(screen, "key,value,colour\nc,10,x\ntea,5,y\n")
        await until(pilot, lambda: preview_is_up(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: len(edit.items(FACTS)) == count + 2)
        assert [f["value"] for f in edit.items(FACTS) if f["key"] in ("c", "tea")] == ["10", "5"]


async def test_a_chain_is_written_as_a_ladder(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "checkpoints-highest-mountain", "gold.steps[0]")
        edit, pane = screen.edit, screen.query_one(StepsPane)
        before, count = edit.data, len(edit.items(STEPS))
        assert pane.table.has_focus
        await pilot.press("T")
        pane.trial.said.value = "Everest?"
        await pilot.pause()
        assert "asked rightly" in said(pane)
        assert edit.items(STEPS)[0]["ambiguity"]["clue"][:20] in said(pane)
        await pilot.press("escape", "a", "W")
        assert edit.items(STEPS)[1]["question"] == "W"
        await until(pilot, lambda: any("lacks the target" in line for line in pane.table.lines))
        await pilot.press("escape", "J")
        assert edit.items(STEPS)[2]["question"] == "W"
        assert pane.index == 2
        await pilot.press("d")
        assert len(edit.items(STEPS)) == count
        while edit.can_undo:
            await screen.editor.action_undo()
        assert edit.data == before
        await screen.editor.go_to(("gold", "steps", 3, "ambiguity", "clue"))
        await until(pilot, lambda: pane.index == 3 and pane.form.has_focus_within)
