"""How the editor's tabs look in the smallest terminal: `pytest --snapshot-update` after a meant change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.task import TaskScreen
from tui_rooms import until

Steps = Callable[[Pilot[object]], Awaitable[None]]


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
