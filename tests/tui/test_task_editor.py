from __future__ import annotations

import asyncio
import signal
import sys
import textwrap
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, TextArea

from cuecard.annotate.authoring import session as authoring
from cuecard.core.contributions import ReviewDecision, Reviewed, TaskState
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.present.drafts import DraftState
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog, HelpDialog
from cuecard.tui.screens.play.card import CueCard
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.screens.review_dialogs import SubmitDialog
from cuecard.tui.screens.task.brief import ProblemsPane
from cuecard.tui.screens.task.graph import GraphPane
from cuecard.tui.screens.task.pane import Collection
from cuecard.tui.screens.task.screen import NEXT, TaskScreen, make_next
from cuecard.tui.screens.task.screen import open_task as show_task
from cuecard.tui.screens.task.table import TablePane
from cuecard.tui.screens.task.versions import HistoryPane
from cuecard.tui.widgets.nav import TabRow
from tui_rooms import until

SAMPLES = (
    "espresso",
    "table-us-states",
    "checkpoints-highest-mountain",
    "facts-night-train",
)
LINE = ("persona", "stages", 0, "line")


async def open_task(pilot: Pilot, task_id: str, place: str = "") -> TaskScreen:
    screen = TaskScreen(task_id, place=place, editing=bool(place))
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


async def type_text(pilot: Pilot, text: str) -> None:
    for char in text:
        await pilot.press("space" if char == " " else char)


async def drafted(pilot: Pilot, screen: TaskScreen) -> None:
    await until(pilot, lambda: screen.keeper.state is DraftState.WRITTEN)


@contextmanager
def workspace(path: Path):
    with Workspace.open(path) as opened:
        yield opened


def dialog_is(pilot: Pilot, kind: type) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.focused is not None


async def test_a_changed_line_is_drafted_and_there_again_after_a_restart(
    database: Path, make_app
) -> None:
    app: CuecardApp = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: app.screen.query("FittedTable"))
        await pilot.press("slash", *"espresso", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        screen = app.screen
        await screen.editor.open("stages")
        await pilot.press("f4", "f3")
        screen.query_one("#stages", Collection).reveal(LINE)
        await pilot.pause()
        await type_text(pilot, "Well then. ")
        await drafted(pilot, screen)
        with workspace(database) as ws:
            draft = ws.drafts.get("espresso", "Ana")
        assert draft.data["persona"]["stages"][0]["line"].endswith("Well then. ")
        assert draft.base == 1

    again: CuecardApp = make_app(database)
    async with again.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "persona.stages[0].line")
        assert isinstance(screen.focused, TextArea)
        assert screen.focused.text.endswith("Well then. ")
        await until(pilot, lambda: again._notifications)
        assert any("restored" in note.message for note in again._notifications)
        # What was typed before can be taken back, and done again, as if the task had not been left.
        while screen.edit.can_undo:
            await pilot.press("ctrl+z")
        await until(pilot, lambda: not screen.focused.text.endswith("Well then. "))
        assert not screen.edit.changed
        while screen.edit.can_redo:
            await pilot.press("ctrl+y")
        await until(pilot, lambda: screen.focused.text.endswith("Well then. "))


async def test_what_was_typed_survives_kill_9(database: Path, home: Path) -> None:
    script = home / "type_and_die.py"
    script.write_text(
        textwrap.dedent(f"""
            import asyncio, os, signal
            from cuecard.tui.app import CuecardApp
            from cuecard.tui.preferences import Preferences
            from cuecard.tui.services import Services
            from cuecard.tui.screens.task.screen import TaskScreen
            from cuecard.tui.present.drafts import DraftState

            async def main():
                app = CuecardApp(Services("sqlite:///{database}"), "Ana", Preferences())
                async with app.run_test(size=(80, 24)) as pilot:
                    screen = TaskScreen("espresso", place="query", editing=True)
                    app.push_screen(screen)
                    while not (screen.loaded and screen.focused):
                        await pilot.pause(0.01)
                    await pilot.press("K", "9")
                    while screen.keeper.state is not DraftState.WRITTEN:
                        await pilot.pause(0.01)
                    os.kill(os.getpid(), signal.SIGKILL)

            asyncio.run(main())
        """)
    )
    child = await asyncio.create_subprocess_exec(sys.executable, str(script))
    assert await asyncio.wait_for(child.wait(), 120) == -signal.SIGKILL
    with workspace(database) as ws:
        draft = ws.drafts.get("espresso", "Ana")
        assert draft.data["query"].endswith("K9")
        edit = authoring.open_task(ws, "espresso", "Ana").edit
        while edit.can_undo:
            assert edit.undo() == ("query",)
        assert not edit.changed
        assert ws.tasks.revision("espresso").number == 1


