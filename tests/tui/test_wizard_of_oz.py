"""The window of a person who plays the agent, driven by keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import TextArea

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import Act
from cuecard.core.predictions import AnswerPrediction
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.present.wizard_of_oz import WizardOfOzState
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.wizard_of_oz import ActDialog, WizardOfOzScreen
from cuecard.tui.screens.wizard_of_oz_panes import HandInPane, SearchLine, Words
from steady_app import SteadyApp
from tui_rooms import shown, transcript, until
from wizard_of_oz_players import play_user

CHAIN = "checkpoints-highest-mountain"


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def user_of(database: Path) -> threading.Thread:
    """Chen's session, in a workspace of its own as another process would have it."""

    def play() -> None:
        with Workspace.open(database) as workspace:
            limits = Limits(max_turns=1)
            asyncio.run(play_user(workspace, CHAIN, by="Chen", limits=limits))

    thread = threading.Thread(target=play)
    thread.start()
    return thread


def in_phase(screen: WizardOfOzScreen, phase: str) -> Callable[[], bool]:
    def reached() -> bool:
        state: WizardOfOzState | None = screen.state
        return state is not None and state.view is not None and state.view.phase == phase

    return reached


async def test_from_home_to_the_hand_in(
    database: Path, make_app: Callable[..., CuecardApp]
) -> None:
    app = make_app(database, person="Ben")
    user = user_of(database)
    async with app.run_test(size=(80, 24)) as pilot:

        def waits() -> bool:
            with Workspace.open(database) as workspace:
                return bool(workspace.runs.open_trials(kind="play"))

        await until(pilot, waits)
        await pilot.press("r")
        home = app.screen
        assert isinstance(home, HomeScreen)
        await until(pilot, lambda: "Chen waits for an agent" in shown(home))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, WizardOfOzScreen))
        screen = app.screen
        assert isinstance(screen, WizardOfOzScreen)
        await until(pilot, in_phase(screen, "yours"))
        assert "chain of questions" in transcript(screen)
        assert "pub quiz" in transcript(screen)
        assert "Chimborazo" not in transcript(screen)

        await until(pilot, lambda: screen.query_one(SearchLine).has_focus_within)
        await pilot.press(*"Mt", "enter")
        await until(pilot, lambda: "search: Mt" in transcript(screen))
        assert screen.query_one(SearchLine).text == ""

        # Left in the middle of a reply, with a note: both are there again.
        await pilot.press("f2", *"Ev", "f7", *"C1", "escape")
        await until(pilot, lambda: app.screen is home)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, WizardOfOzScreen))
        screen = app.screen
        assert isinstance(screen, WizardOfOzScreen)
        await until(pilot, in_phase(screen, "yours"))
        words = screen.query_one(Words)
        assert words.text == "Ev"
        await pilot.press("f2", "a", "enter")
        await until(pilot, lambda: isinstance(app.screen, ActDialog))
        await pilot.press("a")
        await until(pilot, in_phase(screen, "hand_in"))
        assert words.text == ""

        pane = screen.query_one(HandInPane)
        await until(pilot, lambda: pane.query_one(TextArea).has_focus)
        await pilot.press("ctrl+t", "D", "f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, in_phase(screen, "over"))
        assert not words.display
    user.join(20)
    with Workspace.open(database) as workspace:
        (run,) = workspace.runs.all(kind="play")
        (trial,) = workspace.runs.trials(run.id)
        bodies = [event.body for event in workspace.runs.events(trial.id)]
    (spoke,) = [body for body in bodies if body.type == "agent_spoke"]
    assert (spoke.reply.text, spoke.reply.act) == ("Eva", Act.ANSWER)
    (handed,) = [body.prediction for body in bodies if body.type == "concluded"]
    assert handed == AnswerPrediction(answer="C1D", raw="C1D")
