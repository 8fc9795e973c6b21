"""Two reviewers, blind to the author and to each other, by keys; then the author, and the next round."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from cuecard.annotate.review.reviewing import review, sample_of
from cuecard.annotate.review.workflow import DIMENSIONS, submit
from cuecard.core.contributions import GoldCheck, PinnedComment, ReviewDecision, TaskState
from cuecard.core.errors import CuecardError
from cuecard.core.records import Review
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.present.drafts import DraftState
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog, TextDialog
from cuecard.tui.screens.review import ReviewTaskScreen
from cuecard.tui.screens.review_dialogs import CommentDialog, ThreadsScreen
from cuecard.tui.screens.review_queue import ReviewQueueScreen
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import ListTable
from cuecard.tui.widgets.review import DimensionList
from steady_app import SteadyApp
from tui_rooms import shown, until

SIZE, WIDE = (80, 24), (120, 40)
# The seed's people have names that no task holds; so blindness can be seen in all that is drawn.
AUTHOR, OTHER = "Wilhelmina", "Zebedee"
TRAIN, STATES = "facts-night-train", "table-us-states"


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


@pytest.fixture
def in_review(home: Path) -> Path:
    """A workspace whose tasks a person of an unusual name wrote and submitted."""
    from cuecard.annotate.samples import import_samples

    path = home / "review.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, by=AUTHOR)
        for name in (TRAIN, STATES):
            submit(workspace, name, AUTHOR)
    return path


def a_review(reviewer: str, decision: ReviewDecision, *comments: tuple[str, str]) -> Review:
    return Review(
        task_id=TRAIN,
        revision=1,
        reviewer=reviewer,
        ratings={d.key: "pass" for d in DIMENSIONS["facts"]},
        decision=decision,
        comments=tuple(PinnedComment(place=place, text=text) for place, text in comments),
        seconds=300,
        created_at=datetime.now(UTC),
    )


def split(path: Path, *comments: tuple[str, str]) -> None:
    """Ben returns the train, with comments; the other approves it."""
    with Workspace.open(path) as workspace:
        review(workspace, a_review("Ben", ReviewDecision.RETURN, *comments))
        review(workspace, a_review(OTHER, ReviewDecision.APPROVE))


async def opened(pilot: Pilot, task_id: str = TRAIN) -> ReviewTaskScreen:
    app = pilot.app
    await until(pilot, lambda: "Home" in shown(app.screen))
    app.push_screen(ReviewTaskScreen(task_id))
    await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
    await until(pilot, lambda: app.screen.document.entries)
    return app.screen


async def kept(pilot: Pilot, screen: ReviewTaskScreen) -> None:
    await until(pilot, lambda: screen.keeper.state is DraftState.WRITTEN)


async def write(pilot: Pilot, text: str, kind: type = CommentDialog) -> None:
    """Into the dialog that is open, or about to open."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
    await pilot.press(*("space" if char == " " else char for char in text), "ctrl+s")
    await until(pilot, lambda: not isinstance(pilot.app.screen, kind))


async def rate(pilot: Pilot, letters: str) -> None:
    """The dimensions from the first one on."""
    if not isinstance(pilot.app.focused, DimensionList):
        await pilot.press("tab")
    await pilot.press(*["up"] * 5, *letters)


async def hand_in(pilot: Pilot, key: str) -> None:
    screen = pilot.app.screen
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await pilot.press("y")
    await until(pilot, lambda: pilot.app.screen is not screen and not screen.is_attached)


def footer(app: CuecardApp) -> str:
    return shown(app.screen).splitlines()[-1]


async def test_no_author_is_named_from_the_queue_to_the_last_page(
    in_review: Path, make_app
) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=(60, 18)) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "Money" in shown(app.screen))
        table = app.screen.query_one(ListTable)
        assert table.count == 2
        assert AUTHOR not in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewTaskScreen))
        await until(pilot, lambda: app.screen.document.entries)
        for size in ((60, 18), SIZE, WIDE):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert AUTHOR not in "\n".join(app.screen.document.lines)
            assert AUTHOR not in shown(app.screen)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReviewQueueScreen))
        await pilot.press("v")
        await until(pilot, lambda: "No reviews to read yet" in shown(app.screen))


