"""The rows of the Home screen: one for each thing that waits, in the order to do them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import N_, _, age, listed, ngettext, plural, time_left
from cuecard.core.text import one_line
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL

if TYPE_CHECKING:
    from cuecard.annotate.waiting import (
        GoldToDecide,
        OpenSession,
        ReviewAtHand,
        Waiting,
        WithOthers,
    )
    from cuecard.core.evaluation.wizard_of_oz import WaitingTrial
    from cuecard.core.label_records import LabelSet
    from cuecard.core.records import RunRecord, TaskSummary, TrialRecord

HomeKind = Literal[
    "session", "form", "seat", "draft", "at_hand", "returned", "comments", "forked", "submit", "review", "assign", "running", "set", "verdicts", "gold", "second",
    "reviewers", "reviewer", "author",
]  # fmt: skip

LABELS: dict[HomeKind, str] = {
    "session": N_("Go on playing"),
    "form": N_("Form to fill in"),
    "seat": N_("Play the agent"),
    "draft": N_("Unsaved draft"),
    "at_hand": N_("Go on reviewing"),
    "gold": N_("Gold to build again"),
    "second": N_("Second gold is in"),
    "returned": N_("Returned to you"),
    "comments": N_("Comments for you"),
    "forked": N_("To bring together"),
    "submit": N_("To submit"),
    "review": N_("To review"),
    "assign": N_("To assign"),
    "running": N_("Run not finished"),
    "set": N_("Items to label"),
    "verdicts": N_("Verdicts to label"),
    "reviewers": N_("With reviewers"),
    "reviewer": N_("With a reviewer"),
    "author": N_("With its author"),
}
OTHERS: tuple[HomeKind, ...] = ("reviewers", "reviewer", "author")
"""What waits for somebody else."""
MOST = 6
"""Rows of one kind that are listed one by one; what is beyond is told in one row."""


@dataclass(frozen=True)
class HomeRow:
    """`task_id`, `trial_id`, `run_id` or `set_id` says what Enter opens; without one, the place of its kind.
    `text`: the title of what it is about, `about`: how that stands.
    """

    kind: HomeKind
    text: str
    since: str = ""
    about: str = ""
    task_id: str = ""
    trial_id: int = 0
    run_id: int = 0
    set_id: int = 0

    @property
    def label(self) -> str:
        return _(LABELS[self.kind])

    @property
    def for_others(self) -> bool:
        """Whether it waits for somebody else."""
        return self.kind in OTHERS


def rows_of(waiting: Waiting, verdict_limit: int, now: datetime | None = None) -> list[HomeRow]:
    """What was begun comes before what is new, what waits for others comes last."""
    moment = now or datetime.now(UTC)
    rows = [_session_row(session, moment) for session in waiting.sessions]
    rows += [_form_row(trial, moment) for trial in waiting.forms]
    rows += [_waiting_row(trial, moment) for trial in waiting.waiting_trials]
    rows += [
        HomeRow(
            "draft", _draft_title(d.data, d.task_id), age(d.updated_at, moment), task_id=d.task_id
        )
        for d in waiting.drafts
    ]
    rows += [_review_row(review, moment) for review in waiting.at_hand]
    rows += [
        HomeRow("gold", t.title, age(t.updated_at, moment), task_id=t.id) for t in waiting.golds
    ]
    rows += [_second_row(gold, moment) for gold in waiting.second_golds]
    rows += [_returned_row(task, waiting, moment) for task in waiting.returned]
    rows += [
        HomeRow("comments", c.task.title, age(c.since, moment), _comments(c.comments), c.task.id)
        for c in waiting.commented
    ]
    rows += [
        HomeRow("forked", t.title, age(t.updated_at, moment), task_id=t.id) for t in waiting.forked
    ]
    rows += [
        HomeRow("submit", t.title, age(t.updated_at, moment), task_id=t.id)
        for t in waiting.to_submit
    ]
    if n := len(waiting.to_review):
        rows.append(HomeRow("review", plural("{n} task can be taken", "{n} tasks can be taken", n)))
    if n := waiting.to_assign:
        text = ngettext("{n} task needs a reviewer", "{n} tasks need reviewers", n)
        rows.append(HomeRow("assign", text.format(n=n)))
    rows += [_run_row(run, moment) for run in waiting.running]
    rows += [_set_row(one, left, moment) for one, left in waiting.sets]
    if waiting.verdicts:
        count = f"{waiting.verdicts:,}{'+' if waiting.verdicts >= verdict_limit else ''}"
        text = ngettext("{n} verdict", "{n} verdicts", waiting.verdicts).format(n=count)
        rows.append(HomeRow("verdicts", text))
    rows += [_others_row(other, moment) for other in waiting.with_others]
    return _folded(rows)


def _session_row(session: OpenSession, moment: datetime) -> HomeRow:
    trial = session.trial
    match session.phase:
        case "yours":
            phase = _("your turn")
        case "agent":
            phase = _("the agent was answering")
        case "concluding":
            phase = _("the agent was handing in")
        case "failed":
            phase = _("the agent failed")
    turn = _("turn {n}").format(n=session.turns + (session.phase != "concluding"))
    about = f"{phase} · {turn} · {one_line(trial.agent.name, 20)}"
    return HomeRow("session", trial.title, age(session.since, moment), about, trial_id=trial.id)


def _form_row(trial: TrialRecord, moment: datetime) -> HomeRow:
    since = age(trial.ended_at or trial.created_at, moment)
    return HomeRow("form", trial.title, since, one_line(trial.agent.name, 20), trial_id=trial.id)


def _waiting_row(trial: WaitingTrial, moment: datetime) -> HomeRow:
    told = _("you play it for {name}") if trial.mine else _("{name} waits for an agent")
    kind = _(FAMILY[trial.family][2])
    about = _(", ").join((kind, LANGUAGE_LABEL[trial.language]))
    since = age(trial.since, moment)
    return HomeRow("seat", told.format(name=trial.user), since, about, trial_id=trial.trial_id)


def _review_row(review: ReviewAtHand, moment: datetime) -> HomeRow:
    until = review.until
    about = _("your time ran out") if until is None else time_left(until, moment)
    return HomeRow("at_hand", review.task.title, "", about, review.task.id)


def _second_row(gold: GoldToDecide, moment: datetime) -> HomeRow:
    about = _("built by {name}").format(name=listed(one_line(name, 20) for name in gold.by))
    return HomeRow("second", gold.task.title, age(gold.since, moment), about, gold.task.id)


def _returned_row(task: TaskSummary, waiting: Waiting, moment: datetime) -> HomeRow:
    about = _comments(waiting.comments.get(task.id, 0))
    since = waiting.returned_at.get(task.id, task.updated_at)
    return HomeRow("returned", task.title, age(since, moment), about, task.id)


def _comments(n: int) -> str:
    return ngettext("{n} comment", "{n} comments", n).format(n=n) if n else ""


def _set_row(one: LabelSet, left: int, moment: datetime) -> HomeRow:
    about = ngettext("{n} item", "{n} items", left).format(n=left)
    if one.created_by:
        about += " · " + _("drawn by {name}").format(name=one_line(one.created_by))
    return HomeRow("set", one_line(one.name), age(one.created_at, moment), about, set_id=one.id)


def _others_row(other: WithOthers, moment: datetime) -> HomeRow:
    if other.waits_for == "reviewers":
        if other.held:
            at_work = ngettext("{n} at work", "{n} at work", other.held).format(n=other.held)
        else:
            at_work = _("nobody at work")
        told = _("{n} of {all} in, {at_work}").format(
            n=other.reviews, all=other.needed, at_work=at_work
        )
    else:
        told = _("reviewed by you")
        if other.answers:
            told = _(", ").join((told, plural("{n} answer", "{n} answers", other.answers)))
    since = age(other.since, moment)
    return HomeRow(other.waits_for, other.task.title, since, told, other.task.id)


def _run_row(run: RunRecord, moment: datetime) -> HomeRow:
    about = run.state.badge
    if not run.plan.get("exam"):  # Its inputs are all there from the beginning, judged or not.
        about = plural("{state}: {finished} of {n} trial", "{state}: {finished} of {n} trials", run.trials, state=about, finished=run.finished)  # fmt: skip
    return HomeRow("running", run.name, age(run.created_at, moment), about, run_id=run.id)


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