async def test_quitting_at_once_loses_nothing(database: Path, make_app) -> None:
    app = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "notes")
        await pilot.press("Z", "ctrl+q")
        await until(pilot, lambda: not screen.is_attached)
    with workspace(database) as ws:
        assert ws.drafts.get("espresso", "Ana").data["notes"].endswith("Z")


async def test_brackets_turn_tabs_where_nobody_types(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_task(pilot, "espresso", "gold.triples[0].head")
        tabs = screen.query_one(TabRow)
        here = tabs.active
        tabs.focus()
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: tabs.active != here)
        tabs.focus()
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: tabs.active == here)


async def test_saving_asks_for_a_message_makes_a_revision_and_drops_the_draft(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_task(pilot, "facts-night-train", "gold.facts[0].value")
        screen.focused.value = ""
        await type_text(pilot, "other")
        await pilot.press("ctrl+s")
        await until(pilot, dialog_is(pilot, AskLine))
        await type_text(pilot, "a new value")
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current and not screen.edit.changed)
        assert screen.edit.base == 2
        await pilot.press("f4", "f4", "f4", "f4")
        pane = screen.query_one(HistoryPane)
        await until(pilot, lambda: len(pane.list.rows) == 2)
        await until(pilot, lambda: "+ other" in "\n".join(pane.changes.lines))
        await until(pilot, lambda: not pane.uncounted(pane.list.rows))
        assert all(pane._changed(version).startswith("±") for version in pane.list.rows)
    with workspace(database) as ws:
        revision = ws.tasks.revision("facts-night-train")
        assert (revision.author, revision.message) == ("Ana", "a new value")
        assert revision.task.gold.facts[0].value == "other"
        assert ws.drafts.get("facts-night-train", "Ana") is None


async def test_what_is_no_task_cannot_be_saved_and_says_where(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "title")
        screen.focused.value = ""
        await pilot.pause()
        assert screen.edit.get(("title",)) == ""
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(screen.query_one(ProblemsPane).view.rows) == 1)
        assert "✗1" in screen.editor.tabs.labels["problems"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(screen.focused, Input))
        assert screen.editor.tabs.active == "brief"
        await type_text(pilot, "New")
        await until(pilot, lambda: "✗" not in screen.editor.tabs.labels["problems"])


async def test_undo_goes_back_through_all_tabs(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(100, 30)) as pilot:
        screen = await open_task(pilot, "espresso", "title")
        await pilot.press("A")
        await drafted(pilot, screen)
        await screen.editor.go_to(("gold", "triples", 3))
        await pilot.press("delete")
        assert len(screen.edit.items(("gold", "triples"))) == 78
        await pilot.press("ctrl+z")
        assert len(screen.edit.items(("gold", "triples"))) == 79
        assert screen.query_one("#graph", GraphPane).index == 3
        await pilot.press("ctrl+z")
        await until(pilot, lambda: screen.editor.tabs.active == "brief")
        assert not screen.edit.changed
        await pilot.press("ctrl+y", "ctrl+y")
        assert len(screen.edit.items(("gold", "triples"))) == 78


