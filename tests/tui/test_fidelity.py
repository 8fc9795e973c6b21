"""From a run to a re-play by keys, and from there to the report and back to its turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.screens.fidelity import FidelityScreen
from cuecard.tui.screens.fidelity_replay import ReplayScreen
from cuecard.tui.screens.fidelity_replay_choice import ReplayChoiceScreen
from cuecard.tui.screens.fidelity_turns import FidelityTurnScreen, FidelityTurnsScreen
from cuecard.tui.screens.run.list import RunsScreen
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.widgets.inputs import ListTable
from replay_trials import four_stages, persona_task, record
from tui_rooms import shown, transcript, until

AppMaker = Callable[..., CuecardApp]


@pytest.fixture
def recorded(home: Path) -> Path:
    path = home / "cuecard.db"
    with Workspace.open(path) as workspace:
        for name in ("Ann", "Ben"):
            workspace.people.add(name)
        record(workspace, persona_task(), four_stages())
    return path


async def decided(pilot: Pilot[Any], screen: ReplayScreen, count: int) -> None:
    await until(pilot, lambda: screen.step is not None and screen.step.decided == count)


async def test_a_dialogue_is_replayed_and_reported(recorded: Path, make_app: AppMaker) -> None:
    app = make_app(recorded, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("3")
        await until(
            pilot, lambda: isinstance(app.screen, RunsScreen) and "recorded" in shown(app.screen)
        )
        await pilot.press("full_stop", "f")
        await until(pilot, lambda: "nothing to show here yet" in shown(app.screen))
        report = app.screen
        assert isinstance(report, FidelityScreen)
        await pilot.press("p")
        await until(pilot, lambda: "0/4" in shown(app.screen))
        assert isinstance(app.screen, ReplayChoiceScreen)
        await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, ReplayScreen)
        await until(pilot, lambda: "Does the agent's reply meet this cue?" in shown(screen))
        assert "bravo" not in transcript(screen)
        assert "answer-0" in transcript(screen)
        assert "F6 who?" in shown(screen)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await pilot.press(*"why", "ctrl+s")
        await until(pilot, lambda: "Goes with your decision: why" in shown(screen))
        # Not met, though the simulator held it for met.
        await pilot.press("n")
        await decided(pilot, screen, 1)
        assert "≠ different" in shown(screen)
        assert "bravo" in transcript(screen)
        assert "charlie" not in transcript(screen)
        await pilot.press("enter", "n", "enter", "y")
        await decided(pilot, screen, 3)
        await pilot.press("escape")
        await until(pilot, lambda: "3/4" in shown(app.screen))
        await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, ReplayScreen)
        await until(pilot, lambda: screen.step is not None)
        assert "turn 5 · 4 of 4 · 3 decided" in shown(screen)
        await pilot.press("b")
        await until(
            pilot, lambda: "4 of" not in shown(screen) and "You: ✓ cue met" in shown(screen)
        )
        await pilot.press("plus", "u", "enter")
        await until(pilot, lambda: "agree on 2 of 3 turns" in shown(screen))
        await until(pilot, lambda: "✗ cue not met" in shown(screen))
        await pilot.press("slash", *"unsure")
        await until(pilot, lambda: not screen.differing.rows)
        await pilot.press("escape")
        await until(pilot, lambda: screen.differing.rows)
        await pilot.press("enter")
        await until(pilot, lambda: "≠ different" in shown(screen))
        await pilot.press("enter")
        await until(pilot, lambda: "agree on 2 of 3 turns" in shown(screen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is report)
        await pilot.press("r")
        await until(pilot, lambda: report.view is not None and report.view.found.agreements)
        await until(pilot, lambda: "Cues 1/" in shown(report))
        await pilot.press("enter")
        turns = app.screen
        assert isinstance(turns, FidelityTurnsScreen)
        await until(pilot, lambda: turns.query_one(ListTable).display)
        assert "3 turns" in str(turns.query_one("#title", Static).content)
        await pilot.press("enter")
        reading = app.screen
        assert isinstance(reading, FidelityTurnScreen)
        await until(pilot, lambda: "answer-2" in shown(reading) and "delta" in shown(reading))
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await pilot.press("escape", "escape", "escape")
        await until(pilot, lambda: app.screen is report)
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: (Path.cwd() / "fidelity.md").exists())
        await app.workers.wait_for_complete()
    with Workspace.open(recorded) as workspace:
        labels = workspace.verdicts.item_history(1, Item(kind=ItemKind.CUE, index=1), "Ben")
        assert [(label.value.value, label.phase, label.comment) for label in labels] == [
            ("no", "blind", "why")
        ]
