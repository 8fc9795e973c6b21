"""Bringing tasks in and writing them out, by keys."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Button, Select, Static

from cuecard.annotate.samples import load_samples
from cuecard.core.tasks.yaml_io import load_task
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.tasks_transfer import ExportDialog, ImportDialog
from cuecard.tui.widgets.entry_list import EntryList
from tui_rooms import until

SAMPLES = Path(__file__).parents[2] / "sample_tasks"


async def tasks_screen(pilot) -> TasksScreen:
    await pilot.press("2")
    await until(pilot, lambda: isinstance(pilot.app.screen, TasksScreen))
    screen = pilot.app.screen
    await until(pilot, lambda: screen._lines is not None)
    return screen


def label(app: CuecardApp) -> str:
    button = app.screen.query_one("#accept", Button)
    return str(button.label) if button.display else ""


async def test_a_folder_is_looked_at_then_imported_with_all_problems_told(
    home: Path, make_app
) -> None:
    folder = home / "mine and others"
    folder.mkdir()
    for name in ("espresso", "table-us-states"):
        (folder / f"{name}.yaml").write_bytes((SAMPLES / f"{name}.yaml").read_bytes())
    (folder / "broken.yaml").write_text("id: broken\ntitle: ''\nfamily: graph\n")
    (folder / "[bold]\x1b[31m.yaml").write_bytes(b"\xff")
    with Workspace.open(home / "w.db") as ws:
        ws.people.add("Ana")
        ws.tasks.save(load_task(SAMPLES / "espresso.yaml"), author="Ana")
    app = make_app(home / "w.db")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await tasks_screen(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, ImportDialog))
        dialog = app.screen
        dialog.query_one("#path").query_one("LineEditor").value = f"{home}/min"
        await pilot.press("end", "e")
        await until(pilot, lambda: dialog.query_one("#path")._found.names == ("mine and others/",))
        await pilot.press("tab")
        await until(pilot, lambda: "Format: Cuecard" in str(dialog.query_one("#summary").render()))
        await pilot.press("enter")
        await until(pilot, lambda: label(app) == "Import 1 task")
        told = str(dialog.query_one("#summary", Static).render())
        assert "1 new, 0 revised, 1 unchanged · 2 files with problems" in " ".join(told.split())
        lines = "\n".join(dialog.query_one(EntryList).lines)
        assert "title: must not be empty" in lines
        assert "+ The fifty states in order of admission  table-us-states" in lines
        assert "[bold]" in lines
        with Workspace.open(home / "w.db") as ws:
            assert ws.tasks.count() == 1
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Imported" in str(dialog.query_one("#summary").render()))
        assert label(app) == "Close"
        await pilot.press("escape")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 2)


async def test_marked_tasks_are_written_and_what_does_not_fit_is_told(
    home: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await tasks_screen(pilot)
        await until(pilot, lambda: screen.listing.table.count == len(load_samples()))
        await pilot.press("down", "down", "space", "down", "space", "c", "x")
        await until(pilot, lambda: isinstance(app.screen, ExportDialog))
        dialog = app.screen
        found = dialog.query_one(EntryList)
        await until(pilot, lambda: any("2 tasks will be written" in line for line in found.lines))
        dialog.query_one("#format", Select).value = "vibesearch"
        await until(pilot, lambda: any("sources of triples" in line for line in found.lines))
        told = " ".join("\n".join(found.lines).split())
        assert "1 task will be written" in told
        assert "1 task of another family does not fit" in told
        path = dialog.query_one("#path")
        await until(pilot, lambda: path.query_one("LineEditor").has_focus)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.is_current and app._notifications)
        assert any("1 file written" in note.message for note in app._notifications)
    assert [file.name for file in (Path.cwd() / "export").iterdir()] == ["task_espresso.json"]
