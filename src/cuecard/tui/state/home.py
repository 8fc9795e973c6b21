"""Home's list as plain data: one row for each thing that waits, in the order to take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.times import age

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuecard.annotate.waiting import OwnInReview, Waiting
    from cuecard.store.records import RunRecord, TaskSummary

HomeKind = Literal[
    "session", "draft", "begun", "returned", "review", "running", "verdicts", "with_reviewers"
]

LABELS: dict[HomeKind, str] = {
    "session": N_("Go on playing"),
    "draft": N_("Unsaved draft"),
    "begun": N_("Go on reviewing"),
    "returned": N_("Returned to you"),
    "review": N_("To review"),
    "running": N_("Run not finished"),
    "verdicts": N_("Verdicts to label"),
    "with_reviewers": N_("With reviewers"),
}
MOST = 6
"""Rows of one kind that are listed one by one; what is beyond is told in one row."""


@dataclass(frozen=True)
class HomeRow:
    """`task_id`, `trial_id` or `run_id` says what Enter opens; without one, the place of its kind."""

    kind: HomeKind
    text: str
    since: str = ""
    task_id: str = ""
    trial_id: int = 0
    run_id: int = 0

    @property
    def label(self) -> str:
        return _(LABELS[self.kind])


def rows_of(waiting: Waiting, verdict_limit: int, now: datetime | None = None) -> list[HomeRow]:
    """What was begun comes before what is new, what waits for others comes last."""
    moment = now or datetime.now(UTC)
    rows = [
        HomeRow("session", t.title, age(t.created_at, moment), trial_id=t.id)
        for t in waiting.sessions
    ]
    rows += [
        HomeRow("draft", _draft_title(d.data, d.task_id), age(d.updated_at, moment), d.task_id)
        for d in waiting.drafts
    ]
    rows += _task_rows("begun", waiting.begun, moment)
    rows += [_returned_row(t, waiting.comments.get(t.id, 0), moment) for t in waiting.returned]
    rows += _task_rows("review", waiting.to_review, moment)
    rows += [_run_row(run, moment) for run in waiting.running]
    if waiting.verdicts:
        count = f"{waiting.verdicts}+" if waiting.verdicts >= verdict_limit else waiting.verdicts
        text = ngettext("{n} verdict", "{n} verdicts", waiting.verdicts).format(n=count)
        rows.append(HomeRow("verdicts", text))
    rows += [_own_row(own, moment) for own in waiting.own_in_review]
    return _folded(rows)


def _task_rows(kind: HomeKind, tasks: Sequence[TaskSummary], moment: datetime) -> list[HomeRow]:
    return [HomeRow(kind, t.title, age(t.updated_at, moment), t.id) for t in tasks]


def _returned_row(task: TaskSummary, comments: int, moment: datetime) -> HomeRow:
    text = task.title
    if comments:
        told = ngettext("{n} comment · {title}", "{n} comments · {title}", comments)
        text = told.format(n=comments, title=task.title)
    return HomeRow("returned", text, age(task.updated_at, moment), task.id)


def _run_row(run: RunRecord, moment: datetime) -> HomeRow:
    text = _("{name}: {finished} of {all} trials").format(
        name=run.name, finished=run.finished, all=run.trials
    )
    return HomeRow("running", text, age(run.created_at, moment), run_id=run.id)


def _own_row(own: OwnInReview, moment: datetime) -> HomeRow:
    text = _("{n} of 2 reviews in · {title}").format(n=own.reviews, title=own.task.title)
    return HomeRow("with_reviewers", text, age(own.task.updated_at, moment), own.task.id)


def _folded(rows: list[HomeRow]) -> list[HomeRow]:
    kept: list[HomeRow] = []
    for kind in LABELS:
        of_kind = [row for row in rows if row.kind == kind]
        shown = len(of_kind) if len(of_kind) <= MOST else MOST - 1
        kept += of_kind[:shown]
        if rest := len(of_kind) - shown:
            kept.append(HomeRow(kind, ngettext("{n} more", "{n} more", rest).format(n=rest)))
    return kept


def _draft_title(data: Mapping[str, object], task_id: str) -> str:
    title = data.get("title")
    return title if isinstance(title, str) and title.strip() else task_id
