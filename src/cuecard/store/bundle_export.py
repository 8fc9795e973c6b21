"""Reads runs, trials and labels from the tables as records of a bundle, with the large texts that logs refer to."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlmodel import Session, col, select

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.records import RunState
from cuecard.store.bundle_records import (
    SharedAdjudication,
    SharedCall,
    SharedEvent,
    SharedForm,
    SharedJudgement,
    SharedLabel,
    SharedLabelSet,
    SharedNote,
    SharedReveal,
    SharedRun,
    SharedSetItem,
    SharedShadow,
    SharedTrial,
    SharedUsage,
)
from cuecard.store.codec import decode_outline, from_json, read_payloads, unpack
from cuecard.store.engine import run_row
from cuecard.store.judgements import load_judgements
from cuecard.store.task_tables import RevisionRow
from cuecard.store.trial_logs import load_usage
from cuecard.store.trial_tables import (
    AdjudicationRow,
    EventRow,
    JudgeCallRow,
    JudgementRow,
    LabelRow,
    LabelSetRow,
    PayloadRow,
    RevealRow,
    RunRow,
    SessionFormRow,
    SetItemRow,
    ShadowRow,
    TrialNoteRow,
    TrialRow,
)

_ONCE = 400
_Value = TypeVar("_Value")


def runs_of(session: Session, run_ids: Sequence[int]) -> list[SharedRun]:
    """The records of these runs; one that is being played is written as paused. Raises `NotFound`."""
    return [_run(run_row(session, run_id)) for run_id in dict.fromkeys(run_ids)]


def trials_of(session: Session, run_ids: Sequence[int]) -> list[SharedTrial]:
    """All trials of these runs, in order, with their logs, usage, judgements, shadow replies, forms and notes."""
    found: list[SharedTrial] = []
    for run_id in dict.fromkeys(run_ids):
        query = (
            select(TrialRow, RunRow.uid, RevisionRow.uid)
            .join(RunRow, col(RunRow.id) == TrialRow.run_id)
            .join(
                RevisionRow,
                (col(RevisionRow.task_id) == TrialRow.task_id)
                & (col(RevisionRow.number) == TrialRow.revision),
            )
            .where(TrialRow.run_id == run_id)
            .order_by(col(TrialRow.id))
        )
        rows = list(session.exec(query))
        parts = _Parts(session, run_id)
        for position, (row, run, revision) in enumerate(rows):
            found.append(_trial(row, position, run, revision, parts))
    return found


def payloads_of(session: Session, trials: Iterable[SharedTrial]) -> dict[str, bytes]:
    """By SHA-256 hash, the large texts that these logs refer to and those prompts of their calls that were kept."""
    needed: dict[str, None] = {}
    prompts: dict[str, None] = {}
    for trial in trials:
        for event in trial.events:
            needed |= dict.fromkeys(decode_outline(event.body.encode())[1])
            if '"prompt":"' in event.body:
                prompt = json.loads(event.body).get("prompt")
                prompts |= {prompt: None} if isinstance(prompt, str) and prompt else {}
        prompts |= dict.fromkeys(call.prompt for call in trial.calls if call.prompt)
        prompts |= dict.fromkeys(j.judgement.prompt_hash for j in trial.judgements)
    kept = [digest for digest in _present(session, list(prompts)) if digest not in needed]
    return read_payloads(session.connection(), [*needed, *kept])


class _Parts:
    """What was recorded of a run's trials, by trial."""

    def __init__(self, session: Session, run_id: int) -> None:
        mine = select(TrialRow.id).where(TrialRow.run_id == run_id)
        self.usage = _by_trial(
            (
                used.trial_id,
                SharedUsage(
                    payer=used.payer,
                    model=used.model,
                    calls=used.calls,
                    usage=used.usage,
                    cost=used.cost,
                    priced=used.priced,
                ),
            )
            for used in load_usage(session, TrialRow.run_id == run_id)
        )
        # Newest first as they are read; they travel in the order in which they were made.
        records = load_judgements(session, col(JudgementRow.trial_id).in_(mine))
        self.judgements = _by_trial(
            (r.trial_id, SharedJudgement(at=r.created_at, judgement=r.judgement))
            for r in reversed(records)
        )
        calls = select(JudgeCallRow).where(col(JudgeCallRow.trial_id).in_(mine))
        order = (col(JudgeCallRow.judge), col(JudgeCallRow.attempt), col(JudgeCallRow.key))
        self.calls = _by_trial(
            (
                row.trial_id,
                SharedCall(
                    judge=row.judge,
                    attempt=row.attempt,
                    key=row.key,
                    model=row.model,
                    prompt=row.prompt,
                    body=unpack(row.body, row.packed).decode(),
                ),
            )
            for row in session.exec(calls.order_by(*order))
        )
        shadows = select(ShadowRow).where(col(ShadowRow.trial_id).in_(mine))
        self.shadows = _by_trial(
            (
                row.trial_id,
                SharedShadow(
                    state=row.state,
                    turn=row.turn,
                    player=_player(row.player),
                    reply=row.reply,
                    calls=row.calls,
                    live=row.live,
                    at=row.at,
                ),
            )
            for row in session.exec(shadows.order_by(col(ShadowRow.id)))
        )
        forms = select(SessionFormRow).where(col(SessionFormRow.trial_id).in_(mine))
        self.forms = _by_trial(
            (
                row.trial_id,
                SharedForm(
                    person=row.person, questions=row.questions, answers=row.answers, at=row.at
                ),
            )
            for row in session.exec(forms.order_by(col(SessionFormRow.id)))
        )
        notes = select(TrialNoteRow).where(col(TrialNoteRow.trial_id).in_(mine))
        self.notes = _by_trial(
            (row.trial_id, SharedNote.model_validate(row.model_dump(exclude={"trial_id"})))
            for row in session.exec(notes.order_by(col(TrialNoteRow.at), col(TrialNoteRow.uid)))
        )
        self._session = session

    def events(self, trial_id: int) -> tuple[SharedEvent, ...]:
        query = select(EventRow).where(EventRow.trial_id == trial_id).order_by(col(EventRow.seq))
        return tuple(
            SharedEvent(
                seq=row.seq,
                take=row.take,
                at=row.at,
                body=unpack(row.body, row.packed).decode(),
            )
            for row in self._session.exec(query)
        )


