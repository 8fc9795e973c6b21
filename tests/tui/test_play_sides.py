"""Before and after a live session, by keys: its start, a note, and the form that was left for later."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from cuecard.core.config import load_config
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.present.drafts import KeptJson
from cuecard.tui.present.players import Start, start_choices
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.play.form import Question, SessionFormPane, SessionFormScreen
from cuecard.tui.screens.play.screen import StartDialog
from cuecard.tui.screens.play.sources import NewNote, NoteDialog
from cuecard.tui.screens.trial.screen import TrialScreen
from lab_players import play_out
from steady_app import SteadyApp
from tui_rooms import HOSTILE, shown, until

SIZE = (80, 24)
CONFIG = """\
models:
  hosted: {base_url: "https://x.org/v1", model: big, api_key_env: CUECARD_TEST_NO_KEY}
agents:
  cloud: {kind: react, model: hosted}
"""


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def play_to_the_end(path: Path) -> int:
    async def played() -> int:
        with Workspace.open(path) as workspace:
            session = await PlaySession.start(workspace, "table-solar-terms-zh", by="Ana")
            await play_out(session)
            return session.trial.id

    return asyncio.run(played())


def test_a_form_left_for_later_is_still_filled_in_and_shows_no_score(
    database: Path, make_app: Any
) -> None:
    trial_id = play_to_the_end(database)
    app: CuecardApp = make_app(database)

    async def drive() -> None:
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: "Form to fill in" in shown(app.screen))
            await pilot.press("home", "enter")
            await until(pilot, lambda: isinstance(app.focused, Question))
            screen = app.screen
            assert isinstance(screen, SessionFormScreen)
            assert "Handed in" in shown(screen)
            await pilot.press("7", "6", "left", "right", "down", "2", "ctrl+s")
            await until(pilot, lambda: "Still to answer: My need" not in shown(screen))
            assert "Triplet F1" not in shown(screen)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))

            await until(pilot, lambda: "Form to fill in" in shown(app.screen))
            await pilot.press("enter")
            await until(pilot, lambda: "[7]" in shown(app.screen) and "[6]" in shown(app.screen))
            await until(pilot, lambda: isinstance(app.focused, Question))
            pane = app.screen.query_one(SessionFormPane)
            for _question in range(8):
                if "complete" in str(pane.border_subtitle):
                    break
                await pilot.press("5")
            while not isinstance(app.focused, TextArea):
                await pilot.press("tab")
            await pilot.press(*"x 1", "ctrl+s")
            await until(pilot, lambda: isinstance(app.screen, TrialScreen))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))
            await until(pilot, lambda: "Form to fill in" not in shown(app.screen))

    asyncio.run(drive())
    with Workspace.open(database) as workspace:
        (form,) = workspace.session_forms.newest([trial_id])
    answers = form.answers
    assert (answers["satisfaction"], answers["understood"], answers["remarks"]) == (7, 6, "x 1")
    assert len(answers) == len(form.questions)


def test_a_start_tells_what_is_missing_and_a_note_that_is_left_comes_back(
    home: Path, database: Path, make_app: Any
) -> None:
    (home / "cuecard.yaml").write_text(CONFIG)
    choices = start_choices(load_config(), {})
    app: CuecardApp = make_app(database)
    started: list[Start | None] = []
    noted: list[NewNote | None] = []
    kept = KeptJson("db", "note of trial 1")

    async def drive() -> None:
        async with app.run_test(size=SIZE) as pilot:
            app.push_screen(StartDialog(choices), started.append)
            await until(pilot, lambda: isinstance(app.screen, StartDialog))
            await pilot.press("tab", "enter", "end", "up", "enter")
            await until(pilot, lambda: "CUECARD_TEST_NO_KEY is not set" in shown(app.screen))
            await pilot.press("ctrl+s")
            assert not started
            await pilot.press(
                "enter", "home", "enter", "shift+tab", "shift+tab", "space", "tab", "enter"
            )
            await until(pilot, lambda: bool(started))

            app.push_screen(NoteDialog(HOSTILE, "agent", kept), noted.append)
            await until(pilot, lambda: "o Other" in shown(app.screen))
            await pilot.press("t", *"no cue", "escape")
            await until(pilot, lambda: noted == [None])
            assert kept.load() == {"about": "task", "text": "no cue"}
            app.push_screen(NoteDialog("stage 2", "agent", kept), noted.append)
            await until(pilot, lambda: "stage 2" in shown(app.screen))
            await pilot.press(*" here", "ctrl+s")
            await until(pilot, lambda: len(noted) == 2)

    asyncio.run(drive())
    assert started == [Start("offline", "closed", "lexical", ("scripted",))]
    assert noted == [None, NewNote(about="task", text="no cue here")]
    assert kept.load() == {}
