"""The Problems tab as an author uses it."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.brief import ProblemsPane
from cuecard.tui.screens.task.screen import TaskScreen
from tui_rooms import until

LINE = ("persona", "stages", 1, "line")


async def test_a_leak_is_silenced_with_a_reason_shown_and_taken_back(
    database: Path, make_app
) -> None:
    app: CuecardApp = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = TaskScreen("espresso")
        app.push_screen(screen)
        await until(pilot, lambda: screen.loaded)
        edit = screen.edit
        edit.set(("gold", "triples", 0, "tail"), "")
        edit.set(LINE, "Was it the Faema E61?")
        await screen.editor.enter("problems")
        pane = screen.query_one(ProblemsPane)

        def codes() -> list[str]:
            return [problem.code for problem in pane.view.rows]

        await until(pilot, lambda: codes()[:1] == ["E003"] and "L006" in codes())
        assert "✗1" in screen.editor.tabs.labels["problems"]
        await pilot.press("slash", *"l006", "enter")
        assert codes() == ["L006"]
        await pilot.press("escape")
        assert app.screen is screen, "Escape takes only the filter away"
        assert codes()[0] == "E003"
        await pilot.press("home")
        await pilot.press("s")
        assert not isinstance(app.screen, AskLine), "an error of shape cannot be silenced"
        edit.set(("gold", "triples", 0, "tail"), "Angelo Moriondo")
        await until(pilot, lambda: "E003" not in codes())
        await pilot.press("home", *["down"] * codes().index("L006"), "d")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        app.screen.query_one(Input).value = "everybody knows it"
        await pilot.press("enter")
        await until(pilot, lambda: "L006" not in codes())
        assert edit.data["silenced"][0]["reason"] == "everybody knows it"

        await pilot.press("h", "end")
        assert codes()[-1] == "L006"
        await pilot.press("d")
        await until(pilot, lambda: not edit.data["silenced"])
        edit.undo()
        await until(pilot, lambda: pane._problems and pane._problems[-1].silenced)
        edit.undo()  # what is silenced
        await until(pilot, lambda: not edit.data["silenced"] and not pane._problems[-1].silenced)
        edit.set((*LINE[:-2], 0, "line"), "Was it Angelo Moriondo?")
        await until(pilot, lambda: codes().count("L006") == 2)
        await pilot.press("ctrl+a", "d")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        app.screen.query_one(Input).value = "meant"
        await pilot.press("enter")
        await until(
            pilot, lambda: all(found.silenced for found in pane._problems if found.code[0] == "L")
        )
        edit.undo()
        assert edit.data["silenced"] == [], "all in one step"
        await until(pilot, lambda: not any(found.silenced for found in pane._problems))
        pane.view.go_to(next(pane.view.key(row) for row in pane.view.rows if row.code == "L006"))
        await pilot.press("enter")
        await until(pilot, lambda: screen.editor.tabs.active == "stages")
