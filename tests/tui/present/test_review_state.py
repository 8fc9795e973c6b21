"""A review while it is written, what it needs next, and how the task reads with it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from budget import examples
from cuecard.annotate.authoring.changes import changes_between
from cuecard.annotate.review.comments import Thread
from cuecard.annotate.review.workflow import DIMENSIONS
from cuecard.core.contributions import GoldCheck, PinnedComment, ReviewDecision
from cuecard.core.records import Answer, Comment, Review
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.tui.present.entry_layout import Block
from cuecard.tui.present.review import ReviewForm, compared, inside, next_need
from cuecard.tui.present.review_document import (
    Notes,
    change_rows,
    changed_elements,
    counted,
    marks_of_form,
    pin_places,
    task_rows,
    thread_entry,
    words_of,
)
from cuecard.tui.present.tasks import document_of, owner_of

SAMPLES = Path(__file__).parents[3] / "src" / "cuecard" / "sample_tasks"
APPROVE, RETURN = ReviewDecision.APPROVE, ReviewDecision.RETURN
DIMS = DIMENSIONS["graph"]
HOSTILE = "[red]x[/] \x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eright"


@pytest.fixture(scope="module")
def espresso() -> Task:
    return load_task(SAMPLES / "espresso.yaml")


def lines(rows) -> str:
    blocks = [Block(row.entry, opened=True, width=70, gap=True).lines for row in rows]
    return "\n".join("".join(p.text for p in line) for block in blocks for line in block)


def thread(place: str | None, text: str = "hm", *, by: str = "ben", **changes: object) -> Thread:
    comment = Comment(
        id="c#0",
        task_id="espresso",
        revision=1,
        place=place or "gold.triples[7]",
        text=text,
        dimension="gold",
        by=by,
        at=datetime.now(UTC),
        of_review=True,
    )
    fields = {key: changes.pop(key) for key in ("then", "now") if key in changes}
    return Thread(comment=comment.model_copy(update=changes), place=place, **fields)


def test_what_is_missing_is_told_one_after_the_other(espresso: Task) -> None:
    form = ReviewForm("espresso", 1, "ben", ("gold.triples[1]", "gold.triples[4]"))

    def need(decision: ReviewDecision) -> tuple[str, str, str] | None:
        found = next_need(form, DIMS, decision)
        return (found.kind, found.dimension, found.place) if found else None

    for dimension in DIMS:
        assert need(APPROVE) == ("rate", dimension.key, "")
        form.ratings[dimension.key] = "pass"
    assert need(RETURN) == ("mark", "", "gold.triples[1]")
    form.mark("gold.triples[1]", "right")
    form.mark("gold.triples[4]", "wrong")
    assert need(APPROVE) == ("rate", "gold", "")
    form.ratings["gold"] = "fail"
    assert need(APPROVE) == ("stop", "", "")
    assert need(RETURN) == ("why", "gold", "")
    form.comment("", "see the catalogue", "gold")
    assert need(RETURN) == ("wrong", "", "gold.triples[4]")
    form.comment("gold.triples[4].tail", "silver")
    assert need(RETURN) is None
    form.ratings["gold"] = "cannot_judge"
    assert need(APPROVE) == ("stop", "", "")
    form.mark("gold.triples[4]", "wrong")
    assert need(APPROVE) == ("mark", "", "gold.triples[4]")
    form.mark("gold.triples[4]", "unsure")
    assert need(APPROVE) is None
    form.comments.clear()
    assert need(RETURN) == ("say", "", "")


def test_a_form_is_kept_and_taken_up_again_and_bad_data_is_left_out() -> None:
    form = ReviewForm("t", 1, "ben", ("a",))
    form.ratings["gold"] = "fail"
    form.comment("a.b", " why ", "gold")
    form.comment("a.b", "note")
    form.mark("a", "wrong")
    form.note_opened("a", "https://x.example")
    form.note_opened("a", "https://x.example")
    form.seconds = 71.26
    again = ReviewForm("t", 1, "ben", ("a",))
    again.load(form.to_data())
    assert again == form
    given = again.to_review(RETURN)
    assert given.checks == (GoldCheck(place="a", mark="wrong", opened=("https://x.example",)),)
    assert (given.seconds, given.sample) == (71.3, ("a",))
    again.load(
        {"ratings": {"gold": "great"}, "comments": [7, {"place": "x"}], "marks": [], "seconds": "a"}
    )
    assert (again.ratings, again.comments, again.marks, again.seconds) == ({}, [], {}, 0.0)
    form.comment("a.b", "", "gold")
    assert form.comment_at("a.b") == "note"
    assert not form.explained("gold")


@settings(max_examples=examples(30))
@given(
    st.dictionaries(
        st.sampled_from(["ratings", "comments", "marks", "opened", "seconds"]),
        st.recursive(st.none() | st.text() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s), max_leaves=6),
    )
)  # fmt: skip
def test_whatever_was_kept_opens(data: dict[str, object]) -> None:
    form = ReviewForm("t", 1, "ben")
    form.load(data)
    form.to_review(RETURN)


def test_marks_and_comments_stand_at_their_element(espresso: Task) -> None:
    document = document_of(espresso)
    items = [e.place for e in document if e.place.startswith("gold.triples")]
    notes = Notes(
        comments=[
            PinnedComment(place="gold.triples[1].tail", text=HOSTILE, dimension="gold"),
            PinnedComment(place="", text="all in all"),
        ],
        threads=[thread("persona.stages[0].line", "earlier", by="")],
        labels={"gold": "Gold"},
        me="eva",
    )
    rows = task_rows(document, notes, marks_of_form(items, items[:2], {items[0]: "wrong"}))
    assert rows[0].place == ""
    text = lines(rows)
    assert "✗ " in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[tail · Gold] [red]x[/]" in text
    assert "reviewer, revision 1: [line · Gold] earlier" in text
    triple = next(row for row in rows if row.place == items[1])
    assert (triple.item, triple.entry.head[0].text) == (items[1], "◇")


def test_changes_come_with_what_was_said_and_the_rest_after_them(espresso: Task) -> None:
    before = espresso.model_dump(mode="json")
    triples = before["gold"]["triples"]
    changed = [{**triples[0], "tail": "somebody else"}, *triples[1:5], *triples[6:]]
    now = {**before, "gold": {**before["gold"], "triples": changed}}
    document = document_of(Task.model_validate(now))
    changes = changes_between(before, now)
    assert changed_elements(changes, document) == {"gold.triples[0]"}
    answered = Answer(by="ann", text="done", turns="resolved", at=datetime.now(UTC))
    notes = Notes(
        threads=[
            thread("gold.triples[0].tail", "who?", answers=(answered,)),
            thread(None, "gone?", then="x · y · z"),
            thread("query", "why so long?", then="Tell", now="Tell"),
        ],
        me="ben",
    )
    marks = marks_of_form([e.place for e in document if "triples" in e.place], [], {})
    rows = change_rows(changes, document, notes, marks)
    text = lines(rows)
    assert [row.place for row in rows] == ["gold.triples[0].tail", "", "", "query"]
    assert rows[0].item == "gold.triples[0]"
    assert text.index("you, revision 1: [tail] who?") < text.index("author: resolved: done")
    assert text.index("author: resolved: done") < text.index("its element is gone")
    assert "“x · y · z”" in text
    assert "not changed since" in text


def test_a_comment_can_be_pinned_to_the_parts_of_an_element(espresso: Task) -> None:
    data = espresso.model_dump(mode="json")
    stage = pin_places("persona.stages[0]", data)
    assert stage[0] == "persona.stages[0]"
    assert stage[-1] == ""
    assert {"persona.stages[0].line", "persona.stages[0].cue.text"} <= set(stage)
    assert words_of("persona.stages[0].line", data) == "Stage 1 · Line"
    assert words_of("", data) == "The whole task"
    assert pin_places("gold.triples[9999]", data) == ("",)
    table = load_task(SAMPLES / "table-us-states.yaml").model_dump(mode="json")
    assert pin_places("gold.rows[2]", table)[1] == "gold.rows[2][0]"
    assert owner_of(document_of(espresso), "gold.triples[3].tail") == "gold.triples[3]"
    assert owner_of(document_of(espresso), "") is None
    assert not inside("gold.triples[10]", "gold.triples[1]")


def test_reviews_stand_side_by_side_in_columns() -> None:
    reviews = [
        Review(
            task_id="t",
            revision=1,
            reviewer=name,
            ratings={d.key: "fail" if name == "ben" and d.key == "gold" else "pass" for d in DIMS},
            decision=RETURN if name == "ben" else APPROVE,
            created_at=datetime.now(UTC),
        )
        for name in ("ben", "一个名字很长很长的审稿人")
    ]
    drawn = ["".join(p.text for p in line) for line in compared(reviews, DIMS, "ben", 44)]
    assert {cell_len(line) for line in drawn} == {44}
    assert "you" in drawn[0]
    assert len(drawn) == 1 + len(DIMS) + 3


def test_a_thread_tells_what_became_of_its_element(espresso: Task) -> None:
    data = espresso.model_dump(mode="json")

    def told(one: Thread) -> str:
        block = Block(
            thread_entry(one, data, "ann", {"gold": "Gold"}), opened=True, width=70, gap=True
        ).lines
        return "\n".join("".join(p.text for p in line) for line in block)

    still = told(thread("gold.triples[3].tail", HOSTILE, then="bronze", now="bronze"))
    assert "○ Triple 4 · Tail" in still
    assert "“bronze”" in still
    assert "\x1b" not in still
    moved = told(thread("gold.triples[3].tail", then="bronze medal", now="silver medal"))
    assert "± changed since" in moved
    assert "− bronze medal" in moved
    assert "its element is gone" in told(thread(None))
    settled = Answer(by="ann", text="", turns="resolved", at=datetime.now(UTC))
    assert "✔" in told(thread("query", answers=(settled,)))
    assert counted([thread("query"), thread("query", answers=(settled,))]) == "1 comment open, of 2"
