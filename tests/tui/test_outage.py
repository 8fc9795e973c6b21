"""The database goes away and comes back: nothing that was typed is lost, and a bar says what happens."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from cuecard.annotate.samples import import_samples
from cuecard.core.config import load_config
from cuecard.core.engine.events import Limits, RunState, UserSpoke
from cuecard.core.engine.messages import UserReply
from cuecard.core.engine.step_context import ReplyMove
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.notices import OutageBar
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.play.dialogs import MarkDialog
from cuecard.tui.screens.play.form import write_form
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.screens.play.sources import NoteDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.wizard_of_oz import WizardOfOzScreen
from cuecard.tui.screens.wizard_of_oz_panes import Words
from cuecard.tui.services import Services
from postgres_server import Server, own_server
from steady_app import SteadyApp
from tui_rooms import agent_spoke, enter_play, live_agent, shown, status, transcript, until


@pytest.fixture
def kind_of_app() -> type[CuecardApp]:
    return SteadyApp


TASK = "facts-night-train"


async def opened(pilot: Pilot[Any], place: str = "title") -> TaskScreen:
    screen = TaskScreen(TASK, place=place, editing=True)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Server]:
    """A server that tests stop and start."""
    with own_server() as server:
        with Workspace.open(server.url) as workspace:
            workspace.people.add("Ana")
            import_samples(workspace, by="Ana")
        yield server


def bar(app: CuecardApp) -> str:
    """What the bar on the top screen says."""
    found = [each for each in app.screen.query(OutageBar) if each.display]
    return str(found[0].content) if found else ""


def taken_away(database: Path) -> Path:
    return database.rename(database.with_name("elsewhere.db"))


def drafted(database: Path) -> str:
    with Workspace.open(database) as ws:
        draft = ws.drafts.get(TASK, "Ana")
        return str(draft.data["title"]) if draft else ""


async def test_a_draft_waits_here_until_the_file_is_back(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        away = taken_away(database)
        await pilot.press("end", "A")
        await until(pilot, lambda: bar(app))
        assert "file is gone" in bar(app)
        await until(pilot, lambda: "F12" in shown(screen))
        await until(pilot, lambda: "draft on this machine" in shown(screen))
        await pilot.press("B")
        await until(pilot, lambda: "1 thing is kept" in bar(app))
        away.rename(database)
        await pilot.press("f12")
        await until(pilot, lambda: "is back" in bar(app))
        await until(pilot, lambda: drafted(database).endswith("AB"))
        assert not app.services.journal.waiting
        await pilot.press("C")
        await until(pilot, lambda: "draft on disk" in shown(screen))
    assert drafted(database).endswith("ABC")


async def test_what_waits_is_delivered_by_the_next_app(
    database: Path, make_app: Any, home: Path
) -> None:
    app = make_app(database)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        away = taken_away(database)
        await pilot.press("end", "A")
        await until(pilot, lambda: "1 thing is kept" in bar(app))
    away.rename(database)
    assert not drafted(database)
    later = make_app(database)
    async with later.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: drafted(database))
        await until(pilot, lambda: "1 thing that was kept" in shown(later.screen))
    assert drafted(database).endswith("A")


async def test_a_list_that_cannot_be_read_waits_and_says_so(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "Nothing waits" in shown(app.screen))
        away = taken_away(database)
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, TasksScreen) and bar(app))
        await until(pilot, lambda: "file is gone" in shown(app.screen))
        away.rename(database)
        await pilot.press("f12")
        await until(pilot, lambda: "night train" in shown(app.screen))
        await until(pilot, lambda: "is back" in bar(app))


async def test_a_move_as_the_agent_and_answers_wait_until_the_file_is_back(
    database: Path, make_app: Any
) -> None:
    with Workspace.open(database) as workspace:
        session = await PlaySession.start(workspace, "espresso", by="Chen", agent="person")
        trial = session.trial.id
        await session.wait_turn()
        await session.submit(UserReply(text="Which coffee is it?"))
        await session.close()
    app = make_app(database, person="Ben")
    async with app.run_test(size=(100, 30)) as pilot:
        screen = WizardOfOzScreen(trial)
        app.push_screen(screen)
        await until(pilot, lambda: screen.state and screen.state.view)
        away = taken_away(database)
        screen.query_one(Words).focus()
        await pilot.press(*"Mocha", "enter")
        await until(pilot, lambda: "1 thing is kept" in bar(app))
        await until(pilot, lambda: "On its way" in shown(screen))
        assert screen.query_one(Words).text == ""
        await write_form(screen, trial, (), {})
        await until(pilot, lambda: "2 things are kept" in bar(app))
        away.rename(database)
        await pilot.press("f12")
        await until(pilot, lambda: "is back" in bar(app))
        await until(pilot, lambda: not app.services.journal.waiting)
    with Workspace.open(database) as workspace:
        (step,) = workspace.player_moves.of(trial)
        (form,) = workspace.session_forms.newest()
    assert (step.place, step.move) == ("agent/0/move/0", ReplyMove(text="Mocha"))
    assert (form.trial_id, form.person) == (trial, "Ben")


@contextmanager
def locked(database: Path) -> Generator[None]:
    """Another program writes to the file for as long as this lasts."""
    program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print('in', flush=True); input()"
    command = [sys.executable, "-c", program, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield
        finally:
            other.communicate(b"\n")


async def test_labels_wait_while_another_program_locks_the_file(judged: Path) -> None:
    app = SteadyApp(Services(f"sqlite:///{judged}", busy=0.2), "Ben", Preferences())
    async with app.run_test(size=(80, 24)) as pilot:
        screen = LabelScreen(1, "first run")
        app.push_screen(screen)
        await until(pilot, lambda: screen.step and screen.step.view)
        with locked(judged):
            await pilot.press("y", "n")
            await until(pilot, lambda: screen.step and screen.step.labelled == 2)
            await until(pilot, lambda: "is busy" in bar(app) and "2 things" in bar(app))
            with Workspace.open(judged) as workspace:
                assert not workspace.verdicts.item_labels()
            await pilot.press("escape")
            app.action_go("tasks")
            await until(pilot, lambda: "night train" in shown(app.screen))
        await pilot.press("f12")
        await until(pilot, lambda: "is back" in bar(app))
    with Workspace.open(judged) as workspace:
        given = workspace.verdicts.item_labels()
    assert sorted(label.value for label in given) == ["no", "yes"]
    assert {(label.person, label.phase) for label in given} == {("Ben", "blind")}


async def test_words_typed_while_others_wait_to_be_sent_stay_alone_in_the_input(
    database: Path,
) -> None:
    app = SteadyApp(Services(f"sqlite:///{database}", busy=0.2), "Ben", Preferences())
    async with app.run_test(size=(80, 24)) as pilot:
        screen = PlayScreen("facts-night-train")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        composer.take("And by bus?")
        with locked(database):
            await pilot.press("enter")
            await until(pilot, lambda: "is busy" in bar(app))
            composer.insert(" And on foot?")
        await pilot.press("f12")
        await agent_spoke(pilot, screen, 2)
        await until(pilot, lambda: composer.text == "And on foot?")


async def test_a_run_waits_for_its_server_and_pays_for_no_call_twice(
    home: Path, own_postgres: Server
) -> None:
    with live_agent(home, "I think it is espresso.", pause=0.02) as model:
        config = load_config(home / "cuecard.yaml")
        plan = RunPlan(
            tasks=("espresso", "table-us-states"),
            agents=("live",),
            samples=2,
            limits=Limits(max_turns=3),
        )
        with Workspace.open(own_postgres.url) as workspace:
            playing = asyncio.create_task(start_run(workspace, plan, by="Ana", config=config))
            while len(model.requests) < 6:  # noqa: ASYNC110 - counted on another thread
                await asyncio.sleep(0.01)
            own_postgres.stop(signal.SIGKILL)
            await asyncio.sleep(0.3)
            assert not playing.done()
            own_postgres.start()
            outcome = await playing
            trials = workspace.runs.trials(outcome.run.id)
            calls = sum(used.calls for used in workspace.runs.usage(outcome.run.id))
    assert outcome.run.state is RunState.DONE
    assert not outcome.unjudged
    assert [
        trial for trial in trials if not trial.termination or trial.termination.is_failure
    ] == []
    assert calls == len(model.requests)


async def test_a_session_goes_on_when_its_server_is_back(home: Path, own_postgres: Server) -> None:
    replies = [f"Reply number {n}." for n in range(9)]
    with live_agent(home, *replies, pause=0.2) as model:
        app = SteadyApp(Services(own_postgres.url), "Ana", Preferences())
        async with app.run_test(size=(80, 24)) as pilot:
            screen = PlayScreen("espresso", agent="live")
            composer = await enter_play(pilot, screen)
            await pilot.press("enter")
            await until(pilot, lambda: model.requests)
            own_postgres.stop(signal.SIGKILL)
            await until(pilot, lambda: bar(app))
            await pilot.press(*"later", "f7")
            await until(pilot, lambda: isinstance(app.screen, NoteDialog) and bar(app))
            await pilot.press("escape")
            await until(pilot, lambda: screen.is_current)
            assert "cannot be reached" in shown(screen)
            assert "ended" not in status(screen)
            assert composer.text == "later"
            asked = len(model.requests)
            own_postgres.start()
            await pilot.press("f12")
            await agent_spoke(pilot, screen, 1)
            assert "Reply number 0." in transcript(screen)
            composer.take("")
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, MarkDialog))
            await pilot.press("y")
            await until(pilot, lambda: composer.text.startswith("I had never heard of"))
            line = composer.text
            own_postgres.stop(signal.SIGKILL)
            await pilot.press("enter", "enter")
            await until(pilot, lambda: bar(app) and "back" not in bar(app))
            assert composer.text == line
            own_postgres.start()
            await pilot.press("f12")
            await agent_spoke(pilot, screen, 2)
            assert len(model.requests) == asked + 1
    with Workspace.open(own_postgres.url) as workspace:
        (trial,) = (t.id for t in workspace.runs.trials(workspace.runs.all(kind="play")[0].id))
        words = [
            e.body.reply.text for e in workspace.runs.log(trial) if isinstance(e.body, UserSpoke)
        ]
        assert words[1:] == [line]
        assert workspace.runs.trial(trial).termination is None
