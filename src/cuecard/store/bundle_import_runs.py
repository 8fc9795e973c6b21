"""Imports runs from bundles: what is new by uid is added, and nothing that is there is changed."""

import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, func, select

from cuecard.core.engine.events import ModelReplied
from cuecard.core.engine.messages import ModelReply
from cuecard.core.records import RunState
from cuecard.store.bundle_records import Bundle, LeftOut, SharedRun, SharedTrial
from cuecard.store.codec import LEVEL, decode, from_json, pack, to_json, unpack
from cuecard.store.judgements import insert_judgement
from cuecard.store.play_sessions import simulator_hash
from cuecard.store.task_tables import RevisionRow, insert_new, metadata
from cuecard.store.trial_logs import JUDGE, Spent, add_usage
from cuecard.store.trial_tables import (
    EventRow,
    JudgeCallRow,
    JudgementRow,
    PayloadRow,
    RunRow,
    SessionFormRow,
    ShadowRow,
    TrialNoteRow,
    TrialRow,
    UsageRow,
)

Counts = tuple[int, int]
"""How many were added, and how many were known."""
_PAYLOAD = metadata.tables["payload"]
_ONCE = 200


def import_runs(
    session: Session, bundles: Sequence[Bundle]
) -> tuple[dict[str, Counts], tuple[LeftOut, ...]]:
    """Add what is new of the bundles' runs and trials, and give by kind how many were added and known, and what was
    left out. The revisions that were played must have been imported before.
    """
    if not any(bundle.runs for bundle in bundles):
        return {}, ()
    importing = _RunImport(session)
    for bundle in bundles:
        importing.payloads(bundle)
        runs = {run.uid: importing.run(run) for run in bundle.runs}
        for trial in sorted(bundle.trials, key=lambda each: each.order):
            importing.trial(trial, runs[trial.run], bundle.person)
        for run in bundle.runs:
            importing.settle(run, runs[run.uid])
    return importing.counts(), importing.left_out()