async def test_stages_are_added_moved_and_previewed_and_triples_follow(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_task(pilot, "espresso", "persona.stages[0]")
        await pilot.press("J")
        assert screen.edit.get(("gold", "triples", 0, "stage")) == 2
        await pilot.press("a")
        await type_text(pilot, "Milk")
        assert screen.edit.get(("persona", "stages", 2, "title")) == "Milk"
        card = screen.query_one(CueCard)
        await until(pilot, lambda: "Milk" in str(card.border_title))
        kind = screen.focused.screen.query_one("#stages .-choice Select", Select)
        kind.value = "asks"
        await until(
            pilot, lambda: screen.edit.get(("persona", "stages", 2, "cue", "kind")) == "asks"
        )
        await pilot.press("escape", "d")
        assert len(screen.edit.items(("persona", "stages"))) == 12


async def test_a_tab_is_chosen_by_key_and_by_click(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso")
        tabs = screen.editor.tabs
        await until(pilot, lambda: tabs.has_focus and tabs.active == "brief")
        await pilot.press("right")
        await until(pilot, lambda: tabs.active == "persona")
        await pilot.press("left", "left")
        await until(pilot, lambda: tabs.active == [*tabs.labels][-1])
        await pilot.click(TabRow, offset=(2, 1))
        await until(pilot, lambda: tabs.active == "brief")
        assert screen.editor.pane is not None
        assert screen.editor.pane.id == "brief"
        # Where there is no room for all, those around the active one are shown.
        await pilot.resize_terminal(40, 24)
        await screen.editor.open("problems")
        await until(pilot, lambda: "Problems" in tabs.render_line(0).text)
        at = tabs.render_line(0).text.index("Problems")
        assert tabs.render_line(1).text[at] == "━"
        assert "Brief" not in tabs.render_line(0).text


async def test_a_persona_can_be_given_and_taken(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "table-us-states", "persona")
        assert "stages" not in screen.editor.tabs.labels
        await pilot.press("a")
        await until(pilot, lambda: "stages" in screen.editor.tabs.labels)
        await type_text(pilot, "Kim")
        assert screen.edit.get(("persona", "name")) == "Kim"
        await pilot.press("f10", "r")
        await until(pilot, lambda: "stages" not in screen.editor.tabs.labels)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "stages" in screen.editor.tabs.labels)
        assert screen.edit.get(("persona", "name")) == "Kim"


async def test_cells_are_edited_from_the_keyboard(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "table-us-states", "gold.rows[1]")
        pane = screen.query_one(TablePane)
        rows = screen.edit.items(("gold", "rows"))
        await pilot.press("right", "P", "X", "tab", *"Town", "enter")
        await until(pilot, lambda: pane.editable_grid.editing == (2, 0))
        assert screen.edit.get(("gold", "rows", 1))[1:3] == ["PX", "Town"]
        await pilot.press("escape", "ctrl+n", *"Atlantis")
        await until(pilot, lambda: screen.edit.get(("gold", "rows", 3))[0] == "Atlantis")
        await pilot.press("escape")
        assert screen.edit.get(("gold", "rows", 3))[0] == ""
        await pilot.press("alt+up", "delete")
        for _ in range(40):
            if screen.edit.can_undo:
                await pilot.press("ctrl+z")
        assert screen.edit.items(("gold", "rows")) == rows


async def test_an_ambiguity_brings_its_fields(app_with_samples: CuecardApp) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = await open_task(pilot, "checkpoints-highest-mountain", "gold.steps[1].target")
        rows = {row.spec.path: row for row in screen.query("#steps FieldRow")}
        clue = rows["ambiguity", "clue"]
        assert not clue.display
        rows["ambiguity", "type"].editor.value = "version"
        await until(pilot, lambda: clue.display)
        clue.editor.focus()
        await type_text(pilot, "the later one")
        assert screen.edit.get(("gold", "steps", 1, "ambiguity", "clue")) == "the later one"


@pytest.mark.parametrize(
    ("task_id", "size"),
    [(SAMPLES[2], (80, 24))],
)
async def test_looking_at_every_tab_changes_nothing(
    app_with_samples: CuecardApp, task_id: str, size
) -> None:
    async with app_with_samples.run_test(size=size) as pilot:
        screen = await open_task(pilot, task_id)
        tabs = [*screen.editor.tabs.labels]
        for tab in tabs:
            await until(pilot, lambda tab=tab: screen.editor.tabs.active == tab)
            await pilot.press("down", "f4")
        assert not screen.edit.changed
        assert not screen.edit.can_undo


async def test_hostile_text_is_shown_and_kept_as_it_is(
    database: Path, app_with_samples: CuecardApp
) -> None:
    nasty = "[red]x[/] \x1b[31mred\x1b[0m [/b] \u202eabc " + "long" * 600
    with workspace(database) as ws:
        task = ws.tasks.revision("espresso").task
        stages = tuple(
            stage.model_copy(update={"title": nasty, "line": nasty})
            for stage in task.persona.stages
        )
        triples = tuple(t.model_copy(update={"head": nasty}) for t in task.gold.triples)
        task = task.model_copy(
            update={
                "title": nasty,
                "query": nasty,
                "persona": task.persona.model_copy(update={"stages": stages}),
                "gold": task.gold.model_copy(update={"triples": triples}),
            }
        )
        ws.tasks.save(task, author="Ana", message=nasty)
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: app_with_samples.screen.query_one("FittedTable").count == 8)
        screen = await open_task(pilot, "espresso")
        for _ in range(8):
            await pilot.press("f4")
            await pilot.pause()
        assert not screen.edit.changed
        shown = app_with_samples.export_screenshot()
        assert "\x1b" not in shown


