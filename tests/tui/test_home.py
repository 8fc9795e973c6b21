"""Home lists what waits for a person, and Enter opens each where it is worked on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cuecard.annotate.review.assignment import take
from cuecard.annotate.review.reviewing import review
from cuecard.annotate.review.workflow import DIMENSIONS, EMBEDDED_PROTOCOL
from cuecard.core.contributions import PinnedComment, ReviewDecision
from cuecard.core.engine.events import RunState, TrialEnded
from cuecard.core.engine.messages import UserReply
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.core.records import Review
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.columns import ListGrid
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.labelling.verdicts import VerdictsScreen
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.screens.review import ReviewTaskScreen
from cuecard.tui.screens.review_queue import ReviewQueueScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.task.screen import TaskScreen
from steady_app import SteadyApp
from tui_rooms import shown, until

SIZE = (80, 24)


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def handed_in(task_id: str, reviewer: str, decision: ReviewDecision) -> Review:
    family = task_id.partition("-")[0] if "-" in task_id else "graph"
    return Review(
        task_id=task_id,
        revision=1,
        reviewer=reviewer,
        ratings={dimension.key: "pass" for dimension in DIMENSIONS[family]},
        decision=decision,
        comments=(PinnedComment(place="query", text="shorter, please"),),
        created_at=datetime.now(UTC),
    )


async def home_shows(pilot: Pilot, text: str) -> None:
    await until(pilot, lambda: text in shown(pilot.app.screen))


async def open_row(pilot: Pilot, text: str) -> None:
    """Walk to the row that holds `text` and press Enter."""
    await home_shows(pilot, text)
    await until(pilot, lambda: pilot.app.screen.query_one(ListGrid).has_focus)
    lines = [line for line in shown(pilot.app.screen).splitlines() if line[3:20].strip()]
    first = next(i for i, line in enumerate(lines) if "waits for you" in line) + 1
    row = next(i for i, line in enumerate(lines[first:]) if text in line)
    await pilot.press("home", *["down"] * row, "enter")


async def back_home(pilot: Pilot) -> None:
    """Some screens go back one step at a time."""
    for _step in range(6):
        await pilot.app.workers.wait_for_complete(pilot.app.screen.workers)
        await pilot.press("escape")
        await pilot.pause(0.05)
        if isinstance(pilot.app.screen, HomeScreen):
            return
    raise AssertionError(f"still on {pilot.app.screen}")


async def leave_session(path: Path) -> None:
    with Workspace.open(path) as workspace:
        session = await PlaySession.start(workspace, "facts-night-train", by="Ana")
        assert await session.wait_turn()
        await session.submit(UserReply(text="What do I get back?"))
        assert await session.wait_turn()
        await session.close()


async def test_what_was_begun_goes_on_where_it_was_left(judged: Path, make_app) -> None:
    await leave_session(judged)
    with Workspace.open(judged) as workspace:
        data = workspace.tasks.revision("graph-astronomy-zh").task.model_dump(mode="json")
        workspace.drafts.save("graph-astronomy-zh", "Ana", 1, data)
        run = create_run(workspace, RunPlan(tasks=("espresso",), name="night run"), by="Ben")
    app: CuecardApp = make_app(judged)
    async with app.run_test(size=SIZE) as pilot:
        for text, kind in (
            ("Go on playing", PlayScreen),
            ("Unsaved draft", TaskScreen),
            ("night run", RunScreen),
        ):
            await open_row(pilot, text)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await back_home(pilot)
        assert run.state is RunState.OPEN


async def test_reviews_and_verdicts_that_wait_open_their_screens(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        await open_row(pilot, "4 tasks can be taken")
        await until(pilot, lambda: isinstance(app.screen, ReviewQueueScreen))
        await home_shows(pilot, "n Next")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen) and app.screen.view)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReviewQueueScreen))
        await pilot.press("1")
        await home_shows(pilot, "3 tasks can be taken")
        await open_row(pilot, "Go on reviewing")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
        await pilot.press("escape")
        await open_row(pilot, "Verdicts to label")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))


async def test_own_tasks_with_reviewers_tell_how_many_reviews_are_in_and_no_names(
    judged: Path, make_app
) -> None:
    with Workspace.open(judged) as workspace:
        review(workspace, handed_in("espresso", "Ben", ReviewDecision.RETURN))
        take(workspace, "facts-night-train", "Ben", EMBEDDED_PROTOCOL)
    app: CuecardApp = make_app(judged)
    async with app.run_test(size=SIZE) as pilot:
        await home_shows(pilot, "Espresso, from the first")
        await pilot.resize_terminal(140, 30)
        await home_shows(pilot, "1 of 2 in, nobody at work")
        assert shown(app.screen).count("0 of 2 in, nobody at work") == 2
        assert shown(app.screen).count("0 of 2 in, 1 at work") == 1
        assert "Ben" not in shown(app.screen)
        await open_row(pilot, "1 of 2 in")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen))


async def test_a_returned_task_opens_in_the_editor_with_what_reviewers_said(
    judged: Path, make_app
) -> None:
    with Workspace.open(judged) as workspace:
        for person in ("Ben", "Chen"):
            review(workspace, handed_in("espresso", person, ReviewDecision.RETURN))
    app: CuecardApp = make_app(judged)
    async with app.run_test(size=(120, 40)) as pilot:
        await home_shows(pilot, "2 comments")
        await open_row(pilot, "Returned to you")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        await home_shows(pilot, "shorter, please")


async def test_many_of_one_kind_are_folded_into_one_row(database: Path, make_app) -> None:
    from cuecard.annotate.review.workflow import submit

    with Workspace.open(database) as workspace:
        for summary in workspace.tasks.summaries():
            submit(workspace, summary.id, "Ana")
    app: CuecardApp = make_app(database)
    async with app.run_test(size=SIZE) as pilot:
        await home_shows(pilot, "3 more")
        assert "Nothing waits for you" in shown(app.screen)
        assert app.screen.query_one(ListGrid).count == 6
        await open_row(pilot, "3 more")
        await until(pilot, lambda: app.current_mode == "tasks")


async def test_refresh_sees_what_others_did_meanwhile(
    database: Path, app_with_samples: CuecardApp
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        await home_shows(pilot, "Nothing waits for you, Ana")
        assert "Open" not in shown(app_with_samples.screen).splitlines()[-1]
        with Workspace.open(database) as workspace:
            create_run(workspace, RunPlan(tasks=("espresso",), name="by Ben"), by="Ben")
        await pilot.press("r")
        await home_shows(pilot, "by Ben")
        await until(pilot, lambda: "Open" in shown(app_with_samples.screen).splitlines()[-1])


async def test_the_cursor_stays_with_its_row_while_others_work(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        await home_shows(pilot, "Verdicts to label")
        await pilot.press("end")
        with Workspace.open(judged) as workspace:
            create_run(workspace, RunPlan(tasks=("espresso",), name="by Ana"), by="Ana")
        await home_shows(pilot, "by Ana")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))


async def test_what_a_killed_process_left_behind_is_concluded_after_the_start(
    database: Path, make_app
) -> None:
    with Workspace.open(database) as workspace:
        plan = RunPlan(tasks=("facts-night-train",), name="killed")
        run = create_run(workspace, plan, by="Ben")
        await start_run(workspace, plan.model_copy(update={"name": "whole"}), by="Ben")
        events = workspace.runs.events(workspace.runs.trials(run.id + 1)[0].id)
        trial = workspace.runs.trials(run.id)[0]
        assert isinstance(events[-1].body, TrialEnded)
        # Every event is in, the last judgement is not, and the run was never closed.
        workspace.runs.append_events([(trial.id, event) for event in events])
        assert workspace.runs.get(run.id).state is RunState.OPEN
        assert workspace.verdicts.of_trial(trial.id) == []
    app: CuecardApp = make_app(database)
    async with app.run_test(size=SIZE) as pilot:
        with Workspace.open(database) as workspace:
            await until(pilot, lambda: workspace.runs.get(run.id).state is RunState.DONE)
            assert workspace.verdicts.of_trial(trial.id)
        await until(pilot, lambda: "Run not finished" not in shown(app.screen))


@pytest.mark.parametrize("size", [(80, 24)])
async def test_every_place_is_one_digit_away(app_with_samples: CuecardApp, size) -> None:
    app = app_with_samples
    async with app.run_test(size=size) as pilot:
        await home_shows(pilot, "Where to begin")
        for digit, mode in enumerate(app.MODES, start=1):
            await pilot.press(str(digit))
            await until(pilot, lambda mode=mode: app.current_mode == mode)
            await until(pilot, lambda: "Ana" in shown(app.screen).splitlines()[0])
            await until(pilot, lambda: shown(app.screen).splitlines()[-1].strip())