def _trial(row: TrialRow, position: int, run: str, revision: str, parts: _Parts) -> SharedTrial:
    id = row.id or 0
    return SharedTrial.model_validate(
        {
            "uid": row.uid,
            "run": run,
            "position": position,
            "task_id": row.task_id,
            "revision": revision,
            "agent": _player(row.agent),
            "user": _player(row.user),
            "world": _player(row.world),
            "sample": row.sample,
            "seed": row.seed,
            "termination": row.termination,
            "detail": row.detail,
            "created_at": row.created_at,
            "ended_at": row.ended_at,
            "events": parts.events(id),
            "usage": parts.usage.get(id, ()),
            "calls": parts.calls.get(id, ()),
            "judgements": parts.judgements.get(id, ()),
            "shadows": parts.shadows.get(id, ()),
            "forms": parts.forms.get(id, ()),
            "notes": parts.notes.get(id, ()),
        }
    )


def _run(row: RunRow) -> SharedRun:
    state = RunState(row.state)
    return SharedRun.model_validate(
        {
            "uid": row.uid,
            "name": row.name,
            "kind": row.kind,
            "created_by": row.created_by,
            "created_at": row.created_at,
            "state": RunState.PAUSED if state is RunState.RUNNING else state,
            "samples": row.samples,
            "limits": Limits.model_validate_json(row.limits),
            "plan": from_json(row.plan),
            "reason": row.reason,
        }
    )


def _by_trial(pairs: Iterable[tuple[int, _Value]]) -> dict[int, tuple[_Value, ...]]:
    found: dict[int, list[_Value]] = defaultdict(list)
    for trial_id, value in pairs:
        found[trial_id].append(value)
    return {trial_id: tuple(values) for trial_id, values in found.items()}


def _present(session: Session, hashes: Sequence[str]) -> list[str]:
    found: list[str] = []
    for start in range(0, len(hashes), _ONCE):
        some: Any = col(PayloadRow.hash).in_(hashes[start : start + _ONCE])
        found += session.exec(select(PayloadRow.hash).where(some))
    return sorted(found)


def _player(payload: str) -> PlayerRef:
    return PlayerRef.model_validate_json(payload)


def labels_of(session: Session, *conditions: Any) -> Iterator[SharedLabel]:
    """Labels whose rows meet the conditions, with trials named by uid. So do the three functions below for other
    records.
    """
    query = (
        select(LabelRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == LabelRow.trial_id)
        .where(*conditions)
        .order_by(col(LabelRow.id))
    )
    for row, uid in session.exec(query):
        yield SharedLabel.model_validate(
            {
                "trial": uid,
                "item": row.item_key,
                "person": row.person,
                "value": row.value,
                "comment": row.comment,
                "at": row.created_at,
                "phase": row.phase,
                "seconds": row.seconds,
                "gold_wrong": row.gold_wrong,
                "source": row.source,
            }
        )


def reveals_of(session: Session, *conditions: Any) -> Iterator[SharedReveal]:
    query = (
        select(RevealRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == RevealRow.trial_id)
        .where(*conditions)
    )
    for row, uid in session.exec(query):
        yield SharedReveal(trial=uid, item=row.item_key, person=row.person, at=row.at)


def adjudications_of(session: Session, *conditions: Any) -> Iterator[SharedAdjudication]:
    query = (
        select(AdjudicationRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == AdjudicationRow.trial_id)
        .where(*conditions)
        .order_by(col(AdjudicationRow.id))
    )
    for row, uid in session.exec(query):
        yield SharedAdjudication.model_validate(
            {
                "trial": uid,
                "item": row.item_key,
                "by": row.by,
                "value": row.value,
                "cause": row.cause,
                "comment": row.comment,
                "at": row.at,
            }
        )


def label_sets_of(session: Session, *conditions: Any) -> Iterator[SharedLabelSet]:
    query = select(LabelSetRow).where(*conditions)
    rows = list(session.exec(query))
    items: dict[int, list[SharedSetItem]] = defaultdict(list)
    inside = (
        select(SetItemRow, TrialRow.uid)
        .join(TrialRow, col(TrialRow.id) == SetItemRow.trial_id)
        .where(col(SetItemRow.set_id).in_([row.id for row in rows]))
        .order_by(col(SetItemRow.set_id), col(SetItemRow.position))
    )
    for item, uid in session.exec(inside):
        items[item.set_id].append(
            SharedSetItem(
                trial=uid,
                item=item.item_key,
                stratum=item.stratum,
                probability=item.probability,
                raters=item.raters,
                people=tuple(json.loads(item.people)),
            )
        )
    for row in rows:
        yield SharedLabelSet(
            uid=row.uid,
            name=row.name,
            by=row.created_by,
            at=row.created_at,
            plan=json.loads(row.plan),
            items=tuple(items[row.id or 0]),
        )
