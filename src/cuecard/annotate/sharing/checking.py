"""Validation of every record of a bundle before anything is imported."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from cuecard.core.contributions import (
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
from cuecard.core.engine.events import TrialEnded, TrialRetried
from cuecard.core.engine.messages import CheckpointStatus, ModelReply, UserReply
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, beside, headed
from cuecard.core.label_records import LabelValue
from cuecard.core.tasks.base import FormQuestion, check_storable, id_problem
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.text import one_line
from cuecard.core.validation import problems_of
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.bundle_kinds import KIND_OF
from cuecard.store.bundle_records import (
    SharedContent,
    SharedContribution,
    SharedEffort,
    SharedLabel,
    SharedLabelSet,
    SharedPayload,
    SharedRevision,
    SharedRun,
    SharedTag,
    SharedTrial,
)
from cuecard.store.codec import decode_outline, from_json, hash_of
from cuecard.store.roles import checked_name
from cuecard.store.tags import checked_tag

_UID = re.compile(r"[0-9a-f]{32}")
_MOST_TICKS = 10**18
_YEARS = range(2000, 2200)
_AUTHORS_ONLY = (Submitted, Withdrawn, Reopened, Retired, Restored, ThirdAsked)


def name_problem(name: str) -> str:
    """Why this cannot be a person's name, translated; "" if it can."""
    try:
        if checked_name(name) == name:
            return ""
    except CuecardError as error:
        return error.message
    return _("A name must not begin or end with a blank.")


@dataclass
class Seen:
    """What the bundle of `person` held so far: a record may refer only to earlier ones. Contents and revisions with their
    tasks, and who has signed revisions of a task. `for_others`: some are signed by somebody else.
    """

    person: str
    contents: dict[str, str] = field(default_factory=dict[str, str])
    revisions: dict[str, str] = field(default_factory=dict[str, str])
    authors: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    payloads: set[str] = field(default_factory=set[str])
    runs: set[str] = field(default_factory=set[str])
    trials: set[str] = field(default_factory=set[str])
    for_others: bool = False


def problems_of_record(record: Any, seen: Seen) -> list[str]:
    """What is wrong with a record, translated. One with which nothing is wrong is seen from now on."""
    kind = KIND_OF[type(record)]
    found: list[str] = []
    if kind.owner:
        found += _owner_problems(getattr(record, kind.owner), record, seen)
    else:
        found += map(name_problem, kind.people_of(record))
    for at in kind.moments_of(record):
        found += when_problems(at)
    if kind.moments:
        # A log is not looked at here: it is large, and may hold what no column can.
        parts = {"events": {"__all__": {"body"}}, "calls": {"__all__": {"body"}}}
        data = record.model_dump(exclude=parts)
        found.append(unstorable_problem(data))
        if not found[-1] and any(abs(number) > _MOST for number in _numbers(data)):
            found.append(_("a number in it is out of range"))
    if kind.about:
        found += _item_problems(record.trial, record.item, getattr(record, "value", None))
    found += _CHECKS[kind.name](record, seen) if kind.name in _CHECKS else ()
    if not any(found):
        _note(record, seen)
    return [problem for problem in dict.fromkeys(found) if problem]


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict):
        for each in cast(dict[str, Any], value).values():
            yield from _numbers(each)
    elif isinstance(value, list | tuple):
        for each in cast(list[Any], value):
            yield from _numbers(each)


def _note(record: Any, seen: Seen) -> None:
    match record:
        case SharedContent():
            seen.contents[record.hash] = str(record.task["id"])
        case SharedRevision():
            authors = {signature.author for signature in record.signatures}
            seen.revisions[record.uid] = record.task_id
            seen.authors[record.task_id] |= authors
            seen.for_others = seen.for_others or authors != {seen.person}
        case SharedPayload():
            seen.payloads.add(record.hash)
        case SharedRun():
            seen.runs.add(record.uid)
        case SharedTrial():
            seen.trials.add(record.uid)
        case _:
            pass


def _owner_problems(name: str, record: Any, seen: Seen) -> Iterator[str]:
    """Only the packer may speak; of runs in the bundle and their trials, anybody."""
    trials = [item.trial for item in getattr(record, "items", ())] or [getattr(record, "trial", "")]
    there = seen.trials
    if isinstance(record, SharedTag):
        trials, there = (
            [record.about],
            {"run": seen.runs, "trial": seen.trials}.get(record.kind, set()),
        )
    if name != seen.person and not (there.issuperset(trials) and not name_problem(name)):
        yield _("it speaks in the name of {other}, but {person} packed it").format(
            other=one_line(name, 80), person=one_line(seen.person, 80)
        )


def _content_problems(content: SharedContent, _seen: Seen) -> Iterator[str]:
    try:
        task = Task.model_validate(content.task)
    except ValidationError as error:
        for problem in problems_of(error, "", {}, task_dialect()):
            yield headed(problem.place, problem.reason)
        return
    if content_hash(task) != content.hash:
        yield _("{task} was changed: its content does not fit its hash").format(task=task.id)


