"""What must hold of runs before any of them is taken from a pack."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cuecard.annotate.sharing.checking import (
    name_problem,
    unstorable_problem,
    when_problems,
)
from cuecard.core.config_play import FormQuestion
from cuecard.core.events import TrialEnded, TrialReopened
from cuecard.core.i18n import _
from cuecard.core.parts import ModelReply, UserReply
from cuecard.core.text import one_line
from cuecard.store.codec import from_json
from cuecard.store.event_codec import decode_outline, hash_of
from cuecard.store.shared import SharedRevision
from cuecard.store.shared_runs import SharedForm, SharedRun, SharedShadow, SharedTrial

_UID = re.compile(r"[\w\-]{1,64}")
_MOST = 2**62
_CALLS = TypeAdapter(tuple[ModelReply, ...])
_QUESTIONS = TypeAdapter(tuple[FormQuestion, ...])
_ANSWERS = TypeAdapter(dict[str, int | str])
_REPLY = TypeAdapter(UserReply)
_CALL = TypeAdapter(ModelReply)


def payload_of(digest: str, text: str | None, data: str) -> bytes | None:
    """The content that a line holds, as text or as base64; None where it is not what its hash says."""
    try:
        content = base64.b64decode(data, validate=True) if text is None else text.encode()
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None
    return content if hash_of(content) == digest else None


def run_problems(run: SharedRun) -> Iterator[str]:
    """What is wrong with a run itself: one whose settings cannot be read would stop whatever looks through all runs."""
    from cuecard.lab.plans import RunSettings

    if not _UID.fullmatch(run.uid):
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
    """What is wrong with a trial, given the runs, revisions and texts that came before it."""
    if not _UID.fullmatch(trial.uid):
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
        if not _UID.fullmatch(note.uid) or not (note.about == "" or _UID.fullmatch(note.about)):
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
    """The log is whole, can be read, and ends as the trial says."""
    end: TrialEnded | None = None
    take = 0
    keys: set[tuple[int, str]] = set()
    for number, event in enumerate(trial.events):
        try:
            body, needed = decode_outline(event.body.encode())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield _("event {n} cannot be read").format(n=number)
            return
        take += isinstance(body, TrialReopened)
        if event.seq != number or event.take != take or (take, body.key) in keys:
            yield _("its log has a gap at event {n}").format(n=number)
            return
        keys.add((take, body.key))
        if any(digest not in payloads for digest in needed):
            yield _("a text that event {n} refers to is missing").format(n=number)
            return
        if problems := list(when_problems(event.at)):
            yield from problems
            return
        if isinstance(body, TrialEnded):
            end = body
        elif isinstance(body, TrialReopened):
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
