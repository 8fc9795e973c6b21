"""The board by keys, from Home to the reviews behind a figure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cuecard.core.contributions import Claimed, ReviewDecision, Reviewed, Submitted
from cuecard.store.workspace import Workspace
from cuecard.tui.present.files import report_text
from cuecard.tui.screens.board import BoardFiguresScreen, BoardScreen, RoundsScreen
from cuecard.tui.screens.review import ReviewTaskScreen
from steady_app import SteadyApp
from tui_rooms import shown, until

APPROVE, RETURN = ReviewDecision


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def give(workspace: Workspace, task_id: str, by: str, decision: ReviewDecision) -> None:
    rating = "pass" if decision is APPROVE else "fail"
    workspace.reviews.act(task_id, by, Reviewed(ratings={"gold": rating}, decision=decision))


@pytest.fixture
def reviewed(database: Path) -> Path:
    """Ana's espresso is with Zebedee, whose review of another is in; nothing is decided."""
    with Workspace.open(database) as workspace:
        for task_id in ("espresso", "table-us-states"):
            workspace.reviews.act(task_id, "Ana", Submitted())
        until_then = datetime.now(UTC) + timedelta(hours=5)
        workspace.reviews.act("espresso", "Zebedee", Claimed(person="Zebedee", until=until_then))
        give(workspace, "table-us-states", "Zebedee", APPROVE)
    return database


async def test_from_home_to_the_reviews_behind_a_figure(reviewed: Path, make_app):
    app = make_app(reviewed, "Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await pilot.press("full_stop", "b")
        await until(pilot, lambda: "◐ in review 2" in shown(app.screen))
        assert isinstance(app.screen, BoardScreen)
        seen = shown(app.screen)
        assert "1 reviewer · 1 free · 0/2 in" in seen
        assert "hidden from those who may review it" in seen
        assert "Zebedee" not in seen
        assert "handed in for review" in str(app.screen.query_one("#detail Paragraphs").render())
        await pilot.press("f", "f")
        await until(pilot, lambda: "in review · " not in shown(app.screen))
        await pilot.press("v")
        await until(pilot, lambda: "Tasks (shown)" in shown(app.screen))
        await pilot.press("p")
        await until(pilot, lambda: "As far as you may know" in shown(app.screen))
        assert "Home › Board › People" in shown(app.screen)
        await pilot.press("v")
        await until(pilot, lambda: "People (shown)" in shown(app.screen))
        await pilot.press("p")
        await until(pilot, lambda: "Ana" in shown(app.screen))
        assert "As far as you may know" in shown(app.screen)
        assert "Zebedee" not in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: "Ana  ◐ in review 0" in shown(app.screen))
        await pilot.press("escape", "v", "f")
        await until(pilot, lambda: "No review is decided yet" in shown(app.screen))

        with Workspace.open(reviewed) as workspace:
            give(workspace, "table-us-states", "Ben", RETURN)
        await pilot.press("r")
        await until(pilot, lambda: "1 decided revision" in shown(app.screen))
        await pilot.press("down", "right")
        await until(pilot, lambda: "Ben / Zebedee · Decision" in shown(app.screen))
        assert "0% n=1" in shown(app.screen)
        assert "AC1: -1.00 n=1 — no interval: fewer than 5 groups" in shown(app.screen)
        assert isinstance(app.screen, BoardFiguresScreen)
        assert (view := app.screen.view) is not None
        assert "Ben / Zebedee | 0% n=1" in report_text(await app.screen.written(view), ".md")
        await pilot.press("v", "k")
        await until(pilot, lambda: "Kappa · 95%" in shown(app.screen))
        await pilot.press("v", "f")
        await until(pilot, lambda: "Percent agreement · 95%" in shown(app.screen))
        await pilot.press("v", "k", "enter")
        await until(pilot, lambda: isinstance(app.screen, RoundsScreen))
        await until(pilot, lambda: "Ben ↺ return · Zebedee ✓ approve" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "Kappa · 95%" in shown(app.screen))
        await pilot.press("v", "t", "escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, BoardScreen))