async def test_submitting_needs_a_saved_revision_and_a_yes(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "gold.triples[0]")
        await pilot.press("ctrl+k", "f9")
        await until(pilot, lambda: app_with_samples._notifications)
        assert screen.is_current
        await pilot.press("ctrl+z", "f9")
        await until(pilot, dialog_is(pilot, SubmitDialog))
        await pilot.press("enter")
        await until(
            pilot,
            lambda: screen.is_current and "in review" in str(screen.query_one("#which").render()),
        )
    with workspace(database) as ws:
        assert ws.reviews.state("espresso") is TaskState.IN_REVIEW


async def test_escape_goes_back_one_step_at_a_time_and_keeps_the_draft(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "gold.triples[0].relation")
        await pilot.press("f2", "Q", "enter", "escape")
        assert screen.query_one("#graph", GraphPane).grid.has_focus
        await pilot.press("escape")
        await until(pilot, lambda: screen.editor.tabs.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.is_attached)
        assert any("kept" in note.message for note in app_with_samples._notifications)
    with workspace(database) as ws:
        draft = ws.drafts.get("espresso", "Ana")
        assert draft.data["gold"]["triples"][0]["relation"].endswith("Q")


async def test_reverting_asks_and_can_itself_be_undone(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "espresso", "notes")
        await pilot.press("N")
        await drafted(pilot, screen)
        await pilot.press("f10", "v")
        await until(pilot, dialog_is(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: screen.is_current and not screen.edit.changed)
        await screen.keeper.flush()
        with workspace(database) as ws:
            assert ws.drafts.get("espresso", "Ana") is None
        await pilot.press("ctrl+z")
        assert str(screen.edit.get(("notes",))).endswith("N")


async def test_the_same_task_opened_twice_goes_on_from_the_last_edit(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        await pilot.pause()
        first = await open_task(pilot, "espresso", "domain")
        await type_text(pilot, "1")
        app_with_samples.action_go("home")
        await until(pilot, lambda: not first.is_current)
        second = await open_task(pilot, "espresso", "domain")
        assert str(second.edit.get(("domain",))).endswith("1")
        await type_text(pilot, "2")
        app_with_samples.action_go("tasks")
        await until(pilot, lambda: str(first.edit.get(("domain",))).endswith("12"))
        await until(pilot, lambda: isinstance(first.focused, Input))
        await type_text(pilot, "3")
        await first.keeper.flush()
    with workspace(database) as ws:
        assert ws.drafts.get("espresso", "Ana").data["domain"].endswith("123")


async def test_a_new_task_whose_id_was_taken_meanwhile_gets_another(
    database: Path, app_with_samples: CuecardApp
) -> None:
    with workspace(database) as ws:
        task = ws.tasks.revision("facts-night-train").task
        mine = task.model_copy(update={"id": "trains", "title": "Mine"})
        ws.drafts.save("trains", "Ana", 0, mine.model_dump(mode="json"))
        ws.tasks.save(task.model_copy(update={"id": "trains"}), author="Ben")
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = await open_task(pilot, "trains", "title")
        await pilot.press("ctrl+s")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press("enter")
        await until(pilot, dialog_is(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current and screen.task_id == "trains-2")
        await pilot.press("ctrl+s")
        await until(pilot, dialog_is(pilot, AskLine))
        await pilot.press("enter")
        await until(pilot, lambda: screen.edit.base == 1)
    with workspace(database) as ws:
        assert ws.tasks.revision("trains-2").task.title == "Mine"
        assert ws.tasks.revision("trains").author == "Ben"
        assert ws.drafts.of("Ana") == []


async def test_a_task_opens_to_be_read_and_no_key_changes_it(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: app.screen.query("FittedTable"))
        await pilot.press("slash", *"espresso", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        screen = app.screen
        await until(pilot, lambda: screen.editor.tabs.has_focus)
        tabs = [tab for tab in screen.editor.tabs.labels if tab not in ("problems", "history")]
        for tab in tabs:
            assert (screen.editor.tabs.active, screen.editor.tabs.has_focus) == (tab, True)
            await pilot.press("x", "a", "d", "delete", "pagedown", "ctrl+e")
            await pilot.press("down", "pagedown", "home", "down")
            assert screen.is_current
            await pilot.press("f4")
        assert not screen.edit.can_undo
        assert screen.query_one("#graph", GraphPane).index == 1, (
            "what is read can be walked through"
        )
        await pilot.press(*["f3"] * len(tabs))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press("escape", "1")
        await until(pilot, lambda: app.current_mode == "home")
        await pilot.press("2")
        await until(pilot, lambda: screen.is_current)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))


@pytest.mark.parametrize("key", ["enter", "f2"])
async def test_enter_edits_where_the_task_was_opened_and_escape_reads_again(
    app_with_samples: CuecardApp, key: str
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        screen = TaskScreen("espresso", place="gold.triples[40].tail")
        app_with_samples.push_screen(screen)
        await until(pilot, lambda: screen.loaded and screen.editor.tabs.has_focus)
        pane = screen.query_one(GraphPane)
        assert pane.index == 40
        await pilot.press(key)
        await until(pilot, lambda: pane.grid.has_focus)
        await pilot.press("Q", "enter", "escape")
        await until(pilot, lambda: screen.edit.get(("gold", "triples", 40, "tail")) == "Q")
        await until(pilot, lambda: pane.grid.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: screen.editor.tabs.has_focus)
        await pilot.press("x", "delete")
        await until(pilot, lambda: not pilot.app._held)
        assert screen.edit.get(("gold", "triples", 40, "tail")) == "Q"


@pytest.mark.parametrize("state", [TaskState.IN_REVIEW, TaskState.APPROVED])
async def test_before_its_first_change_a_task_past_drafting_asks_once(
    judged: Path, make_app, state: TaskState
) -> None:
    with workspace(judged) as ws:
        edit = authoring.open_task(ws, "espresso", "Ana").edit
        edit.set(("title",), "What was taken back in an earlier sitting")
        edit.undo()
        authoring.keep_draft(ws, "Ana", edit.snapshot)
        if state is TaskState.APPROVED:
            for reviewer in ("Ben", "Chen"):
                review = Reviewed(ratings={"gold": "pass"}, decision=ReviewDecision.APPROVE)
                ws.reviews.act("espresso", reviewer, review)
    app: CuecardApp = make_app(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = TaskScreen("espresso")
        app.push_screen(screen)
        await until(pilot, lambda: screen.loaded and screen.editor.tabs.has_focus)
        assert screen._state == state.value
        # Every way in asks: Enter, a problem's place, a click, the whole task as YAML, a step of its history.
        ways = (
            lambda: pilot.press("enter"),
            lambda: screen.editor.go_to(("title",)),
            lambda: pilot.click("#brief LineEditor"),
            lambda: pilot.press("ctrl+o"),
            lambda: pilot.press("ctrl+y"),
        )
        for way in ways:
            await way()
            await until(pilot, dialog_is(pilot, ConfirmDialog))
            await pilot.press("escape")
            await until(pilot, lambda: screen.is_current and screen.editor.tabs.has_focus)
        await pilot.press("enter")
        await until(pilot, dialog_is(pilot, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(screen.focused, Input))
        await pilot.press("A")
        await until(pilot, lambda: screen.edit.changed)
        await pilot.press("escape")
        await until(pilot, lambda: screen.editor.tabs.has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(screen.focused, Input))
        assert screen.is_current


async def test_a_task_comes_back_at_the_tab_row_and_history_where_it_was_left(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await open_task(pilot, "espresso", "title")
        await pilot.press("end", "!")
        await until(pilot, lambda: screen.edit.get(("title",)).endswith("!"))
        await screen.editor.open("graph")
        grid = screen.query_one(GraphPane).grid
        await until(pilot, lambda: grid.count > 40)
        grid.move_to(40, 3)
        await pilot.pause()
        scrolled = grid.scroll_y
        assert scrolled > 0
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is not screen)
        again = TaskScreen("espresso")
        app.push_screen(again)
        await until(pilot, lambda: again.loaded and again.query(GraphPane))
        grid = again.query_one(GraphPane).grid
        await until(pilot, lambda: (grid.cursor_row, grid.cursor_column) == (40, 3))
        await until(pilot, lambda: grid.scroll_y == scrolled)
        assert again.editor.tabs.has_focus
        await pilot.press("ctrl+z")
        await until(pilot, lambda: not again.edit.get(("title",)).endswith("!"))


@pytest.mark.parametrize("editing", [True, False])
async def test_a_place_that_is_gone_to_counts_more_than_where_a_tab_was_left(
    app_with_samples: CuecardApp, editing: bool
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await open_task(pilot, "espresso", "gold.triples[40].tail")
        assert screen.query_one(GraphPane).grid.cursor_row == 40
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is not screen)
        again = TaskScreen("espresso", place="gold.triples[1].note", editing=editing)
        app.push_screen(again)
        await until(pilot, lambda: again.loaded and again.query(GraphPane))
        await app.idle(0.05)
        assert again.query_one(GraphPane).grid.cursor_row == 1
        # What is added next stands below it, also from within its note.
        if editing:
            await pilot.press("ctrl+n", *"next")
            await until(pilot, lambda: again.edit.get(("gold", "triples", 2, "head")) == "next")


async def look_of(app: CuecardApp, task_id: str, place: str, editing: bool, ahead: bool) -> object:
    async with app.run_test(size=(120, 30)) as pilot:
        if ahead:
            make_next(app)
            await until(pilot, lambda: app.is_screen_installed(NEXT))
        await pilot.resize_terminal(80, 24)
        app.theme = "cuecard-light"
        show_task(app, task_id, place=place, editing=editing)
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        assert not app.is_screen_installed(NEXT)
        screen = app.screen
        await until(pilot, lambda: screen.focused and screen.editor.pane)
        if isinstance(screen.focused, Input | TextArea):
            screen.focused.cursor_blink = False
        await app.idle(0.1)
        screen.editor.commit()
        assert not screen.edit.changed
        return screen._compositor.render_strips(), type(screen.focused), screen.way


@pytest.mark.parametrize(
    ("task_id", "place", "editing"),
    [
        *((task_id, "", False) for task_id in SAMPLES),
        ("espresso", "gold.triples[40].tail", True),
        ("facts-night-train", "title", True),
    ],
)
async def test_a_task_looks_the_same_on_a_screen_that_was_made_before_it_was_asked_for(
    database: Path, make_app, task_id: str, place: str, editing: bool
) -> None:
    fresh, ahead = [
        await look_of(make_app(database, motion="reduced"), task_id, place, editing, made)
        for made in (False, True)
    ]
    assert fresh == ahead


async def test_a_task_that_cannot_be_read_is_told_and_leaves_no_screen(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 30)) as pilot:
        before = app.screen
        make_next(app)
        await until(pilot, lambda: app.is_screen_installed(NEXT))
        show_task(app, "there-is-none")
        await until(pilot, lambda: any("there-is-none" in n.message for n in app._notifications))
        assert app.screen is before
        await until(
            pilot,
            lambda: (
                not any(isinstance(node, TaskScreen) and node.task_id for node in app._registry)
            ),
        )
        show_task(app, "espresso")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