async def test_a_review_leads_to_what_is_missing_until_it_can_be_handed_in(
    in_review: Path, make_app
) -> None:
    with Workspace.open(in_review) as workspace:
        head = workspace.tasks.revision(STATES)
        sample = sample_of(head.task, head.uid, "Ben", 5)
    app: CuecardApp = make_app(in_review, person="Ben")
    os.environ.pop("DISPLAY", None)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await opened(pilot, STATES)
        form = screen.view.form
        await pilot.press("r")
        await until(pilot, lambda: "Not rated yet: Question" in shown(screen))
        assert isinstance(app.focused, DimensionList)
        await rate(pilot, "yy")
        # The gold passes only after the spot check: the key leads to its first item.
        await pilot.press("y")
        await until(pilot, lambda: app.focused is screen.document)
        assert "gold" not in form.ratings
        assert screen.place == sample[0]
        await pilot.press("y")
        # The key that is told leads on; `n` would mark the item wrong.
        await until(pilot, lambda: "1 of 5 checked (+)" in shown(screen))
        await pilot.press("plus")
        assert screen.place == sample[1]
        # A page behind the item: no browser here, so its address is told, and it counts as looked at.
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("down", "enter")
        await until(pilot, lambda: form.opened)
        await until(pilot, lambda: "There is no browser" in shown(screen))
        await pilot.press("n")
        await write(pilot, "it is not")
        await pilot.press("plus", "u", "plus", "y", "plus", "y")
        assert form.left_to_mark == ()
        assert "5 of 5 checked" in shown(screen)
        # What is marked wrong does not pass.
        await rate(pilot, "yy")
        await pilot.press("y")
        await until(pilot, lambda: "marked 1 item wrong" in shown(screen))
        await pilot.press("n")
        # The comment on the wrong item says why already.
        assert app.screen is screen
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and "! say why: c" in shown(screen))
        await pilot.press("u", "a")
        await until(pilot, lambda: "fails in “Cells" in shown(screen))
        await pilot.press("r")
        await write(pilot, "it moves")
        place = screen.place
        await hand_in(pilot, "r")
    with Workspace.open(in_review) as workspace:
        (mine,) = workspace.reviews.visible_to("Ben", STATES)
        assert list(mine.ratings.values()) == ["pass", "pass", "fail", "fail", "cannot_judge"]
        assert mine.sample == sample
        assert [c.mark for c in mine.checks] == ["right", "wrong", "unsure", "right", "right"]
        assert [len(c.opened) for c in mine.checks] == [0, 1, 0, 0, 0]
        assert [(c.place, c.dimension, c.text) for c in mine.comments] == [
            (sample[1], "gold", "it is not"),
            (place, "stability", "it moves"),
        ]
        assert mine.seconds > 0
        assert workspace.review_forms.of("Ben") == []


