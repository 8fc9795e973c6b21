"""Comments with their answers: where they stand, who says what to them, and who learns of it when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from cuecard.annotate.review.comments import (
    Thread,
    answer,
    may_turn,
    open_comments,
    text_at,
    threads_for,
)
from cuecard.annotate.review.reviewing import review, review_context, sample_of
from cuecard.annotate.review.workflow import DIMENSIONS, EMBEDDED_PROTOCOL, submit
from cuecard.core.contributions import GoldCheck, PinnedComment, ReviewDecision, TaskState
from cuecard.core.errors import NotAllowed
from cuecard.core.records import Review
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

PASSED = {dimension.key: "pass" for dimension in DIMENSIONS["facts"]}


def given(person: str, *comments: tuple[str, str], revision: int = 1, **changes: object) -> Review:
    decision = ReviewDecision.RETURN if comments else ReviewDecision.APPROVE
    said = tuple(PinnedComment(place=place, text=text) for place, text in comments)
    review = Review(
        task_id="t",
        revision=revision,
        reviewer=person,
        ratings=PASSED,
        decision=decision,
        comments=said,
        created_at=datetime.now(UTC),
    )
    return review.model_copy(update=changes)


def facts(task: Task, *items: tuple[str, str]) -> Task:
    data = task.model_dump(mode="json")
    data["gold"]["facts"] = [{"key": key, "value": value} for key, value in items]
    return Task.model_validate(data)


@pytest.fixture
def returned(workspace: Workspace, make_task: Callable[..., Task]) -> Workspace:
    """Ben pinned two comments to ann's task, Cho approved it."""
    task = facts(make_task("t"), ("one", "7"), ("two", "9"), ("three", "11"))
    workspace.tasks.save(task, author="ann")
    submit(workspace, "t", "ann")
    review(workspace, given("ben", ("gold.facts[2].value", "not 11"), ("gold.facts[0]", "out")))
    assert threads_for(workspace, "ann", "t") == ()
    assert threads_for(workspace, "cho", "t") == ()
    assert [t.comment.text for t in threads_for(workspace, "ben", "t")] == ["out", "not 11"]
    review(workspace, given("cho"))
    return workspace


def by_text(workspace: Workspace, person: str) -> dict[str, Thread]:
    return {t.comment.text: t for t in threads_for(workspace, person, "t")}


def test_comments_follow_their_elements_through_revisions(returned: Workspace) -> None:
    task = returned.tasks.revision("t").task
    returned.tasks.save(facts(task, ("three", "12"), ("two", "9")), author="ann", base=1)
    threads = by_text(returned, "ann")
    moved, gone = threads["not 11"], threads["out"]
    assert (moved.place, moved.then, moved.now) == ("gold.facts[0].value", "11", "12")
    assert gone.place is None
    assert "one" in gone.then
    assert moved.changed
    assert gone.changed


def test_authors_answer_and_settle_and_who_commented_opens_again(returned: Workspace) -> None:
    said = by_text(returned, "ann")["not 11"].comment
    answer(returned, said, "ann", "It is; see page 3.")
    answer(returned, said, "ann", "", turns="resolved")
    assert not by_text(returned, "cho")["not 11"].open
    assert open_comments(returned, "ann", ["t"]) == {"t": 1}
    for person, text, turns in (
        ("ann", "", "resolved"),  # twice
        ("ben", "", "open"),  # without a word
        ("cho", "I think so too", ""),  # neither author nor who commented
        ("dee", "who?", ""),
        ("ann", "", ""),
    ):
        with pytest.raises(NotAllowed):
            answer(returned, said, person, text, turns=turns)
    answer(returned, said, "ben", "Page 3 says 12.", turns="open")
    thread = by_text(returned, "ann")["not 11"]
    assert thread.open
    assert [reply.by for reply in thread.comment.answers] == ["ann", "ann", "ben"]
    with pytest.raises(NotAllowed):
        answer(returned, said.model_copy(update={"id": f"{said.id}9"}), "ann", "no such comment")


