"""Imports the runs and trials of bundles: what is new by uid is added, and nothing that is there is changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlmodel import col, func, select

from cuecard.core.engine.events import ModelReplied
from cuecard.core.engine.messages import ModelReply
from cuecard.core.records import RunState
from cuecard.store import bundle_records as shared
from cuecard.store.bundle_adding import Adding
from cuecard.store.bundle_kinds import EVENTS, PARTS, Rows
from cuecard.store.codec import decode, from_json
from cuecard.store.judgements import insert_judgement
from cuecard.store.task_tables import RevisionRow
from cuecard.store.trial_logs import JUDGE, Spent, add_usage
from cuecard.store.trial_tables import EventRow, JudgementRow, RunRow, TrialRow, UsageRow


class RunImport:
    """The runs of some bundles. `check_run` is told of each that is there already, and may refuse it. `other_logs`: packer
    and uid of trials whose log here does not begin like, or continue, the one in the bundle.
    """

    def __init__(self, adding: Adding, check_run: Callable[[int], None]) -> None:
        self._adding = adding
        self._session = adding.session
        self._check_run = check_run
        self.other_logs: dict[tuple[str, str], None] = {}
        self._run_ids: dict[str, int] = {}
        self._done: set[int] = set()

    def run(self, rows: Rows, run: shared.SharedRun) -> None:
        (fresh,) = self._adding.add(rows, [rows.values(run)], "run")
        self._run_ids[run.uid] = self._adding.id(rows, run.uid)
        if not fresh:
            self._check_run(self._run_ids[run.uid])
        if run.state is RunState.DONE:
            self._done.add(self._run_ids[run.uid])

    def trial(self, rows: Rows, trial: shared.SharedTrial, person: str) -> None:
        run_id = self._run_ids[trial.run]
        number = select(RevisionRow.number).where(RevisionRow.uid == trial.revision)
        values = rows.values(trial, run_id=run_id, revision=self._session.exec(number).one())
        (fresh,) = self._adding.add(rows, [values])
        row = self._session.get_one(TrialRow, self._adding.id(rows, trial.uid))
        id = row.id or 0
        log = select(EventRow).where(EventRow.trial_id == id).order_by(col(EventRow.seq))
        here = () if fresh else tuple(map(EVENTS.record_of, self._session.exec(log)))
        common = min(len(here), len(trial.events))
        if row.run_id != run_id or here[:common] != trial.events[:common]:
            self.other_logs[person, trial.uid] = None
            return
        self._adding.count("trial", fresh)
        spent = self._events(trial, id, common)
        if len(trial.events) > len(here):
            row.termination, row.detail = values["termination"], trial.detail
            row.ended_at = trial.ended_at
            self._session.add(row)
        for part in PARTS[1:]:
            told = getattr(trial, part.name)
            each = [part.rows.values(one, trial_id=id) for one in told]
            added = self._adding.add(part.rows, each)
            for is_new in added:
                self._adding.count(part.kind, is_new)
            if part.kind == "judge_call":
                spent += [
                    (id, JUDGE, call.model, ModelReply.model_validate(from_json(call.body)))
                    for call, is_new in zip(told, added, strict=True)
                    if is_new
                ]
        if fresh:
            sums = [(used.model_dump(exclude={"usage"}), used.usage) for used in trial.usage]
            usage = [{"trial_id": id, **sum_, **dict(tokens)} for sum_, tokens in sums]
            self._adding.insert(UsageRow, usage)
        else:
            add_usage(self._session.connection(), spent)
        self._judgements(trial, id)
        self._session.flush()
        self._session.expunge(row)

    def _events(self, trial: shared.SharedTrial, trial_id: int, known: int) -> list[Spent]:
        """Append the events that follow the first `known` ones; gives the model calls that they record."""
        rows: list[dict[str, Any]] = []
        spent: list[Spent] = []
        for event in trial.events[known:]:
            body = decode(event.body.encode())
            given = {"trial_id": trial_id, "key": body.key, "type": body.type}
            rows.append(EVENTS.values(event, **given))
            if isinstance(body, ModelReplied):
                spent.append((trial_id, body.payer, body.model, body.reply))
        self._adding.insert(EventRow, rows)
        self._adding.added["event"] += len(rows)
        self._adding.known["event"] += known
        return spent

    def _judgements(self, trial: shared.SharedTrial, trial_id: int) -> None:
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
            self._adding.count("judgement", fresh)

    def settle(self) -> None:
        """A run that is done elsewhere is done here once all of its trials have ended."""
        open_ones = select(TrialRow.id).where(
            TrialRow.run_id == RunRow.id, col(TrialRow.termination).is_(None)
        )
        waiting = col(RunRow.state).in_((RunState.RUNNING.value, RunState.PAUSED.value))
        done = update(RunRow).where(col(RunRow.id).in_(self._done), waiting, ~open_ones.exists())
        self._session.flush()
        self._session.connection().execute(done.values(state=RunState.DONE.value, reason=""))
