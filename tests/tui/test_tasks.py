from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cuecard.annotate.review.workflow import submit, withdraw
from cuecard.core.contributions import TaskState
from cuecard.core.i18n import set_language
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import KeyBar
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.bulk import RefusedDialog
from cuecard.tui.kit.lists import ListView
from cuecard.tui.preferences import Preferences
from cuecard.tui.present.tasks import TaskLine
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.run.start import RunStartDialog
from cuecard.tui.screens.search import SearchDialog, recent
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.tasks_listing import NewTaskDialog
from cuecard.tui.widgets.inputs import FittedColumn, FittedTable, fitted_widths
from tui_rooms import shown, until


async def open_list(pilot: Pilot, count: int = 8) -> TasksScreen:
    await pilot.press("2")
    await until(pilot, lambda: isinstance(pilot.app.screen, TasksScreen))
    screen = pilot.app.screen
    await until(pilot, lambda: screen.listing.table.count == count)
    return screen


def titles(screen: TasksScreen) -> list[str]:
    table = screen.query_one(FittedTable)
    return [str(table.source.cells(row)[1]) for row in range(table.count)]


def dialog_is(pilot: Pilot, kind: type) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.focused is not None


async def test_tasks_are_found_by_words_and_by_keys(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        await pilot.press("f")
        assert screen.listing.table.count == 2
        await pilot.press("full_stop", "l")
        assert [title[:8] for title in titles(screen)] == ["Espresso"]
        await pilot.press("full_stop", "c")
        assert screen.listing.table.count == 8
        await pilot.press("slash", *"states", "enter")
        assert len(titles(screen)) == 1
        assert screen.listing.table.has_focus
        await pilot.press("full_stop", "t", "full_stop", "t")
        assert screen.query_one("#hidden").display
        await pilot.press("full_stop", "c", "enter")
        await until(pilot, dialog_is(pilot, TaskScreen))


async def test_a_new_task_begins_as_a_draft_and_shows_in_the_list(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        await pilot.press("a")
        await until(pilot, dialog_is(pilot, NewTaskDialog))
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app_with_samples.screen, NewTaskDialog)
        await pilot.press(*"Tea", "space", *"routes", "tab", "tab", "down")
        await pilot.press("down", "enter", "ctrl+s")
        await until(pilot, dialog_is(pilot, TaskScreen))
        editor = app_with_samples.screen
        await until(pilot, lambda: editor.loaded)
        assert (editor.edit.task_id, editor.edit.family) == ("tea-routes", "table")
        with Workspace.open(database) as ws:
            assert ws.drafts.get("tea-routes", "Ana").base == 0
        await until(pilot, lambda: editor.focused)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 9)
        assert screen.listing.line.id == "tea-routes"
        await pilot.press("p")
        await pilot.pause()
        assert screen.is_current


async def test_an_id_that_cannot_be_one_is_refused_with_the_reason(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        await open_list(pilot)
        await pilot.press("a")
        await until(pilot, dialog_is(pilot, NewTaskDialog))
        await pilot.press(*"Tea", "tab", *"-tea", "enter")
        told = "✗ The id -tea must not begin with '-', which commands take for"
        await until(pilot, lambda: told in shown(app_with_samples.screen))
        assert isinstance(app_with_samples.screen, NewTaskDialog)


async def test_an_id_that_is_taken_is_refused(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        await pilot.press("a")
        await until(pilot, dialog_is(pilot, NewTaskDialog))
        await pilot.press(*"Espresso", "enter")
        await until(pilot, lambda: screen.is_current and app_with_samples._notifications)
        assert screen.listing.table.count == 8


async def test_an_empty_workspace_offers_the_samples(home: Path, make_app) -> None:
    path = home / "empty.db"
    with Workspace.open(path) as ws:
        ws.people.add("Ana")
    app = make_app(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot, 0)
        await until(pilot, lambda: screen.query_one("#none").display)
        assert not screen.query_one("#hidden").display
        await pilot.press("full_stop", "s")
        await until(pilot, lambda: screen.listing.table.count == 8)


async def test_a_task_is_archived_with_a_reason_and_taken_back(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        ws.drafts.save("aa-new", "Ana", 0, {"id": "aa-new", "gold": {"family": "facts"}})
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot, 9)
        await pilot.press("d")
        await until(pilot, dialog_is(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 8)
        gone = screen.listing.line.id
        await pilot.press("d")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app_with_samples.screen, AskLine)
        await pilot.press(*"double", "enter")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 7)
        with Workspace.open(database) as ws:
            assert ws.reviews.state(gone) is TaskState.RETIRED
            assert ws.reviews.history(gone)[-1].reason == "double"
            assert ws.drafts.of("Ana") == []
        await pilot.press("h")
        assert [line.id for line in screen.listing.view.rows] == [gone, "aa-new"]
        await pilot.press("d")
        await until(pilot, lambda: screen.listing.table.count == 1)
        await pilot.press("enter", "d")
        await until(pilot, lambda: screen.listing.table.count == 0)
        await pilot.press("h")
        await until(pilot, lambda: screen.listing.table.count == 9)
    with Workspace.open(database) as ws:
        assert ws.reviews.state(gone) is TaskState.DRAFT
        assert [draft.task_id for draft in ws.drafts.of("Ana")] == ["aa-new"]


async def test_a_wide_terminal_shows_the_task_beside_the_list(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot)
        about = screen.query_one("#about")
        await until(pilot, lambda: "5 checkpoints" in str(about.render()))
        await pilot.press("down", "down")
        await until(pilot, lambda: "79 triples" in str(about.render()))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not screen.query_one("#detail").display)


