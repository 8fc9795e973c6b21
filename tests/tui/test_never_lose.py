"""What two people, a crash and a change of mind do to a task: nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.task.versions import HistoryPane, MergeScreen, VersionDialog
from tui_rooms import shown, until


async def opened(pilot: Pilot[Any], task_id: str, place: str) -> TaskScreen:
    screen = TaskScreen(task_id, place=place, editing=bool(place))
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


def ready(pilot: Pilot[Any], kind: type) -> Any:
    return lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.focused is not None


def save_for_ben(database: Path) -> Task:
    """Ben saves revision 2 of the task."""
    with Workspace.open(database) as ws:
        data = ws.tasks.revision("facts-night-train").task.model_dump(mode="json")
        data |= {"title": "Ben's title", "notes": "By Ben", "domain": "Ben's domain"}
        data["gold"]["facts"].insert(0, {"key": "Ben adds", "value": "this"})
        task = Task.model_validate(data)
        ws.tasks.save(task, author="Ben", message="notes", base=1)
    return task


async def saved_with(pilot: Pilot[Any], message: str) -> None:
    await pilot.press("ctrl+s")
    await until(pilot, ready(pilot, AskLine))
    await pilot.press(*message, "enter")


async def test_the_second_of_two_people_merges_what_both_did(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, "facts-night-train", "title")
        await pilot.press("end", "A")
        await until(pilot, lambda: str(screen.edit.get(("title",))).endswith("A"))
        title = str(screen.edit.get(("title",)))
        screen.edit.set(("domain",), "Ana's domain")
        screen.edit.set(("gold", "facts", 4, "value"), "Ana's value")
        screen.editor.reload()
        theirs = save_for_ben(database)
        await saved_with(pilot, "mine")
        await until(pilot, ready(pilot, MergeScreen))
        merge: Any = app.screen
        assert merge.view.open == 2
        assert merge.list.grid.count == 5
        await pilot.press("enter")
        await until(pilot, lambda: merge.query_one("#detail").has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: merge.is_current and merge.list.grid.has_focus)
        await pilot.press("A")
        assert merge.view.open == 2
        await pilot.press("m")
        await until(pilot, lambda: merge.view.open == 1)
        await pilot.press("A")
        await until(pilot, lambda: merge.view.open == 0)
        await pilot.press("escape")
        await until(pilot, lambda: screen.is_current)
        with Workspace.open(database) as ws:
            assert ws.tasks.revision("facts-night-train").number == 2
            draft = ws.drafts.get("facts-night-train", "Ana")
            assert draft is not None
            assert (draft.base, draft.data["title"]) == (1, title)

        await saved_with(pilot, "mine")
        await until(pilot, ready(pilot, MergeScreen))
        merge = app.screen
        await pilot.press("ctrl+s")
        await until(pilot, lambda: any("still open" in n.message for n in app._notifications))
        assert merge.is_current
        await until(pilot, lambda: merge.list.grid.cursor_row == 1)
        await pilot.press("t", "n")
        await until(pilot, lambda: merge.list.grid.cursor_row == 0)
        await pilot.press("b", "m", "ctrl+s")
        await until(pilot, lambda: screen.is_current and not screen.edit.changed)
        assert screen.edit.base == 3
    with Workspace.open(database) as ws:
        assert ws.effort.totals("facts-night-train", "Ana").seconds > 0
        revision = ws.tasks.revision("facts-night-train")
        assert (revision.number, revision.author, revision.message) == (3, "Ana", "mine")
        assert (revision.task.title, revision.task.domain) == (title, "Ben's domain")
        assert revision.task.notes == theirs.notes
        gold: Any = revision.task.gold
        assert (gold.facts[0].key, gold.facts[5].value) == ("Ben adds", "Ana's value")
        assert ws.drafts.get("facts-night-train", "Ana") is None


async def test_any_version_can_be_had_back_and_given_up_again(
    database: Path, make_app: Any
) -> None:
    save_for_ben(database)
    with Workspace.open(database) as ws:
        data = ws.tasks.revision("facts-night-train").task.model_dump(mode="json")
        ws.drafts.save("facts-night-train", "Ana", 2, {**data, "title": "Thrown"})
        ws.drafts.throw_away("facts-night-train", "Ana")
        ws.drafts.save("facts-night-train", "Ana", 2, {**data, "title": "Mine"})
    app: CuecardApp = make_app(database)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot, "facts-night-train", "title")
        # The draft was never left in good order.
        await until(pilot, lambda: any("ended while" in n.message for n in app._notifications))
        await screen.editor.enter("history")
        pane = screen.query_one(HistoryPane)
        await until(pilot, lambda: len(pane.list.rows) == 3)
        await until(pilot, lambda: "+ Thrown" in "\n".join(pane.changes.lines))
        await pilot.press("slash", *"ana", "enter")
        await until(pilot, lambda: "2 of 3 lines" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: len(pane.list.rows) == 3)
        # Enter only opens; what takes the place of what is there is asked about.
        await pilot.press("enter")
        await until(pilot, ready(pilot, VersionDialog))
        assert "Thrown" in app.screen.query_one(TextArea).text
        await pilot.press("escape", "full_stop", "r")
        await until(pilot, ready(pilot, ConfirmDialog))
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current)
        assert screen.edit.get(("title",)) == "Mine"
        await pilot.press("full_stop", "r")
        await until(pilot, ready(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: screen.edit.get(("title",)) == "Thrown")
        await pilot.press("ctrl+z")
        assert screen.edit.get(("title",)) == "Mine"

        await pilot.press("down")
        await until(pilot, lambda: "+ Ben adds" in "\n".join(pane.changes.lines))
        await pilot.press("w")
        await until(pilot, lambda: "+ Mine" in "\n".join(pane.changes.lines))
        await pilot.press("down", "enter")
        await until(pilot, ready(pilot, VersionDialog))
        await pilot.press("ctrl+s")
        await until(pilot, ready(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: screen.is_current and screen.edit.get(("notes",)) != "By Ben")
        assert screen.edit.base == 2
        await pilot.press("ctrl+z")
        assert screen.edit.get(("title",)) == "Mine"

        await pilot.press("full_stop", "v")
        await until(pilot, ready(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: screen.is_current and not screen.edit.changed)
        await screen.keeper.flush()
    with Workspace.open(database) as ws:
        assert ws.drafts.get("facts-night-train", "Ana") is None
        assert [d.data["title"] for d in ws.drafts.thrown("Ana", "facts-night-train")] == [
            "Mine",
            "Thrown",
        ]


async def test_what_is_typed_ahead_of_a_tab_that_opens_is_not_lost(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, "facts-night-train", "title")
        driver: Any = app._driver
        for key in ("f4", "f4", "n", "e", "w", "tab", "7", "f4"):
            driver.process_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: screen.editor.tabs.active == "answer")
        assert screen.is_current
        assert screen.edit.get(("gold", "facts", 0, "key")) == "new"
        assert screen.edit.get(("gold", "facts", 0, "value")) == "7"


async def test_a_draft_that_was_read_while_it_was_saved_does_not_come_back(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, "facts-night-train", "title")
        await pilot.press("end", "A")
        await until(pilot, lambda: str(screen.edit.get(("title",))).endswith("A"))
        await screen.keeper.flush()
        work = screen.catch_up()
        for _turn in range(5):
            await asyncio.sleep(0)  # It begins, and reads in a thread.
        screen.edit.mark_saved(2, screen.edit.data)
        await work.wait()
        assert (screen.edit.base, screen.edit.changed) == (2, False)