def test_nobody_answers_while_a_round_is_open(returned: Workspace) -> None:
    """The other reviewer must learn neither that there is a comment nor what one thinks of the new
    revision; and in review nobody but the authors learns who said what.
    """
    task = returned.tasks.revision("t").task
    returned.tasks.save(facts(task, ("two", "9"), ("three", "12")), author="ann", base=1)
    first = by_text(returned, "ben")["not 11"].comment
    answer(returned, first, "ben", "I will look.")
    submit(returned, "t", "ann")
    with pytest.raises(NotAllowed, match="in review"):
        answer(returned, first, "ben", "Still wrong.")
    answer(returned, first, "ann", "Mended.", turns="resolved")
    review(returned, given("ben", ("gold.facts[1].value", "12 now"), revision=2))
    (fresh,) = (c for c in returned.reviews.comments_for("ben", "t") if c.revision == 2)
    for person in ("ann", "cho", "ben"):
        with pytest.raises(NotAllowed, match="not possible"):
            answer(returned, fresh, person, "hm")
    assert "12 now" not in by_text(returned, "ann")
    seen = by_text(returned, "cho")["not 11"]
    assert {seen.comment.by, *(reply.by for reply in seen.comment.answers)} == {""}
    own = by_text(returned, "ben")["not 11"].comment
    assert (own.by, [reply.by for reply in own.answers]) == ("ben", ["ben", ""])
    assert {reply.by for reply in by_text(returned, "ann")["not 11"].comment.answers} == {
        "ben",
        "ann",
    }


def test_keys_offer_what_the_rules_allow(returned: Workspace) -> None:
    thread = by_text(returned, "ann")["out"]
    for state in (TaskState.RETURNED, TaskState.IN_REVIEW):
        assert may_turn(thread, "ann", {"ann"}, state) == ("", "resolved")
        assert may_turn(thread, "cho", {"ann"}, state) == ()
    assert may_turn(thread, "ben", {"ann"}, TaskState.RETURNED) == ("", "resolved")
    assert may_turn(thread, "ben", {"ann"}, TaskState.IN_REVIEW) == ()


def test_the_desk_of_a_next_round_has_what_changed_and_how_it_was_rated(
    returned: Workspace,
) -> None:
    task = returned.tasks.revision("t").task
    returned.tasks.save(facts(task, ("two", "9"), ("three", "12")), author="ann", base=1)
    submit(returned, "t", "ann")
    context = review_context(returned, "t", "ben")
    assert not context.reading
    assert [(c.kind, c.place) for c in context.changes] == [
        ("removed", "gold.facts[0]"),
        ("changed", "gold.facts[1].value"),
    ]
    assert context.last == PASSED
    assert context.sheet.mine is None
    fresh = review_context(returned, "t", "dee")
    assert (fresh.changes, fresh.last) == ((), {})
    assert review_context(returned, "t", "ann").reading


def test_a_sample_must_be_ones_own_and_marked(workspace: Workspace, make_task) -> None:
    task = facts(make_task("t"), *((f"key {n}", str(n)) for n in range(12)))
    uid = workspace.tasks.save(task, author="ann").uid
    submit(workspace, "t", "ann")
    drawn = sample_of(task, uid, "ben", EMBEDDED_PROTOCOL.spot_check)
    marks = tuple(GoldCheck(place=place, mark="right") for place in drawn)
    wrong = (*marks[1:], marks[0].model_copy(update={"mark": "wrong"}))
    others = next(s for n in "xyz" if set(s := sample_of(task, uid, n, 5)) != set(drawn))
    for sample, checks in (
        (drawn, ()),
        (drawn, marks[1:]),
        (drawn, wrong),
        (others, tuple(GoldCheck(place=place, mark="right") for place in others)),
        (drawn, (*marks, GoldCheck(place="gold.facts[99]", mark="right"))),
    ):
        with pytest.raises(NotAllowed, match="not complete"):
            review(workspace, given("ben", sample=sample, checks=checks))
    review(workspace, given("ben", sample=drawn, checks=marks))
    (mine,) = workspace.reviews.visible_to("ben", "t")
    assert (mine.sample, mine.checks) == (drawn, marks)


def test_the_text_of_a_place(make_task: Callable[..., Task]) -> None:
    data = facts(make_task("t"), ("one", "7")).model_dump(mode="json")
    assert text_at(data, "gold.facts[0].value") == "7"
    assert "one" in text_at(data, "gold.facts[0]")
    assert text_at(data, "gold.facts[7]") == ""
    assert text_at(data, "") == ""
    assert text_at(data, "query") == "How many?"