async def test_escape_leaves_the_filter_then_the_screen(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        await pilot.press("slash", "x", "escape")
        assert screen.listing.table.has_focus or screen.listing.table.count == 0
        await pilot.press("escape")
        await until(pilot, lambda: not screen.is_current)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_opens_in_chinese(app_with_samples: CuecardApp, size) -> None:
    set_language("zh")
    async with app_with_samples.run_test(size=size) as pilot:
        await open_list(pilot)
        await pilot.press("a")
        await until(pilot, dialog_is(pilot, NewTaskDialog))


def test_columns_share_what_room_there_is() -> None:
    columns = (
        FittedColumn("a", 2),
        FittedColumn("b", 8, grow=1),
        FittedColumn("c", 8, grow=3),
        FittedColumn("d", 5, hidden_below=50),
    )
    wide = fitted_widths(columns, 80)
    assert sum(wide.values()) + 2 * 4 == 80
    assert (wide[0], wide[3]) == (2, 5)
    assert set(fitted_widths(columns, 40)) == {0, 1, 2}
    assert min(fitted_widths(columns, 10).values()) >= 2


async def test_a_task_is_played_from_the_list_and_from_the_editor(
    app_with_samples: CuecardApp,
) -> None:
    from cuecard.tui.screens.play.screen import PlayScreen

    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot)
        await pilot.press("p")
        await until(pilot, dialog_is(pilot, PlayScreen))
        app_with_samples.pop_screen()
        await until(pilot, lambda: screen.is_current and screen.listing.table.has_focus)
        await pilot.press("enter")
        await until(pilot, dialog_is(pilot, TaskScreen))
        editor = app_with_samples.screen
        await until(pilot, lambda: editor.loaded and editor.focused)
        await pilot.press("f5")
        await until(pilot, dialog_is(pilot, PlayScreen))


