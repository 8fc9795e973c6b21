"""Working apart by keys: pack, merge, and bring two newest revisions together."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from apart import fresh, small_task
from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.store.workspace import Workspace
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.drafting import TaskTitle
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.task.versions import MergeScreen
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.tasks_transfer import BundleDialog, MergeDialog
from cuecard.tui.widgets.entry_list import EntryList
from tui_rooms import until


def _texts(found: EntryList) -> str:
    return " ".join(
        " ".join((*(p.text for p in entry.head), *(p.text for p in entry.body)))
        for entry in found.entries
    )


async def test_packs_are_merged_and_the_fork_is_joined(home: Path, make_app) -> None:
    with fresh(home / "ana.db") as ana, fresh(home / "ben.db") as ben:
        ana.tasks.save(small_task(), author="Ana")
        ben.exchange.import_([ana.exchange.bundle("Ana")], by="Ben")
        ben.tasks.save(small_task(notes="Ben's"), author="Ben", message="[red]noted[/]")
        ana.tasks.save(small_task(title="Ana's title"), author="Ana")
        (home / "in").mkdir()
        write_bundle(ben, "Ben", home / "in" / "ben.cuepack")
    (home / "broken.cuepack").write_bytes(b"\x1f\x8b")
    app = make_app(home / "ana.db")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, TasksScreen))
        tasks = app.screen
        await until(pilot, lambda: tasks._lines is not None)
        await pilot.press("full_stop", "m")
        await until(pilot, lambda: isinstance(app.screen, MergeDialog))
        dialog = app.screen
        status, found = dialog.query_one("#summary", Static), dialog.query_one(EntryList)
        path = dialog.query_one("#path").query_one("LineEditor")
        path.value = f"{home}/broken.cuepack"
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be merged" in str(status.render()))
        assert "ends too early" in _texts(found)
        path.value = f"{home}/in"
        await pilot.press("enter")
        await until(pilot, lambda: "Would be: 1 new entry, 1 known" in str(status.render()))
        assert "Two newest revisions" in _texts(found)
        assert "Packed by Ben, signed by Ana: 1 revision, 0 new here." in _texts(found)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Merged: " in str(status.render()))
        path.value = f"{home}/broken.cuepack"
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be merged" in str(status.render()))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is tasks and bool(tasks._lines[0].forks))

        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.forks == 1)
        editor = app.screen
        await until(pilot, lambda: editor.loaded)
        assert "⋔" in str(editor.query_one(TaskTitle).query_one("#which", Static).render())
        await pilot.press("full_stop", "j")
        await until(pilot, lambda: isinstance(app.screen, MergeScreen))
        told = str(app.screen.query_one("#merge-told", Static).render())
        assert "Theirs is revision 3 by Ben" in told.replace("Mine is revision 2 by Ana", "")
        assert "[red]noted[/]" in told
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is editor and editor.forks == 0)
        assert (editor.edit.base, editor.edit.changed) == (4, False)

        await pilot.press("escape")
        await until(pilot, lambda: app.screen is tasks)
        await pilot.press("full_stop", "k")
        await until(pilot, lambda: isinstance(app.screen, BundleDialog))
        packing = app.screen.query_one(EntryList)
        await until(pilot, lambda: "3  revisions" in _texts(packing))
        app.screen.query_one("#path").query_one("LineEditor").value = "mine.cuepack"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is tasks)
    with Workspace.open(home / "ana.db") as ana:
        assert ana.reviews.standing("t").clashes == ()
        joined = ana.tasks.revision("t").task
        assert (joined.title, joined.notes) == ("Ana's title", "Ben's")
        with Workspace.open(home / "ben.db") as ben:
            ben.exchange.import_([ana.exchange.bundle("Ana")], by="Ben")
            assert ben.tasks.revision("t").task == joined
    assert (home / "mine.cuepack").exists()
