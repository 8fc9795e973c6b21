"""The review queue by keys: take, skip, coordinate; and submitting from the task list."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from textual.pilot import Pilot

from cuecard.annotate.review.workflow import submit
from cuecard.annotate.samples import load_samples
from cuecard.core.contributions import Claimed, TaskState
from cuecard.core.families.graph.gold import Graph
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.bulk import RefusedDialog
from cuecard.tui.kit.lists import ListView
from cuecard.tui.screens.board import BoardScreen
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.marked_tasks import AssignDialog
from cuecard.tui.screens.review import ReviewTaskScreen
from cuecard.tui.screens.review_dialogs import SubmitDialog
from cuecard.tui.screens.review_queue import ReviewQueueScreen
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.tasks_transfer import ExportDialog
from tui_rooms import shown, until

SIZE = (80, 24)


async def typed(pilot: Pilot, text: str) -> None:
    await pilot.press(*("space" if char == " " else char for char in text), "enter")


async def queue(pilot: Pilot, text: str) -> None:
    await pilot.press("4")
    await until(pilot, lambda: text in shown(pilot.app.screen))


async def test_a_reviewer_takes_skips_and_goes_on(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        await queue(pilot, "Tasks to review, blind")
        assert "Ana" not in shown(app.screen)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
        await pilot.press("escape")
        await until(pilot, lambda: "yours, 2 d left" in shown(app.screen))
        assert "You have it, 2 d left" in shown(app.screen)
        await pilot.press("full_stop", "s")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "too close to mine")
        await until(pilot, lambda: "h Skipped" in shown(app.screen))
        assert "yours" not in shown(app.screen)
        await pilot.press("h")
        await until(pilot, lambda: "skipped" in shown(app.screen))
        await pilot.press("ctrl+a", "full_stop", "s")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        assert "Skip 3 tasks?" in shown(app.screen)  # one was skipped before
        await typed(pilot, "on leave")
        await until(pilot, lambda: shown(app.screen).count("skipped") >= 4)
    with Workspace.open(judged) as workspace:
        kinds = [
            entry.body.kind
            for log in workspace.reviews.logs().values()
            for entry in log.contributions
            if entry.by == "Ben"
        ]
    assert sorted(kinds) == ["claimed", *["released"] * 4]


async def test_a_coordinator_sees_who_reviews_assigns_and_sets_priority(
    judged: Path, home: Path, make_app
) -> None:
    (home / "cuecard.yaml").write_text("review:\n  coordinators: [Chen]\n", encoding="utf-8")
    app: CuecardApp = make_app(judged, person="Chen")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await queue(pilot, "who reviews them")
        await pilot.press("end", "K")
        await until(pilot, lambda: "▲" in shown(app.screen))
        await pilot.press("full_stop", "g")
        await until(pilot, lambda: isinstance(app.screen, AssignDialog))
        assert "Nobody reviews a task" in shown(app.screen)  # Ana, who wrote it
        await pilot.press("enter")
        await until(pilot, lambda: "Ben 2 d" in shown(app.screen))
        await pilot.press("full_stop", "g", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "on leave")
        await until(pilot, lambda: "Ben 2 d" not in shown(app.screen))
        assert isinstance(app.screen, ReviewQueueScreen)


async def test_marked_tasks_are_assigned_tagged_and_exported_together(
    judged: Path, home: Path, make_app
) -> None:
    (home / "cuecard.yaml").write_text("review:\n  coordinators: [Chen]\n", encoding="utf-8")
    app: CuecardApp = make_app(judged, person="Chen")
    async with app.run_test(size=(120, 30)) as pilot:
        await queue(pilot, "who reviews them")
        screen = app.screen
        assert isinstance(screen, ReviewQueueScreen)
        with Workspace.open(judged) as workspace:
            until_then = Claimed(person="Ben", until=datetime.now(UTC) + timedelta(days=9.5))
            workspace.reviews.act(screen.view.rows[3].task.id, "Chen", until_then)
        await pilot.press("ctrl+a", "full_stop", "g")
        await until(pilot, lambda: isinstance(app.screen, AssignDialog))
        assert "Assign 4 tasks" in shown(app.screen)
        people = app.screen.query_one(ListView)
        people.go_to("Ben")
        assert "can take 3 of 4" in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RefusedDialog))
        assert "Ben has 3 more tasks now. 1 was refused:" in shown(app.screen)
        assert "Ben has this task already." in shown(app.screen)
        await pilot.press("escape")
        await until(
            pilot,
            lambda: app.screen is screen and all("Ben" in row.note for row in screen.view.rows),
        )
        (row,) = screen.view.marked
        assert "Ben 9 d" in row.note
        await pilot.press("ctrl+a", "full_stop", "g")
        await until(pilot, lambda: isinstance(app.screen, AssignDialog))
        assert "has them all" in shown(app.screen)
        await pilot.press("escape", "t")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "round two")
        await until(pilot, lambda: app.screen is screen and shown(screen).count("round two") >= 4)
        await pilot.press("home", "space", "x")
        await until(pilot, lambda: isinstance(app.screen, ExportDialog) and app.screen.focused)
        assert "the marked ones" in shown(app.screen)
        await pilot.press(*"out", "ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        task = screen.view.marked[0].task.id
    assert os.listdir(home / "export" / "out") == [f"{task}.yaml"]


async def test_tasks_are_assigned_from_their_list_and_from_the_board(
    judged: Path, home: Path, make_app
) -> None:
    (home / "cuecard.yaml").write_text("review:\n  coordinators: [Chen]\n", encoding="utf-8")
    app: CuecardApp = make_app(judged, person="Chen")
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, TasksScreen) and app.screen.listing.line)
        screen = cast(TasksScreen, app.screen)
        drafts = [line.id for line in screen.listing.view.rows if line.state == "draft"]
        screen.listing.view.go_to(drafts[0])
        await pilot.press("full_stop", "g")
        await until(pilot, lambda: "This task is not in review." in shown(screen))
        await pilot.press("ctrl+a", "full_stop", "g")
        await until(pilot, lambda: isinstance(app.screen, AssignDialog))
        app.screen.query_one(ListView).go_to("Ben")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RefusedDialog))
        assert "Ben has 4 more tasks now." in shown(app.screen)
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.listing.view.marked) == len(drafts))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "Assign each again" in shown(screen))
        app.action_board()
        await until(
            pilot, lambda: isinstance(app.screen, BoardScreen) and "Ben" in shown(app.screen)
        )
        board = cast(BoardScreen, app.screen)
        board.view.go_to(
            next(row.task.id for row in board.view.rows if row.state is TaskState.IN_REVIEW)
        )
        await pilot.press("full_stop", "g", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "on leave")
        await until(pilot, lambda: "Ben does not have the task any more." in shown(board))

    app = make_app(judged, person="Dee")
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, TasksScreen) and app.screen.listing.line)
        await pilot.press("full_stop", "g")
        await until(pilot, lambda: "Only a coordinator may do this." in shown(app.screen))


async def test_submitting_asks_for_a_reason_for_warnings_and_leads_to_errors(
    home: Path, make_app
) -> None:
    gold = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}
    plain = {"id": "a-warned", "title": "Warned", "language": "en", "query": "How many?"}
    graph = next(task for task in load_samples() if isinstance(task.gold, Graph))
    assert isinstance(graph.gold, Graph)
    twice = graph.gold.model_copy(update={"triples": (*graph.gold.triples, graph.gold.triples[0])})
    path = home / "w.db"
    with Workspace.open(path) as workspace:
        workspace.tasks.save(Task.model_validate({**plain, "gold": gold}), author="Ana")
        wrong = graph.model_copy(update={"id": "b-wrong", "title": "Wrong", "gold": twice})
        workspace.tasks.save(wrong, author="Ana")
        workspace.tasks.save(load_samples()[0].model_copy(update={"id": "c"}), author="Bo")
        submit(workspace, "c", "Bo")
    app: CuecardApp = make_app(path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "Warned" in shown(app.screen))
        await pilot.press("home", *["down"] * _row(app, "Warned"), "u")
        await until(pilot, lambda: isinstance(app.screen, SubmitDialog))
        assert "L010" in shown(app.screen)
        await pilot.press("enter")
        assert isinstance(app.screen, SubmitDialog)  # not without a reason
        await typed(pilot, "it is a toy")
        await until(pilot, lambda: "◐ in review" in shown(app.screen))
        # In the editor, too, the key says what it does now.
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        moves = ("submit", "withdraw", "reopen")
        assert [each for each in moves if app.screen.check_action(each, ())] == ["withdraw"]
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, TaskScreen | AskLine))
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "not yet")
        await until(pilot, lambda: "u Submit" in shown(app.screen))
        await pilot.press("home", *["down"] * _row(app, "Wrong"), "u")
        await until(pilot, lambda: isinstance(app.screen, SubmitDialog))
        assert "has 1 error" in shown(app.screen)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen))
        await until(pilot, lambda: "error · Triple 80" in shown(app.screen))
    with Workspace.open(path) as workspace:
        states = {t.id: t.state for t in workspace.tasks.summaries()}
        assert states["b-wrong"] is TaskState.DRAFT
        reasons = [move.reason for move in workspace.reviews.history("a-warned")]
        assert reasons == ["it is a toy", "not yet"]


def _row(app: CuecardApp, title: str) -> int:
    """Which line of the list the task is on."""
    lines = [line for line in shown(app.screen).splitlines() if "EN" in line or "中" in line]
    return next(n for n, line in enumerate(lines) if title in line)


async def test_a_first_review_can_be_tried_alone_and_shows_what_the_author_receives(
    home: Path, make_app
) -> None:
    app: CuecardApp = make_app(home / "new.db", person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        await queue(pilot, "No task waits for your review")
        await pilot.press("full_stop", "t")
        await until(pilot, lambda: "Tasks to review, blind" in shown(app.screen))
        assert "Cuecard" not in shown(app.screen).partition("Tasks to review")[2]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
        await until(pilot, lambda: app.screen.document.entries)
        screen = app.screen
        for _item in screen.view.form.sample:
            await pilot.press("plus", "y")
        await pilot.press("tab", *"y" * len(screen.view.context.sheet.dimensions), "a")
        await until(pilot, lambda: "receive:" in shown(app.screen))
        assert ": pass" in shown(app.screen)
        assert f"Gold items marked: ✓ {len(screen.view.form.sample)} right" in shown(app.screen)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ReviewQueueScreen))
