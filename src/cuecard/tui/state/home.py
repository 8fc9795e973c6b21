"""Home's list as plain data: one row for each thing that waits, in the order to take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import N_, _, ngettext

if TYPE_CHECKING:
    from cuecard.annotate.waiting import Waiting

HomeKind = Literal["session", "draft", "returned", "review", "verdicts", "running"]

LABELS: dict[HomeKind, str] = {
    "session": N_("Go on playing"),
    "draft": N_("Unsaved draft"),
    "returned": N_("Returned to you"),
    "review": N_("To review"),
    "verdicts": N_("Verdicts to label"),
    "running": N_("Run not finished"),
}


@dataclass(frozen=True)
class HomeRow:
    """`task_id`, `trial_id` or `run_id` says what Enter opens."""

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
    """What was begun comes before what is new."""
    moment = now or datetime.now(UTC)
    rows = [
        HomeRow("session", t.title, age(t.created_at, moment), trial_id=t.id)
        for t in waiting.sessions
    ]
    rows += [
        HomeRow("draft", _draft_title(d.data, d.task_id), age(d.updated_at, moment), d.task_id)
        for d in waiting.drafts
    ]
    rows += [
        HomeRow("returned", t.title, age(t.updated_at, moment), t.id) for t in waiting.returned
    ]
    rows += [HomeRow("review", t.title, age(t.updated_at, moment), t.id) for t in waiting.to_review]
    rows += [
        HomeRow(
            "running",
            _("{name}: {finished} of {all} trials").format(
                name=r.name, finished=r.finished, all=r.trials
            ),
            age(r.created_at, moment),
            run_id=r.id,
        )
        for r in waiting.running
    ]
    if waiting.verdicts:
        count = f"{waiting.verdicts}+" if waiting.verdicts >= verdict_limit else waiting.verdicts
        text = ngettext("{n} verdict", "{n} verdicts", waiting.verdicts).format(n=count)
        rows.append(HomeRow("verdicts", text))
    return rows


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits: "now", "5 min", "3 h", "2 d"."""
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return _("{n} min").format(n=minutes)
    if minutes < 48 * 60:
        return _("{n} h").format(n=minutes // 60)
    return _("{n} d").format(n=minutes // (24 * 60))


def _draft_title(data: Mapping[str, object], task_id: str) -> str:
    title = data.get("title")
    return title if isinstance(title, str) and title.strip() else task_id
