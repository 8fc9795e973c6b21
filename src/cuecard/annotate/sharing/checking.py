"""What must hold of every entry of a pack before any of it is taken."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.review import (
    Body,
    Claimed,
    Released,
    Reopened,
    Restored,
    Retired,
    SkillsSet,
    Submitted,
    ThirdAsked,
    Withdrawn,
    contribution_uid,
    revision_uid,
)
from cuecard.core.tasks import Task, content_hash
from cuecard.core.tasks.ids import id_problem
from cuecard.core.tasks.storable import check_storable
from cuecard.core.text import one_line
from cuecard.store.people import checked_name
from cuecard.store.shared import (
    SharedContribution,
    SharedEffort,
    SharedRevision,
    Signature,
)

_UID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST_TICKS = 10**18
_YEARS = range(2000, 2200)
_AUTHORS_ONLY = (Submitted, Withdrawn, Reopened, Retired, Restored, ThirdAsked)


def name_problem(name: str) -> str:
    """Why this cannot be anybody's name, translated; "" if it can."""
    try:
        if checked_name(name) == name:
            return ""
    except CuecardError as error:
        return error.message
    return _("A name must not begin or end with a blank.")


def task_problem(hash_: str, task: Task) -> str:
    """Why a content is not what it says to be; "" if it is."""
    if content_hash(task) != hash_:
        return _("{task} was changed: its content does not fit its hash").format(task=task.id)
    return ""


def revision_problems(
    revision: SharedRevision, tasks: Mapping[str, Task], known: Mapping[str, SharedRevision]
) -> Iterator[str]:
    """What is wrong with a revision, given the contents and revisions that came before it."""
    if bad := _id_problem(revision.task_id):
        yield bad
        return
    if not _HASH.fullmatch(revision.hash) or revision.hash not in tasks:
        yield _("the content of this revision is missing")
    elif tasks[revision.hash].id != revision.task_id:
        yield _("its content is another task: {id}").format(id=tasks[revision.hash].id)
    if not all(_UID.fullmatch(uid) for uid in (revision.uid, *revision.parents)):
        yield _("this cannot be a revision's uid")
    elif revision.uid != revision_uid(revision.task_id, revision.hash, revision.parents):
        yield _("it was changed: what it says does not fit its uid")
    if any(p not in known or known[p].task_id != revision.task_id for p in revision.parents):
        yield _("a revision that it stands on is missing")
    if not revision.signatures:
        yield _("nobody has signed it")
    for signature in revision.signatures:
        yield from _signature_problems(signature)


def contribution_problems(
    entry: SharedContribution,
    person: str,
    known: Mapping[str, SharedRevision],
    authors: Collection[str],
) -> Iterator[str]:
    """What is wrong with a contribution in the pack of `person`, who alone may speak in it. `authors`:
    those of the task.
    """
    problems = [*when_problems(entry.at, entry.tick), *_body_problems(entry.body)]
    if entry.by != person:
        problems.insert(0, foreign(entry.by, person))
    if isinstance(entry.body, SkillsSet):
        if entry.task_id or entry.revision:
            problems.append(_("it belongs to no task"))
    elif entry.revision not in known or known[entry.revision].task_id != entry.task_id:
        problems.append(_("the revision that it is about is missing"))
    elif isinstance(entry.body, _AUTHORS_ONLY) and entry.by not in authors:
        text = _("only an author of {task} may do this, and {person} is none")
        problems.append(text.format(task=entry.task_id, person=one_line(person, 80)))
    yield from problems
    # Only of what is well-formed can a hash be taken.
    if not problems and entry.uid != contribution_uid(
        entry.task_id, entry.revision, entry.by, entry.at, entry.tick, entry.body
    ):
        yield _("it was changed: what it says does not fit its uid")


def effort_problems(effort: SharedEffort, person: str) -> Iterator[str]:
    if effort.person != person:
        yield foreign(effort.person, person)
    if bad := _id_problem(effort.task_id):
        yield bad
    if not math.isfinite(effort.amount) or not effort.amount:
        yield _("an amount of effort must be a number other than 0")
    yield from when_problems(effort.at)
    if bad := unstorable_problem({"text": effort.text}):
        yield bad


def _id_problem(task_id: str) -> str:
    reason = id_problem(task_id)
    if not reason:
        return ""
    told = _("this cannot be a task's id: {id}").format(id=one_line(task_id, 40))
    return f"{told} ({reason})"


def _body_problems(body: Body) -> Iterator[str]:
    if isinstance(body, Claimed | Released) and (bad := name_problem(body.person)):
        yield bad
    if isinstance(body, Claimed):
        yield from when_problems(body.until)
    if bad := unstorable_problem(body.model_dump()):
        yield bad


def foreign(name: str, person: str) -> str:
    return _("it speaks in the name of {other}, but {person} packed it").format(
        other=one_line(name, 80), person=one_line(person, 80)
    )


def _signature_problems(signature: Signature) -> Iterator[str]:
    if bad := name_problem(signature.author):
        yield bad
    yield from when_problems(signature.at, signature.tick)
    if bad := unstorable_problem(signature.model_dump()):
        yield bad


def when_problems(at: datetime, tick: int = 1) -> Iterator[str]:
    """What is wrong with a time, translated."""
    if at.utcoffset() != timedelta(0):
        yield _("its time is not in UTC")
    elif at.year not in _YEARS:
        yield _("its time is not one of these years: {time}").format(time=at.isoformat())
    if not 0 <= tick <= _MOST_TICKS:
        yield _("its tick is out of range: {n}").format(n=tick)


def unstorable_problem(data: dict[str, Any]) -> str:
    """Why a database cannot hold this; "" if it can."""
    try:
        check_storable(data)
    except ValueError as error:
        return str(error)
    return ""
