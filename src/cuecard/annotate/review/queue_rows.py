"""The review queue as plain data: what each line says, in a few words and in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.core.i18n import _, ngettext, pgettext
from cuecard.core.text import one_line
from cuecard.core.times import age, time_left

if TYPE_CHECKING:
    from cuecard.annotate.review.coordinating import CoordinatorLine
    from cuecard.annotate.review.queue import QueueLine
    from cuecard.core.review import SkillsSet
    from cuecard.store.records import TaskSummary

_PRIORITY = {2: "▲▲", 1: "▲", 0: "", -1: "▽", -2: "▽▽"}


@dataclass(frozen=True)
class QueueRow:
    """One line. `note` is short, `about` says everything in words. `mine`: this person has it.
    `can_take`: it may be taken; `can_skip`: it may be left to others.
    """

    task: TaskSummary
    priority: int
    reviews: str
    waits: str
    note: str
    about: tuple[str, ...]
    mine: bool = False
    can_take: bool = False
    can_skip: bool = False
    own: bool = False

    @property
    def urgency(self) -> str:
        return _PRIORITY.get(self.priority, "")


def queue_rows(
    lines: Sequence[QueueLine],
    begun: frozenset[tuple[str, int]],
    skills: SkillsSet | None,
    now: datetime,
) -> list[QueueRow]:
    """The lines of a reviewer. `begun`: (task, revision) of their unfinished reviews."""
    return [_queue_row(line, begun, skills, now) for line in lines]


def coordinator_rows(lines: Sequence[CoordinatorLine], now: datetime) -> list[QueueRow]:
    """The lines of a coordinator, who sees who reviews."""
    return [_coordinator_row(line, now) for line in lines]


def done_rows(tasks: Sequence[TaskSummary], now: datetime) -> list[QueueRow]:
    """What a person has reviewed, and own tasks whose reviews are in."""
    return [
        QueueRow(
            task=task, priority=0, reviews="", waits=age(task.updated_at, now), note="", about=()
        )
        for task in tasks
    ]


def _queue_row(
    line: QueueLine,
    begun: frozenset[tuple[str, int]],
    skills: SkillsSet | None,
    now: datetime,
) -> QueueRow:
    told: list[str] = []
    note = ""
    is_begun = (line.task.id, line.task.revision) in begun
    if line.mine is not None:
        left = time_left(line.mine, now)
        note = (_("begun, {time}") if is_begun else _("yours, {time}")).format(time=left)
        told.append(_("You have it, {time}; working on it gives you longer.").format(time=left))
    elif line.skipped:
        note = _("skipped")
        told.append(_("You skipped it; opening it takes it after all."))
    elif is_begun:
        note = pgettext("state", "begun")
        told.append(_("You began a review and your time ran out; opening it takes it again."))
    if not line.fits:
        note = note or _("other skills")
        told.append(_outside(skills))
    if not line.turn and line.mine is None:
        note = note or _("others first")
        told.append(
            _("You have had more reviews than the others of late, so they come first for a day.")
        )
    if line.third:
        note = note or _("third opinion")
        told.append(_("Two reviewers disagree; a third decides, without seeing what they said."))
    if line.again:
        note = note or _("seen before")
        told.append(_("You reviewed an earlier revision of it."))
    return QueueRow(
        task=line.task,
        priority=line.priority,
        reviews=f"{line.reviews}/{line.needed}",
        waits=_waits(line.submitted_at, now),
        note=note,
        about=(_standing(line.reviews, line.needed, line.places), *told),
        mine=line.mine is not None,
        can_take=True,
        can_skip=not line.skipped,
    )


def _coordinator_row(line: CoordinatorLine, now: datetime) -> QueueRow:
    if line.own:
        note = _("a task of yours")
        told = _("This is a task of yours; another coordinator says who reviews it.")
    else:
        in_ = [_("{name} ✓").format(name=one_line(name)) for name in line.reviewers]
        held = [f"{one_line(name)} {time_left(until, now)}" for name, until in line.leases]
        note = ", ".join(in_ + held) or _("nobody yet")
        told = _("In: {names}. At work: {others}.").format(
            names=", ".join(map(one_line, line.reviewers)) or "–", others=", ".join(held) or "–"
        )
    return QueueRow(
        task=line.task,
        priority=line.priority,
        reviews=f"{line.reviews}/{line.needed}",
        waits=_waits(line.submitted_at, now),
        note=note,
        about=(_standing(line.reviews, line.needed, line.places), told),
        own=line.own,
    )


def _standing(reviews: int, needed: int, places: int) -> str:
    said = _("{n} of {all} reviews are in.").format(n=reviews, all=needed)
    if not places:
        return said
    free = ngettext("{n} more person can take it.", "{n} more people can take it.", places)
    return f"{said} {free.format(n=places)}"


def _outside(skills: SkillsSet | None) -> str:
    names = [*skills.languages, *skills.domains] if skills else []
    return _("It is outside what you said you review ({skills}).").format(
        skills=one_line(", ".join(names)) or "–"
    )


def _waits(since: datetime | None, now: datetime) -> str:
    return age(since, now) if since else ""
