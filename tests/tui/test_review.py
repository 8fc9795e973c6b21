"""Two reviewers, blind to the author and to each other, by keys."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from cuecard.annotate.review import DIMENSIONS, review, submit
from cuecard.core.errors import CuecardError
from cuecard.store.records import Review, ReviewDecision, TaskState
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.ask import ConfirmDialog, TextDialog
from cuecard.tui.screens.review import ReviewQueueScreen
from cuecard.tui.screens.review_task import ReviewTaskScreen
from cuecard.tui.state.task_drafts import DraftState
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.list_table import ListTable
from tui_rooms import shown, until

SIZE = (80, 24)
# The seed's people have names that no task holds; so blindness can be seen in all that is drawn.
AUTHOR, OTHER = "Wilhelmina", "Zebedee"


@pytest.fixture
def in_review(home: Path) -> Path:
    """A workspace whose tasks a person of an unusual name wrote and submitted."""
    from cuecard.lab.samples import import_samples

    path = home / "review.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, by=AUTHOR)
        for name in ("facts-night-train", "table-us-states"):
            submit(workspace, name, AUTHOR)
    return path


def a_review(reviewer: str, decision: ReviewDecision, text: str = "") -> Review:
    return Review(
        task_id="facts-night-train",
        revision=1,
        reviewer=reviewer,
        ratings={d.key: "pass" for d in DIMENSIONS["facts"]},
        decision=decision,
        comments=(("gold.answer", text),) if text else (),
        created_at=datetime.now(UTC),
    )


async def opened(pilot: Pilot, title: str = "Money back") -> ReviewTaskScreen:
    """From Home to the sheet of one task, by keys."""
    app = pilot.app
    await pilot.press("4")
    await until(pilot, lambda: title in shown(app.screen))
    table = app.screen.query_one(ListTable)
    rows = [str(table.source.cells(n)[1]) for n in range(table.count)]
    await pilot.press(
        "home", *["down"] * next(n for n, t in enumerate(rows) if title in t), "enter"
    )
    await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
    await until(pilot, lambda: app.screen.query_one(EntryList).entries)
    return app.screen


async def kept(pilot: Pilot, screen: ReviewTaskScreen) -> None:
    await until(pilot, lambda: screen._keeper.state is DraftState.WRITTEN)


async def comment(pilot: Pilot, text: str) -> None:
    await pilot.press("c")
    await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
    await until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
    await pilot.press(*("space" if char == " " else char for char in text), "ctrl+s")
    await until(pilot, lambda: not isinstance(pilot.app.screen, TextDialog))


async def rate(pilot: Pilot, letters: str) -> None:
    """The dimensions from the first one on."""
    if isinstance(pilot.app.focused, EntryList):
        await pilot.press("tab")
    await pilot.press(*["up"] * 5, *letters)


async def hand_in(pilot: Pilot, key: str) -> None:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await pilot.press("y")
    await until(pilot, lambda: isinstance(pilot.app.screen, ReviewQueueScreen))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 18)])
async def test_no_author_is_named_on_queue_or_sheet(in_review: Path, make_app, size) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=size) as pilot:
        for title in ("Money", "The fif"):
            screen = await opened(pilot, title)
            document = screen.query_one(EntryList)
            assert AUTHOR not in "\n".join(document.lines)
            for _page in range(12):
                assert AUTHOR not in shown(screen)
                await pilot.press("pagedown")
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, ReviewQueueScreen))
            await pilot.press("d")
            await until(pilot, lambda: "No reviews to read yet" in shown(app.screen))
            await pilot.press("d", "1")


async def test_an_author_finds_nothing_to_review(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person=AUTHOR)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "No task waits for your review" in shown(app.screen))
        await pilot.press("enter")
        assert isinstance(app.screen, ReviewQueueScreen)


async def test_approving_needs_every_dimension(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await opened(pilot)
        await rate(pilot, "pppp")
        await pilot.press("a")
        await until(pilot, lambda: "Not rated yet" in shown(screen))
        await pilot.press("p", "a")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        await hand_in(pilot, "a")
        await until(pilot, lambda: "Handed in." in shown(app.screen))
    with Workspace.open(in_review) as workspace:
        (mine,) = workspace.reviews.visible_to("Ben", "facts-night-train")
        assert (mine.decision, set(mine.ratings.values())) == (ReviewDecision.APPROVE, {"pass"})
        assert workspace.review_forms.of("Ben") == []


async def test_a_fail_needs_a_comment_and_cannot_approve(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await opened(pilot)
        await rate(pilot, "pfxpp")
        await pilot.press("e")
        await until(pilot, lambda: "Say in a comment why" in shown(screen))
        await pilot.press("a")
        await until(pilot, lambda: "cannot be approved" in shown(screen))
        await pilot.press("shift+tab", "down")
        await comment(pilot, "which train")
        await until(pilot, lambda: "✎ which train" in "\n".join(screen.query_one(EntryList).lines))
        await hand_in(pilot, "e")
    with Workspace.open(in_review) as workspace:
        (mine,) = workspace.reviews.visible_to("Ben", "facts-night-train")
        assert mine.decision is ReviewDecision.RETURN
        assert mine.comments == (("query", "which train"),)
        assert list(mine.ratings.values()) == ["pass", "fail", "cannot_judge", "pass", "pass"]


async def test_a_comment_can_be_changed_and_taken_away(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        await comment(pilot, "one")
        await comment(pilot, " two")
        await until(pilot, lambda: "✎ title: one two" in shown(screen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press("ctrl+u", "ctrl+s")
        await until(pilot, lambda: "No comments yet" in shown(screen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press("x", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert "No comments yet" in shown(screen)


async def test_an_unfinished_review_is_there_again_in_the_next_app(
    in_review: Path, make_app
) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await comment(pilot, "wait")
        await rate(pilot, "pf")
        await kept(pilot, screen)
        await pilot.press("escape")
        await until(pilot, lambda: "begun" in shown(app.screen))
    again: CuecardApp = make_app(in_review, person="Ben")
    async with again.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        text = shown(screen)
        assert "✎ title: wait" in text
        assert "Facts and rules are consistent  pass" in text
        assert "Facts and rules suffice  fail" in text
    other: CuecardApp = make_app(in_review, person="Chen")
    async with other.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        assert "wait" not in shown(screen)
        assert shown(screen).count("○ ") == 5


async def test_quitting_at_once_keeps_the_last_rating(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await rate(pilot, "pp")
        await pilot.press("f", "ctrl+q")
        await until(pilot, lambda: not screen.is_attached)
    with Workspace.open(in_review) as workspace:
        data = workspace.review_forms.get("facts-night-train", 1, "Ben")
    assert list(data["ratings"].values()) == ["pass", "pass", "fail"]


async def test_the_others_review_is_seen_only_when_both_are_in(in_review: Path, make_app) -> None:
    with Workspace.open(in_review) as workspace:
        review(workspace, a_review(OTHER, ReviewDecision.RETURN, "the fare is wrong"))
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        assert OTHER not in shown(screen)
        assert "fare is wrong" not in shown(screen)
        await rate(pilot, "ppppp")
        await hand_in(pilot, "a")
        await until(pilot, lambda: "Money back" not in shown(app.screen))
        await pilot.press("d")
        await until(pilot, lambda: "↺ returned" in shown(app.screen))
        assert AUTHOR not in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: f"{OTHER}, revision 1: ↺ return" in shown(app.screen))
        assert "Ben, revision 1: ✓ approve" in shown(app.screen)
        assert "not in review" in shown(app.screen)
        footer = shown(app.screen).splitlines()[-1]
        assert all(word not in footer for word in ("Approve", "Comment", "Pass", "Edit"))
    with Workspace.open(in_review) as workspace:
        assert workspace.reviews.state("facts-night-train") is TaskState.RETURNED


async def test_somebody_was_quicker(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await opened(pilot)
        with Workspace.open(in_review) as workspace:
            for person in (OTHER, "Chen"):
                review(workspace, a_review(person, ReviewDecision.APPROVE))
        await rate(pilot, "ppppp")
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: "This task is not in review" in shown(app.screen))
        assert app.screen is screen
        assert OTHER not in shown(app.screen)


async def test_what_changed_since_my_review_is_marked_and_can_be_read_alone(
    in_review: Path, make_app
) -> None:
    with Workspace.open(in_review) as workspace:
        review(workspace, a_review("Ben", ReviewDecision.RETURN, "mend it"))
        review(workspace, a_review(OTHER, ReviewDecision.APPROVE))
        task = workspace.tasks.revision("facts-night-train").task
        facts = (*task.gold.facts[1:], task.gold.facts[0].model_copy(update={"value": "17 owls"}))
        gold = task.gold.model_copy(update={"facts": facts})
        workspace.tasks.save(task.model_copy(update={"gold": gold}), author=AUTHOR)
        submit(workspace, "facts-night-train", AUTHOR)
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        assert "1 place changed" in shown(screen)
        everything = len(screen.query_one(EntryList).entries)
        await pilot.press("d")
        await until(pilot, lambda: len(screen.query_one(EntryList).entries) == 1)
        assert "± changed" in shown(screen)
        assert "17 owls" in shown(screen)
        await comment(pilot, "fine")
        await pilot.press("d")
        await until(pilot, lambda: len(screen.query_one(EntryList).entries) == everything)
        assert f"✎ gold.facts[{len(facts) - 1}]: fine" in shown(screen)


async def test_a_task_that_is_gone_is_told(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        app.push_screen(ReviewTaskScreen("absent"))
        await until(pilot, lambda: "There is no such task" in shown(app.screen))
        await until(pilot, lambda: not isinstance(app.screen, ReviewTaskScreen))
    with Workspace.open(in_review) as workspace, pytest.raises(CuecardError):
        workspace.tasks.revision("absent")