async def test_a_comment_moves_between_element_and_part_and_is_taken_away(
    in_review: Path, make_app
) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        screen.go_to("gold.facts[1]")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        assert "Fact 2" in shown(app.screen)
        await pilot.press("f2", "f2")
        await until(pilot, lambda: "Fact 2 · Value" in shown(app.screen))
        await pilot.press("f10", "d")
        await write(pilot, "late")
        (comment,) = screen.view.form.comments
        assert (comment.place, comment.dimension) == ("gold.facts[1].value", "laws")
        await until(pilot, lambda: "[value · Facts and rules are consistent] late" in shown(screen))
        await pilot.press("c", "f2", "f2", "f10", "d")
        await until(pilot, lambda: "late" in app.screen.query_one(TextArea).text)
        await pilot.press("ctrl+u", "ctrl+s")
        await until(pilot, lambda: "No comments yet" in shown(screen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press("x", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert screen.view.form.comments == []


async def test_what_a_review_says_is_taken_back_one_after_the_other(
    in_review: Path, make_app
) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        form = screen.view.form
        assert not screen.check_action("undo", ())
        await pilot.press("plus", "y", "c")
        await write(pilot, "wait")
        await until(pilot, lambda: screen.is_current and len(form.comments) == 1)
        await pilot.press("y")
        assert form.marks == {}
        await pilot.press("ctrl+z")
        assert list(form.marks.values()) == ["right"]
        await rate(pilot, "n")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press("escape", "ctrl+z")
        await until(pilot, lambda: screen.is_current and form.ratings == {})
        await pilot.press("ctrl+z")
        assert (form.comments, len(form.marks)) == ([], 1)
        await pilot.press("ctrl+z")
        assert form.marks == {}
        assert not screen.check_action("undo", ())
        await kept(pilot, screen)


async def test_an_unfinished_review_is_there_again_in_the_next_app(
    in_review: Path, make_app
) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await pilot.press("c")
        await write(pilot, "wait")
        await pilot.press("plus", "y")
        await rate(pilot, "y")
        await kept(pilot, screen)
        # Quitting at once loses nothing either.
        await pilot.press("y", "u", "ctrl+q")
        await until(pilot, lambda: not screen.is_attached)
    again: CuecardApp = make_app(in_review, person="Ben")
    async with again.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        text = shown(screen)
        assert "✎ Title: wait" in text
        assert "3 of 5 rated · 1 of 5 checked" in text
        assert "Facts and rules are consistent  pass" in text
        assert "Answer is unique  cannot judge" in text
    other: CuecardApp = make_app(in_review, person="Chen")
    async with other.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        assert "wait" not in shown(screen)
        assert shown(screen).count("○ ") == 5


async def test_the_others_review_is_seen_when_both_are_in_and_a_third_sees_neither(
    in_review: Path, make_app
) -> None:
    with Workspace.open(in_review) as workspace:
        review(workspace, a_review(OTHER, ReviewDecision.RETURN, ("query", "the fare is wrong")))
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        assert OTHER not in shown(screen)
        assert "fare is wrong" not in shown(screen)
        while screen.view.form.left_to_mark:
            await pilot.press("plus", "y")
        await rate(pilot, "yyyyy")
        await hand_in(pilot, "a")
        screen = await opened(pilot)
        await until(pilot, lambda: f"{OTHER}, revision 1: ↺ return" in shown(screen))
        text = shown(screen)
        assert "you, revision 1: ✓ approve" in text
        assert "The reviewers disagree." in text
        assert "not in review" in text
        assert AUTHOR not in text
        words = ("Approve", "c Comment", "Mark", "Edit", "Third", "Pass")
        await until(pilot, lambda: all(word not in footer(app) for word in words))
    author: CuecardApp = make_app(in_review, person=AUTHOR)
    async with author.run_test(size=WIDE, notifications=True) as pilot:
        screen = await opened(pilot)
        await until(pilot, lambda: author.screen.check_action("third", ()))
        await pilot.press("full_stop", "t")
        await write(pilot, "it is right", TextDialog)
        await until(pilot, lambda: "A third person will decide" in shown(author.screen))
    with Workspace.open(in_review) as workspace:
        assert workspace.reviews.state(TRAIN) is TaskState.IN_REVIEW
    third: CuecardApp = make_app(in_review, person="Chen")
    async with third.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        assert "0 of 5 rated" in shown(screen)
        assert all(name not in shown(screen) for name in (OTHER, "Ben", AUTHOR, "fare is wrong"))


async def test_somebody_was_quicker_and_a_task_that_is_gone(in_review: Path, make_app) -> None:
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await opened(pilot)
        with Workspace.open(in_review) as workspace:
            for person in (OTHER, "Chen"):
                review(workspace, a_review(person, ReviewDecision.APPROVE))
        while screen.view.form.left_to_mark:
            await pilot.press("plus", "y")
        await rate(pilot, "yyyyy")
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: "This task is not in review" in shown(app.screen))
        assert app.screen is screen
        assert OTHER not in shown(app.screen)
        app.push_screen(ReviewTaskScreen("absent"))
        await until(pilot, lambda: "There is no such task" in shown(app.screen))
        await until(pilot, lambda: app.screen is screen)
    with Workspace.open(in_review) as workspace, pytest.raises(CuecardError):
        workspace.tasks.revision("absent")


def revised(path: Path, values: Sequence[tuple[int, str]]) -> None:
    """The author changes some facts, moves the first to the end, and submits again."""
    with Workspace.open(path) as workspace:
        task = workspace.tasks.revision(TRAIN).task
        facts = list(task.gold.facts)
        for index, value in values:
            facts[index] = facts[index].model_copy(update={"value": value})
        gold = task.gold.model_copy(update={"facts": (*facts[1:], facts[0])})
        workspace.tasks.save(task.model_copy(update={"gold": gold}), author=AUTHOR, base=1)
        submit(workspace, TRAIN, AUTHOR)


async def test_the_author_answers_where_the_comment_is_and_the_reviewer_reads_what_changed(
    in_review: Path, make_app
) -> None:
    split(in_review, ("gold.facts[0].value", "not so"), ("query", "say which fare"))
    author: CuecardApp = make_app(in_review, person=AUTHOR)
    async with author.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: "2 comments" in shown(author.screen))
        author.push_screen(TaskScreen(TRAIN))
        # A returned task opens at what is asked.
        await until(pilot, lambda: "say which fare" in shown(author.screen))
        await until(pilot, lambda: "Comments ✎2" in shown(author.screen))
        await until(pilot, lambda: "Answer" in footer(author))
        await pilot.press("y")
        await write(pilot, "the base fare", TextDialog)
        await until(pilot, lambda: "Comments ✎1" in shown(author.screen))
        await until(pilot, lambda: "resolved: the base fare" in shown(author.screen))
        await pilot.press("home", "enter")
        await until(pilot, lambda: author.screen.editor.tabs.active == "facts")
    revised(in_review, [(0, "17 owls")])
    app: CuecardApp = make_app(in_review, person="Ben")
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        text = shown(screen)
        assert "Changed since revision 1" in text
        assert "17 owls" in text
        assert "[value] not so" in text
        assert "author: resolved: the base fare" in text
        assert "was ✓" in text
        assert "0 of 5 rated" in text
        assert AUTHOR not in text
        await until(pilot, lambda: "Whole task" in footer(app))
        changes = len(screen.document.entries)
        await pilot.press("w")
        await until(pilot, lambda: len(screen.document.entries) > changes)
        assert "author: resolved: the base" in "\n".join(screen.document.lines)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ThreadsScreen))
        await until(pilot, lambda: "1 comment open" in shown(app.screen))
        await until(pilot, lambda: "Answer" not in footer(app))
        assert AUTHOR not in shown(app.screen)
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.screen is screen)
        last = len(screen.view.context.sheet.task.gold.facts) - 1
        await until(pilot, lambda: screen.place == f"gold.facts[{last}]")
        assert isinstance(app.focused, EntryList)


async def test_the_author_reads_ratings_and_marks_beside_the_comments(
    in_review: Path, make_app
) -> None:
    with Workspace.open(in_review) as workspace:
        given = a_review("Ben", ReviewDecision.RETURN, ("gold.facts[0]", "The clock is wrong."))
        ratings = {**given.ratings, "sufficiency": "fail"}
        comment = PinnedComment(
            place="gold.facts[0]", text="The clock is wrong.", dimension="sufficiency"
        )
        mark = GoldCheck(place="gold.facts[0]", mark="wrong")
        update = {"ratings": ratings, "comments": (comment,), "checks": (mark,)}
        review(workspace, given.model_copy(update=update))
        review(workspace, a_review(OTHER, ReviewDecision.APPROVE))
    app: CuecardApp = make_app(in_review, person=AUTHOR)
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: "Home" in shown(app.screen))
        app.push_screen(TaskScreen(TRAIN))
        await until(pilot, lambda: "The clock is wrong." in shown(app.screen))
        text = shown(app.screen)
        assert "Ben, revision 1: ↺ return" in text
        assert ": fail" in text
        assert ": wrong" in text
        assert f"{OTHER}, revision 1: ✓ approve" in text