async def test_a_task_is_duplicated_as_a_draft_of_who_does_it(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        first = screen.listing.line
        await pilot.press("D")
        await until(pilot, lambda: screen.listing.table.count == 9)
        await until(pilot, lambda: screen.listing.line.id == f"{first.id}-copy")
        await pilot.press("D")
        await until(pilot, lambda: screen.listing.line.id == f"{first.id}-copy-copy")
        screen.listing.view.go_to(first.id)
        await pilot.press("D")
        await until(pilot, lambda: screen.listing.line.id == f"{first.id}-copy-2")
    with Workspace.open(database) as ws:
        draft = ws.drafts.get(f"{first.id}-copy", "Ana")
        there = ws.tasks.revision(first.id).task.model_dump(mode="json")
        assert draft.base == 0
        assert draft.data["title"] == f"Copy of {first.title}"
        second = ws.drafts.get(f"{first.id}-copy-2", "Ana")
        assert second.data["title"] == f"Copy of {first.title} (2)"
        kept = ("id", "title")
        assert {k: v for k, v in draft.data.items() if k not in kept} == {
            k: v for k, v in there.items() if k not in kept
        }


async def test_marked_tasks_are_archived_and_submitted_and_what_was_refused_is_told(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        submit(ws, "espresso", "Ana")
        ws.drafts.save("aa-new", "Ana", 0, {"id": "aa-new", "gold": {"family": "facts"}})
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot, 9)
        await pilot.press("ctrl+a", "u")
        await until(pilot, dialog_is(pilot, AskLine))
        assert "Submit 9 tasks?" in shown(app_with_samples.screen)
        await pilot.press(*"meant", "enter")
        await until(pilot, dialog_is(pilot, RefusedDialog))
        assert "7 tasks were submitted. 2 were refused:" in shown(app_with_samples.screen)
        assert "It was never saved as a revision" in shown(app_with_samples.screen)
        never, submitted = app_with_samples.screen.query_one(ListView).rows
        assert (never.name, submitted.name[:8]) == ("aa-new", "Espresso")
        assert submitted.why.startswith("Only a draft or a returned task can be submitted.")
        await pilot.press("escape")
        await until(pilot, lambda: {line.state for line in screen.listing.view.rows} == {"in_review", "draft"})  # fmt: skip
        with Workspace.open(database) as ws:
            states = [ws.reviews.state(task.id) for task in ws.tasks.summaries()]
            assert states == [TaskState.IN_REVIEW] * 8
            withdraw(ws, "espresso", "Ana", "again")
        await until(pilot, lambda: [line.state for line in screen.listing.view.rows].count("draft") == 2)  # fmt: skip
        assert {line.id for line in screen.listing.view.marked} == {"aa-new", "espresso"}
        await pilot.press("ctrl+a", "d")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press(*"double", "enter")
        await until(pilot, dialog_is(pilot, RefusedDialog))
        assert "2 tasks were archived. 7 were refused:" in shown(app_with_samples.screen)
        await pilot.press("enter")
        await until(pilot, lambda: screen.listing.table.count == 7)
        await pilot.press("h")
        await until(pilot, lambda: screen.listing.table.count == 2)
        await pilot.press("ctrl+a")
        assert [screen.check_action(each, ()) for each in ("submit", "restore")] == [False, True]
        await pilot.press("d")
        await until(pilot, lambda: screen.listing.table.count == 0)
    with Workspace.open(database) as ws:
        assert ws.reviews.state("espresso") is TaskState.DRAFT
        assert [draft.task_id for draft in ws.drafts.of("Ana")] == ["aa-new"]


async def test_marked_tasks_are_run_and_those_that_cannot_be_are_told(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        ws.drafts.save("aa-new", "Ana", 0, {"id": "aa-new", "gold": {"family": "facts"}})
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot, 9)
        screen.listing.view.grid.mark([0, 1, 2])
        await until(pilot, lambda: "3 marked" in shown(screen))
        await pilot.press("p")
        await until(pilot, dialog_is(pilot, RunStartDialog))
        await until(pilot, lambda: "tasks: 2 · agents: 1 · trials: 2" in shown(pilot.app.screen))
        marked = {line.id for line in screen.listing.view.marked}
        await pilot.press("ctrl+s")
        await until(pilot, dialog_is(pilot, RunScreen))
        await until(pilot, lambda: "2 of 2 trials" in shown(pilot.app.screen))
    with Workspace.open(database) as ws:
        (run,) = ws.runs.all()
        assert {trial.task_id for trial in ws.runs.trials(run.id)} == marked - {"aa-new"}


async def test_tags_of_marked_tasks_are_shown_found_and_changed_together(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        ws.tags.change("task", "espresso", "Ben", ["pilot"])
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot)
        await until(pilot, lambda: "pilot" in shown(screen))
        screen.listing.view.grid.mark([0, 1])
        marked = [line.id for line in screen.listing.view.marked]
        await pilot.press("t")
        await until(pilot, dialog_is(pilot, AskLine))
        assert "In use: pilot" in shown(app_with_samples.screen)
        await pilot.press(*"hard,new", "enter")
        await until(pilot, lambda: [line.tags for line in screen.listing.view.rows].count(("hard", "new")) == 2)  # fmt: skip
        assert screen.listing.view.marked == []
        screen.listing.view.grid.mark([0, 1])
        await pilot.press("t", "escape")
        assert len(screen.listing.view.marked) == 2
        await pilot.press("t")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press("end", *["backspace"] * 5, "enter")
        await until(pilot, lambda: [line.tags for line in screen.listing.view.rows].count(("hard",)) == 2)  # fmt: skip
        await until(pilot, lambda: "hard" in shown(screen))
        await pilot.press("slash", *"hard", "enter")
        await until(pilot, lambda: screen.listing.table.count == 2)
    with Workspace.open(database) as ws:
        assert ws.tags.of("task") == {"espresso": ("pilot",), **dict.fromkeys(marked, ("hard",))}


async def test_places_opened_last_are_offered_by_the_search_and_the_palette(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await open_list(pilot)
        ids = [line.id for line in screen.listing.view.rows[:2]]
        for task_id in ids:
            screen.listing.view.go_to(task_id)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
            await pilot.press("escape")
            await until(pilot, lambda: screen.is_current)
        assert [found.task_id for found in recent(app)] == ids[::-1]
        labels = [command.title for command in app.get_system_commands(screen)]
        assert any(label.startswith("Task: ") for label in labels)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, SearchDialog) and app.screen.rows)
        assert [line.task_id for line in app.screen.rows] == ids[::-1]
        await until(pilot, lambda: not app.screen.busy)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        assert app.screen.task_id == ids[1]
    assert Preferences.load().forms == app.preferences.forms