def _revision_problems(revision: SharedRevision, seen: Seen) -> Iterator[str]:
    """What is wrong with a revision, given the contents and revisions before it in the bundle."""
    if bad := _id_problem(revision.task_id):
        yield bad
        return
    task_id = seen.contents.get(revision.hash)
    if task_id is None:
        yield _("the content of this revision is missing")
    elif task_id != revision.task_id:
        yield _("its content is another task: {id}").format(id=task_id)
    if not all(_UID.fullmatch(uid) for uid in (revision.uid, *revision.parents)):
        yield _("this cannot be a revision's uid")
    elif revision.uid != revision_uid(revision.task_id, revision.hash, revision.parents):
        yield _("it was changed: what it says does not fit its uid")
    if any(seen.revisions.get(parent) != revision.task_id for parent in revision.parents):
        yield _("a revision that it stands on is missing")
    if not revision.signatures:
        yield _("nobody has signed it")
    for signature in revision.signatures:
        yield from _tick_problems(signature.tick)


def _contribution_problems(entry: SharedContribution, seen: Seen) -> Iterator[str]:
    if isinstance(entry.body, Claimed | Released):
        yield name_problem(entry.body.person)
    if isinstance(entry.body, Claimed):
        yield from when_problems(entry.body.until)
    yield from _tick_problems(entry.tick)
    said = entry.model_dump(include={"task_id", "by", "at", "tick"})
    try:
        uid = contribution_uid(revision_uid=entry.revision, body=entry.body, **said)
    except (ValueError, OverflowError, RecursionError):
        uid = ""
    if entry.uid != uid:
        yield _("it was changed: what it says does not fit its uid")
    if isinstance(entry.body, SkillsSet):
        if entry.task_id or entry.revision:
            yield _("it belongs to no task")
    elif seen.revisions.get(entry.revision) != entry.task_id:
        yield _("the revision that it is about is missing")
    elif isinstance(entry.body, _AUTHORS_ONLY) and entry.by not in seen.authors[entry.task_id]:
        text = _("only an author of {task} may do this, and {person} is none")
        yield text.format(task=entry.task_id, person=one_line(entry.by, 80))


def _effort_problems(effort: SharedEffort, _seen: Seen) -> Iterator[str]:
    if bad := _id_problem(effort.task_id):
        yield bad
    if not math.isfinite(effort.amount) or not effort.amount:
        yield _("an amount of effort must be a number other than 0")


def _id_problem(task_id: str) -> str:
    reason = id_problem(task_id)
    if not reason:
        return ""
    told = _("this cannot be a task's id: {id}").format(id=one_line(task_id, 40))
    return beside(told, reason)


def _tick_problems(tick: int) -> Iterator[str]:
    if not 0 <= tick <= _MOST_TICKS:
        yield _("its tick is out of range: {n}").format(n=tick)


def when_problems(at: datetime) -> Iterator[str]:
    """What is wrong with a time, translated."""
    if at.utcoffset() != timedelta(0):
        yield _("its time is not in UTC")
    elif at.year not in _YEARS:
        yield _("its time is not one of these years: {time}").format(time=at.isoformat())


def unstorable_problem(data: dict[str, Any]) -> str:
    """Why a database cannot hold this data, translated; "" if it can."""
    try:
        check_storable(data)
    except ValueError as error:
        return str(error)
    return ""


_TRIAL = re.compile(r"[\w\-]{1,64}")
_LONGEST_KEY = 10_000
_MOST_INDEX = 10**9
_MOST_RATERS = 1000


def _label_problems(label: SharedLabel, _seen: Seen) -> Iterator[str]:
    if not math.isfinite(label.seconds) or label.seconds < 0:
        yield _("the time that a label took must be a number of seconds")


def _label_set_problems(drawn: SharedLabelSet, _seen: Seen) -> Iterator[str]:
    if not _UID.fullmatch(drawn.uid):
        yield _("this cannot be the uid of a labelling set")
    for item in drawn.items:
        yield from _item_problems(item.trial, item.item)
        if not 0 < item.probability <= 1:
            yield _("an item is drawn with a probability above 0 and at most 1")
        if not 0 < item.raters <= _MOST_RATERS:
            yield _("an item needs labels of at least one person")
        yield from (name_problem(name) for name in item.people)


def _item_problems(
    trial: str, key: str, value: LabelValue | CheckpointStatus | None = None
) -> Iterator[str]:
    if not _TRIAL.fullmatch(trial):
        yield _("this cannot be a trial's uid: {id}").format(id=one_line(trial, 40))
    item = _item(key)
    if item is None:
        yield _("this cannot be an item of a trial")
    elif isinstance(value, CheckpointStatus) and item.kind is not ItemKind.STATUS:
        yield _("only the status of a checkpoint is called {value}").format(value=value.value)


