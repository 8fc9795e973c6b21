"""How the editor's tabs and what is measured of simulators look in the smallest terminal: `pytest --snapshot-update` after a meant change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.fidelity.replay import ReplayScreen
from cuecard.tui.screens.fidelity.screen import FidelityScreen
from cuecard.tui.screens.task.screen import TaskScreen
from replay_trials import four_stages, persona_task, record
from steady_app import SteadyApp
from tui_rooms import until

AppMaker = Callable[..., CuecardApp]
Steps = Callable[[Pilot[object]], Awaitable[None]]


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def opened(task_id: str, place: str) -> Steps:
    async def steps(pilot: Pilot[object]) -> None:
        pilot.app.push_screen(TaskScreen(task_id, place=place))
        await until(pilot, lambda: isinstance(pilot.app.screen, TaskScreen))
        screen = pilot.app.screen
        assert isinstance(screen, TaskScreen)
        await until(pilot, lambda: screen.loaded and screen.editor.pane is not None)
        # The problems are counted in a tab's label once they were looked for.
        await pilot.pause(0.6)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    return steps


@pytest.fixture
def replayed(home: Path) -> Path:
    """A simulator's dialogue of which Ben has decided three turns of four, one otherwise than recorded."""
    path = home / "cuecard.db"
    with Workspace.open(path) as workspace:
        workspace.people.add("Ben")
        session = ReplaySession(workspace, "Ben", record(workspace, persona_task(), four_stages()))
        for value in (LabelValue.NO, LabelValue.NO, LabelValue.YES):
            session.decide(value)
            session.next()
    return path


async def replaying(pilot: Pilot[object]) -> None:
    """A turn that is decided, with what was recorded."""
    screen = ReplayScreen(1)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.step is not None)
    await pilot.press("b", "b", "b")
    await until(pilot, lambda: screen.step and screen.step.view and screen.step.view.number == 1)
    await pilot.pause()


async def reporting(pilot: Pilot[object]) -> None:
    """Simulators against people."""
    screen = FidelityScreen((1,), "recorded")
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.view is not None)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


@pytest.mark.parametrize("steps", [replaying, reporting])
def test_fidelity(
    snap_compare: Callable[..., bool], replayed: Path, make_app: AppMaker, steps: Steps
) -> None:
    app = make_app(replayed, person="Ben")
    assert snap_compare(app, run_before=steps, terminal_size=(80, 24))


@pytest.mark.parametrize(
    ("task_id", "place"),
    [
        ("espresso", "gold.triples[3]"),
        ("table-us-states", "gold.rows[2]"),
        ("checkpoints-old-bridge-zh", "gold.steps[1]"),
        ("facts-night-train", "gold.facts[1]"),
    ],
)
def test_gold(
    snap_compare: Callable[..., bool],
    database: Path,
    app_with_samples: CuecardApp,
    task_id: str,
    place: str,
) -> None:
    assert snap_compare(app_with_samples, run_before=opened(task_id, place), terminal_size=(80, 24))