class _RunImport:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._added: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._left: list[tuple[str, str]] = []
        self._known_of: defaultdict[str, set[Any]] = defaultdict(set)

    def counts(self) -> dict[str, Counts]:
        kinds = {*self._added, *self._known}
        return {kind: (self._added[kind], self._known[kind]) for kind in sorted(kinds)}

    def left_out(self) -> tuple[LeftOut, ...]:
        return tuple(
            LeftOut(person=person, trial=trial, reason="other_log", count=1, kind="trial")
            for person, trial in dict.fromkeys(self._left)
        )

    def payloads(self, bundle: Bundle) -> None:
        connection = self._session.connection()
        hashes = sorted(bundle.payloads)
        for start in range(0, len(hashes), _ONCE):
            rows = [
                {
                    "hash": digest,
                    "size": len(bundle.payloads[digest]),
                    "base": None,
                    "data": zlib.compress(bundle.payloads[digest], LEVEL),
                }
                for digest in self._missing(hashes[start : start + _ONCE])
            ]
            if rows:
                connection.execute(insert_new(connection, _PAYLOAD), rows)

    def run(self, run: SharedRun) -> int:
        row = self._session.exec(select(RunRow).where(RunRow.uid == run.uid)).first()
        if row is not None:
            self._known["run"] += 1
            return row.id or 0
        row = RunRow(
            uid=run.uid,
            name=run.name,
            kind=run.kind,
            created_by=run.created_by,
            created_at=run.created_at,
            state=run.state.value,
            samples=run.samples,
            limits=run.limits.model_dump_json(),
            plan=to_json(run.plan).decode(),
            reason=run.reason,
        )
        self._session.add(row)
        self._session.flush()
        self._added["run"] += 1
        return row.id or 0

    def trial(self, trial: SharedTrial, run_id: int, person: str) -> None:
        row = self._session.exec(select(TrialRow).where(TrialRow.uid == trial.uid)).first()
        fresh = row is None
        if row is None:
            row = self._new_trial(trial, run_id)
        here = [] if fresh else self._log(row.id or 0)
        theirs = [(e.take, e.at, e.body.encode()) for e in trial.events]
        common = min(len(here), len(theirs))
        if row.run_id != run_id or here[:common] != theirs[:common]:
            self._left.append((person, trial.uid))
            return
        self._count("trial", fresh)
        id = row.id or 0
        spent = self._events(trial, id, common)
        if len(theirs) > len(here):
            row.termination = trial.termination.value if trial.termination else None
            row.detail, row.ended_at = trial.detail, trial.ended_at
            self._session.add(row)
        spent += self._calls(trial, id)
        if fresh:
            self._usage(trial, id)
        else:
            add_usage(self._session.connection(), spent)
        self._judgements(trial, id)
        self._people(trial, id)

    def settle(self, run: SharedRun, run_id: int) -> None:
        """A run that is done elsewhere is done here once all of its trials have ended."""
        row = self._session.get_one(RunRow, run_id)
        open_ones = select(func.count()).where(
            TrialRow.run_id == run_id, col(TrialRow.termination).is_(None)
        )
        waiting = row.state in (RunState.RUNNING.value, RunState.PAUSED.value)
        if waiting and run.state is RunState.DONE and not self._session.exec(open_ones).one():
            row.state, row.reason = RunState.DONE.value, ""
            self._session.add(row)
            self._session.flush()

    def _new_trial(self, trial: SharedTrial, run_id: int) -> TrialRow:
        revision = select(RevisionRow.number).where(RevisionRow.uid == trial.revision)
        row = TrialRow(
            uid=trial.uid,
            run_id=run_id,
            task_id=trial.task_id,
            revision=self._session.exec(revision).one(),
            agent=trial.agent.model_dump_json(),
            user=trial.user.model_dump_json(),
            world=trial.world.model_dump_json(),
            sample=trial.sample,
            seed=trial.seed,
            created_at=trial.created_at,
        )
        self._session.add(row)
        self._session.flush()
        return row

    def _log(self, trial_id: int) -> list[tuple[int, datetime, bytes]]:
        query = select(EventRow).where(EventRow.trial_id == trial_id).order_by(col(EventRow.seq))
        return [(r.take, r.at, unpack(r.body, r.packed)) for r in self._session.exec(query)]

    def _events(self, trial: SharedTrial, trial_id: int, known: int) -> list[Spent]:
        """Append the events that follow the first `known` ones; gives the model calls that they record."""
        rows: list[dict[str, Any]] = []
        spent: list[Spent] = []
        for event in trial.events[known:]:
            payload = event.body.encode()
            body = decode(payload)
            text, packed = pack(payload)
            rows.append(
                {
                    "trial_id": trial_id,
                    "seq": event.seq,
                    "take": event.take,
                    "key": body.key,
                    "type": body.type,
                    "at": event.at,
                    "body": text,
                    "packed": packed,
                }
            )
            if isinstance(body, ModelReplied):
                spent.append((trial_id, body.payer, body.model, body.reply))
        self._insert(EventRow, rows)
        self._added["event"] += len(rows)
        self._known["event"] += known
        return spent

    def _usage(self, trial: SharedTrial, trial_id: int) -> None:
        rows = [
            {
                "trial_id": trial_id,
                "payer": used.payer,
                "model": used.model,
                "calls": used.calls,
                **used.usage.model_dump(),
                "cost": used.cost,
                "priced": used.priced,
            }
            for used in trial.usage
        ]
        self._insert(UsageRow, rows)

    def _calls(self, trial: SharedTrial, trial_id: int) -> list[Spent]:
        query = select(JudgeCallRow.judge, JudgeCallRow.attempt, JudgeCallRow.key)
        known = set(self._session.exec(query.where(JudgeCallRow.trial_id == trial_id)))
        rows: list[dict[str, Any]] = []
        spent: list[Spent] = []
        for call in trial.calls:
            if (call.judge, call.attempt, call.key) in known:
                continue
            known.add((call.judge, call.attempt, call.key))
            text, packed = pack(call.body.encode())
            rows.append(
                {
                    "trial_id": trial_id,
                    **call.model_dump(exclude={"body"}),
                    "body": text,
                    "packed": packed,
                }
            )
            reply = ModelReply.model_validate(from_json(call.body))
            spent.append((trial_id, JUDGE, call.model, reply))
        self._insert(JudgeCallRow, rows)
        self._added["judge_call"] += len(rows)
        self._known["judge_call"] += len(trial.calls) - len(rows)
        return spent

    def _judgements(self, trial: SharedTrial, trial_id: int) -> None:
        """Add judgements newer than their judge's newest here, which so stays the one that counts."""
        query = (
            select(JudgementRow.judge_name, func.max(JudgementRow.created_at))
            .where(JudgementRow.trial_id == trial_id)
            .group_by(JudgementRow.judge_name)
        )
        newest: dict[str, datetime] = dict(self._session.exec(query).all())
        for given in sorted(trial.judgements, key=lambda each: each.at):
            judge = given.judgement.judge.name
            fresh = judge not in newest or given.at > newest[judge]
            if fresh:
                insert_judgement(self._session, trial_id, given.judgement, at=given.at)
                newest[judge] = given.at
            self._count("judgement", fresh)

    def _people(self, trial: SharedTrial, trial_id: int) -> None:
        """Add what people said of the trial: shadow replies that were asked for, forms of sessions, and notes."""
        known = self._known_of
        asked = select(ShadowRow.state, ShadowRow.simulator).where(ShadowRow.trial_id == trial_id)
        known["shadow"] = set(self._session.exec(asked))
        forms = select(SessionFormRow.person, SessionFormRow.at)
        told = self._session.exec(forms.where(SessionFormRow.trial_id == trial_id))
        known["session_form"] = set(told)
        noted = select(TrialNoteRow.uid).where(
            col(TrialNoteRow.uid).in_([note.uid for note in trial.notes])
        )
        known["trial_note"] = set(self._session.exec(noted))
        for shadow in trial.shadows:
            simulator = simulator_hash(shadow.player)
            if self._new("shadow", (shadow.state, simulator)):
                values = shadow.model_dump(exclude={"player"})
                player = shadow.player.model_dump_json()
                row = ShadowRow(trial_id=trial_id, simulator=simulator, player=player, **values)
                self._session.add(row)
        for form in trial.forms:
            if self._new("session_form", (form.person, form.at)):
                digest = hashlib.sha256(form.questions.encode()).hexdigest()[:16]
                self._session.add(
                    SessionFormRow(trial_id=trial_id, form=digest, **form.model_dump())
                )
        for note in trial.notes:
            if self._new("trial_note", note.uid):
                self._session.add(TrialNoteRow(trial_id=trial_id, **note.model_dump()))
        self._session.flush()

    def _new(self, kind: str, identity: object) -> bool:
        """Whether it is not known, and known from now on."""
        fresh = identity not in self._known_of[kind]
        self._known_of[kind].add(identity)
        return self._count(kind, fresh)

    def _count(self, kind: str, fresh: bool) -> bool:
        (self._added if fresh else self._known)[kind] += 1
        return fresh

    def _missing(self, hashes: Sequence[str]) -> list[str]:
        query = select(PayloadRow.hash).where(col(PayloadRow.hash).in_(hashes))
        known = set(self._session.exec(query))
        return [digest for digest in hashes if digest not in known]

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._session.flush()
            self._session.connection().execute(insert(table), rows)
