"""Second golds that were handed in: who may see them, how they compare, and the gold that is decided on."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.validity import as_task
from cuecard.annotate.second_gold.adjudication import Takes, adjudicated, undecided
from cuecard.annotate.second_gold.agreement import GoldAgreement, agreement_of
from cuecard.annotate.second_gold.alignment import align
from cuecard.annotate.second_gold.elements import Alignment, Take
from cuecard.core.errors import FileProblems, NotAllowed, NotFound
from cuecard.core.i18n import _, ngettext
from cuecard.core.review import GoldBuilt, TaskLog
from cuecard.core.tasks import Gold, Task
from cuecard.core.text import one_line
from cuecard.store.records import ASIDE

if TYPE_CHECKING:
    from cuecard.store.records import Revision
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class SecondGold:
    """What `by` built of revision `revision`; `seconds` without idle stretches."""

    uid: str
    by: str
    revision: int
    at: datetime
    seconds: float
    note: str
    gold: Gold


@dataclass(frozen=True)
class Comparison:
    """A second gold beside the author's. `agreement` is that of the revision it was built of; decisions
    are about `task`, the newest (`head`). `others`: how many second golds there are to see. `obstacle`: why
    `person` may not decide, "" if they may. `takes`: what they have decided so far.
    """

    task: Task
    head: int
    second: SecondGold
    others: tuple[SecondGold, ...]
    alignment: Alignment
    agreement: GoldAgreement
    person: str
    obstacle: str
    takes: dict[str, Take]


def second_golds(
    ws: Workspace, task_id: str, person: str, coordinators: Collection[str] = ()
) -> tuple[SecondGold, ...]:
    """The second golds that `person` may see now, oldest first: an author and a coordinator all of
    them, who has built one their own and others of the same revision. Raises `NotFound`.
    """
    log = _log(ws, task_id, person, coordinators)
    found: list[SecondGold] = []
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        if isinstance(entry.body, GoldBuilt):
            task = ws.tasks.revision(task_id, entry.revision).task
            # What came in a file from elsewhere need not be a gold of this task.
            with contextlib.suppress(FileProblems):
                whole = as_task({**task.model_dump(mode="json"), "gold": entry.body.gold})
                found.append(
                    SecondGold(
                        uid=entry.uid,
                        by=entry.by,
                        revision=entry.revision,
                        at=entry.at,
                        seconds=entry.body.seconds,
                        note=entry.body.note,
                        gold=whole.gold,
                    )
                )
    return tuple(found)


def compare(
    ws: Workspace,
    task_id: str,
    person: str,
    uid: str = "",
    coordinators: Collection[str] = (),
) -> Comparison:
    """The second gold `uid`, or the last one, beside the author's. Raises `NotFound` when there is none
    that `person` may see.
    """
    golds = second_golds(ws, task_id, person, coordinators)
    chosen = [gold for gold in golds if uid in ("", gold.uid)]
    if not chosen:
        raise NotFound(
            _("There is no second gold to see"),
            task_id,
            _("Somebody who has not seen the gold can build one: b in the list of tasks."),
        )
    second = chosen[-1]
    head = ws.tasks.revision(task_id)
    built_of = ws.tasks.revision(task_id, second.revision)
    if head.task.family != second.gold.family:
        head = built_of
    alignment = align(head.task.gold, second.gold)
    levels = alignment.levels
    if head.number != second.revision:
        levels = align(built_of.task.gold, second.gold).levels
    return Comparison(
        task=head.task,
        head=head.number,
        second=second,
        others=golds,
        alignment=alignment,
        agreement=agreement_of(levels),
        person=person,
        obstacle=may_not_decide(ws.reviews.log(task_id), person, coordinators),
        takes=_kept(ws, task_id, person, second.uid),
    )


def may_not_decide(log: TaskLog, person: str, coordinators: Collection[str] = ()) -> str:
    """Why `person` may not adjudicate, "" if they may."""
    if person in coordinators or any(person in node.authors for node in log.revisions):
        return ""
    return _("An author of the task or a coordinator decides.")


def keep_takes(ws: Workspace, task_id: str, person: str, uid: str, head: int, takes: Takes) -> None:
    """Keep what was decided so far."""
    data: dict[str, JsonValue] = {"takes": dict(takes)}
    ws.drafts.keep(_key(task_id, uid), person, head, data)


def adjudicate(
    ws: Workspace, comparison: Comparison, takes: Takes, coordinators: Collection[str] = ()
) -> Revision:
    """Save the gold that was decided on as one new revision (none where it is what the newest says).

    Raises `NotAllowed` for who may not, or while something is undecided, `Conflict` when somebody saved
    since, `FileProblems` when what is left is no gold. What was decided is kept until it is saved.
    """
    task, second, by = comparison.task, comparison.second, comparison.person
    title = _("The gold cannot be decided yet")
    if reason := may_not_decide(ws.reviews.log(task.id), by, coordinators):
        raise NotAllowed(title, reason)
    if left := len(undecided(comparison.alignment, takes)):
        text = ngettext("{n} thing is undecided.", "{n} things are undecided.", left)
        raise NotAllowed(title, text.format(n=left))
    edit = TaskEdit.of(task, comparison.head)
    edit.set(("gold",), adjudicated(task.gold, second.gold, comparison.alignment, takes))
    message = _("Adjudicated with the second gold of {person}").format(person=one_line(second.by))
    revision = ws.tasks.save(edit.task(), author=by, message=message, base=comparison.head)
    ws.drafts.discard(_key(task.id, second.uid), by)
    return revision


def _log(ws: Workspace, task_id: str, person: str, coordinators: Collection[str]) -> TaskLog:
    if person and person in coordinators:
        return ws.reviews.log(task_id)
    return ws.reviews.seen_log(person, task_id)


def _key(task_id: str, uid: str) -> str:
    return f"{task_id}{ASIDE}decided-{uid}"


def _kept(ws: Workspace, task_id: str, person: str, uid: str) -> dict[str, Take]:
    draft = ws.drafts.get(_key(task_id, uid), person)
    takes = draft.data.get("takes") if draft is not None else None
    return cast(dict[str, Take], takes) if isinstance(takes, dict) else {}
