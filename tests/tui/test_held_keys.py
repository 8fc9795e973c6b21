"""What is typed waits until what was typed before it is done: it goes where the key before it leads."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import ComposeResult
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, TextArea

from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_run
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import CuecardApp, guarded
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.run.start import RunStartDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.tasks_listing import NewTaskDialog
from tui_rooms import until

SIZE = (100, 30)
Paste = tuple[str]


def burst(app: HoldsKeys, *typed: str | Paste) -> None:
    """Keys, each letter of a text with a space in front, and pastes, all in one go."""
    driver: Any = app._driver
    for one in typed:
        if isinstance(one, tuple):
            driver.process_message(events.Paste(*one))
            continue
        for key in one[1:] if one.startswith(" ") else [one]:
            char = key if len(key) == 1 else None
            driver.process_message(events.Key("space" if key == " " else key, char))


async def settled(pilot: Pilot[Any], app: HoldsKeys) -> None:
    """All that was typed is done, and nothing of it was dropped."""
    await until(pilot, lambda: not app._held)
    await pilot.pause()
    assert not [note for note in app._notifications if "What you typed" in note.message]


async def opened(pilot: Pilot[Any], task_id: str, tab: str) -> TaskScreen:
    screen = TaskScreen(task_id)
    await pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded)
    await settled(pilot, pilot.app)
    await screen.editor.enter(tab)
    await settled(pilot, pilot.app)
    return screen


async def test_the_palette_gets_what_is_typed_after_its_key_and_the_gold_stays(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot, "espresso", "stages")
        before = screen.edit.data
        burst(app, "f4", "ctrl+p", " ask")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await until(pilot, lambda: app.screen.query_one(Input).value == "ask")
        assert screen.edit.data is before
        assert screen.editor.tabs.active == "graph"
        # The palette cannot be taken down in the middle of its search.
        await until(pilot, lambda: not app._searching(app.screen))


async def test_a_command_that_is_typed_and_entered_in_one_go_is_run(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        burst(app, "2", "ctrl+p", " new", "enter", " lamp")
        await until(pilot, lambda: isinstance(app.screen, NewTaskDialog))
        await settled(pilot, app)
        assert _typed(app) == "lamp"


async def test_a_question_to_the_world_does_not_become_the_key_of_a_fact(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot, "facts-night-train", "facts")
        before = screen.edit.data
        burst(app, "f12", " when does it go")
        await settled(pilot, app)
        assert _typed(app) == "when does it go"
        assert screen.edit.data is before


@pytest.mark.parametrize("typed", [" quilt n", ("quilt n",)])
async def test_text_and_pastes_after_a_change_of_screen_go_into_its_dialog(
    app_with_samples: CuecardApp, typed: str | Paste
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        burst(app, "3", "2", "a", typed)
        await until(pilot, lambda: isinstance(app.screen, NewTaskDialog))
        await settled(pilot, app)
        assert _typed(app) == "quilt n"
        assert len(app.screen_stack) == 2


async def test_a_grid_takes_letters_only_once_it_is_there(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot, "facts-night-train", "facts")
        burst(app, "f4", "f4", "f3", "f3", " new", "tab", " 7", "escape", "f4")
        await until(pilot, lambda: screen.editor.tabs.active == "answer")
        await settled(pilot, app)
        assert screen.edit.get(("gold", "facts", 0, "key")) == "new"
        assert screen.edit.get(("gold", "facts", 0, "value")) != "7"


def budgeted(database: Path, budget: float) -> int:
    """A run that nobody plays yet."""
    with Workspace.open(database) as workspace:
        plan = RunPlan(tasks=("espresso",), settings=RunSettings(budget=budget))
        return create_run(workspace, plan, by="Ana").id


async def test_alt_and_a_letter_is_no_text_on_terminals_that_send_esc_before_it(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot, "table-us-states", "table")
        burst(app, "enter", "escape")
        await settled(pilot, app)
        before = screen.edit.data
        driver: Any = app._driver
        for letter in "cq":
            driver.process_message(events.Key(f"alt+{letter}", letter))
        await settled(pilot, app)
        assert screen.edit.data is before


async def test_a_budget_typed_in_one_go_is_that_budget(
    app_with_samples: CuecardApp, database: Path
) -> None:
    run_id = budgeted(database, 10)
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = RunScreen(run_id)
        await app.push_screen(screen)
        await settled(pilot, app)
        burst(app, "full_stop", "b", "ctrl+u", " 5", "enter")
        await until(pilot, lambda: screen._snapshot and screen._snapshot.budget == 5)
        # Nothing is no budget only when that is meant.
        burst(app, "full_stop", "b", "ctrl+u", "enter")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        burst(app, "n", "full_stop", "b", "end", "backspace", "enter", "y")
        await until(pilot, lambda: screen.is_current and screen._snapshot.budget is None)


async def test_a_run_with_models_asks_before_it_starts_without_a_budget(
    home: Path, make_app, database: Path
) -> None:
    (home / "cuecard.yaml").write_text(
        "models:\n  near: {base_url: 'http://127.0.0.1:9', model: m, price: {prompt: 1, completion: 1}}\n"
        "agents:\n  near: {kind: react, model: near}\n"
    )
    app: CuecardApp = make_app(database)
    async with app.run_test(size=SIZE) as pilot:
        burst(app, "3", "a")
        await until(pilot, lambda: isinstance(app.screen, RunStartDialog))
        await settled(pilot, app)
        dialog = app.screen
        dialog.query_one("#agents").select_all()
        burst(app, "ctrl+s", " n")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "budget")
        assert app.screen is dialog
        burst(app, " 2", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await until(pilot, lambda: app.screen._snapshot and app.screen._snapshot.budget == 2)


@pytest.mark.parametrize(
    ("task_id", "tab", "place"),
    [
        ("espresso", "graph", ("gold", "triples", 0, "head")),
        ("facts-night-train", "facts", ("gold", "facts", 0, "key")),
        ("table-us-states", "table", ("gold", "rows")),
    ],
)
async def test_escape_in_a_cell_leaves_no_step_to_take_back(
    app_with_samples: CuecardApp, task_id: str, tab: str, place: tuple[str | int, ...]
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot, task_id, tab)
        before, text = screen.edit.data, screen.edit.get(place)
        burst(app, " ab")
        await until(pilot, lambda: screen.edit.get(place) != text)
        # A draft that is written meanwhile ends a step.
        await screen.keeper.flush()
        burst(app, " c", "escape", "ctrl+z", "ctrl+z")
        await settled(pilot, app)
        assert screen.edit.data is before
        assert not screen.edit.can_undo


class Sentence(ModalScreen[str]):
    def compose(self) -> ComposeResult:
        yield Input()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Desk(Screen[None]):
    """A text, and a key that opens a dialog after `go` was set."""

    BINDINGS: ClassVar[list[Any]] = [
        ("f2", "ask", "Ask"),
        ("f3", "ask_twice", "Ask twice"),
        ("escape", "leave", "Leave"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield TextArea()

    @guarded("ask")
    async def action_ask(self) -> None:
        await self.go.wait()
        await asyncio.to_thread(lambda: None)
        self.said.append(await self.app.push_screen_wait(Sentence()))

    @guarded("ask")
    async def action_ask_twice(self) -> None:
        for _ in range(2):
            await asyncio.sleep(0.05)
            self.said.append(await self.app.push_screen_wait(Sentence()))

    def action_leave(self) -> None:
        self.said.append("left")


class Bench(HoldsKeys):
    PATIENCE = 0.4
    IMPATIENCE = (0.1, 0.1)

    def on_mount(self) -> None:
        self.push_screen(Desk())


async def desk(pilot: Pilot[Any]) -> Desk:
    await until(pilot, lambda: isinstance(pilot.app.screen, Desk) and pilot.app.focused)
    screen = pilot.app.screen
    assert isinstance(screen, Desk)
    return screen


class Patient(Bench):
    """However long the machine takes until the dialog is there."""

    PATIENCE = 30.0


async def test_what_is_typed_before_a_dialog_from_a_worker_goes_into_it() -> None:
    app = Patient()
    async with app.run_test(size=SIZE) as pilot:
        screen = await desk(pilot)
        burst(app, " before", "f2", " within", ("pasted",))
        await until(pilot, lambda: screen.query_one(TextArea).text == "before")
        screen.go.set()
        await until(pilot, lambda: isinstance(app.screen, Sentence))
        await settled(pilot, app)
        assert _typed(app) == "withinpasted"
        burst(app, "enter", " after")
        await until(pilot, lambda: screen.query_one(TextArea).text == "beforeafter")
        assert screen.said == ["withinpasted"]


async def test_from_dialog_to_dialog_of_one_worker() -> None:
    app = Patient()
    async with app.run_test(size=SIZE) as pilot:
        screen = await desk(pilot)
        burst(app, "f3", " one", "enter", " two", "enter", " three")
        await until(pilot, lambda: screen.query_one(TextArea).text == "three")
        assert screen.said == ["one", "two"]


async def test_what_cannot_arrive_is_dropped_and_told_and_the_app_goes_on() -> None:
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        screen = await desk(pilot)
        burst(app, "f2", " lost")
        await until(pilot, lambda: app._notifications)
        assert "lost" in next(iter(app._notifications)).message
        assert screen.query_one(TextArea).text == ""
        burst(app, " goes on")
        await until(pilot, lambda: screen.query_one(TextArea).text == "goes on")


async def test_escape_does_not_wait_as_long_and_what_was_typed_before_it_is_told() -> None:
    app = Bench()
    app.PATIENCE = 60
    async with app.run_test(size=SIZE) as pilot:
        screen = await desk(pilot)
        burst(app, "f2", " lost", "escape")
        await until(pilot, lambda: screen.said == ["left"])
        assert "lost" in next(iter(app._notifications)).message


async def test_a_handler_that_is_under_way_is_waited_for() -> None:
    """What the law stands on: a pump that waits inside a handler does not look as if it rested."""

    class Late(Input):
        go = asyncio.Event()

        async def on_key(self) -> None:
            await self.go.wait()

    class Two(Screen[None]):
        def compose(self) -> ComposeResult:
            yield Late()
            yield Input(id="other")

        def on_input_changed(self, event: Input.Changed) -> None:
            self.query_one("#other").focus()

    app = Bench()
    app.PATIENCE = 60
    async with app.run_test(size=SIZE) as pilot:
        await desk(pilot)
        screen = Two()
        await app.push_screen(screen)
        burst(app, " ab")
        # Nothing here may wait for the app, which waits for `go`.
        for _ in range(200):
            await asyncio.sleep(0.01)
            if len(app._held) == 1:
                break
        held = len(app._held)
        Late.go.set()
        assert held == 1
        await settled(pilot, app)
        await until(pilot, lambda: screen.query_one("#other", Input).value == "b")
        assert screen.query_one(Late).value == "a"


def _typed(app: HoldsKeys) -> str:
    """The text in the field that has the focus."""
    field = app.focused
    return (
        field.value
        if isinstance(field, Input)
        else field.text
        if isinstance(field, TextArea)
        else ""
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 4096])
def test_escapes_in_a_paste_are_no_keys_wherever_the_terminal_parts_them(size: int) -> None:
    text = "a \x1b[31mred\x1b[0m word\rnext \x1b\tcell \x1b[A\x1b[2"
    sent = f"x\x1b[A\x1b[200~{text}\x1b[201~y\x1b[200~\x1b[201~\x1b[200~two\x1b[201~\x1b[B"
    parser = XTermParser()
    come = [
        event
        for at in range(0, len(sent), size)
        for event in parser.feed(sent[at : at + size])
    ]  # fmt: skip
    told = [
        event.text if isinstance(event, events.Paste) else getattr(event, "key", "")
        for event in come
    ]
    assert told == ["x", "up", "a red word\rnext \tcell 2", "y", "", "two", "down"]


def test_no_key_is_alt_and_a_letter() -> None:
    with pytest.raises(ValueError, match="Esc and a letter"):
        keys(Key("test.alt", "f7,alt+c", "copy", "Copy", "Copy it"))
