"""What people do on Home, Review and Verdicts, by keys, in the real app on a real file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cuecard.annotate.review.workflow import submit
from cuecard.annotate.samples import load_samples
from cuecard.core.contributions import TaskState
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.agreement import AgreementScreen
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.review import ReviewTaskScreen
from cuecard.tui.screens.settings import WelcomeDialog
from steady_app import SteadyApp
from tui_rooms import until

AppMaker = Callable[..., CuecardApp]


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def shown(pilot: Pilot) -> str:
    """All text on the screen now."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in lines)


@pytest.fixture
def judged(database: Path) -> Path:
    """The sample workspace with one small judged run."""

    async def play() -> None:
        with Workspace.open(database) as workspace:
            await start_run(workspace, RunPlan(tasks=("facts-night-train", "espresso")), by="Ana")

    asyncio.run(play())
    return database


async def test_a_first_start_asks_once_and_adds_the_samples(empty_app: CuecardApp) -> None:
    async with empty_app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, WelcomeDialog))
        await pilot.press("ctrl+u", *"Mai", "ctrl+s")
        await until(pilot, lambda: empty_app.person == "Mai")
        await until(pilot, lambda: "Mai" in shown(pilot) and "▸" in shown(pilot))
        assert isinstance(pilot.app.screen, HomeScreen)
        assert len(pilot.app.screen_stack) == 1
    with Workspace.open(Path(empty_app.services.url.removeprefix("sqlite:///"))) as workspace:
        assert workspace.tasks.count() == len(load_samples())
        assert {person.name for person in workspace.people.all()} == {"Cuecard", "Mai"}


async def test_a_review_is_kept_while_it_is_written_and_blind_until_both_are_in(
    database: Path, make_app: AppMaker
) -> None:
    with Workspace.open(database) as workspace:
        submit(workspace, "espresso", "Ana")
    for person in ("Ben", "Chen"):
        app = make_app(database, person=person)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("4")
            await until(pilot, lambda: "Espresso" in shown(pilot))
            assert "Ana" not in shown(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ReviewTaskScreen))
            await until(pilot, lambda: "Full query" in shown(pilot))
            assert "Ben" not in shown(pilot) or person == "Ben"
            await pilot.press("tab", "y", "y")
            await app.workers.wait_for_complete([w for w in app.workers if w.group == "keep"])
            await pilot.press("escape", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ReviewTaskScreen))
            await until(pilot, lambda: shown(pilot).count("✓") >= 2)
            sheet = pilot.app.screen
            await until(pilot, lambda sheet=sheet: sheet.view is not None)
            while sheet.view.form.left_to_mark:
                await pilot.press("plus", "y")
            await pilot.press("tab", *["up"] * 5, *"yyyyy", "a")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
            await pilot.press("y")
            await until(pilot, lambda: "No task waits" in shown(pilot))
    with Workspace.open(database) as workspace:
        assert workspace.reviews.state("espresso") is TaskState.APPROVED


async def test_labels_typed_fast_are_all_kept_and_blind(judged: Path, make_app: AppMaker) -> None:
    app = make_app(judged, person="Chen")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "lexical" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LabelScreen))
        await until(pilot, lambda: "Gold item" in shown(pilot))
        assert "lexical" not in shown(pilot)
        await pilot.press(*"ynyyu")
        await until(pilot, lambda: "5 labelled" in shown(pilot))
        assert "lexical" not in shown(pilot)
        await pilot.press("b")
        await until(pilot, lambda: "You said" in shown(pilot))
        await pilot.press("h")
        await until(pilot, lambda: "lexical" in shown(pilot))
        await pilot.press("full_stop", "a")
        await until(pilot, lambda: isinstance(pilot.app.screen, AgreementScreen))
        await until(pilot, lambda: "Sensitivity" in shown(pilot))
    with Workspace.open(judged) as workspace:
        given = [label.value for label in workspace.verdicts.labels() if label.person == "Chen"]
    assert sorted(given) == sorted(map(LabelValue, ("yes", "no", "yes", "yes", "unsure")))
