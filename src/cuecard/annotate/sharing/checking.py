"""Validation of every entry of a bundle before anything is imported."""

import base64
import binascii
import math
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cuecard.core.config_schema import FormQuestion
from cuecard.core.contributions import (
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
from cuecard.core.engine.events import TrialEnded, TrialRetried
from cuecard.core.engine.messages import CheckpointStatus, ModelReply, UserReply
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.label_records import LabelValue
from cuecard.core.tasks.base import check_storable, id_problem
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.bundle_records import (
    SharedAdjudication,
    SharedContribution,
    SharedEffort,
    SharedForm,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
    SharedRevision,
    SharedRun,
    SharedShadow,
    SharedTrial,
    Signature,
)
from cuecard.store.codec import decode_outline, from_json, hash_of
from cuecard.store.people import checked_name

_UID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")
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


def task_problem(hash_: str, task: Task) -> str:
    """Why a content does not match its hash, translated; "" if it does."""
    if content_hash(task) != hash_:
        return _("{task} was changed: its content does not fit its hash").format(task=task.id)
    return ""


def revision_problems(
    revision: SharedRevision, tasks: Mapping[str, Task], known: Mapping[str, SharedRevision]
) -> Iterator[str]:
    """What is wrong with a revision, given the contents and revisions before it in the bundle."""
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
    """What is wrong with a contribution in the bundle of `person`, which may hold only theirs. `authors`: those of the
    task.
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


def label_problems(label: SharedLabel, person: str) -> Iterator[str]:
    if label.person != person:
        yield foreign(label.person, person)
    yield from _item_problems(label.trial, label.item, label.value)
    if not math.isfinite(label.seconds) or label.seconds < 0:
        yield _("the time that a label took must be a number of seconds")
    yield from when_problems(label.at)
    yield unstorable_problem(label.model_dump())


def reveal_problems(reveal: SharedReveal, person: str) -> Iterator[str]:
    if reveal.person != person:
        yield foreign(reveal.person, person)
    yield from _item_problems(reveal.trial, reveal.item)
    yield from when_problems(reveal.at)
    yield unstorable_problem(reveal.model_dump())


def adjudication_problems(decision: SharedAdjudication, person: str) -> Iterator[str]:
    if decision.by != person:
        yield foreign(decision.by, person)
    yield from _item_problems(decision.trial, decision.item, decision.value)
    yield from when_problems(decision.at)
    yield unstorable_problem(decision.model_dump())


def label_set_problems(drawn: SharedLabelSet, person: str) -> Iterator[str]:
    if drawn.by != person:
        yield foreign(drawn.by, person)
    if not _UID.fullmatch(drawn.uid):
        yield _("this cannot be the uid of a labelling set")
    for item in drawn.items:
        yield from _item_problems(item.trial, item.item)
        if not 0 < item.probability <= 1:
            yield _("an item is drawn with a probability above 0 and at most 1")
        if not 0 < item.raters <= _MOST_RATERS:
            yield _("an item needs labels of at least one person")
        yield from (name_problem(name) for name in item.people)
    yield from when_problems(drawn.at)
    yield unstorable_problem(drawn.model_dump())


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


_CHECKING_RUNS_UID = re.compile(r"[\w\-]{1,64}")
_MOST = 2**62
_CALLS = TypeAdapter(tuple[ModelReply, ...])
_QUESTIONS = TypeAdapter(tuple[FormQuestion, ...])
_ANSWERS = TypeAdapter(dict[str, int | str])
_REPLY = TypeAdapter(UserReply)
_CALL = TypeAdapter(ModelReply)


def payload_of(digest: str, text: str | None, data: str) -> bytes | None:
    """The content of a line, given as text or base64; None if it does not match its hash."""
    try:
        content = base64.b64decode(data, validate=True) if text is None else text.encode()
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None
    return content if hash_of(content) == digest else None


def run_problems(run: SharedRun) -> Iterator[str]:
    """What is wrong with a run, such as settings that cannot be read, which would break every list of runs."""
    from cuecard.core.evaluation.plans import RunSettings

    if not _CHECKING_RUNS_UID.fullmatch(run.uid):
        yield _("this cannot be a run's uid: {id}").format(id=one_line(run.uid, 40))
    if bad := name_problem(run.created_by):
        yield bad
    yield from when_problems(run.created_at)
    if run.samples < 0:
        yield _("a run has no fewer than 0 samples")
    yield unstorable_problem(run.model_dump(mode="json"))
    try:
        RunSettings.model_validate(run.plan)
    except ValidationError:
        yield _("The settings of run {id} cannot be read").format(id=one_line(run.name, 40))


def trial_problems(
    trial: SharedTrial,
    runs: Collection[str],
    revisions: Mapping[str, SharedRevision],
    payloads: Collection[str],
) -> Iterator[str]:
    """What is wrong with a trial, given the runs, revisions and payloads before it in the bundle."""
    if not _CHECKING_RUNS_UID.fullmatch(trial.uid):
        yield _("this cannot be a trial's uid: {id}").format(id=one_line(trial.uid, 40))
    if trial.run not in runs:
        yield _("the run of this trial is missing")
    known = revisions.get(trial.revision)
    if known is None or known.task_id != trial.task_id:
        yield _("the revision that it is about is missing")
    times = [trial.created_at, *([trial.ended_at] if trial.ended_at else [])]
    times += [given.at for given in (*trial.judgements, *trial.shadows, *trial.forms, *trial.notes)]
    for at in times:
        yield from when_problems(at)
    for one in (*trial.forms, *trial.notes):
        if bad := name_problem(one.person):
            yield bad
    for note in trial.notes:
        if not _CHECKING_RUNS_UID.fullmatch(note.uid) or not (
            note.about == "" or _CHECKING_RUNS_UID.fullmatch(note.about)
        ):
            yield _("this cannot be the uid of a note")
    if any(abs(number) > _MOST for number in _numbers(trial)):
        yield _("a number in it is out of range")
    yield unstorable_problem(trial.model_dump(mode="json", exclude={"events", "calls"}))
    yield unstorable_problem({"calls": [c.model_dump(exclude={"body"}) for c in trial.calls]})
    yield from _log_problems(trial, payloads)
    yield from _usage_problems(trial)
    for call in trial.calls:
        if not _reads(_CALL, call.body):
            yield _("a call of a judge cannot be read")
    for shadow in trial.shadows:
        yield from _shadow_problems(shadow)
    for form in trial.forms:
        yield from _form_problems(form)


def _numbers(trial: SharedTrial) -> Iterator[int]:
    yield from (trial.seed, trial.sample, trial.position)
    yield from (call.attempt for call in trial.calls)
    yield from (shadow.turn for shadow in trial.shadows)
    for used in trial.usage:
        tokens = used.usage
        yield from (used.calls, used.priced, tokens.prompt, tokens.completion)
        yield from (tokens.cached, tokens.reasoning)


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
        if problems := list(when_problems(event.at)):
            yield from problems
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


def _shadow_problems(shadow: SharedShadow) -> Iterator[str]:
    if not _reads(_REPLY, shadow.reply) or not _reads(_CALLS, shadow.calls):
        yield _("what a simulator would have said cannot be read")


def _form_problems(form: SharedForm) -> Iterator[str]:
    if not _reads(_QUESTIONS, form.questions) or not _reads(_ANSWERS, form.answers):
        yield _("what was said of a session cannot be read")


def _reads(adapter: TypeAdapter[Any], text: str) -> bool:
    try:
        adapter.validate_python(from_json(text))
    except (ValueError, RecursionError):
        return False
    return True
