"""What the lines of the review queue say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cuecard.annotate.review.assignment import QueueLine
from cuecard.annotate.review.queue_rows import CoordinatorLine, coordinator_rows, queue_rows
from cuecard.core.contributions import SkillsSet, TaskState
from cuecard.core.records import TaskSummary

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
TASK = TaskSummary(
    id="t",
    title="A task",
    family="facts",
    language="en",
    domain="medicine",
    difficulty=None,
    revision=2,
    state=TaskState.IN_REVIEW,
    author="",
    updated_at=NOW,
)
LINE = QueueLine(
    task=TASK,
    submitted_at=NOW - timedelta(hours=3),
    priority=1,
    reviews=1,
    needed=2,
    places=1,
    mine=None,
    fits=True,
    turn=True,
    skipped=False,
    again=False,
    third=False,
)


def row(line: QueueLine, *begun: tuple[str, int]):
    (only,) = queue_rows([line], frozenset(begun), SkillsSet(languages=("zh",)), NOW)
    return only


def test_a_line_says_in_a_word_and_in_full_what_is_special_about_it() -> None:
    plain = row(LINE)
    assert (plain.urgency, plain.reviews, plain.waits, plain.note) == ("▲", "1/2", "3 h", "")
    assert plain.about == ("1 of 2 reviews are in. 1 more person can take it.",)
    mine = replace(LINE, mine=NOW + timedelta(hours=50), places=0)
    assert row(mine).note == "yours, 2 d left"
    assert row(mine, ("t", 2)).note == "begun, 2 d left"
    assert row(LINE, ("t", 1)).note == ""
    assert row(replace(LINE, fits=False)).note == "other skills"
    assert "(zh)" in row(replace(LINE, fits=False)).about[-1]
    assert row(replace(LINE, turn=False)).note == "others first"
    skipped = row(replace(LINE, skipped=True, third=True))
    assert (skipped.note, skipped.can_skip) == ("skipped", False)
    assert "Two reviewers disagree" in " ".join(skipped.about)
    assert row(replace(LINE, again=True)).note == "seen before"


def test_a_coordinator_reads_names_but_not_of_their_own_task() -> None:
    line = CoordinatorLine(
        task=TASK,
        submitted_at=None,
        priority=0,
        needed=2,
        reviews=1,
        held=1,
        places=0,
        own=False,
        reviewers=("Bo\x1b[31m",),
        leases=(("Dee", NOW + timedelta(minutes=90)),),
    )
    own = replace(line, own=True, reviewers=(), leases=())
    first, second = coordinator_rows([line, own], NOW)
    assert first.note == "Bo ✓, Dee 1 h left"
    assert not first.can_take
    assert second.note == "a task of yours"
    assert "Bo" not in " ".join(second.about)