def _item(key: str) -> Item | None:
    """The item with this key; None if it is not a key in canonical form."""
    try:
        item = Item.of_key(key) if len(key) <= _LONGEST_KEY else None
    except ValueError:
        return None
    return item if item and item.key == key and 0 <= item.index < _MOST_INDEX else None


_MOST = 2**62
_CALLS = TypeAdapter(tuple[ModelReply, ...])
_QUESTIONS = TypeAdapter(tuple[FormQuestion, ...])
_ANSWERS = TypeAdapter(dict[str, int | str])
_REPLY = TypeAdapter(UserReply)
_CALL = TypeAdapter(ModelReply)


def _payload_problems(payload: SharedPayload, _seen: Seen) -> Iterator[str]:
    try:
        right = hash_of(payload.content) == payload.hash
    except ValueError:
        right = False
    if not right:
        yield _("it was changed: what it says does not fit its hash")


def _run_problems(run: SharedRun, _seen: Seen) -> Iterator[str]:
    """What is wrong with a run, such as settings that cannot be read, which would break every list of runs."""
    from cuecard.core.evaluation.plans import RunSettings

    if not _TRIAL.fullmatch(run.uid):
        yield _("this cannot be a run's uid: {id}").format(id=one_line(run.uid, 40))
    if run.samples < 0:
        yield _("a run has no fewer than 0 samples")
    try:
        RunSettings.model_validate(run.plan)
    except ValidationError:
        yield _("The settings of run {id} cannot be read").format(id=one_line(run.name, 40))


def _trial_problems(trial: SharedTrial, seen: Seen) -> Iterator[str]:
    """What is wrong with a trial, given the runs, revisions and payloads before it in the bundle."""
    if not _TRIAL.fullmatch(trial.uid):
        yield _("this cannot be a trial's uid: {id}").format(id=one_line(trial.uid, 40))
    if trial.run not in seen.runs:
        yield _("the run of this trial is missing")
    if seen.revisions.get(trial.revision) != trial.task_id:
        yield _("the revision that it is about is missing")
    for at in (trial.created_at, trial.ended_at or trial.created_at):
        yield from when_problems(at)
    for note in trial.notes:
        if not _TRIAL.fullmatch(note.uid) or not (note.about == "" or _TRIAL.fullmatch(note.about)):
            yield _("this cannot be the uid of a note")
    yield from _log_problems(trial, seen.payloads)
    yield from _usage_problems(trial)
    if not all(_reads(_CALL, call.body) for call in trial.calls):
        yield _("a call of a judge cannot be read")
    if not all(_reads(_REPLY, x.reply) and _reads(_CALLS, x.calls) for x in trial.shadows):
        yield _("what a simulator would have said cannot be read")
    if not all(
        _reads(_QUESTIONS, x.questions) and _reads(_ANSWERS, x.answers) for x in trial.forms
    ):
        yield _("what was said of a session cannot be read")


def _log_problems(trial: SharedTrial, payloads: Collection[str]) -> Iterator[str]:
    """What is wrong with a log: it must have no gaps, be readable, and end as the trial says."""
    end: TrialEnded | None = None
    attempt = 0
    keys: set[tuple[int, str]] = set()
    for number, event in enumerate(trial.events):
        try:
            body, needed = decode_outline(event.body.encode())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield _("event {n} cannot be read").format(n=number)
            return
        attempt += isinstance(body, TrialRetried)
        if event.seq != number or event.take != attempt or (attempt, body.key) in keys:
            yield _("its log has a gap at event {n}").format(n=number)
            return
        keys.add((attempt, body.key))
        if any(digest not in payloads for digest in needed):
            yield _("a text that event {n} refers to is missing").format(n=number)
            return
        if isinstance(body, TrialEnded):
            end = body
        elif isinstance(body, TrialRetried):
            end = None
    if (trial.termination, trial.ended_at is None) != (end and end.termination, end is None):
        yield _("it does not end as its log does")


def _usage_problems(trial: SharedTrial) -> Iterator[str]:
    places = {(used.payer, used.model) for used in trial.usage}
    if len(places) < len(trial.usage):
        yield _("what a model took is told twice")
    if any(used.cost is not None and not math.isfinite(used.cost) for used in trial.usage):
        yield _("a cost must be a number")


def _reads(adapter: TypeAdapter[Any], text: str) -> bool:
    try:
        adapter.validate_python(from_json(text))
    except (ValueError, RecursionError):
        return False
    return True


def _tag_problems(tag: SharedTag, _seen: Seen) -> Iterator[str]:
    if not _UID.fullmatch(tag.uid):
        yield _("this cannot be the uid of a tag")
    try:
        checked_tag(tag.tag)
    except CuecardError as error:
        yield error.message


_CHECKS: dict[str, Callable[[Any, Seen], Iterable[str]]] = {
    "task": _content_problems,
    "revision": _revision_problems,
    "payload": _payload_problems,
    "run": _run_problems,
    "trial": _trial_problems,
    "contribution": _contribution_problems,
    "label": _label_problems,
    "effort": _effort_problems,
    "label_set": _label_set_problems,
    "tag": _tag_problems,
}