async def test_keys_at_the_foot_change_without_a_widget_and_are_pressed_by_mouse(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot)
        foot = screen.query_one(KeyBar)
        await until(pilot, lambda: "Filter" in foot.line)
        assert foot.line.endswith("F1 Help")
        await pilot.press("slash")
        await until(pilot, lambda: "/ Filter" not in foot.line)
        await pilot.press("escape")
        await until(pilot, lambda: "/ Filter" in foot.line)
        assert not foot.children
        at = (foot.line.index("/ Filter"), 0)
        await pilot.hover(KeyBar, offset=at)
        await until(pilot, lambda: "Type words" in str(foot.tooltip))
        await pilot.click(KeyBar, offset=at)
        await until(pilot, lambda: screen.listing.filter_input.has_focus)


async def test_where_the_cursor_only_passes_no_task_is_read(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_list(pilot)
        about, told = screen.query_one("#about"), set[str]()
        describe = screen.listing.describe

        def note(line: TaskLine, task: Task | None) -> None:
            told.add(line.id)
            describe(line, task)

        await until(pilot, lambda: screen.listing.line.id in str(about.render()))
        screen.listing.describe = note
        passed = screen.listing.view.rows[1].id
        for _key in range(4):
            screen.listing.table.action_walk(1)
        await until(pilot, lambda: screen.listing.line.id in str(about.render()))
        assert screen.listing.line.id in told
        assert passed not in told


async def test_what_was_done_to_tasks_of_the_list_is_taken_back_by_one_key(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with Workspace.open(database) as ws:
        ws.drafts.save("aa-new", "Ana", 0, {"id": "aa-new", "gold": {"family": "facts"}})
        ws.tags.change("task", "espresso", "Ben", ["pilot"])
    app = app_with_samples
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await open_list(pilot, 9)
        view = screen.listing.view
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "Nothing was done to rows here" in shown(screen))
        view.go_to("espresso")
        at = view.grid.cursor_row
        view.grid.mark({at, 0})
        await pilot.press("d")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press(*"double", "enter")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 7)
        await until(pilot, lambda: "2 tasks were archived. ^z takes it back." in shown(screen))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: screen.listing.table.count == 9)
        await until(pilot, lambda: "Taken back: 2 tasks were archived." in shown(screen))
        await pilot.press("ctrl+a", "t")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press(*"pilot", "enter")
        await until(pilot, dialog_is(pilot, RefusedDialog))  # the draft that was never saved
        await pilot.press("escape")
        await until(pilot, lambda: [line.tags for line in view.rows].count(("pilot",)) == 8)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: [line.tags for line in view.rows].count(("pilot",)) == 1)
        view.grid.mark(())
        view.go_to("espresso")
        await pilot.press("D")
        await until(pilot, lambda: screen.listing.table.count == 10)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: screen.listing.table.count == 9)
        view.go_to("espresso")
        await pilot.press("d")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press(*"unfair", "enter")
        await until(pilot, lambda: screen.is_current and screen.listing.table.count == 8)
        await pilot.press("h")
        await until(pilot, lambda: "espresso" in [line.id for line in view.rows])
        view.go_to("espresso")
        await pilot.press("d")
        await until(pilot, lambda: "espresso" not in [line.id for line in view.rows])
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "espresso" in [line.id for line in view.rows])
    with Workspace.open(database) as ws:
        assert ws.tags.of("task") == {"espresso": ("pilot",)}
        assert ws.reviews.state("espresso") is TaskState.RETIRED
        reasons = [move.reason for move in ws.reviews.history("espresso")]
        assert reasons[-3:] == ["unfair", "", "unfair"]
        assert [draft.task_id for draft in ws.drafts.of("Ana")] == ["aa-new"]
